// Draws placements: as text for a terminal, and as SVG for a page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/boxes.h"
#include "explain/words.h"
#include "groma/inspect.h"

namespace groma {
namespace {

// The largest number of processors that the legend lists. The others are only counted.
constexpr std::size_t kListedProcessors = 64;
// Limit on the drawn layers of a launch with more than two dimensions.
constexpr int kLayers = 64;
constexpr int kBarWidth = 20;

// Chooses how a picture shows each processor: its number in the order of the nodes, a label and a
// colour.
class Palette {
 public:
  explicit Palette(const Placement& placement) {
    for (const auto& node : placement.loads) {
      first_.push_back(count_);
      count_ += node.size();
    }
  }

  std::size_t number(const Processor& p) const {
    return first_[static_cast<std::size_t>(p.node)] + static_cast<std::size_t>(p.index);
  }
  std::size_t count() const { return count_; }

  // Returns the label of a processor: A to Z, a to z, then AA, AB and so on. All labels of a
  // picture have the length of the longest.
  std::string label(std::size_t number) const {
    constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    std::string text;
    for (std::size_t left = std::max<std::size_t>(1, count_) - 1;; left /= kLetters.size()) {
      text.insert(text.begin(), kLetters[number % kLetters.size()]);
      number /= kLetters.size();
      if (left < kLetters.size()) return text;
    }
  }

  // A colour as red, green and blue in 0..1.
  struct Rgb {
    double r, g, b;
  };
  // Returns the colour of a processor. Nodes differ in hue: a step of the golden ratio makes
  // neighbouring nodes differ clearly. The processors of a node differ in lightness.
  static Rgb color(const Processor& p, std::size_t per_node) {
    const double hue = std::fmod(0.58 + 0.618034 * static_cast<double>(p.node), 1.0);
    const double step =
        per_node < 2 ? 0.5 : static_cast<double>(p.index) / static_cast<double>(per_node - 1);
    const double light = 0.35 + 0.4 * step;
    const auto channel = [&](double offset) {
      const double k = std::fmod(offset + hue * 12, 12.0);
      return light -
             0.6 * std::min(light, 1 - light) * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    };
    return {channel(0), channel(8), channel(4)};
  }

