// Builder: builds the map of one declaration. build.h is the way in; build.cc joins the parts of a
// declaration, build_loops.cc and build_digits.cc build one part.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/composed_maps.h"
#include "domain/digit_map.h"
#include "domain/loop_map.h"
#include "domain/point_map.h"
#include "domain/polynomial.h"
#include "domain/tree.h"
#include "groma/diagnostics.h"

namespace groma::domains {

// Returns the first coordinates as text: "(1, 2)".
inline std::string coordinate_words(const Coordinates& point, int dimensions) {
  std::vector<std::int64_t> items(point.begin(), point.begin() + dimensions);
  return fmt::format("({})", fmt::join(items, ", "));
}

class Builder {
 public:
  // In a probe, only sizes matter: points are not looked at, and nothing is reported.
  // `built_parts` counts the parts of all domains that are built for one.
  Builder(const std::vector<DeclarationTree>& trees, Diagnostics& diags, bool is_probe,
          int* built_parts)
      : trees_(trees), diags_(diags), is_probe_(is_probe), built_parts_(built_parts) {}

  // Returns null after an error.
  PointMapPtr declaration(const DeclarationTree& tree, const std::vector<std::int64_t>& values,
                          int depth);

  bool is_too_large() const { return is_too_large_; }

 private:
  template <typename... Arguments>
  Diagnostic& report(DiagId id, Range range, const Arguments&... arguments) {
    return diags_.report(id, range, arguments...);
  }
  PointMapPtr too_large(Range range, std::string_view why);
  // Evaluates an expression of the parameters.
  std::optional<Value> evaluate(Expression expression);
  std::optional<std::int64_t> evaluate_integer(const Expression& expression);

  // ---- Parts

  PointMapPtr parts(const DeclarationTree& tree, int depth);
  static bool count_fits(const std::vector<PointMapPtr>& parts);
  // Joins a part by `or` or `except`. Looks at each point only if there are other sets than boxes.
  bool combine(DeclarationTree::Join join, const PartTree& tree, PointMapPtr next,
               std::vector<PointMapPtr>* joined);
  // Returns the boxes of which the parts consist, or nullopt if they are not boxes or too many.
  static std::optional<std::vector<Box>> boxes_of(const std::vector<PointMapPtr>& parts);
  template <typename Keep>
  PointMapPtr subset(const PartTree& tree, PointMapPtr inner, const Keep& keep) {
    if (inner->count() > kMaxChosenFrom) {
      return too_large(
          tree.range,
          fmt::format("points are chosen from {}, and at most 2^28 are looked at", inner->count()));
    }
    return make_subset(std::move(inner),
                       [&](const Coordinates& point) { return keep(point) ? 1 : 0; });
  }
  PointMapPtr part(const PartTree& tree, int depth);
  PointMapPtr reference(const PartTree& tree, int depth);

  // ---- Loops

  // Returns the polynomial of an expression of parameters and counters.
  std::optional<Polynomial> polynomial(const Expression& expression, std::uint32_t number);
  PointMapPtr loops(const PartTree& tree);
  std::string cure_in_bound(const PartTree& tree, const std::vector<NameInScope>& scope,
                            std::string_view name) const;
  static std::string cure_in_head(const PartTree& tree, std::string_view name);
  std::string parameter_words() const;
  PointMapPtr loop_fault(const PartTree& tree, const LoopFault& fault);

  // ---- Digits

  // Returns the names in the head that are not parameters, in the order of their appearance.
  std::vector<NameInScope> coordinates_of(const PartTree& tree);
  PointMapPtr digits(const PartTree& tree);
  bool listed_digits(const PartTree& tree, int dimensions, std::vector<Coordinates>* table);
  // Lists the digit vectors for which the condition is not 0; the first coordinate runs fastest.
  bool matching_digits(const PartTree& tree, const std::vector<NameInScope>& coordinates,
                       std::int64_t base, std::vector<Coordinates>* table);
  PointMapPtr digit_fault(const PartTree& tree, const DigitFaultAt& at,
                          const std::vector<Coordinates>& table, int dimensions);

  // ---- The coordinates, and the condition of loops

  // Applies the head of a part to the counters, and leaves out the points for which the condition
  // of a part with loops is 0.
  PointMapPtr head(const PartTree& tree, PointMapPtr inner, const std::vector<NameInScope>& scope);
  // Reads the factors of the counters and the constant, with the values of the parameters.
  bool affine_row(const Polynomial& polynomial, Coordinates* row, std::int64_t* offset);
  // Returns true if the coordinates are the counters in their order.
  static bool is_unit(const std::vector<Coordinates>& factors, const Coordinates& offsets,
                      int dimensions);
  PointMapPtr matching_points(const PartTree& tree, PointMapPtr inner,
                              const std::vector<NameInScope>& scope);

  // ---- A map by an expression

  PointMapPtr explicit_map(const DeclarationTree& tree, PointMapPtr inner);

  const std::vector<DeclarationTree>& trees_;
  Diagnostics& diags_;
  const bool is_probe_;
  int* const built_parts_;
  const DeclarationTree* tree_ = nullptr;
  const std::vector<std::int64_t>* values_ = nullptr;
  std::vector<NameInScope> parameters_;
  Evaluator evaluator_;
  bool is_too_large_ = false;
};

}  // namespace groma::domains
