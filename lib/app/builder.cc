// The first part of build(): reads the parameters, definitions, sizes, regions and partitions of an
// application, and contains the checks and the error reports that all parts share.
#include "app/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "app/pieces.h"
#include "base/boxes.h"
#include "groma/spelling.h"
#include "machine/quote.h"

namespace groma::app {
namespace {

constexpr std::int64_t kMaxFieldBytes = std::int64_t{1} << 40;

// Returns the names by which a mapping can refer to a region or partition.
template <typename Data>
Names names_of(const Data& from) {
  Names names;
  if (!from.unnamed) names.push_back(from.name);
  names.insert(names.end(), from.aliases.begin(), from.aliases.end());
  return names;
}

}  // namespace

// Checks `app` with these parameter values and fills `data`. builder.h describes the errors.
std::vector<AppError> build(const Application& app, const std::vector<AppValue>& values, Data& data,
                            const std::function<bool()>& stop) {
  return Builder(app, values, data, stop).build();
}

// Reads all parts of the application and returns the errors. A part is read after the parts to
// which it refers: for example, partitions are read after regions. If a part has errors, the parts
// after it are skipped, except the runtime costs, which refer to nothing.
std::vector<AppError> Builder::build() {
  data_.name = app_.name;
  if (app_.name.size() > kMaxAppNameBytes) check_name("/name", app_.name);
  read_values();
  if (ok()) read_definitions();
  if (ok()) read_sizes();
  if (ok()) read_regions();
  if (ok()) read_partitions();
  if (ok()) find_cells();
  if (ok()) read_tasks();
  if (ok()) read_metric();
  read_runtime();
  if (budget_.exceeded()) return {{"", "reading it was stopped", "", Error::Code::kStopped}};
  return std::move(faults_);
}

// Records an error. Does nothing if the part that is being read has an error already, because a
// second error may only follow from the first one.
void Builder::fail(std::string path, std::string message, std::string help, Error::Code code) {
  if (!ok() || enough_) return;
  faults_.push_back({std::move(path), std::move(message), std::move(help), code});
  // kTooLarge says that the application as a whole is too large. Every later check would then fail
  // too, so no more errors are recorded.
  enough_ = faults_.size() == kMaxFileErrors || code == Error::Code::kTooLarge;
}

// Reports an unknown name, with the nearest names as help, or a few known names if none is near.
void Builder::fail_unknown(std::string path, std::string message, std::string_view name,
                           const std::vector<std::string_view>& known) {
  constexpr std::size_t kMostListed = 8;
  const auto near = near_names(name, known);
  std::string help;
  if (!near.empty()) {
    help = fmt::format("did you mean {}?", join_names(near));
  } else if (!known.empty() && known.size() <= kMostListed) {
    help = fmt::format("known {} {}", known.size() == 1 ? "is" : "are", join_names(known, "and"));
  }
  fail(std::move(path), std::move(message), std::move(help));
}

// Reports a name that is neither a region nor a partition, with the nearest names as help.
void Builder::fail_unknown_data(std::string path, std::string_view name) {
  std::vector<std::string_view> known;
  for (const AppRegion& each : app_.regions) known.push_back(each.name);
  for (const AppPartition& each : app_.partitions) known.push_back(each.name);
  fail_unknown(std::move(path), fmt::format("no region or partition is named {}", in_quotes(name)),
               name, known);
}

// Returns true if a number is within its limit, and reports an error otherwise. `what` names the
// counted things.
bool Builder::check_count(const std::string& path, std::size_t count, std::size_t most,
                          std::string_view what) {
  if (count > most) {
    fail(path, fmt::format("{} {}; at most {}", count, what, most), {}, Error::Code::kTooLarge);
  }
  return ok();
}

// Returns true if a name is neither empty nor too long, and reports an error otherwise.
bool Builder::check_name(const std::string& path, std::string_view name) {
  if (name.empty()) fail(path, "a name is empty");
  if (name.size() > kMaxAppNameBytes) {
    fail(path, fmt::format("a name of {} bytes; at most {}", name.size(), kMaxAppNameBytes));
  }
  return ok();
}

// Checks the other names (aliases) of a region, partition or requirement. Returns true if there are
// not too many and each name is good.
bool Builder::check_aliases(const std::string& path, const std::vector<std::string>& names) {
  check_count(path, names.size(), kMaxAppAliases, "names");
  for (std::size_t i = 0; i < names.size() && ok(); ++i) {
    check_name(fmt::format("{}/{}", path, i), names[i]);
  }
  return ok();
}

// Returns true if formulas can use the name: it consists of letters, digits and `_`, does not begin
// with a digit, and is not the name of a function. Reports an error otherwise.
bool Builder::check_formula_name(const std::string& path, std::string_view name) {
  if (check_name(path, name) && !is_formula_name(name)) {
    fail(path, "it is not a name that a formula can use",
         "letters, digits and `_`, no digit first; not `min`, `max`, `points` or `extent`");
  }
  return ok();
}

// Checks the names of parameters, arguments or coordinates. Returns false, after reporting an
// error, if a name is not a formula name or occurs twice. `below` is appended to the JSON pointer
// of each name: "/name" if the list consists of objects.
bool Builder::check_variable_names(const std::string& path, const std::vector<std::string>& names,
                                   std::string_view below) {
  check_count(path, names.size(), kMaxAppNames, "names");
  for (std::size_t i = 0; i < names.size() && ok(); ++i) {
    const std::string place = fmt::format("{}/{}{}", path, i, below);
    check_formula_name(place, names[i]);
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      fail(place, "this name is there already");
    }
  }
  return ok();
}

