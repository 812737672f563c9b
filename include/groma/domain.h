// Domain: a set of integer points that need not be a box, with an exact map from k to the k-th
// point and back. Domains are declared in a small language (docs/domains.md):
//
//   domain triangle(n = 8) = (x, y) in loops y < n, x <= y;
//   domain gasket(r = 3) = (x, y) in digits base 2 levels r where (x & y) == 0;
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/geometry.h"
#include "groma/result.h"

namespace groma::domains {

class PointMap;
struct DeclarationTree;

// How it is known that the map of a domain is a bijection between 0, 1, ..., count() - 1 and the
// points.
struct Proof {
  enum class Kind : std::uint8_t {
    // The table of digits has distinct entries within its base. By induction over the levels, the
    // map is a bijection for every number of levels.
    kDigitTable,
    // The polynomial that counts the points below a loop counter satisfies its recursion
    // identically, and no loop has a negative length for these parameters.
    kPolynomial,
    // The points are those of boxes, cut into intervals of coordinates that share no value. The
    // points before each interval were counted, for these parameters only.
    kBoxes,
    // Each point was looked at, for these parameters only.
    kExhaustive,
  };
  Kind kind = Kind::kExhaustive;
  // What was proved, as a sentence without a full stop.
  std::string words;
};

// A domain with given parameters. Immutable, cheap to copy, and safe to use from any thread.
class Domain {
 public:
  const std::string& name() const { return name_; }
  // The number of points.
  std::int64_t count() const;
  int dimensions() const;
  // The smallest box that is known to hold all points. Empty if the domain has no points.
  const Rect& bounds() const { return bounds_; }
  // Returns the k-th point; 0 <= k < count().
  Point point(std::int64_t k) const;
  // Returns k of a point, or nullopt if the point is not in the domain.
  std::optional<std::int64_t> rank(const Point& point) const;
  bool contains(const Point& point) const { return rank(point).has_value(); }
  // Calls f(k, point) for k = begin, ..., end - 1 in this order; 0 <= begin <= end <= count(). This
  // is several times faster than point(k) for each k: the first point is found by its number, and
  // the next ones by counting up. If f returns bool, false ends the calls.
  template <typename Function>
  void for_each(std::int64_t begin, std::int64_t end, const Function& f) const;
  // Says how the map was proved.
  Proof proof() const;
  // The map itself, for code inside Groma.
  const std::shared_ptr<const PointMap>& map() const { return map_; }

 private:
  friend class Declaration;
  Domain(std::string name, std::shared_ptr<const PointMap> map, Rect bounds)
      : name_(std::move(name)), map_(std::move(map)), bounds_(bounds) {}

  // for_each() with this number of dimensions; 0: any.
  template <int kDimensions, typename Function>
  void walk(std::int64_t begin, std::int64_t end, const Function& f) const;
  // Writes the coordinates of the points begin, ..., end - 1, one point behind the other.
  void write_points(std::int64_t begin, std::int64_t end, std::int64_t* out) const;