 private:
  std::vector<std::size_t> first_;
  std::size_t count_ = 0;
};

// Returns the number of processors on the node of `p`.
std::size_t per_node(const Placement& placement, const Processor& p) {
  return placement.loads[static_cast<std::size_t>(p.node)].size();
}

// Returns the label of a processor. With `color`, its background is the nearest colour of the 6x6x6
// colour cube of 256-colour terminals, and the letters are black or white, whichever contrasts
// more.
std::string cell(const Placement& placement, const Palette& palette, const Processor& p,
                 bool color) {
  std::string label = fmt::format(" {} ", palette.label(palette.number(p)));
  if (!color) return label;
  const auto [r, g, b] = Palette::color(p, per_node(placement, p));
  const auto level = [](double x) { return static_cast<int>(std::lround(x * 5)); };
  const bool dark = 0.3 * r + 0.6 * g + 0.1 * b < 0.5;
  return fmt::format("\x1b[48;5;{};38;5;{}m{}\x1b[0m", 16 + 36 * level(r) + 6 * level(g) + level(b),
                     dark ? 231 : 16, label);
}

// Returns a point as text: "(0, 3)".
std::string point_text(const Point& point) {
  std::string text = "(";
  for (int i = 0; i < point.dimensions(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", point[i]);
  }
  return text + ")";
}

// Returns the first line of a picture: the task and the function, the kind of processor, the number
// of points and the machine.
std::string headline(const Placement& placement, const BoundProgram& bound) {
  std::string domain;
  for (std::int64_t extent : placement.domain.box.extents.coordinates()) {
    domain += fmt::format("{}{}", domain.empty() ? "" : " x ", extent);
  }
  const std::string points =
      placement.domain.points ? fmt::format("{} of ", placement.points.size()) : "";
  const bool shifted =
      placement.domain.box.lower != Point::zeros(placement.domain.box.dimensions());
  return fmt::format("{}{} by {} on {}: {}{}, {}\n", domain.empty() ? "single task " : "",
                     placement.task.empty() ? "launch" : harmless(placement.task),
                     harmless(placement.function_name), name_of(placement.kind),
                     domain.empty() ? "1 point" : points + domain + " points",
                     shifted ? " from " + point_text(placement.domain.box.lower) : "",
                     harmless(bound.machine().name()));
}

// Returns the processor of the point at this row-major position of the launch's box, or null if the
// launch does not have the point.
const Processor* processor_at(const Placement& placement, std::size_t position) {
  if (!placement.domain.points) return &placement.points[position];
  const auto rank = placement.domain.points->rank(
      point_at(placement.domain.box, static_cast<std::int64_t>(position)));
  return rank ? &placement.points[static_cast<std::size_t>(*rank)] : nullptr;
}

// A layer of a launch: its rows (the last dimension but one) and columns (the last dimension), and
// the position of its first point.
struct Layer {
  std::int64_t rows, columns;
  std::size_t first;
};

// Draws one layer as text with row and column numbers. A layer that is too large for the size in
// the options is cut, and a note says so.
std::string grid(const Placement& placement, const Palette& palette, const Layer& layer,
                 const DrawOptions& options) {
  const int dims = placement.domain.box.dimensions();
  const Point& lower = placement.domain.box.lower;
  const std::int64_t row0 = dims > 1 ? lower[dims - 2] : 0;
  const std::int64_t column0 = dims > 0 ? lower[dims - 1] : 0;
  const auto cell_width = static_cast<std::int64_t>(palette.label(0).size()) + 2;
  const std::int64_t margin = 8;
  const std::int64_t columns =
      std::clamp<std::int64_t>((options.columns - margin) / cell_width, 1, layer.columns);
  const std::int64_t rows = std::clamp<std::int64_t>(options.rows, 1, layer.rows);
  std::string text(static_cast<std::size_t>(margin), ' ');
  for (std::int64_t j = 0; j < columns; ++j) {
    const std::string number = std::to_string(column0 + j);
    // A column number that is wider than a cell minus its gap stands only above every fifth column.
    const bool every = static_cast<std::int64_t>(number.size()) < cell_width || j % 5 == 0;
    text +=
        fmt::format("{:>{}}",
                    every && static_cast<std::int64_t>(number.size()) <= cell_width ? number : "",
                    cell_width - 1) +
        " ";
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  text += "\n";
  for (std::int64_t i = 0; i < rows; ++i) {
    text += dims > 1 ? fmt::format("{:>6}  ", row0 + i) : std::string(8, ' ');
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto at = layer.first + static_cast<std::size_t>(i * layer.columns + j);
      const Processor* p = processor_at(placement, at);
      text += p == nullptr ? std::string(static_cast<std::size_t>(cell_width), ' ')
                           : cell(placement, palette, *p, options.color);
    }
    while (text.back() == ' ') text.pop_back();
    text += "\n";
  }
  if (columns < layer.columns || rows < layer.rows) {
    text +=
        fmt::format("        ({} of {} columns and {} of {} rows are shown; `--svg` draws all)\n",
                    columns, layer.columns, rows, layer.rows);
  }
  return text;
}

// Returns the title of layer `k`: its coordinates in all dimensions except the last two. Returns ""
// if the launch has at most two dimensions.
std::string layer_title(const Placement& placement, std::int64_t k) {
  const int dims = placement.domain.box.dimensions();
  if (dims <= 2) return {};
  Point leading = Point::zeros(dims - 2);
  for (int i = dims - 3; i >= 0; --i) {
    leading[i] = placement.domain.box.lower[i] + k % placement.domain.box.extents[i];
    k /= placement.domain.box.extents[i];
  }
  return "layer " + point_text(leading);
}

// Draws the layers of a launch below each other, at most kLayers of them.
std::string layers(const Placement& placement, const Palette& palette, const DrawOptions& options) {
  const int dims = placement.domain.box.dimensions();
  const std::int64_t columns = dims > 0 ? placement.domain.box.extents[dims - 1] : 1;
  const std::int64_t rows = dims > 1 ? placement.domain.box.extents[dims - 2] : 1;
  const std::int64_t size = rows * columns;
  const std::int64_t count = placement.domain.box.volume() / size;
  std::string text;
  for (std::int64_t k = 0; k < std::min<std::int64_t>(count, kLayers); ++k) {
    if (dims > 2) text += fmt::format("{}{}\n", k == 0 ? "" : "\n", layer_title(placement, k));
    text += grid(placement, palette, {rows, columns, static_cast<std::size_t>(k * size)}, options);
  }
  if (count > kLayers) text += fmt::format("({} of {} layers are shown)\n", kLayers, count);
  return text;
}

// Lists the processors with their labels, their numbers of points and a bar. The longest bar has
// kBarWidth characters. The last line sums up the loads.
std::string legend(const Placement& placement, const Palette& palette, const DrawOptions& options) {
  std::string text = "\n";
  const std::int64_t most_points = placement.max_load();
  const std::int64_t most = std::max<std::int64_t>(1, most_points);
  std::size_t listed = 0;
  for (std::size_t node = 0; node < placement.loads.size(); ++node) {
    for (std::size_t index = 0; index < placement.loads[node].size(); ++index) {
      if (listed++ >= kListedProcessors) continue;
      const Processor p{placement.kind, static_cast<std::int64_t>(node),
                        static_cast<std::int64_t>(index)};
      const std::int64_t load = placement.loads[node][index];
      const auto bar = static_cast<std::size_t>((load * kBarWidth + most - 1) / most);
      text +=
          fmt::format("{} node {}, {} {}: {:>{}}{}{}\n", cell(placement, palette, p, options.color),
                      node, name_of(p.kind), index, load, std::to_string(most).size(),
                      bar == 0 ? "" : " ", std::string(bar, '#'));
    }
  }
  if (listed > kListedProcessors) {
    text += fmt::format(" ... and {} more processors\n", listed - kListedProcessors);
  }
  const std::int64_t least = placement.min_load(), processors = placement.processor_count();
  const std::string points = least == most_points
                                 ? count_with_noun(least, "point")
                                 : fmt::format("{} to {} points", least, most_points);
  return text +
         fmt::format("load: {} on each of {}\n", points, count_with_noun(processors, "processor"));
}

// Returns a line for each statement that chose the function.
std::string decisions(const Placement& placement, const BoundProgram& bound) {
  std::string text;
  for (DecisionOrigin origin : placement.decided_by) {
    text += fmt::format("decided by {}\n", statement_line(bound.program(), origin));
  }
  return text;
}

// Returns the text with those characters escaped that have a meaning in XML.
std::string escaped(std::string_view text) {
  std::string made;
  for (char c : harmless(text)) {
    if (c == '<')
      made += "&lt;";
    else if (c == '>')
      made += "&gt;";
    else if (c == '&')
      made += "&amp;";
    else if (c == '"')
      made += "&quot;";
    else
      made += c;
  }
  return made;
}

// Returns the colour of a processor as SVG writes it: "#1f77b4".
std::string hex_color(const Placement& placement, const Processor& p) {
  const auto [r, g, b] = Palette::color(p, per_node(placement, p));
  const auto level = [](double x) { return static_cast<int>(std::lround(x * 255)); };
  return fmt::format("#{:02x}{:02x}{:02x}", level(r), level(g), level(b));
}

}  // namespace

// Returns the picture for a terminal.
std::string draw(const Placement& placement, const BoundProgram& bound,
                 const DrawOptions& options) {
  const Palette palette(placement);
  return headline(placement, bound) + "\n" + layers(placement, palette, options) +
         legend(placement, palette, options) + decisions(placement, bound);
}

// ------------------------------------------------------------------------------------------- SVG

namespace {

// Draws a placement as an SVG file. The layers stand below each other, each with its title and the
// numbers of its rows and columns. The legend stands below the layers. All lengths are in pixels.
class SvgWriter {
 public:
  // The cells of a picture are squares of at most 24 pixels. They shrink so that a row has about
  // 1200 pixels.
  SvgWriter(const Placement& placement, const BoundProgram& bound)
      : placement_(placement),
        title_(headline(placement, bound)),
        dims_(placement.domain.box.dimensions()),
        columns_(dims_ > 0 ? placement.domain.box.extents[dims_ - 1] : 1),
        rows_(dims_ > 1 ? placement.domain.box.extents[dims_ - 2] : 1),
        layers_(placement.domain.box.volume() / (rows_ * columns_)),
        side_(std::clamp(1200.0 / static_cast<double>(columns_), 1.0, 24.0)) {
    if (dims_ > 1) left_ += kLetter * number_width(first_row(), rows_);
  }