// Compiles a formula and returns its code. On an error, reports the error at `path` and returns an
// empty code, whose value is 0. A formula without variables is evaluated at once and becomes a
// constant, so that a division by zero in it is reported before any run.
CompiledFormula Builder::compile(const std::string& path, const Formula& formula,
                                 std::optional<PieceShapes> pieces) {
  // The cost of a compilation grows with the text. The factor 4 converts bytes into units of
  // Budget.
  if (budget_.spend(1 + 4 * static_cast<std::int64_t>(formula.text().size()))) {
    enough_ = true;
    return {};
  }
  FormulaError error;
  std::optional<CompiledFormula> code = app::compile(formula, scope_, error, pieces);
  if (!code) {
    fail(path, std::move(error.message), std::move(error.help));
    return {};
  }
  if (!code->reads_no_input()) return *std::move(code);
  FormulaFault fault = FormulaFault::kNone;
  const std::int64_t value = code->value({}, fault);
  if (fault != FormulaFault::kNone) fail(path, std::string(words_of(fault)));
  return CompiledFormula(value);
}

// Compiles each formula of a list, and returns the list of their codes.
Codes Builder::compile_all(const std::string& path, const Formulas& formulas) {
  Codes codes;
  for (std::size_t i = 0; i < formulas.size() && ok(); ++i) {
    codes.push_back(compile(fmt::format("{}/{}", path, i), formulas[i]));
  }
  return codes;
}

// Returns the value of a formula that reads no variables. Reports an error and returns 0 if the
// formula has no value.
std::int64_t Builder::constant(const std::string& path, const Formula& formula) {
  return compile(path, formula).constant();
}

// Returns the box at the origin with these extents. Returns nullopt, after reporting an error, if
// the number of dimensions is wrong, an extent is negative, or the box has more than 2^63-1 points.
std::optional<Rect> Builder::box_of_extents(const std::string& path, const Formulas& extents) {
  if (extents.empty() || extents.size() > kMaxDimensions) {
    fail(path, fmt::format("{} dimensions; 1 to {} may be", extents.size(), kMaxDimensions));
    return std::nullopt;
  }
  Point size = Point::zeros(static_cast<int>(extents.size()));
  for (std::size_t i = 0; i < extents.size() && ok(); ++i) {
    const std::string place = fmt::format("{}/{}", path, i);
    size[static_cast<int>(i)] = constant(place, extents[i]);
    if (ok() && size[static_cast<int>(i)] < 0) {
      fail(place, fmt::format("{} is not a size", size[static_cast<int>(i)]));
    }
  }
  if (!ok()) return std::nullopt;
  std::optional<Rect> box = Rect::make(size);
  if (!box) fail(path, "there are more than 2^63-1 points", {}, Error::Code::kTooLarge);
  return box;
}

// ---- Parameters

