// Turns the recorded launches of a task into statements. Launches that differ only in numbers
// become one statement; its formulas are derived from all its executions.
#include "recording/recorded_bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "recording/recorded_data.h"

namespace groma::app {
namespace {

constexpr std::size_t kMostSamples = std::size_t{1} << 14;
constexpr std::size_t kMostStatements = 60'000;
// Statements that the body of a task may have more, so that turns of a loop for which no formula is
// right are described one by one.
constexpr std::size_t kMostUnrolled = 512;
// How often a formula is fitted again, and with how many of the runs for which it was wrong.
constexpr std::size_t kMostRefits = 8;
constexpr std::size_t kMostCompared = std::size_t{1} << 24;  // points that a formula is tried on
// Limit for kinds of runs of a task that differ in their launches.
constexpr std::size_t kMostKinds = 64;

std::string counter_name(std::size_t depth) {
  return depth == 0 ? "t" : fmt::format("t{}", depth + 1);
}
std::string argument_name(std::size_t d) { return fmt::format("p{}", d); }

Point extents_of(const Events::Launch& launch, std::size_t dimensions) {
  return Point(std::span(launch.numbers).subspan(dimensions, dimensions));
}

bool all_same(const std::vector<std::uint32_t>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
}

const AppRegion& region_of(const Application& app, std::string of) {
  for (std::size_t up = 0; up <= app.partitions.size(); ++up) {
    for (const AppRegion& region : app.regions) {
      if (region.name == of) return region;
    }
    for (const AppPartition& partition : app.partitions) {
      if (partition.name == of) {
        of = partition.of;
        break;
      }
    }
  }
  GROMA_CHECK(false);
  return app.regions.front();
}

// Returns the formula `name` - `number`.
Formula less(const std::string& name, std::int64_t number) {
  if (number == 0) return name;
  return number > 0 ? fmt::format("{} - {}", name, number) : fmt::format("{} + {}", name, -number);
}

std::int64_t constant_of(const Formula& formula) { return std::stoll(formula.text()); }

std::size_t size_of(const std::vector<Repeat>& tree) {
  std::size_t size = tree.size();
  for (const Repeat& each : tree) size += size_of(each.body);
  return size;
}

}  // namespace

std::vector<AppField> fields_of(const AppRegion& region, const Events::Requirement& requirement) {
  std::vector<std::uint32_t> numbers = requirement.fields;
  std::sort(numbers.begin(), numbers.end());
  std::vector<AppField> fields;
  for (const std::uint32_t number : numbers) fields.push_back(region.fields[number]);
  return fields;
}

std::vector<std::int64_t> color_extents(const Application& app, const AppPartition& partition) {
  std::vector<std::int64_t> extents;
  const AppPartition* at = &partition;
  while (at != nullptr) {
    for (std::size_t d = at->colors.size(); d-- > 0;) {
      extents.insert(extents.begin(), constant_of(at->colors[d]));
    }
    const auto outer = std::find_if(app.partitions.begin(), app.partitions.end(),
                                    [&](const AppPartition& each) { return each.name == at->of; });
    at = outer == app.partitions.end() ? nullptr : &*outer;
  }
  return extents;
}

// ---- From the runs of a task to a tree of statements

void RecordedBodies::add_body(std::uint32_t task) {
  std::vector<Kind> kinds = kinds_of(task);
  if (kinds.empty()) return;
  AppTask& to = app_.tasks[task];
  auto which = tell_apart(task, kinds);
  if (which && which->without_runs > 0) {
    notes_.push_back(fmt::format(
        "of {} of the launches of `{}` no task launched anything that was seen: they are described "
        "so, though in another process they may have",
        which->without_runs, to.name));
  }
  if (!which && kinds.size() > 1) {
    // On a tie, kinds that launch something win.
    std::stable_partition(kinds.begin(), kinds.end(),
                          [](const Kind& kind) { return !kind.shapes.empty(); });
    std::int64_t all = 0;
    for (const Kind& kind : kinds) all += kind.count;
    notes_.push_back(fmt::format("{} of {} runs of `{}` launch something else than the others",
                                 all - kinds.front().count, all, to.name));
    kinds.resize(1);
  }
  std::vector<Tree> trees;
  std::size_t size = 0;
  for (const Kind& kind : kinds) {
    trees.push_back(fold(kind.shapes));
    size += size_of(trees.back()) + 1;
  }
  if (statements_ + size > kMostStatements) {
    notes_.push_back(fmt::format("what `{}` launches is too long and left out", to.name));
    return;
  }
  statements_ += size;
  used_.clear();
  std::size_t most_given = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    most_given = std::max(most_given, kinds[k].contexts.front()->given.size());
    if (!which || which->is_kind.empty()) {
      add_kind(kinds[k], trees[k], to.body);
      continue;
    }
    if (kinds[k].shapes.empty()) continue;
    AppLoop loop;
    loop.count = which->is_kind[k];
    use(loop.count);
    add_kind(kinds[k], trees[k], loop.body);
    to.body.push_back({std::move(loop)});
  }
  Needs& needs = needs_[to.name];
  for (std::size_t position = 0; position < most_given; ++position) {
    if (!used_.contains(argument_name(position))) continue;
    needs.positions.push_back(position);
    to.arguments.push_back(argument_name(position));
  }
  if (which && !which->numbers.empty()) to.arguments.emplace_back(kWhich);
  needs.which = std::move(which);
}