  std::string name_;
  std::shared_ptr<const PointMap> map_;
  Rect bounds_;
};

template <typename Function>
void Domain::for_each(std::int64_t begin, std::int64_t end, const Function& f) const {
  // Copies of a known number of coordinates are faster.
  switch (dimensions()) {
    case 1:
      return walk<1>(begin, end, f);
    case 2:
      return walk<2>(begin, end, f);
    case 3:
      return walk<3>(begin, end, f);
    default:
      return walk<0>(begin, end, f);
  }
}

template <int kDimensions, typename Function>
void Domain::walk(std::int64_t begin, std::int64_t end, const Function& f) const {
  constexpr std::int64_t kBlock = 128;
  std::array<std::int64_t, static_cast<std::size_t>(kBlock) * kMaxDimensions> coordinates;
  const int width = kDimensions == 0 ? dimensions() : kDimensions;
  Point point = Point::zeros(width);
  while (begin < end) {
    const std::int64_t block_end = end - begin < kBlock ? end : begin + kBlock;
    write_points(begin, block_end, coordinates.data());
    const std::int64_t* next = coordinates.data();
    for (; begin < block_end; ++begin) {
      for (int d = 0; d < width; ++d) point[d] = *next++;
      if constexpr (std::is_same_v<decltype(f(begin, point)), bool>) {
        if (!f(begin, point)) return;
      } else {
        f(begin, point);
      }
    }
  }
}

// The name of a parameter and its value.
using ParameterValues = std::vector<std::pair<std::string, std::int64_t>>;

class DomainLibrary;

// Limits on a comparison of a map with its declaration, and a function that is called repeatedly
// with the work done in the current pass and all of it. The comparison ends when it returns false.
struct CompareOptions {
  std::int64_t max_mapped = std::int64_t{1} << 26;
  std::int64_t max_enumerated = std::int64_t{1} << 22;
  std::int64_t max_box = std::int64_t{1} << 26;
  std::function<bool(std::int64_t done, std::int64_t all)> progress = {};
};

// What a comparison has looked at.
struct Comparison {
  // The number of the first points that were mapped from k to the point and back.
  std::int64_t mapped = 0;
  // The number of points that following the text gives (counting the loops, combining the digits,
  // evaluating conditions), each of which was compared with the map. Only if the domain is small
  // enough.
  bool was_enumerated = false;
  std::int64_t enumerated = 0;
  // The number of points of the box for which it was asked whether they are in the domain, to find
  // points too many. 0 if the box is too large.
  std::int64_t box = 0;
  // The first difference, as a sentence without a full stop. Empty if there is none.
  std::string difference;
  bool was_stopped = false;
};

// One declaration of a text.
class Declaration {
 public:
  const std::string& name() const;
  // The comment directly above the declaration.
  const std::string& comment() const;
  // The declaration as it stands in the text.
  std::string_view text() const;
  // The parameters, with the values that they have if none is given.
  std::vector<std::pair<std::string, std::optional<std::int64_t>>> parameters() const;
  // Returns the texts of the coordinates of a point, such as "x" and "y"; empty if the first part
  // of the declaration refers to another domain.
  std::vector<std::string> coordinates() const;

  // Returns the domain for these values. Reports in `diags`, which must belong to the same text: an
  // unknown or missing parameter, a loop of negative length, parts that share points, a map that is
  // not a bijection, and numbers that do not fit, with the largest value of a parameter that does.
  std::optional<Domain> make(const ParameterValues& values, Diagnostics& diags) const;

  // Compares the map of a domain, which make() returned for these values, with the points that
  // following the text gives, with the other direction of the map, and with all points of the box.
  // A difference is a mistake in Groma.
  Comparison compare(const Domain& domain, const ParameterValues& values,
                     const CompareOptions& options = {}) const;

 private:
  friend class DomainLibrary;
  // Returns the values of the parameters in their order.
  std::optional<std::vector<std::int64_t>> read_values(const ParameterValues& given,
                                                       Diagnostics& diags) const;

  std::shared_ptr<const DomainLibrary> library_;
  const DeclarationTree* tree_ = nullptr;
};

// All declarations of a text.
class DomainLibrary : public std::enable_shared_from_this<DomainLibrary> {
 public:
  // Reads a text. Reports errors in `diags`; returns null if there are any.
  static std::shared_ptr<const DomainLibrary> read(Diagnostics& diags);
  ~DomainLibrary();

  std::vector<Declaration> declarations() const;
  // Returns nullopt if there is no such declaration.
  std::optional<Declaration> find(std::string_view name) const;
  const Source& source() const { return source_; }

 private:
  friend class Declaration;
  explicit DomainLibrary(Source source);

  Source source_;
  std::vector<DeclarationTree> trees_;
};

// Returns the domains that Groma knows, from dsl/domains.
std::shared_ptr<const DomainLibrary> known_domains();

}  // namespace groma::domains