  // Returns the text of the SVG file. The legend is the last part of the picture, so the end of the
  // legend determines the height.
  std::string write() {
    const std::size_t listed =
        std::min(kListedProcessors, static_cast<std::size_t>(placement_.processor_count()));
    const double legend_top = kTop + layer_height() * static_cast<double>(layers_) + 20;
    const double width = std::max(480.0, left_ + side_ * static_cast<double>(columns_) + 10);
    const double height = legend_top + kLine * static_cast<double>(listed + 1);
    svg_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" "
        "viewBox=\"0 0 {0:g} {1:g}\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        width, height);
    text(10, 24, title_);
    if (dims_ > 0) text(10, 42, axes());
    for (std::int64_t layer = 0; layer < layers_; ++layer) write_layer(layer);
    write_legend(legend_top, listed);
    return svg_ + "</svg>\n";
  }

 private:
  static constexpr double kTop = 50, kLine = 18, kGap = 8;
  // The width of a character in the numbers beside the picture.
  static constexpr double kLetter = 8;

  // Returns the height of a layer with its title and column numbers.
  double layer_height() const {
    const double titles = (dims_ > 2 ? kLine : 0) + (dims_ > 0 ? kLine : 0);
    return titles + side_ * static_cast<double>(rows_) + kGap;
  }
  std::int64_t first_column() const { return placement_.domain.box.lower[dims_ - 1]; }
  std::int64_t first_row() const { return placement_.domain.box.lower[dims_ - 2]; }
  // Returns the number of characters of the widest number on an axis.
  static double number_width(std::int64_t first, std::int64_t count) {
    const std::size_t digits =
        std::max(std::to_string(first).size(), std::to_string(first + count - 1).size());
    return static_cast<double>(digits);
  }
  // Returns the distance between two numbers on an axis, in rows or columns: 1, 2, 5, 10, 20 and so
  // on. It is the smallest one at which the numbers do not overlap. `side` is the size of a cell,
  // `wanted` the room of a number.
  static std::int64_t step(double side, double wanted) {
    std::int64_t step = 1;
    for (int i = 0; static_cast<double>(step) * side < wanted; ++i) {
      step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    }
    return step;
  }
  std::string axes() const {
    const std::string across = fmt::format("coordinate {} runs to the right", dims_ - 1);
    return dims_ == 1 ? across : fmt::format("coordinate {} runs down, {}", dims_ - 2, across);
  }