// Returns the kinds of runs of a task, those with the most runs first.
std::vector<RecordedBodies::Kind> RecordedBodies::kinds_of(std::uint32_t task) const {
  std::map<std::pair<std::vector<std::size_t>, std::vector<std::uint32_t>>, Kind> alike;
  const auto runs = contexts_.find(task);
  if (runs == contexts_.end()) return {};
  for (const Events::Context* each : runs->second) {
    std::vector<std::uint32_t> shapes;
    unfold(each->launches, shapes);
    for (std::uint32_t& launch : shapes) launch = events_.launches[launch].shape;
    Kind& same = alike[{events_.layout_of(*each), std::move(shapes)}];
    same.contexts.push_back(each);
    same.count += each->count;
  }
  std::vector<Kind> kinds;
  for (auto& [key, kind] : alike) {
    kinds.push_back(std::move(kind));
    kinds.back().shapes = key.second;
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& a, const Kind& b) { return a.count > b.count; });
  return kinds;
}

std::optional<RecordedBodies::Which> RecordedBodies::tell_apart(
    std::uint32_t task, const std::vector<Kind>& kinds) const {
  if (kinds.size() > kMostKinds) return std::nullopt;
  // For each shape of launch of this task: the number of the kind of each run. Runs of any other
  // shape launched nothing.
  std::map<std::uint32_t, Samples> samples;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (const Events::Context* context : kinds[k].contexts) {
      if (context->shape < 0) return std::nullopt;  // the launch of this run is unknown
      Samples& of_shape = samples[static_cast<std::uint32_t>(context->shape)];
      while (of_shape.names.size() < context->given.size()) {
        of_shape.names.push_back(argument_name(of_shape.names.size()));
      }
      if (of_shape.count() >= kMostSamples) return std::nullopt;
      of_shape.add(context->given, static_cast<std::int64_t>(k));
    }
  }
  std::map<std::uint32_t, Formula> kind_of;
  for (std::uint32_t shape = 0; shape < events_.shapes.size(); ++shape) {
    if (events_.shapes[shape].task != task) continue;
    const auto of_shape = samples.find(shape);
    const auto formula =
        of_shape == samples.end() ? std::optional<Formula>(-1) : fit_formula(of_shape->second);
    if (!formula) return std::nullopt;
    kind_of.emplace(shape, *formula);
  }
  Which which;
  which.without_runs = kind_of.size() - samples.size();
  if (kinds.size() == 1 && which.without_runs == 0) return which;
  const auto is_number = [](const auto& each) {
    return each.second.text().find_first_not_of("-0123456789") == std::string::npos;
  };
  std::string number;  // number of the kind
  if (std::all_of(kind_of.begin(), kind_of.end(), is_number)) {
    for (const auto& [shape, kind] : kind_of) which.numbers[shape] = constant_of(kind);
    number = kWhich;
  } else if (kind_of.size() == 1) {
    number = kind_of.begin()->second.text();
  } else {
    for (const auto& [shape, kind] : kind_of) {
      const auto place = static_cast<std::int64_t>(which.numbers.size());
      which.numbers[shape] = place;
      const bool is_last = which.numbers.size() == kind_of.size();
      number += is_last ? fmt::format("({})", kind.text())
                        : fmt::format("{} == {} ? ({}) : ", kWhich, place, kind.text());
    }
  }
  if (number != kWhich) number = fmt::format("({})", number);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    which.is_kind.emplace_back(fmt::format("{} == {}", number, k));
    if (which.is_kind.back().text().size() > kMaxFormulaBytes) return std::nullopt;
  }
  return which;
}

