// StatementUseRecorder: which statements of a program match something in an application, and which
// of them decide something.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "groma/explain.h"
#include "groma/program.h"

namespace groma {

class StatementUseRecorder {
 public:
  explicit StatementUseRecorder(const Program& program) : program_(program) {}

  // Notes that the statement decides something. Does nothing if `origin` is empty.
  void note_deciding_statement(DecisionOrigin origin);
  // Returns the statements that match the query, except those in `deciding`. `reason` says why a
  // statement that is not shadowed does not decide.
  std::vector<OverruledStatement> find_overruled_statements(
      const MatchQuery& query, std::span<const DecisionOrigin> deciding,
      OverruledStatement::Reason reason = OverruledStatement::Reason::kPrecedence);
  // Notes that the statement `by` decides the question `query`. Returns `by` together with the
  // other statements that match the query and do not decide.
  DecidingStatement note_decision(const MatchQuery& query, DecisionOrigin by);

  // Adds to `explanation` the statements that decide nothing. Call it once all decisions are noted.
  void add_statements_without_effect(Explanation& explanation) const;

 private:
  const Program& program_;
  // The numbers of the statements that match something in the application, and of those that decide
  // something.
  std::set<std::uint32_t> matches_, decides_;
};

}  // namespace groma