  void text(double x, double y, const std::string& words, std::string_view anchor = "start") {
    svg_ += fmt::format("<text x=\"{:g}\" y=\"{:g}\"{}>{}</text>\n", x, y,
                        anchor == "start" ? "" : fmt::format(" text-anchor=\"{}\"", anchor),
                        escaped(words));
  }
  void rect(double x, double y, double width, double height, const Processor& p) {
    svg_ +=
        fmt::format("<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" fill=\"{}\"/>\n", x,
                    y, width, height, hex_color(placement_, p));
  }

  // Draws one layer with its title and the numbers of its rows and columns.
  void write_layer(std::int64_t layer) {
    double y = kTop + layer_height() * static_cast<double>(layer);
    if (dims_ > 2) {
      text(10, y + 13, layer_title(placement_, layer));
      y += kLine;
    }
    if (dims_ > 0) {
      const double widest = kLetter * (number_width(first_column(), columns_) + 1);
      for (std::int64_t j = 0; j < columns_; j += step(side_, widest)) {
        text(left_ + side_ * (static_cast<double>(j) + 0.5), y + 13,
             std::to_string(first_column() + j), "middle");
      }
      y += kLine;
    }
    for (std::int64_t i = 0; i < rows_; ++i, y += side_) {
      if (dims_ > 1 && i % step(side_, kLine) == 0) {
        text(left_ - 4, y + side_ / 2 + 4, std::to_string(first_row() + i), "end");
      }
      write_row(static_cast<std::size_t>((layer * rows_ + i) * columns_), y);
    }
  }

  // Draws one row of a layer. Adjacent points on the same processor become one rectangle, which
  // keeps the file small.
  void write_row(std::size_t first, double y) {
    const auto columns = static_cast<std::size_t>(columns_);
    for (std::size_t j = 0; j < columns;) {
      const Processor* p = processor_at(placement_, first + j);
      std::size_t end = j + 1;
      const auto goes_on = [&](const Processor* next) {
        return p == nullptr ? next == nullptr : next != nullptr && *next == *p;
      };
      while (end < columns && goes_on(processor_at(placement_, first + end))) ++end;
      if (p != nullptr) {
        rect(left_ + side_ * static_cast<double>(j), y, side_ * static_cast<double>(end - j), side_,
             *p);
      }
      j = end;
    }
  }

  // Draws the colour, name and number of points of each processor.
  void write_legend(double top, std::size_t listed) {
    std::size_t number = 0;
    for (std::size_t node = 0; node < placement_.loads.size(); ++node) {
      for (std::size_t index = 0; index < placement_.loads[node].size() && number < listed;
           ++index, ++number) {
        const Processor p{placement_.kind, static_cast<std::int64_t>(node),
                          static_cast<std::int64_t>(index)};
        const double y = top + kLine * static_cast<double>(number);
        rect(10, y, 14, 14, p);
        text(30, y + 12,
             fmt::format("node {}, {} {}: {} points", node, name_of(p.kind), index,
                         placement_.loads[node][index]));
      }
    }
    const auto all = static_cast<std::size_t>(placement_.processor_count());
    if (all <= listed) return;
    text(30, top + kLine * static_cast<double>(listed) + 12,
         fmt::format("and {} more", all - listed));
  }

  const Placement& placement_;
  const std::string title_;
  const int dims_;
  const std::int64_t columns_, rows_, layers_;
  // The side of a cell.
  const double side_;
  // The left edge of the cells.
  double left_ = 10;
  std::string svg_;
};

}  // namespace

std::string draw_svg(const Placement& placement, const BoundProgram& bound) {
  return SvgWriter(placement, bound).write();
}

}  // namespace groma