// Describes the kind with its loops. If a formula is not right for all turns of a loop, describes
// each turn of that loop by launches of its own, provided that this gives fewer wrong values.
void RecordedBodies::add_kind(const Kind& kind, const Tree& tree, std::vector<AppStatement>& body) {
  // What a description adds to these lists stands at their ends.
  struct Sizes {
    std::size_t notes, shapes, partitions;
  };
  const auto sizes = [&] {
    return Sizes{notes_.size(), launch_shapes_.size(), app_.partitions.size()};
  };
  const auto drop = [&](const Sizes& from, const Sizes& to) {
    const auto drop_of = [](auto& list, std::size_t begin, std::size_t end) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(begin),
                 list.begin() + static_cast<std::ptrdiff_t>(end));
    };
    drop_of(notes_, from.notes, to.notes);
    drop_of(launch_shapes_, from.shapes, to.shapes);
    drop_of(app_.partitions, from.partitions, to.partitions);
  };
  const std::set<std::string> used = used_;
  const Sizes before = sizes();
  Tree turns = tree;
  body = described(kind, turns);
  std::size_t wrong = wrong_, size = size_of(tree);
  while (wrong > 0) {
    bool has_loop = false;
    Tree next = unrolled(turns, wrong_launches_, has_loop);
    const std::size_t more = size_of(next) - size;
    if (!has_loop || size_of(next) - size_of(tree) > kMostUnrolled ||
        statements_ + more > kMostStatements) {
      break;
    }
    turns = std::move(next);
    std::set<std::string> used_before = std::exchange(used_, used);
    const Sizes with_last = sizes();
    std::vector<AppStatement> better = described(kind, turns);
    if (wrong_ >= wrong) {
      drop(with_last, sizes());
      used_ = std::move(used_before);
      continue;
    }
    drop(before, with_last);
    wrong = wrong_;
    body = std::move(better);
    statements_ += size_of(turns) - size;
    size = size_of(turns);
  }
}

// Describes the kind by the statements of the tree, which gives its launches in their order.
std::vector<AppStatement> RecordedBodies::described(const Kind& kind, const Tree& tree) {
  runs_.clear();
  wrong_ = 0;
  wrong_launches_.clear();
  arguments_ = kind.contexts.front()->given.size();
  for (const Events::Context* context : kind.contexts) {
    std::vector<std::uint32_t> launches;
    unfold(context->launches, launches);
    std::size_t next = 0;
    std::vector<std::int64_t> counters;
    run(tree, launches, next, counters, context->given);
  }
  return statements(tree, 0);
}

// Returns the tree with the turns of the innermost loops around these launches one after the other.
// Sets `has_loop` if there is such a loop.
RecordedBodies::Tree RecordedBodies::unrolled(const Tree& tree,
                                              const std::set<const Repeat*>& launches,
                                              bool& has_loop) {
  Tree made;
  for (const Repeat& each : tree) {
    Repeat copy = each;
    copy.body = unrolled(each.body, launches, has_loop);
    const bool is_around =
        std::any_of(each.body.begin(), each.body.end(),
                    [&](const Repeat& inner) { return launches.contains(&inner); });
    if (!is_around) {
      made.push_back(std::move(copy));
      continue;
    }
    has_loop = true;
    // The caller does not use a longer tree, so it need not be complete.
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(each.count, 2 * kMostUnrolled); ++i) {
      made.insert(made.end(), copy.body.begin(), copy.body.end());
    }
  }
  return made;
}

