// Notes which statements of a program match something and which decide something, and lists those
// that decide nothing.
#include "explain/statement_use.h"

#include <algorithm>
#include <map>

#include "program/data.h"

namespace groma {

using Reason = OverruledStatement::Reason;

// Notes that the statement decides something. A statement that decides also matches.
void StatementUseRecorder::note_deciding_statement(DecisionOrigin origin) {
  if (!origin) return;
  decides_.insert(origin.statement);
  matches_.insert(origin.statement);
}

// Returns the matching statements that do not decide, in order of precedence. Notes that each of
// them matches something.
std::vector<OverruledStatement> StatementUseRecorder::find_overruled_statements(
    const MatchQuery& query, std::span<const DecisionOrigin> deciding, Reason reason) {
  std::vector<OverruledStatement> others;
  for (const Match& match : program_.matches(query)) {
    matches_.insert(match.origin.statement);
    if (std::find(deciding.begin(), deciding.end(), match.origin) != deciding.end()) continue;
    const Reason shadowed = match.by_condition ? Reason::kCondition : Reason::kShadowed;
    others.push_back({match.origin, match.shadowed ? shadowed : reason});
  }
  return others;
}

// Notes that the statement `by` decides. If `by` is empty, the default mapper decides, and no
// statement that matches the query does.
DecidingStatement StatementUseRecorder::note_decision(const MatchQuery& query, DecisionOrigin by) {
  const DecisionOrigin deciding[] = {by};
  note_deciding_statement(by);
  return {by, find_overruled_statements(query, std::span(deciding, by ? 1 : 0))};
}

// Lists the statements that decide nothing, divided into those that match something and those that
// do not. In the compiled program, a statement is one or more table rows, and a row may be shadowed
// by an earlier row with the same key. A shadowed row counts as matching if the statement of the
// earlier row matches something.
void StatementUseRecorder::add_statements_without_effect(Explanation& explanation) const {
  const program::ProgramData& data = program_.data();
  // For the number of each statement: true if the statement matches something.
  std::map<std::uint32_t, bool> idle;
  for (const program::StatementRow& row : data.rows) {
    idle[row.statement] = matches_.contains(row.statement);
  }
  for (const program::StatementRow& row : data.shadowed_rows) {
    const program::StatementRow* by = data.find_row(row.key);
    idle[row.statement] |= by != nullptr && matches_.contains(by->statement);
  }
  for (const auto& [statement, matches] : idle) {
    if (decides_.contains(statement)) continue;
    (matches ? explanation.never_decide : explanation.unmatched).push_back({statement});
  }
  for (const program::StatementRow& row : data.conditional_rows) {
    const DecisionOrigin origin{row.statement};
    std::vector<DecisionOrigin>& all = explanation.inactive;
    if (all.empty() || all.back() != origin) all.push_back(origin);
  }
}

}  // namespace groma