// Reads the parameters, sets their default values and then the values that the caller gave. Reports
// a given name that is not a parameter, and every value that is outside the range of its parameter.
void Builder::read_values() {
  check_count("/parameters", app_.parameters.size(), kMaxAppParameters, "parameters");
  std::vector<std::string> names;
  for (const AppParameter& parameter : app_.parameters) names.push_back(parameter.name);
  check_variable_names("/parameters", names, "/name");
  if (!ok()) return;
  for (const AppParameter& parameter : app_.parameters) {
    data_.values.emplace_back(parameter.name, parameter.value);
  }
  for (const auto& [name, value] : given_) {
    const auto known = std::find_if(data_.values.begin(), data_.values.end(),
                                    [&name = name](const AppValue& v) { return v.first == name; });
    if (known == data_.values.end()) {
      fail_unknown("/parameters", fmt::format("`{}` has no parameter `{}`", app_.name, name), name,
                   {names.begin(), names.end()});
      faults_.back().code = Error::Code::kUnknown;
      return;
    }
    known->second = value;
  }
  for (std::size_t i = 0; i < app_.parameters.size(); ++i) {
    const AppParameter& parameter = app_.parameters[i];
    const std::int64_t value = data_.values[i].second;
    scope_.add_constant(parameter.name, value);
    if (value >= parameter.least && value <= parameter.most) continue;
    read_independently([&] {
      fail(fmt::format("/parameters/{}/value", i),
           fmt::format("`{}` is {}; {} to {} may be", parameter.name, value, parameter.least,
                       parameter.most));
    });
  }
}

// Reads the definitions; each formula may use earlier names.
void Builder::read_definitions() {
  check_count("/definitions", app_.definitions.size(), kMaxAppNames, "definitions");
  for (std::size_t i = 0; i < app_.definitions.size() && ok(); ++i) {
    const AppDefinition& definition = app_.definitions[i];
    const std::string path = fmt::format("/definitions/{}", i);
    check_formula_name(path + "/name", definition.name);
    if (scope_.find(definition.name) != nullptr) fail(path + "/name", "this name is there already");
    const std::int64_t value = constant(path + "/value", definition.value);
    scope_.add_constant(definition.name, value);
  }
}

// Checks all named sizes. Their values are not used in this workload; with_values() applies them.
void Builder::read_sizes() {
  check_count("/sizes", app_.sizes.size(), kMaxAppNames, "sizes");
  for (std::size_t i = 0; i < app_.sizes.size() && !enough_; ++i) {
    read_independently([&] { read_size(fmt::format("/sizes/{}", i), i); });
  }
}

// Checks a named size. Its name must be new. Each of its values must belong to an existing
// parameter, occur once and lie in the range of the parameter.
void Builder::read_size(const std::string& path, std::size_t number) {
  const AppSize& size = app_.sizes[number];
  check_name(path + "/name", size.name);
  for (std::size_t other = 0; other < number; ++other) {
    if (app_.sizes[other].name == size.name) {
      fail(path + "/name", fmt::format("size {} has this name already", other));
    }
  }
  check_count(path + "/values", size.values.size(), kMaxAppParameters, "values");
  std::unordered_set<std::string_view> seen;
  for (const auto& [name, value] : size.values) {
    const auto known = std::find_if(
        app_.parameters.begin(), app_.parameters.end(),
        [&name = name](const AppParameter& parameter) { return parameter.name == name; });
    const std::string place = fmt::format("{}/values/{}", path, name);
    if (known == app_.parameters.end()) {
      fail(path + "/values", "a value for a parameter that does not exist");
    } else if (!seen.insert(name).second) {
      fail(place, "it has a value already");
    } else if (value < known->least || value > known->most) {
      fail(place, fmt::format("{} is not within {} to {}", value, known->least, known->most));
    }
    if (!ok()) return;
  }
}

// ---- Data