void RecordedBodies::run(const Tree& tree, const std::vector<std::uint32_t>& launches,
                         std::size_t& next, std::vector<std::int64_t>& counters,
                         const std::vector<std::int64_t>& given) {
  for (const Repeat& each : tree) {
    if (each.body.empty()) {
      Runs& runs = runs_[&each];
      runs.loops = counters.size();
      runs.at.insert(runs.at.end(), counters.begin(), counters.end());
      runs.at.insert(runs.at.end(), given.begin(), given.end());
      runs.launches.push_back(launches[next++]);
      continue;
    }
    counters.push_back(0);
    for (std::uint32_t i = 0; i < each.count; ++i) {
      counters.back() = i;
      run(each.body, launches, next, counters, given);
    }
    counters.pop_back();
  }
}

std::vector<AppStatement> RecordedBodies::statements(const Tree& tree, std::size_t depth) {
  std::vector<AppStatement> made;
  for (const Repeat& each : tree) {
    if (each.body.empty()) {
      const std::size_t wrong = wrong_;
      made.push_back({launch(runs_.at(&each))});
      if (wrong_ > wrong) wrong_launches_.insert(&each);
      continue;
    }
    AppLoop loop;
    loop.count = each.count;
    loop.body = statements(each.body, depth + 1);
    if (used_.erase(counter_name(depth)) > 0) loop.variable = counter_name(depth);
    made.push_back({std::move(loop)});
  }
  return made;
}

// ---- One launch

AppLaunch RecordedBodies::launch(const Runs& runs) {
  const Events::Launch& first = events_.launches[runs.launches.front()];
  const Events::Shape& shape = events_.shapes[first.shape];
  AppLaunch made;
  made.task = app_.tasks[shape.task].name;
  launch_shapes_.push_back(first.shape);
  std::vector<std::string> names;
  for (std::size_t depth = 0; depth < runs.loops; ++depth) names.push_back(counter_name(depth));
  for (std::size_t d = 0; d < arguments_; ++d) names.push_back(argument_name(d));
  bool from_origin = true;
  for (std::size_t d = 0; d < shape.dimensions; ++d) {
    const std::string what = fmt::format("the domain of a launch of `{}`", made.task);
    made.lower.push_back(number(runs, d, names, {}, what));
    made.domain.push_back(number(runs, shape.dimensions + d, names, {}, what));
    from_origin = from_origin && made.lower.back() == Formula(0);
  }
  if (from_origin) made.lower.clear();
  made.data = data(shape, runs, names, made);
  const AppTask& task = app_.tasks[shape.task];
  bool as_task = true;
  for (std::size_t r = 0; r < made.data.size(); ++r) {
    if (made.data[r] == task.requirements[r].data) {
      made.data[r] = {};
    } else {
      as_task = false;
    }
  }
  if (as_task) made.data.clear();
  return made;
}

