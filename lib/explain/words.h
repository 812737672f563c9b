// Words that several reports share: statements as short text that is safe to print on a terminal,
// layouts, quantities and decisions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "groma/explain.h"
#include "groma/harmless.h"
#include "groma/profile.h"
#include "groma/program.h"

namespace groma {

// Returns the text of a statement on one line, cut if it is long.
std::string statement_text(const Program& program, DecisionOrigin origin);

// Returns the condition of the `when` block in which a statement stands, cut if it is long. Returns
// "" for a statement outside blocks.
std::string condition_text(const Program& program, DecisionOrigin origin);

// Returns a statement with its location: "a.mapper:4:1: Region * * GPU FBMEM". The condition of a
// `when` block follows: "..., when Machine(GPU).volume > 8".
std::string statement_line(const Program& program, DecisionOrigin origin);

// Returns a layout as a Layout statement writes it: "AOS C_order Align==128".
std::string layout_words(const LayoutSpec& layout);

// Returns a count with its noun: "1 point", "2 points".
std::string count_with_noun(std::int64_t n, std::string_view what);
// Returns a rate with an SI prefix: "4.88 Tflop/s".
std::string rate_words(double rate, std::string_view unit);
// Returns a time with its unit, such as "123 ms".
std::string seconds_words(double seconds);

// Returns what the reports about the profile of a run print besides the measurements: the title,
// the texts of the mapping statements, and a hash of the mapping. `title` names the application and
// the machine. `program` is null if the default mapper decides. Otherwise `program` must outlive
// the result.
ProfileWords profile_words_of(const std::string& title, const Program* program);

// Each of the next functions describes one decision in a few words. The mapping or the default
// mapper may have made the decision.
std::string placement_words(const ExplainedLaunch& launch, ProcKind kind);
// Returns the form, the domain and the parent of a launch: "index launch of 4 x 4 points in main".
std::string launch_heading(const ExplainedLaunch& launch);
// Returns how many points the processors get or, for a single task, the example processor, with a
// separator before it. Returns "" if neither is known.
std::string launch_result_words(const ExplainedLaunch& launch, ProcKind kind);
// Returns why a statement matched but did not decide, in words that stand in parentheses behind it.
std::string_view overruled_words(OverruledStatement::Reason reason);
std::string early_collection_words(bool collected);
std::string instance_limit_words(std::int64_t limit, LimitScope scope);
std::string replication_words(bool replicated);
std::string steal_words(std::optional<StealScope> steal);

}  // namespace groma