// Checks the number of fields and the size and name of each field. Returns false after reporting an
// error. `named`: every field must have a name. Fields of a requirement may lack one if the region
// is not described.
bool Builder::check_fields(const std::string& path, const std::vector<AppField>& fields,
                           bool named) {
  check_count(path, fields.size(), kMaxAppFields, "fields");
  for (std::size_t i = 0; i < fields.size() && ok(); ++i) {
    const AppField& field = fields[i];
    if (field.bytes < 1 || field.bytes > kMaxFieldBytes) {
      fail(fmt::format("{}/{}/bytes", path, i),
           fmt::format("{} is not a size of a field (1 to {})", field.bytes, kMaxFieldBytes));
    }
    if (named || field.name.size() > kMaxAppNameBytes) {
      check_name(fmt::format("{}/{}/name", path, i), field.name);
    }
  }
  return ok();
}

// Reads all regions. An error in one region does not hide errors in the other regions.
void Builder::read_regions() {
  check_count("/regions", app_.regions.size(), kMaxAppRegions, "regions");
  for (std::size_t i = 0; i < app_.regions.size() && !enough_; ++i) {
    read_independently([&] { read_region(fmt::format("/regions/{}", i), i); });
  }
}

// Reads a region and numbers its fields by name. Reports names that are taken, and a region whose
// size in bytes does not fit 63 bits.
void Builder::read_region(const std::string& path, std::size_t number) {
  const AppRegion& from = app_.regions[number];
  check_name(path + "/name", from.name);
  check_aliases(path + "/aliases", from.aliases);
  if (ok() && !region_numbers_.emplace(from.name, number).second) {
    fail(path + "/name", "another region has this name already");
  }
  check_fields(path + "/fields", from.fields, true);
  auto& seen = field_numbers_.emplace_back();
  for (std::size_t f = 0; f < from.fields.size() && ok(); ++f) {
    if (!seen.emplace(from.fields[f].name, f).second) {
      fail(fmt::format("{}/fields/{}/name", path, f), "another field has this name already");
    }
  }
  const std::optional<Rect> box = this->box_of_extents(path + "/extents", from.extents);
  if (!box) return;
  Region& region = data_.regions.emplace_back();
  region.name = from.name;
  region.names = names_of(from);
  region.box = *box;
  region.fields = from.fields;
  std::int64_t bytes = 0;
  for (const AppField& field : from.fields) bytes += field.bytes;
  if (__builtin_mul_overflow(bytes, box->volume(), &bytes)) {
    fail(path, "it has more than 2^63-1 bytes", {}, Error::Code::kTooLarge);
  }
}

// Reads all partitions. All names are checked and numbered first, because a partition may cut
// another partition that stands after it in the application.
void Builder::read_partitions() {
  check_count("/partitions", app_.partitions.size(), kMaxAppRegions, "partitions");
  for (std::size_t i = 0; i < app_.partitions.size() && !enough_; ++i) {
    read_independently([&] {
      const std::string path = fmt::format("/partitions/{}/name", i);
      const std::string& name = app_.partitions[i].name;
      check_name(path, name);
      if (region_numbers_.contains(name)) fail(path, "a region has this name already");
      if (ok() && !partition_numbers_.emplace(name, i).second) {
        fail(path, "another partition has this name already");
      }
    });
  }
  if (!ok()) return;
  data_.partitions.resize(app_.partitions.size());
  partitions_.resize(app_.partitions.size());
  for (std::size_t i = 0; i < app_.partitions.size() && !enough_; ++i) {
    read_independently([&] { read_partition(i, 1); });
  }
}

// Computes the cells of the regions that have a partition by boxes (app/cells.h says what a cell
// is). Reports an error at the partition that caused it.
void Builder::find_cells() {
  auto fault = make_cells(data_, budget_);
  if (!fault) return;
  fail(fmt::format("/partitions/{}", fault->partition), std::move(fault->why), {},
       fault->too_large ? Error::Code::kTooLarge : Error::Code::kMalformed);
}

// Reads a partition, after the partitions that it cuts. Reports a partition that cuts itself,
// directly or through other partitions. A partition that was read before is not read again. Returns
// true if the partition has no error.
bool Builder::read_partition(std::size_t number, int depth) {
  const AppPartition& from = app_.partitions[number];
  const std::string path = fmt::format("/partitions/{}", number);
  switch (partitions_[number]) {
    case Progress::kToDo: {
      partitions_[number] = Progress::kAtIt;
      const bool right = read_parent_and_pieces(path, from, depth, data_.partitions[number]);
      partitions_[number] = right ? Progress::kDone : Progress::kWrong;
      return right;
    }
    case Progress::kAtIt:
      fail(path + "/of", fmt::format("`{}` is cut from itself", from.name),
           "a partition cuts a region, or a partition that does in the end");
      return false;
    default:
      return partitions_[number] == Progress::kDone;
  }
}