std::vector<AppData> RecordedBodies::data(const Events::Shape& shape, const Runs& runs,
                                          const std::vector<std::string>& names, AppLaunch& made) {
  const AppTask& task = app_.tasks[shape.task];
  const std::size_t dimensions = shape.dimensions;
  const std::vector<std::string> index = coordinate_names(dimensions);
  const Point size = extents_of(events_.launches[runs.launches.front()], dimensions);
  // Position in the numbers: those of one colour, then the tables.
  std::size_t next = 2 * dimensions;
  Table table{next};
  for (const Events::Requirement& from : shape.requirements) {
    table.begin += events_.given_colors(from, dimensions);
  }
  std::vector<AppData> all;
  for (std::size_t r = 0; r < shape.requirements.size(); ++r) {
    const Events::Requirement& from = shape.requirements[r];
    AppData& to = all.emplace_back();
    const AppRegion& region = app_.regions[from.region];
    to.of = region.name;
    const std::vector<AppField> fields = fields_of(region, from);
    if (from.privilege != task.requirements[r].privilege) to.privilege = from.privilege;
    if (fields != task.requirements[r].fields) {
      for (const AppField& field : fields) to.fields.push_back(field.name);
      if (fields.empty()) to.privilege = Privilege::kNoAccess;
    }
    if (from.how == Events::How::kWhole) continue;
    const auto partition = static_cast<std::size_t>(from.partition);
    const std::vector<std::int64_t> extents = color_extents(app_, app_.partitions[partition]);
    to.of = app_.partitions[partition].name;
    const std::string what =
        fmt::format("which piece of `{}` a launch of `{}` has", to.of, made.task);
    const std::size_t given = events_.given_colors(from, dimensions);
    for (std::size_t d = 0; d < given; ++d) {
      to.color.push_back(number(runs, next++, names, std::span(extents).subspan(d, 1), what));
    }
    if (from.how == Events::How::kPoint) {
      const Point& lower = events_.partitions[partition].colors.lower;
      for (std::size_t d = 0; d < dimensions; ++d) {
        const int own = lower.dimensions() - static_cast<int>(dimensions - d);
        const std::int64_t shift = own >= 0 ? lower[own] : 0;
        to.color.push_back(less(index[d], shift));
      }
    } else if (from.how == Events::How::kMapped) {
      std::vector<std::string> with_point = names;
      with_point.insert(with_point.end(), index.begin(), index.end());
      table.colors = extents.size();
      const std::size_t notes = notes_.size(), wrong = wrong_;
      for (std::size_t d = 0; d < extents.size(); ++d) {
        std::vector<std::int64_t> periods = {extents[d]};
        periods.insert(periods.end(), size.coordinates().begin(), size.coordinates().end());
        to.color.push_back(mapped(runs, table, d, periods, with_point, what));
      }
      const auto listed =
          wrong_ > wrong ? add_listed(shape, runs, from, table) : std::optional<std::size_t>();
      if (listed) {
        // The list takes the place of the formulas.
        notes_.resize(notes);
        wrong_ = wrong;
        to.of = app_.partitions[*listed].name;
        to.color.clear();
        for (std::size_t d = 0; d < dimensions; ++d) {
          to.color.push_back(less(index[d], events_.launches[runs.launches.front()].numbers[d]));
        }
        notes_.push_back(
            fmt::format("{} follows no rule that was found: the pieces are listed by point", what));
      }
      table.before += extents.size();
    }
    const bool is_point =
        to.color.size() == dimensions &&
        std::equal(index.begin(), index.end(), to.color.begin(),
                   [](const std::string& name, const Formula& is) { return is.text() == name; });
    if (is_point) to.color.clear();
    if (!is_point && from.how != Events::How::kFixed) made.index = index;
  }
  // Other launches of the task may have more requirements, which this launch does not use.
  for (std::size_t r = all.size(); r < task.requirements.size(); ++r) {
    all.push_back(
        {region_of(app_, task.requirements[r].data.of).name, {}, {}, Privilege::kNoAccess});
  }
  for (const AppData& each : all) {
    for (const Formula& formula : each.color) use(formula);
  }
  return all;
}

