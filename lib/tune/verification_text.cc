// Writes the result of a verification as text for people and as JSON for tools.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "groma/harmless.h"
#include "groma/verify.h"

namespace groma::tuning {
namespace {

using Measure = Verification::ComparedValue;

// The words for Verification::Measure, in the order of its values.
constexpr std::string_view kMeasures[] = {"metric", "elapsed", "process"};

// Returns a value with its unit. Seconds below 1 are shown as milliseconds.
std::string words_of(double value, const std::string& unit) {
  if (unit == "s" && value < 1) return fmt::format("{:.4g} ms", 1e3 * value);
  return fmt::format("{:.4g}{}{}", value, unit.empty() ? "" : " ", visible(unit));
}

// Returns the least and the greatest value of the runs, each with its unit: "1.2 s to 1.4 s".
std::string range_of(const std::vector<double>& runs, const std::string& unit) {
  const auto [least, most] = std::minmax_element(runs.begin(), runs.end());
  return fmt::format("{} to {}", words_of(*least, unit), words_of(*most, unit));
}

// Returns how one mapping compares with the other, whose name is `other`: "1.21 times as fast as
// `start`".
std::string words_of(const VerifyComparison& compared, const std::string& other) {
  if (!compared.differs) {
    return fmt::format("no difference from {} beyond the noise (±{:.2g} %)", other,
                       100 * compared.noise);
  }
  const std::string words =
      compared.speedup >= 1
          ? fmt::format("{:.3g} times as fast as {}", compared.speedup, other)
          : fmt::format("{:.3g} times as slow as {}", 1 / compared.speedup, other);
  return compared.one_run ? words + " in one run each" : words;
}

// Returns what follows from the measurements, one sentence on a line: the fastest mapping, whether
// it is faster than no mapping and than the start, and what could not be compared.
std::string conclusion(const Verification& verified) {
  std::string text;
  if (const VerifiedMapping* const best = verified.fastest()) {
    const VerifiedMapping* const start = verified.start();
    const auto beside = verified.compare(*best, verified.without);
    text += fmt::format("the fastest mapping is {}", best->candidate.name);
    if (beside) text += ": " + words_of(*beside, "without a mapping");
    if (start != nullptr && start != best) {
      text += (beside ? ", " : ": ") + words_of(*verified.compare(*best, *start), "the start");
    }
    text += '\n';
    if (beside && !(beside->differs && beside->speedup > 1)) {
      text += "nothing that was found is faster for real than the program without a mapping\n";
    } else if (best == start && verified.all.size() > 1) {
      text += "nothing that was found is faster for real than the start\n";
    }
    if (verified.repeats == 1) text += "one run each does not show the noise: --repeats 3\n";
  }
  if (verified.unsteady.lines == 0) return text;
  return text + fmt::format("not compared: {}\n", to_text(verified.unsteady));
}

// Returns the median and the values of a mapping, or the reason why it has none.
nlohmann::ordered_json runs_of(const VerifiedMapping& of) {
  if (of.runs.empty()) return {{"error", of.why}};
  return {{"value", of.median()}, {"runs", of.runs}};
}

// Returns how a mapping compares with another one.
nlohmann::ordered_json json_of(const VerifyComparison& compared) {
  return {{"speedup", compared.speedup}, {"noise", compared.noise}, {"differs", compared.differs}};
}

}  // namespace

// Writes a table with one row for each mapping, then the conclusions. `phase` names the part of the
// run that the search simulated; empty: the whole run.
std::string draw(const Verification& verified, const std::string& program, const std::string& unit,
                 const std::string& phase) {
  const std::string what =
      verified.measure == Measure::kElapsed   ? "of the `elapsed` time that it says"
      : verified.measure == Measure::kProcess ? "of the whole process, its start included"
                                              : "of what --metric finds";
  const bool was_simulated =
      !verified.all.empty() && std::isfinite(verified.all.front().candidate.simulated);
  std::string simulated = "; simulated is ";
  simulated += phase.empty() ? "the whole run" : fmt::format("its phase `{}`", visible(phase));
  std::string text =
      fmt::format("\n{} for real, medians of {} run{} each in turn, {}{}\n  {:<18}{:>12}  {:<26}{}",
                  visible(program), verified.repeats, verified.repeats == 1 ? "" : "s", what,
                  was_simulated ? simulated : "", "", "measured", "least to most",
                  was_simulated ? "simulated" : "");
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
  const auto row = [&](const VerifiedMapping& of, const std::string& in_simulation) {
    text += fmt::format("  {:<18}", of.candidate.name);
    if (of.runs.empty()) {
      text += fmt::format("{:>12}  {}", of.is_wrong ? "wrong" : "failed", of.why);
    } else {
      text += fmt::format("{:>12}  {:<26}{:<14}", words_of(of.median(), verified.unit),
                          range_of(of.runs, verified.unit), in_simulation);
      text.erase(text.find_last_not_of(' ') + 1);
    }
  };
  row(verified.without, "");
  text += '\n';
  for (const VerifiedMapping& each : verified.all) {
    row(each, was_simulated ? fmt::format("{:.4g} {}", each.candidate.simulated, unit) : "");
    const auto beside = verified.compare(each, verified.without);
    if (beside) text += "  " + words_of(*beside, "without a mapping");
    text += '\n';
  }
  return text + conclusion(verified);
}

// Returns one line for a tool. A mapping that failed has `error` instead of its runs.
std::string to_json(const Verification& verified, const std::vector<std::string>& warnings) {
  using nlohmann::ordered_json;
  const VerifiedMapping* const best = verified.fastest();
  ordered_json json = {{"event", "verified"},
                       {"measure", kMeasures[static_cast<std::size_t>(verified.measure)]},
                       {"unit", verified.unit},
                       {"without_mapping", runs_of(verified.without)},
                       {"candidates", ordered_json::array()}};
  for (const VerifiedMapping& each : verified.all) {
    ordered_json one = {{"name", each.candidate.name}};
    if (std::isfinite(each.candidate.simulated)) one["simulated"] = each.candidate.simulated;
    one.update(runs_of(each));
    if (each.runs.empty()) one["wrong"] = each.is_wrong;
    const auto beside = verified.compare(each, verified.without);
    if (beside) one["beside_without"] = json_of(*beside);
    const VerifiedMapping* const start = verified.start();
    const auto beside_start =
        start == nullptr || start == &each ? std::nullopt : verified.compare(each, *start);
    if (beside_start) one["within_spread"] = !beside_start->differs;
    json["candidates"].push_back(std::move(one));
  }
  json["fastest"] = best == nullptr ? ordered_json() : ordered_json(best->candidate.name);
  json["unsteady_lines"] = verified.unsteady.lines;
  json["warnings"] = warnings;
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace groma::tuning