// Reads what a partition cuts, and then its pieces. If the partition cuts another partition, the
// other partition is read first. Returns false after reporting an error. `depth` is the number of
// partitions that are being read, and limits the recursion.
bool Builder::read_parent_and_pieces(const std::string& path, const AppPartition& from, int depth,
                                     Partition& to) {
  const auto too_deep = [&] {
    fail(path + "/of", fmt::format("more than {} partitions of each other", kMaxAppPartitionDepth));
    return false;
  };
  if (depth > kMaxAppPartitionDepth) return too_deep();
  to.name = from.name;
  to.names = names_of(from);
  if (!check_aliases(path + "/aliases", from.aliases)) return false;
  const Names* above = nullptr;
  if (const auto region = region_numbers_.find(from.of); region != region_numbers_.end()) {
    to.region = region->second;
    above = &data_.regions[to.region].names;
  } else if (const auto outer = partition_numbers_.find(from.of);
             outer != partition_numbers_.end()) {
    if (!read_partition(outer->second, depth + 1)) return false;
    // `depth` counts only the partitions that are being read, not outer partitions that were read
    // earlier. So the nesting levels of the outer partition are counted here.
    int levels = 1;
    for (int o = static_cast<int>(outer->second); o >= 0; ++levels) {
      o = data_.partitions[static_cast<std::size_t>(o)].outer;
    }
    if (levels > kMaxAppPartitionDepth) return too_deep();
    to.outer = static_cast<int>(outer->second);
    to.region = data_.partitions[outer->second].region;
    above = &data_.partitions[outer->second].names;
  } else {
    fail_unknown_data(path + "/of", from.of);
    return false;
  }
  to.names.insert(to.names.end(), above->begin(), above->end());
  read_pieces(path, from, to);
  return ok();
}

// Reads how a partition divides its region into pieces: the colours, and then equal blocks,
// formulas of the colour, or boxes. The three forms exclude each other.
void Builder::read_pieces(const std::string& path, const AppPartition& from, Partition& to) {
  const auto dimensions = static_cast<std::size_t>(data_.regions[to.region].box.dimensions());
  const std::optional<Rect> own = box_of_extents(path + "/colors", from.colors);
  if (!own) return;
  to.own_colors = *own;
  // The colour space has the dimensions of the outer partition first, then the partition's own.
  std::vector<std::int64_t> extents;
  if (to.outer >= 0) {
    const Point& outer = data_.partitions[static_cast<std::size_t>(to.outer)].colors.extents;
    extents.assign(outer.coordinates().begin(), outer.coordinates().end());
  }
  extents.insert(extents.end(), own->extents.coordinates().begin(),
                 own->extents.coordinates().end());
  std::optional<Rect> all;
  if (extents.size() <= kMaxDimensions) all = Rect::make(Point(extents));
  if (!all) {
    return fail(path + "/colors",
                fmt::format("with those of `{}` these are more than {} dimensions or 2^63-1 "
                            "colours",
                            from.of, kMaxDimensions),
                {}, Error::Code::kTooLarge);
  }
  to.colors = *all;
  to.by_boxes = !from.boxes.empty();
  const bool by_formula = !from.lower.empty() || !from.extents.empty();
  if (to.by_boxes && (by_formula || !from.halo.empty())) {
    return fail(path + "/boxes", "`boxes` stand beside `lower`, `extents` or `halo`",
                "give one or the other");
  }
  if (!by_formula && !to.by_boxes && own->extents.dimensions() != static_cast<int>(dimensions)) {
    return fail(path + "/colors",
                fmt::format("equal blocks need a number for each of the {} dimensions of `{}`",
                            dimensions, data_.regions[to.region].name),
                "or give `lower` and `extents` of a piece");
  }
  const auto each_dimension = [&](std::string_view key, std::size_t count) {
    if (count != dimensions) {
      fail(fmt::format("{}/{}", path, key), fmt::format("{} given, `{}` has {} dimensions", count,
                                                        data_.regions[to.region].name, dimensions));
    }
  };
  if (by_formula) each_dimension("lower", from.lower.size());
  if (by_formula) each_dimension("extents", from.extents.size());
  if (!from.halo.empty()) each_dimension("halo", from.halo.size());
  if (!from.index.empty() &&
      from.index.size() != static_cast<std::size_t>(own->extents.dimensions())) {
    fail(path + "/index", fmt::format("{} names for {} coordinates of a colour", from.index.size(),
                                      own->extents.dimensions()));
  }
  check_variable_names(path + "/index", from.index);
  if (!ok()) return;
  // The formulas of the pieces may use the names of the colour's own coordinates.
  const Scope::ScopeMark mark = scope_.mark();
  for (const std::string& name : from.index) scope_.add_variable(name);
  to.lower = compile_all(path + "/lower", from.lower);
  to.extents = compile_all(path + "/extents", from.extents);
  for (std::size_t i = 0; i < from.boxes.size() && ok(); ++i) {
    read_box(fmt::format("{}/boxes/{}", path, i), from.boxes[i], to);
  }
  scope_.remove_names_since(mark);
  // cut() finds the boxes of a colour by binary search. Boxes of one colour keep their order.
  std::stable_sort(to.boxes_of_color.begin(), to.boxes_of_color.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t d = 0; d < from.halo.size() && ok(); ++d) {
    const std::string place = fmt::format("{}/halo/{}", path, d);
    to.halo.push_back(constant(place, from.halo[d]));
    if (ok() && to.halo.back() < 0) fail(place, "a halo is not negative");
  }
}