std::optional<std::size_t> RecordedBodies::add_listed(const Events::Shape& shape, const Runs& runs,
                                                      const Events::Requirement& from,
                                                      const Table& table) {
  // A launched task that launches something may depend on the colours of its own pieces.
  if (!all_same(runs.launches) || contexts_.contains(shape.task)) return std::nullopt;
  const Events::Launch& launch = events_.launches[runs.launches.front()];
  const Events::Partition& recorded = events_.partitions[static_cast<std::size_t>(from.partition)];
  const AppPartition& cut = app_.partitions[static_cast<std::size_t>(from.partition)];
  const Rect& bounds = events_.regions[recorded.region].bounds;
  std::map<std::vector<std::int64_t>, const Events::Piece*> pieces;
  for (const Events::Piece& piece : recorded.pieces) {
    const auto color = piece.color.coordinates();
    pieces.emplace(std::vector(color.begin(), color.end()), &piece);
  }
  std::size_t room = kMaxAppBoxes;
  std::set<std::string> names;
  for (const AppPartition& each : app_.partitions) {
    room -= std::min(room, each.boxes.size());
    names.insert(each.name);
  }
  for (const AppRegion& each : app_.regions) names.insert(each.name);
  if (app_.partitions.size() >= kMaxAppRegions) return std::nullopt;

  AppPartition made;
  const std::string base = fmt::format("{}_of_{}", cut.name, app_.tasks[shape.task].name)
                               .substr(0, kMaxAppNameBytes / 2);
  made.name = base;
  for (int next = 2; names.contains(made.name); ++next)
    made.name = fmt::format("{}_{}", base, next);
  made.unnamed = true;
  made.aliases = cut.aliases;
  if (!cut.unnamed) made.aliases.push_back(cut.name);
  made.of = app_.regions[from.region].name;
  const Rect domain{Point::zeros(static_cast<int>(shape.dimensions)),
                    extents_of(launch, shape.dimensions)};
  for (const std::int64_t extent : domain.extents.coordinates()) made.colors.emplace_back(extent);
  auto number = launch.numbers.begin() +
                static_cast<std::ptrdiff_t>(
                    table.begin + table.before * static_cast<std::size_t>(domain.volume()));
  Point point = domain.lower;
  do {
    const std::vector<std::int64_t> color(number,
                                          number + static_cast<std::ptrdiff_t>(table.colors));
    number += static_cast<std::ptrdiff_t>(table.colors);
    const auto piece = pieces.find(color);
    if (piece == pieces.end()) return std::nullopt;  // also if the point was not seen
    for (const Rect& box : boxes_of(*piece->second, bounds)) {
      if (made.boxes.size() == room) return std::nullopt;
      AppBox& to = made.boxes.emplace_back();
      to.color.assign(point.coordinates().begin(), point.coordinates().end());
      to.lower.assign(box.lower.coordinates().begin(), box.lower.coordinates().end());
      to.extents.assign(box.extents.coordinates().begin(), box.extents.coordinates().end());
    }
  } while (next_point(domain, &point));
  if (made.boxes.empty()) return std::nullopt;
  app_.partitions.push_back(std::move(made));
  return app_.partitions.size() - 1;
}

// ---- Formulas

void RecordedBodies::use(const Formula& formula) {
  const std::string& text = formula.text();
  for (std::size_t at = 0; at < text.size();) {
    const auto is_word = [&](std::size_t i) {
      return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0);
    };
    std::size_t end = at;
    while (is_word(end)) ++end;
    if (end > at) used_.insert(text.substr(at, end - at));
    at = end + 1;
  }
}

// Returns all runs if they are few. Otherwise returns the first run, and the runs in which only one
// counter differs from it.
std::vector<std::uint32_t> RecordedBodies::chosen_runs(const Runs& runs,
                                                       std::size_t samples_each) const {
  std::vector<std::uint32_t> chosen;
  if (all_same(runs.launches) && arguments_ == 0) return {0};
  const std::size_t most =
      std::max<std::size_t>(2, kMostSamples / std::max<std::size_t>(1, samples_each));
  const std::size_t width = runs.loops + arguments_;
  std::size_t lone = 0;
  for (std::size_t i = 0; i < runs.launches.size(); ++i) {
    const auto at = std::span(runs.at).subspan(i * width, width);
    const auto moved = std::count_if(at.begin(), at.end(), [](std::int64_t x) { return x != 0; });
    if (i < most || (moved <= 1 && lone++ < most)) chosen.push_back(static_cast<std::uint32_t>(i));
  }
  return chosen;
}

