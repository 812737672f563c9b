// Builds self-similar parts from their digits.
#include "domain/builder.h"

namespace groma::domains {

// Returns the names in the head that are not parameters, in the order of their appearance.
std::vector<NameInScope> Builder::coordinates_of(const PartTree& tree) {
  std::vector<NameInScope> names;
  for (const Node& node : tree.head.nodes) {
    if (node.operation != Operation::kName) continue;
    const auto is_it = [&](const NameInScope& each) { return each.name == node.names.front(); };
    if (std::none_of(parameters_.begin(), parameters_.end(), is_it) &&
        std::none_of(names.begin(), names.end(), is_it)) {
      names.push_back({node.names.front(), 1});
    }
  }
  return names;
}

PointMapPtr Builder::digits(const PartTree& tree) {
  const std::vector<NameInScope> coordinates = coordinates_of(tree);
  const auto dimensions = static_cast<int>(coordinates.size());
  if (dimensions < 1 || dimensions > kMaxDimensions) {
    report(DiagId::kTypeMismatch, tree.head.top().range, "`digits`", "1 to 9 variables",
           fmt::format("{}", dimensions));
    return nullptr;
  }
  const auto base = evaluate_integer(tree.base), levels = evaluate_integer(tree.levels);
  if (!base || !levels) return nullptr;
  std::vector<Coordinates> table;
  const bool listed = tree.where ? matching_digits(tree, coordinates, *base, &table)
                                 : listed_digits(tree, dimensions, &table);
  if (!listed) return nullptr;
  auto made = make_digit_map(*base, *levels, dimensions, table);
  if (const auto* fault = std::get_if<DigitFaultAt>(&made)) {
    return digit_fault(tree, *fault, table, dimensions);
  }
  std::vector<NameInScope> scope = parameters_;
  scope.insert(scope.end(), coordinates.begin(), coordinates.end());
  return head(tree, std::get<PointMapPtr>(std::move(made)), scope);
}

bool Builder::listed_digits(const PartTree& tree, int dimensions, std::vector<Coordinates>* table) {
  for (const Expression& entry : tree.table) {
    const auto value = evaluate(entry);
    if (!value) return false;
    if (value->width != dimensions) {
      report(DiagId::kTypeMismatch, entry.top().range, "an entry",
             fmt::format("{} digits", dimensions), fmt::format("{}", value->width));
      return false;
    }
    table->push_back(value->items);
  }
  return true;
}

// Lists the digit vectors for which the condition is not 0; the first coordinate runs fastest.
bool Builder::matching_digits(const PartTree& tree, const std::vector<NameInScope>& coordinates,
                              std::int64_t base, std::vector<Coordinates>* table) {
  std::vector<NameInScope> scope = parameters_;
  scope.insert(scope.end(), coordinates.begin(), coordinates.end());
  Expression condition = *tree.where;
  if (!resolve(condition, scope, diags_)) return false;
  std::int64_t cells = 1;
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    if (base < 2 || __builtin_mul_overflow(cells, base, &cells) || cells > kMaxCells) {
      report(DiagId::kDomainDigits, tree.base.top().range,
             fmt::format("the base {} is below 2, or one level has more than 2^20 cells", base));
      return false;
    }
  }
  std::vector<std::int64_t> given = *values_;
  given.resize(scope.size());
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    Coordinates digits{};
    std::int64_t rest = cell;
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
      digits[d] = given[parameters_.size() + d] = rest % base;
      rest /= base;
    }
    Value value;
    if (!evaluator_.evaluate(condition, given, &value)) {
      report(DiagId::kDomainValue, evaluator_.fault().range, words_of(evaluator_.fault().kind))
          .note(fmt::format("for the digits {}",
                            coordinate_words(digits, static_cast<int>(coordinates.size()))));
      return false;
    }
    if (value.items[0] != 0) table->push_back(digits);
  }
  return true;
}

PointMapPtr Builder::digit_fault(const PartTree& tree, const DigitFaultAt& at,
                                 const std::vector<Coordinates>& table, int dimensions) {
  const Range where = tree.where ? tree.where->top().range : tree.range;
  const auto entry = [&] {
    return coordinate_words(table[static_cast<std::size_t>(at.place)], dimensions);
  };
  const auto entry_range = [&] {
    return tree.table.empty() ? where : tree.table[static_cast<std::size_t>(at.place)].top().range;
  };
  switch (at.fault) {
    case DigitFault::kBadBase:
      report(DiagId::kDomainDigits, tree.base.top().range,
             "the base is below 2, or one level has more than 2^20 cells");
      break;
    case DigitFault::kBadLevels:
      report(DiagId::kDomainDigits, tree.levels.top().range, "the number of levels is negative");
      break;
    case DigitFault::kEmptyTable:
      report(DiagId::kDomainDigits, where, "no digits satisfy the condition");
      break;
    case DigitFault::kRepeatedEntry:
      report(DiagId::kDomainDigits, entry_range(),
             fmt::format("the digits {} are listed twice", entry()));
      break;
    case DigitFault::kBadEntry:
      report(DiagId::kDomainDigits, entry_range(),
             fmt::format("{} is not made of digits of the base", entry()));
      break;
    case DigitFault::kTooLarge:
      return too_large(tree.levels.top().range,
                       fmt::format("its points or coordinates do not fit 63 bits; at most {} "
                                   "levels do",
                                   at.place));
  }
  return nullptr;
}

}  // namespace groma::domains
