// Words that the parts of the report share.
#include "search_report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace groma::tuning {

// Seconds below 1 use the largest unit in which the value is at least 1.
std::string result_words(double value, const std::string& unit) {
  constexpr std::array<std::string_view, 4> kUnits = {"s", "ms", "us", "ns"};
  if (unit != kUnits.front()) return fmt::format("{:.4g} {}", value, unit);
  std::size_t i = 0;
  for (; value < 1 && i + 1 < kUnits.size(); ++i) value *= 1000;
  return fmt::format("{:.4g} {}", value, kUnits[i]);
}

std::string result_words(const ReportedResult& result, const SearchReport& report) {
  if (result.status == Evaluation::Status::kOk) return result_words(result.value, report.unit);
  constexpr std::array kWords = {"", "refused", "failed", "timed out"};
  return kWords[static_cast<std::size_t>(result.status)];
}

std::string duration_words(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

// Groups the digits by thousands, so that large numbers can be read.
std::string counted(std::int64_t number, std::string_view noun) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t at = digits.size(); at > 3 && digits[at - 4] != '-';) {
    at -= 3;
    digits.insert(at, ",");
  }
  if (noun.empty()) return digits;
  return fmt::format("{} {}{}", digits, noun, number == 1 ? "" : "s");
}

std::string gain_words(const SearchReport& report) {
  const auto gain = report.gain();
  if (!gain || *gain <= 1) return "";
  const char* what = report.higher_is_better ? "high" : "fast";
  if (*gain < 1.0001) {
    return fmt::format("Less than 0.01 % {} than the start",
                       report.higher_is_better ? "higher" : "faster");
  }
  if (*gain < 1.01) {
    return fmt::format("{:.2g} % {} than the start", 100 * (*gain - 1),
                       report.higher_is_better ? "higher" : "faster");
  }
  return fmt::format("{} times as {} as the start",
                     *gain < 1000 ? fmt::format("{:.2f}", *gain) : fmt::format("{:.3g}", *gain),
                     what);
}

// The journal does not record why a search ended, so a budget is named only if the steps have used
// it up.
std::string end_words(const SearchReport& report) {
  if (report.state == SearchReport::State::kRunning) {
    return "The search is still running; this page shows what it has found so far.";
  }
  if (report.state == SearchReport::State::kInterrupted) {
    return "The search was interrupted before it could write its report. It can be resumed.";
  }
  if (report.setup) {
    const TuneBudget& budget = report.setup->budget;
    if (budget.evaluations > 0 && report.spent.evaluations >= budget.evaluations) {
      return fmt::format("The search ended because its budget of {} was used up.",
                         counted(budget.evaluations, "evaluation"));
    }
    if (budget.seconds > 0 && report.spent.seconds >= 0.98 * budget.seconds) {
      return fmt::format("The search ended because its time of {} was over.",
                         duration_words(budget.seconds));
    }
    if (budget.tokens > 0 && report.spent.tokens >= budget.tokens) {
      return fmt::format("The search ended because its budget of {} was used up.",
                         counted(budget.tokens, "token"));
    }
  }
  return "The search has ended. Its own summary gives the reason:";
}

std::string main_cause_words(const GuideFeedback& feedback) {
  if (!feedback.profile) return "";
  const ProfileFacts& facts = *feedback.profile;
  if (facts.causes.empty()) return "";
  const ProfileFacts::Cause& cause = facts.causes.front();
  // "start" stands for an event that was ready and had not started.
  std::string words = cause.doing == "start" ? "waiting to start" : cause.doing;
  if (cause.doing == "task" && !cause.task.empty()) {
    words = fmt::format("task `{}`", cause.task);
  } else if (!cause.region.empty()) {
    words += fmt::format(" of `{}`", cause.region);
    if (!cause.from.empty() && !cause.to.empty()) {
      words += fmt::format(", {} to {}", cause.from, cause.to);
    }
  }
  return fmt::format("{} ({:.0f} %)", words, 100 * std::clamp(cause.share, 0.0, 1.0));
}

std::string_view beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

}  // namespace groma::tuning