Formula RecordedBodies::number(const Runs& runs, std::size_t position,
                               const std::vector<std::string>& names,
                               std::span<const std::int64_t> periods, const std::string& what) {
  const auto value = [&](std::size_t i) {
    const auto& numbers = events_.launches[runs.launches[i]].numbers;
    return position < numbers.size() ? numbers[position] : 0;
  };
  const auto samples_of = [&](const std::vector<std::uint32_t>& chosen) {
    Samples samples{names, {}, {}};
    for (const std::uint32_t i : chosen) {
      samples.add(std::span(runs.at).subspan(i * names.size(), names.size()), value(i));
    }
    return samples;
  };
  if (all_same(runs.launches)) return Formula(value(0));
  const Samples chosen = samples_of(chosen_runs(runs, 1));
  std::vector<std::uint32_t> numbers(runs.launches.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const Samples all = samples_of(numbers);
  auto formula = fit_formula(chosen, periods);
  if (!formula || !is_right(*formula, all)) {
    std::vector<Formula> near = near_formulas(chosen, periods);
    if (formula) near.push_back(*formula);
    std::size_t most = 0;
    for (const Formula& each : near) {
      const std::size_t right = right_at(each, all);
      if (right <= most && &each != &near.front()) continue;
      most = right;
      formula = each;
    }
    note_nearest(*formula, what, most, all.count(), "launches");
  }
  use(*formula);
  return *formula;
}

void RecordedBodies::note_nearest(const Formula& formula, const std::string& what,
                                  std::size_t right, std::size_t all, const char* of) {
  notes_.push_back(fmt::format("{} follows no rule that was found: `{}` is right for {} of {} {}",
                               what, formula.text(), right, all, of));
  wrong_ += all - right;
}

void RecordedBodies::add_points(const Runs& runs, std::uint32_t run, const Table& table,
                                std::size_t coordinate, Samples& samples) const {
  const Events::Launch& launch = events_.launches[runs.launches[run]];
  const std::size_t dimensions = events_.shapes[launch.shape].dimensions;
  const std::size_t width = samples.names.size() - dimensions;
  const Rect domain{Point(std::span(launch.numbers).first(dimensions)),
                    extents_of(launch, dimensions)};
  const auto volume = static_cast<std::size_t>(domain.volume());
  if (volume == 0) return;
  const auto begin = runs.at.begin() + static_cast<std::ptrdiff_t>(run * width);
  std::vector<std::int64_t> at(begin, begin + static_cast<std::ptrdiff_t>(width));
  at.resize(width + dimensions);
  Point point = domain.lower;
  std::size_t number = table.begin + table.before * volume + coordinate;
  for (std::size_t p = 0; p < volume; ++p, number += table.colors) {
    for (std::size_t d = 0; d < dimensions; ++d) at[width + d] = point[static_cast<int>(d)];
    if (launch.numbers[number] != kNoNumber) samples.add(at, launch.numbers[number]);
    next_point(domain, &point);
  }
}

RecordedBodies::Score RecordedBodies::score_of(const Formula& formula, const Runs& runs,
                                               const Table& table, std::size_t coordinate,
                                               const std::vector<std::string>& names) const {
  Score score;
  // The runs do not differ, so one stands for all.
  const std::size_t last = all_same(runs.launches) && arguments_ == 0 ? 1 : runs.launches.size();
  for (std::uint32_t i = 0; i < last && score.all < kMostCompared; ++i) {
    Samples samples{names, {}, {}};
    add_points(runs, i, table, coordinate, samples);
    const std::size_t right = right_at(formula, samples);
    if (right < samples.count() && score.wrong.size() < kMostRefits) score.wrong.push_back(i);
    score.right += right;
    score.all += samples.count();
  }
  return score;
}

Formula RecordedBodies::mapped(const Runs& runs, const Table& table, std::size_t coordinate,
                               std::span<const std::int64_t> periods,
                               const std::vector<std::string>& names, const std::string& what) {
  const std::size_t dimensions =
      events_.shapes[events_.launches[runs.launches.front()].shape].dimensions;
  std::size_t largest = 0;
  for (const std::uint32_t launch : runs.launches) {
    const Point size = extents_of(events_.launches[launch], dimensions);
    const auto volume = Rect{Point::zeros(size.dimensions()), size}.volume();
    largest = std::max(largest, static_cast<std::size_t>(volume));
  }
  Samples samples{names, {}, {}};
  const auto add = [&](std::uint32_t run) {
    if (samples.count() < 4 * kMostSamples) add_points(runs, run, table, coordinate, samples);
  };
  for (const std::uint32_t run : chosen_runs(runs, largest)) add(run);
  // A formula of some runs may be wrong for the others, which then become samples too.
  std::vector<std::pair<Formula, Score>> tried;
  for (std::size_t refits = 0; refits < kMostRefits; ++refits) {
    auto formula = fit_formula(samples, periods);
    if (!formula) break;
    Score score = score_of(*formula, runs, table, coordinate, names);
    if (score.right == score.all) {
      use(*formula);
      return *formula;
    }
    for (const std::uint32_t run : score.wrong) add(run);
    tried.emplace_back(*std::move(formula), std::move(score));
  }
  const std::vector<Formula> near = near_formulas(samples, periods);
  Formula best = near.front();
  Score most = score_of(best, runs, table, coordinate, names);
  const auto take_if_better = [&](const Formula& formula, Score score) {
    if (score.right <= most.right) return;
    most = std::move(score);
    best = formula;
  };
  for (const Formula& each : std::span(near).subspan(1)) {
    take_if_better(each, score_of(each, runs, table, coordinate, names));
  }
  for (auto& [formula, score] : tried) take_if_better(formula, std::move(score));
  note_nearest(best, what, most.right, most.all, "points");
  use(best);
  return best;
}

// ---- Arguments

// Returns the formula of the value that the launched task gets at that position.
Formula RecordedBodies::given(const AppLaunch& launch, const AppTask& task, std::uint32_t shape,
                              std::size_t position) const {
  const std::vector<std::string> index = coordinate_names(launch.domain.size());
  const Events::Shape& from = events_.shapes[shape];
  std::size_t begin = from.dimensions;
  if (position < begin) return position < index.size() ? Formula(index[position]) : Formula(0);
  for (std::size_t r = 0; r < from.requirements.size() && r < task.requirements.size(); ++r) {
    const std::size_t colors = events_.color_dimensions(from.requirements[r]);
    if (position >= begin + colors) {
      begin += colors;
      continue;
    }
    const std::size_t d = position - begin;
    const bool own = launch.data.empty() || launch.data[r].of.empty();
    const AppData& data = own ? task.requirements[r].data : launch.data[r];
    if (d < data.color.size()) return data.color[d];
    const bool is_region = std::any_of(app_.regions.begin(), app_.regions.end(),
                                       [&](const AppRegion& each) { return each.name == data.of; });
    return is_region || d >= index.size() ? Formula(0) : Formula(index[d]);
  }
  return 0;
}

void RecordedBodies::give_arguments(std::vector<AppStatement>& body, std::size_t& next) const {
  for (AppStatement& statement : body) {
    if (auto* loop = std::get_if<AppLoop>(&statement.node)) {
      give_arguments(loop->body, next);
    } else if (auto* launch = std::get_if<AppLaunch>(&statement.node)) {
      const std::uint32_t shape = launch_shapes_[next++];
      const AppTask* task = app_.find(launch->task);
      if (task == nullptr || task->arguments.empty()) continue;
      const Needs& needs = needs_.at(task->name);
      for (const std::size_t position : needs.positions) {
        launch->arguments.push_back(given(*launch, *task, shape, position));
      }
      if (needs.which && !needs.which->numbers.empty()) {
        launch->arguments.emplace_back(needs.which->numbers.at(shape));
      }
      launch->index = coordinate_names(launch->domain.size());
    }
  }
}

void RecordedBodies::add_arguments() {
  std::size_t next = 0;
  for (AppTask& task : app_.tasks) give_arguments(task.body, next);
}

}  // namespace groma::app
