#include "verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "console.h"

namespace driver {
namespace {

std::string first_line(const std::string& text) {
  return visible(text.substr(0, std::min(text.find('\n'), std::size_t{160})));
}

std::string words_of(double seconds) {
  return seconds < 1 ? fmt::format("{:.4g} ms", 1e3 * seconds) : fmt::format("{:.4g} s", seconds);
}

}  // namespace

double Verified::median() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

groma::Result<std::vector<Verified>> verify(const std::vector<Candidate>& candidates,
                                            const ProgramArguments& program, int repeats) {
  auto run = program_run(program);
  if (!run) return run.error();
  const Hearing hearing(*run, Output::kNowhere);
  run->on_output = {};
  run->checked_file.clear();
  const auto rules = groma::GuideRules::make();
  if (!rules) return rules.error();
  std::vector<Verified> all;
  for (const Candidate& each : candidates) all.push_back({each, {}, {}});
  ProgressLine line("verifying");
  for (int round = 0; round <= repeats && !interrupted(); ++round) {
    run->checks =
        round == 0 ? groma::ProgramRun::Checks::kAlways : groma::ProgramRun::Checks::kNever;
    for (Verified& each : all) {
      if (!each.why.empty() || interrupted()) continue;
      line.update(fmt::format("{}, run {} of {}", each.candidate.name, round, repeats));
      groma::Diagnostics diags(groma::Source(each.candidate.name, each.candidate.text));
      const groma::Program mapping = groma::compile(diags.source(), diags);
      const auto result = groma::run_program(mapping, *run, &*rules);
      if (!result) return result.error();
      if (!result->ok()) {
        each.why = first_line(result->feedback.execution);
        if (each.why.empty()) each.why = fmt::format("exit code {}", result->exit_code);
        each.seconds.clear();
      } else if (round > 0) {
        each.seconds.push_back(result->seconds);
      }
    }
  }
  return all;
}

const Verified* fastest(const std::vector<Verified>& all) {
  const Verified* best = nullptr;
  for (const Verified& each : all) {
    if (each.seconds.empty()) continue;
    if (best == nullptr || each.median() < best->median()) best = &each;
  }
  return best;
}

std::string draw(const std::vector<Verified>& all, const std::string& program, int repeats,
                 const std::string& unit) {
  const Verified* const best = fastest(all);
  std::string text =
      fmt::format("\n{} for real, medians of {} run{} each in turn\n  {:<12}{:>12}  simulated\n",
                  visible(program), repeats, repeats == 1 ? "" : "s", "", "measured");
  for (const Verified& each : all) {
    text += fmt::format("  {:<12}", each.candidate.name);
    if (each.seconds.empty()) {
      text += fmt::format("{:>12}  {}\n", "failed", each.why);
      continue;
    }
    text += fmt::format("{:>12}  {:.4g} {}{}\n", words_of(each.median()), each.candidate.simulated,
                        unit, &each == best ? "  the fastest" : "");
  }
  return text;
}

std::string to_json(const std::vector<Verified>& all) {
  using nlohmann::ordered_json;
  const Verified* const best = fastest(all);
  ordered_json json = {{"event", "verified"}, {"candidates", ordered_json::array()}};
  for (const Verified& each : all) {
    ordered_json one = {{"name", each.candidate.name}, {"simulated", each.candidate.simulated}};
    if (each.seconds.empty()) {
      one["error"] = each.why;
    } else {
      one["seconds"] = each.median();
      one["runs"] = each.seconds;
    }
    json["candidates"].push_back(std::move(one));
  }
  json["fastest"] = best == nullptr ? ordered_json() : ordered_json(best->candidate.name);
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace driver
