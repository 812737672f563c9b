// Words that the parts of the report share.
#pragma once

#include <string>

#include "groma/search_report.h"

namespace groma::tuning {

// Returns a value with the unit of the search: "217.1 ms" for seconds below 1, "48.3 GFLOP/s".
std::string result_words(double value, const std::string& unit);
// Returns the value of a step, or in one word why it has none.
std::string result_words(const ReportedResult& result, const SearchReport& report);
// Returns a duration for a person: "3.2 s", "4 min 20 s".
std::string duration_words(double seconds);
// Returns a number with its noun: "1 step", "1,234 steps".
std::string counted(std::int64_t number, std::string_view noun);
// Returns how much better the best is than the start: "3.21 times as fast as the start".
// Empty if it is not
// known or nothing is better.
std::string gain_words(const SearchReport& report);
// Returns in a sentence how the search ended or that it has not.
std::string end_words(const SearchReport& report);
// Returns what took the most time in a run, such as "copy of `A`, FBMEM to ZCMEM (43 %)". Empty
// if the run has no profile.
std::string main_cause_words(const GuideFeedback& feedback);
// Returns the beginning of a text, at most `most` bytes in whole characters of UTF-8.
std::string_view beginning(std::string_view text, std::size_t most);

}  // namespace groma::tuning
