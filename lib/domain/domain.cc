// The public face of domains: declarations of a text and the domains that they make.
#include "groma/domain.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/build.h"
#include "domain/description.h"
#include "domain/known_text.h"
#include "domain/point_map.h"
#include "domain/tree.h"
#include "groma/spelling.h"

namespace groma::domains {

MapDescription PointMap::describe() const { return {}; }

std::int64_t Domain::count() const { return map_->count(); }
int Domain::dimensions() const { return map_->dimensions(); }
Proof Domain::proof() const { return map_->proof(); }

namespace {

// Copies the coordinates. A copy of a known number is several times faster than a loop.
template <typename From, typename To>
void copy_coordinates(const From& from, int dimensions, To& to) {
  using FromIndex = std::conditional_t<std::is_same_v<From, Point>, int, std::size_t>;
  using ToIndex = std::conditional_t<std::is_same_v<To, Point>, int, std::size_t>;
  const auto copy = [&](int d) { to[static_cast<ToIndex>(d)] = from[static_cast<FromIndex>(d)]; };
  copy(0);
  if (dimensions > 1) copy(1);
  if (dimensions > 2) copy(2);
  for (int d = 3; d < dimensions; ++d) copy(d);
}

}  // namespace

Point Domain::point(std::int64_t k) const {
  GROMA_REQUIRE(k >= 0 && k < count(), "the number of a point is from 0 to count() - 1");
  Coordinates coordinates;
  map_->unrank(k, coordinates);
  Point point = Point::zeros(map_->dimensions());
  copy_coordinates(coordinates, point.dimensions(), point);
  return point;
}

std::optional<std::int64_t> Domain::rank(const Point& point) const {
  if (point.dimensions() != dimensions()) return std::nullopt;
  Coordinates coordinates;
  copy_coordinates(point, point.dimensions(), coordinates);
  const std::int64_t k = map_->rank(coordinates);
  return k < 0 ? std::nullopt : std::optional(k);
}

void Domain::write_points(std::int64_t begin, std::int64_t end, std::int64_t* out) const {
  GROMA_REQUIRE(begin >= 0 && begin <= end && end <= count(),
                "points are numbered from 0 to count() - 1");
  map_->unrank_many(begin, static_cast<std::size_t>(end - begin), out);
}

const std::string& Declaration::name() const { return tree_->name; }
const std::string& Declaration::comment() const { return tree_->comment; }
std::string_view Declaration::text() const { return library_->source().text(tree_->range); }

std::vector<std::pair<std::string, std::optional<std::int64_t>>> Declaration::parameters() const {
  std::vector<std::pair<std::string, std::optional<std::int64_t>>> all;
  for (const auto& parameter : tree_->parameters) all.emplace_back(parameter.name, parameter.usual);
  return all;
}

std::vector<std::string> Declaration::coordinates() const {
  std::vector<std::string> texts;
  const PartTree& part = tree_->parts.front().second;
  if (part.kind == PartTree::Kind::kReference) return texts;
  const Node& top = part.head.top();
  const auto add = [&](const Node& node) {
    texts.emplace_back(library_->source().text(node.range));
  };
  if (top.operation != Operation::kTuple) {
    add(top);
  } else {
    for (const std::uint32_t child : top.children) add(part.head.nodes[child]);
  }
  return texts;
}

std::optional<std::vector<std::int64_t>> Declaration::read_values(const ParameterValues& given,
                                                                  Diagnostics& diags) const {
  std::vector<std::optional<std::int64_t>> values;
  for (const auto& parameter : tree_->parameters) values.push_back(parameter.usual);
  for (const auto& [given_name, value] : given) {
    const std::string& name = given_name;
    const auto found = std::find_if(tree_->parameters.begin(), tree_->parameters.end(),
                                    [&](const auto& parameter) { return parameter.name == name; });
    if (found == tree_->parameters.end()) {
      std::vector<std::string_view> known;
      for (const auto& parameter : tree_->parameters) known.push_back(parameter.name);
      Diagnostic& diagnostic =
          diags.report(DiagId::kDomainParameter, tree_->name_range, tree_->name,
                       fmt::format("has no parameter `{}`", name));
      suggest(diagnostic, name, known);
      return std::nullopt;
    }
    values[static_cast<std::size_t>(found - tree_->parameters.begin())] = value;
  }
  std::vector<std::int64_t> numbers;
  for (std::size_t p = 0; p < values.size(); ++p) {
    if (!values[p]) {
      diags.report(DiagId::kDomainParameter, tree_->name_range, tree_->name,
                   fmt::format("needs a value for `{}`", tree_->parameters[p].name));
      return std::nullopt;
    }
    numbers.push_back(*values[p]);
  }
  return numbers;
}

std::optional<Domain> Declaration::make(const ParameterValues& given, Diagnostics& diags) const {
  const auto numbers = read_values(given, diags);
  const PointMapPtr map =
      numbers ? build(library_->trees_, *tree_, *numbers, diags) : PointMapPtr();
  if (map == nullptr) return std::nullopt;
  Point lower = Point::zeros(map->dimensions()), extents = lower;
  for (int d = 0; d < map->dimensions() && map->count() > 0; ++d) {
    const auto i = static_cast<std::size_t>(d);
    lower[d] = map->lower()[i];
    extents[d] = map->upper()[i] - map->lower()[i] + 1;
  }
  return Domain(tree_->name, map, Rect{lower, extents});
}

std::shared_ptr<const DomainLibrary> DomainLibrary::read(Diagnostics& diags) {
  std::shared_ptr<DomainLibrary> library(new DomainLibrary(diags.source()));
  library->trees_ = parse_declarations(diags);
  for (const DeclarationTree& tree : library->trees_) {
    for (std::size_t i = 0; i < tree.parameters.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (tree.parameters[i].name != tree.parameters[j].name) continue;
        diags.report(DiagId::kDuplicateName, tree.parameters[i].range, tree.parameters[i].name);
      }
    }
  }
  for (std::size_t i = 0; i < library->trees_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (library->trees_[i].name != library->trees_[j].name) continue;
      diags.report(DiagId::kDuplicateName, library->trees_[i].name_range, library->trees_[i].name);
    }
  }
  return diags.has_errors() ? nullptr : library;
}

DomainLibrary::DomainLibrary(Source source) : source_(std::move(source)) {}
DomainLibrary::~DomainLibrary() = default;

std::vector<Declaration> DomainLibrary::declarations() const {
  std::vector<Declaration> all;
  for (const DeclarationTree& tree : trees_) {
    Declaration declaration;
    declaration.library_ = shared_from_this();
    declaration.tree_ = &tree;
    all.push_back(std::move(declaration));
  }
  return all;
}

std::optional<Declaration> DomainLibrary::find(std::string_view name) const {
  for (Declaration& declaration : declarations()) {
    if (declaration.name() == name) return std::move(declaration);
  }
  return std::nullopt;
}

std::shared_ptr<const DomainLibrary> known_domains() {
  static const std::shared_ptr<const DomainLibrary> known = [] {
    Diagnostics diags{Source("dsl/domains/known.domain", std::string(known_text()))};
    std::shared_ptr<const DomainLibrary> library = DomainLibrary::read(diags);
    GROMA_CHECK(library != nullptr);
    return library;
  }();
  return known;
}

}  // namespace groma::domains
