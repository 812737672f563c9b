// What messages cost: from an offset to line and column, and from a wrong word to near names.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "groma/source.h"
#include "groma/spelling.h"

namespace groma {
namespace {

// The last line of a text with `lines` lines.
void position_in_text(benchmark::State& state) {
  const auto lines = static_cast<std::size_t>(state.range(0));
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += "Task calculate_new_currents GPU, CPU;\n";
  const Source source("benchmark", text);
  const auto end = static_cast<std::uint32_t>(text.size());
  for (auto _ : state) {
    const Position position = source.position(end);
    benchmark::DoNotOptimize(position);
    if (position.line != lines + 1) state.SkipWithError("the wrong line");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(position_in_text)->Arg(60)->Arg(60000);

void near_name(benchmark::State& state) {
  std::vector<std::string> words;
  for (int i = 0; i < state.range(0); ++i) words.push_back("task_number_" + std::to_string(i));
  const std::vector<std::string_view> names(words.begin(), words.end());
  for (auto _ : state) {
    const auto near = near_names("task_number7", names);
    if (near.empty() || near.front() != "task_number_7") state.SkipWithError("the wrong name");
  }
}
BENCHMARK(near_name)->Arg(10)->Arg(1000);

}  // namespace
}  // namespace groma