// Reads one box of a piece. The formulas of the box can use the names of the coordinates of the
// partition's own colour. A box without a colour belongs to every colour and keeps its formulas. A
// box with a colour is evaluated at once, because its colour is known.
void Builder::read_box(const std::string& path, const AppBox& from, Partition& to) {
  const int dimensions = data_.regions[to.region].box.dimensions();
  if (++boxes_ > kMaxAppBoxes) {
    return fail(path, fmt::format("more than {} boxes", kMaxAppBoxes), {}, Error::Code::kTooLarge);
  }
  for (const auto& [key, given] : {std::pair("lower", &from.lower), {"extents", &from.extents}}) {
    if (std::ssize(*given) == dimensions) continue;
    return fail(fmt::format("{}/{}", path, key),
                fmt::format("{} given, `{}` has {} dimensions", given->size(),
                            data_.regions[to.region].name, dimensions));
  }
  Partition::Box box{compile_all(path + "/lower", from.lower),
                     compile_all(path + "/extents", from.extents)};
  if (!ok()) return;
  if (from.color.empty()) {
    to.boxes.push_back(std::move(box));
    return;
  }
  const Rect& colors = to.colors;
  if (std::ssize(from.color) != colors.dimensions()) {
    return fail(path + "/color", fmt::format("{} coordinates, a colour has {}", from.color.size(),
                                             colors.dimensions()));
  }
  Point color = Point::zeros(colors.dimensions());
  for (int d = 0; d < color.dimensions() && ok(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const std::string place = fmt::format("{}/color/{}", path, i);
    const CompiledFormula code = compile(place, from.color[i]);
    if (ok() && !code.reads_no_input()) fail(place, "the colour of a box is a number");
    color[d] = code.constant();
    if (ok() && (color[d] < 0 || color[d] >= colors.extents[d])) {
      fail(place, fmt::format("{} is not a colour; 0 to {} are", color[d], colors.extents[d] - 1));
    }
  }
  Rect made{Point::zeros(dimensions), Point::zeros(dimensions)};
  FormulaFault fault = FormulaFault::kNone;
  const auto own = color.coordinates().last(static_cast<std::size_t>(to.own_colors.dimensions()));
  for (int d = 0; d < dimensions && ok(); ++d) {
    made.lower[d] = box.lower[static_cast<std::size_t>(d)].value(own, fault);
    made.extents[d] = box.extents[static_cast<std::size_t>(d)].value(own, fault);
  }
  if (fault != FormulaFault::kNone) fail(path, std::string(words_of(fault)));
  if (ok()) to.boxes_of_color.emplace_back(row_major_position(colors, color), made);
}

}  // namespace groma::app
