// Groups the differences between two mappings by the statements that make them, and finds the
// statements whose parts depend on each other. The way in are group_by_statement() and
// parts_interact().
#include "inspect/statement_groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace groma {
namespace {

// Finds which statement in a list makes each difference. No two statements of the list may make the
// same difference.
class StatementOwners {
 public:
  explicit StatementOwners(std::size_t differences) : owners_(differences) {}
  // Notes the differences that the statement at position `position` of the list makes.
  void add(const StatementDifference& statement, std::size_t position) {
    for (const std::size_t part : statement.parts) owners_[part] = position;
  }
  // Returns the position of the statement that makes all decisions of another one; nullopt if there
  // is none.
  std::optional<std::size_t> find(const StatementDifference& other) const {
    const std::optional<std::size_t> owner = owners_[other.parts.front()];
    const bool is_owner_of_all =
        std::all_of(other.parts.begin(), other.parts.end(),
                    [&](std::size_t part) { return owners_[part] == owner; });
    return is_owner_of_all ? owner : std::nullopt;
  }

 private:
  std::vector<std::optional<std::size_t>> owners_;
};

}  // namespace

std::vector<StatementDifference> group_by_statement(
    const std::vector<MappingDifference>& differences) {
  std::vector<StatementDifference> of_b, of_a;
  std::map<std::uint32_t, std::size_t> known_of_b, known_of_a;
  const auto add = [](std::vector<StatementDifference>& statements,
                      std::map<std::uint32_t, std::size_t>& known, DecisionOrigin by, bool is_of_a,
                      std::size_t difference) {
    const auto [at, is_new] = known.emplace(by.statement, statements.size());
    if (is_new) {
      StatementDifference& statement = statements.emplace_back();
      statement.by = by;
      statement.is_of_a = is_of_a;
    }
    statements[at->second].parts.push_back(difference);
  };
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const MappingDifference& each = differences[i];
    if (each.b.by || !each.a.by) add(of_b, known_of_b, each.b.by, false, i);
    if (each.a.by) add(of_a, known_of_a, each.a.by, true, i);
  }
  // A statement of A says nothing new if one statement of B replaces all its decisions.
  StatementOwners owners_of_b(differences.size());
  for (std::size_t i = 0; i < of_b.size(); ++i) owners_of_b.add(of_b[i], i);
  for (StatementDifference& statement : of_a) {
    if (!owners_of_b.find(statement)) of_b.push_back(std::move(statement));
  }
  std::vector<StatementDifference>& all = of_b;
  std::stable_sort(all.begin(), all.end(), [](const auto& one, const auto& other) {
    if (one.parts.front() != other.parts.front()) return one.parts.front() < other.parts.front();
    return one.parts.size() > other.parts.size();
  });
  StatementOwners owners_of_a(differences.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].is_of_a) owners_of_a.add(all[i], i);
  }
  for (StatementDifference& statement : all) {
    if (!statement.is_of_a && statement.by) statement.within = owners_of_a.find(statement);
  }
  return std::move(all);
}

bool parts_interact(const MappingDiff& diff, const StatementDifference& statement) {
  // A smaller share of A's time is no interaction that a reader must know of.
  constexpr double kMinShare = 0.01;
  // The share of the whole effect by which the sum of the parts may miss it.
  constexpr double kMaxError = 0.5;
  if (!statement.cost || statement.parts.size() < 2) return false;
  double sum = 0;
  for (const std::size_t part : statement.parts) {
    const MappingDifference& difference = diff.differences[part];
    if (!difference.alone.empty()) return true;
    if (difference.cost) {
      sum += difference.cost->seconds;
    } else if (difference.what != MappingDifference::Aspect::kLimit) {
      return false;
    }
  }
  const double error = std::abs(sum - statement.cost->seconds);
  return error > kMinShare * diff.a.seconds &&
         error > kMaxError * std::abs(statement.cost->seconds);
}

}  // namespace groma
