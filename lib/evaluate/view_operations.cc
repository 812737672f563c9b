// Checks and applies the operations on machines. If several checks fail, the user sees the error of
// the first one.
#include "evaluate/view_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "evaluate/splits.h"
#include "groma/evaluate.h"

namespace groma::mapper {

using syntax::Method;

namespace {

using Parts = std::variant<Coordinates, RefusedOperation>;

// The position, among the parameters of each splitting method, of the parameter that determines the
// new extents.
constexpr int kTuple = 1;

bool negative(std::int64_t x) { return x < 0; }

bool any_negative(const Coordinates& numbers) {
  return std::any_of(numbers.begin(), numbers.end(), negative);
}

// Returns a tuple as the language writes it: "(1, 2)" or "(1,)".
std::string tuple_text(const Coordinates& numbers) {
  return fmt::format("({}{})", fmt::join(numbers, ", "), numbers.size() == 1 ? "," : "");
}

// Returns the error for a bad argument of a method that splits.
RefusedOperation bad_split(Method method, int at, std::string what, std::string needs) {
  return {DiagId::kBadSplitArgument,
          {std::string(name_of(method)), std::move(what), std::move(needs)},
          at};
}

// Returns true if a view may have as many dimensions as there are extents, at least one.
bool fits_a_view(const Coordinates& extents) {
  return !extents.empty() && extents.size() <= kMaxViewDimensions;
}

// Returns the view `made`, or a refusal if it has too many dimensions or operations. `from` is the
// view from which the operation made it.
OperationResult within_limits(const MachineView& from, MachineView made) {
  if (from.operation_count() >= kMaxViewOperations) {
    return RefusedOperation{DiagId::kMachineLimit, {kMaxViewOperations, std::string("operations")}};
  }
  if (made.dimensions() > kMaxViewDimensions) {
    return RefusedOperation{DiagId::kMachineLimit, {kMaxViewDimensions, std::string("dimensions")}};
  }
  return made;
}

// Swaps or merges two different dimensions.
OperationResult swap_or_merge(Method method, const MachineView& view,
                              const OperationArguments& given) {
  const int a = static_cast<int>(given.numbers[0]), b = static_cast<int>(given.numbers[1]);
  if (a == b) return RefusedOperation{DiagId::kSameDimension, {std::string(name_of(method)), a}};
  if (method == Method::kSwap) return within_limits(view, view.swap(a, b));
  std::int64_t size = 0;
  if (__builtin_mul_overflow(view.sizes()[given.dimension_argument(0)],
                             view.sizes()[given.dimension_argument(1)], &size)) {
    return RefusedOperation{DiagId::kOverflow, {std::string("the merged extent")}};
  }
  return within_limits(view, view.merge(a, b));
}

// Keeps the indices lo..hi of a dimension, both ends included.
OperationResult slice(const MachineView& view, const OperationArguments& given) {
  const auto [d, lo, hi] = given.numbers;
  const std::int64_t n = view.sizes()[given.dimension_argument(0)];
  if (lo < 0 || lo > hi || hi >= n) {
    return RefusedOperation{
        DiagId::kBadSlice,
        {lo, hi, d, n},
        RefusedOperation::kCall,
        "both ends are included: 0 <= first <= last < extent (the original takes some "
        "others: D4)"};
  }
  return within_limits(view, view.slice(static_cast<int>(d), lo, hi));
}

// Returns the two extents of `split`. Its factor must divide the extent `n`.
Parts split_by(std::int64_t n, const OperationArguments& given) {
  const std::int64_t factor = given.numbers[1];
  if (factor < 1) {
    return bad_split(Method::kSplit, RefusedOperation::kCall, fmt::format("a factor of {}", factor),
                     "1 or more");
  }
  if (n % factor != 0) {
    return RefusedOperation{DiagId::kSplitNotDivisible,
                            {factor, n, given.numbers[0]},
                            RefusedOperation::kCall,
                            "the original drops processors here (D8)",
                            "`balance_split`, `auto_split` and `decompose` take any number"};
  }
  return Coordinates{factor, n / factor};
}

// Returns the extents into which `balance_split` splits an extent `n` if it makes `parts`
// dimensions, or the reason why it cannot.
Parts balanced(std::int64_t n, std::int64_t parts) {
  if (parts < 1 || parts > kMaxViewDimensions) {
    return bad_split(Method::kBalanceSplit, kTuple, fmt::format("{} dimensions", parts),
                     fmt::format("1 to {}", kMaxViewDimensions));
  }
  return balance_split(n, parts);
}

// Returns the widths of the data that neighbours exchange in each dimension: the option `halo`, or
// 1 for each dimension.
Parts halo_of(const OperationArguments& given) {
  if (any_negative(given.tuple)) {
    return bad_split(Method::kDecompose, kTuple, "a negative extent", "extents of 0 or more");
  }
  if (!given.option) return Coordinates(given.tuple.size(), 1);
  if (given.option->size() != given.tuple.size() || any_negative(*given.option)) {
    return bad_split(Method::kDecompose, RefusedOperation::kOption,
                     fmt::format("a halo of {}", tuple_text(*given.option)),
                     fmt::format("{} widths of 0 or more", given.tuple.size()));
  }
  return *given.option;
}

// Returns the extents that `auto_split` or `decompose` finds, or the reason why there are none.
Parts searched(Method method, std::int64_t n, const OperationArguments& given) {
  SplitResult found;
  if (method == Method::kAutoSplit) {
    found = auto_split(n, given.tuple);
  } else {
    Parts halo = halo_of(given);
    if (std::holds_alternative<RefusedOperation>(halo)) return halo;
    found = decompose(n, given.tuple, std::get<Coordinates>(halo));
  }
  if (auto* parts = std::get_if<Coordinates>(&found)) return std::move(*parts);
  if (std::get<SplitError>(found) == SplitError::kOverflow) {
    return RefusedOperation{DiagId::kOverflow, {fmt::format("a product in `{}`", name_of(method))}};
  }
  return RefusedOperation{
      DiagId::kStepLimit,
      {kMaxFactorisations},
      RefusedOperation::kCall,
      fmt::format("{} has that many factorisations into {}", n, given.tuple.size())};
}

// Returns the extents into which a splitting method splits an extent `n`, or the reason why it
// cannot.
Parts parts_of(Method method, std::int64_t n, const OperationArguments& given) {
  if (method == Method::kSplit) return split_by(n, given);
  if (method == Method::kBalanceSplit) return balanced(n, given.numbers[1]);
  if (!fits_a_view(given.tuple)) {
    return bad_split(method, kTuple, fmt::format("{} extents", given.tuple.size()),
                     fmt::format("1 to {}", kMaxViewDimensions));
  }
  if (method == Method::kGreedySplit) return greedy_split(n, given.tuple);
  return searched(method, n, given);
}

}  // namespace

bool searches_for_split(Method method) {
  return method == Method::kAutoSplit || method == Method::kDecompose;
}

bool has_dimension(const MachineView& view, std::int64_t dimension) {
  return dimension >= 0 && dimension < view.dimensions();
}

OperationResult split_view(const MachineView& view, int dimension, Coordinates parts) {
  return within_limits(view, view.split(dimension, std::move(parts)));
}

// Applies one operation. The caller has checked the number and the types of the arguments.
OperationResult apply_method(Method method, const MachineView& view,
                             const OperationArguments& given) {
  const int d = static_cast<int>(given.numbers[0]);
  switch (method) {
    case Method::kMerge:
    case Method::kSwap:
      return swap_or_merge(method, view, given);
    case Method::kReverse:
      return within_limits(view, view.reverse(d));
    case Method::kRotate:
      return within_limits(view, view.rotate(d, given.numbers[1]));
    case Method::kSlice:
      return slice(view, given);
    case Method::kSplit:
    case Method::kBalanceSplit:
    case Method::kGreedySplit:
    case Method::kAutoSplit:
    case Method::kDecompose:
      break;  // These methods split a dimension: see below the switch.
    case Method::kHas:
    case Method::kProcessor:
      GROMA_REQUIRE(false, "a question about a machine changes no view");
  }
  Parts parts = parts_of(method, view.sizes()[given.dimension_argument(0)], given);
  if (auto* refused = std::get_if<RefusedOperation>(&parts)) return std::move(*refused);
  return split_view(view, d, std::get<Coordinates>(std::move(parts)));
}

// Returns the evaluation steps that a search for a split costs. `decompose` costs a fixed number of
// steps, because its search is short. `auto_split` costs more steps the more factorisations it
// tries.
std::int64_t search_steps(Method method, const MachineView& view, const OperationArguments& given) {
  if (!searches_for_split(method) || !fits_a_view(given.tuple)) return 0;
  if (method == Method::kDecompose)
    return std::holds_alternative<RefusedOperation>(halo_of(given)) ? 0 : 20'000;
  const std::int64_t n = view.sizes()[given.dimension_argument(0)];
  return 2'000 + count_factorisations(n, given.tuple.size()) / 5;
}

}  // namespace groma::mapper
