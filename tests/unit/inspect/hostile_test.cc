// Programs that are written to hurt: every one ends in a diagnostic, or in an answer, within two
// seconds of processor time and 300 MB. Each runs in a process of its own, through what the command
// does: compile, bind, place, draw, render.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "groma/evaluate.h"
#include "groma/inspect.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "groma/syntax.h"
#include "support/sanitized.h"
#include "unit/inspect/hostile_cases.h"

namespace groma {
namespace {

#if GROMA_SANITIZED
constexpr double kSeconds = 40;
#elif defined(__OPTIMIZE__)
constexpr double kSeconds = 4;
#else
constexpr double kSeconds = 10;
#endif
constexpr long kMegabytes = 300;

using testing::HostileCase;

// -------- how it is run

struct Outcome {
  std::string first_error;
  std::string all;  // rendered, cut
  double seconds = 0;
  long megabytes = 0;
  bool ended = false;
};

std::string first_error(const Diagnostics& diags) {
  for (const Diagnostic& diagnostic : diags.sorted()) {
    if (diagnostic.severity == Severity::kError) return std::string(name_of(diagnostic.id));
  }
  return "";
}

// As `groma place` does; a program without `f` is only checked and bound, as `groma check` does.
std::string run(const HostileCase& hostile) {
  const Source source("hostile.mapper", hostile.text());
  {
    Diagnostics diags(source);
    static_cast<void>(format(source, diags));
  }
  Diagnostics diags(source);
  const Program program = compile(source, diags);
  LogSink log;
  const auto bound = bind(program, make_machine(hostile.machine).value(), diags, &log);
  PlaceQuery query;
  query.task = "t";
  query.function = "f";
  query.domain = *Rect::make(hostile.extents);
  if (bound && program.find_function("f")) {
    if (const auto placement = place(*bound, query, diags, &log)) {
      static_cast<void>(draw(*placement, *bound));
    }
  }
  const std::string error = first_error(diags);
  static_cast<void>(to_json({&diags}));
  return error + "\n" + render(diags).substr(0, 2000);
}

// Writes what came out to `pipe_end` and leaves, however large the heap.
[[noreturn]] void child(const HostileCase& hostile, int pipe_end) {
  if (!GROMA_SANITIZED) {
    const rlimit memory{rlim_t{2} << 30, rlim_t{2} << 30};  // a guard for the host, not the test
    setrlimit(RLIMIT_AS, &memory);
  }
  const auto seconds = static_cast<rlim_t>(kSeconds * 5);
  const rlimit time{seconds, seconds};
  setrlimit(RLIMIT_CPU, &time);
  const std::string result = run(hostile);
  std::string_view rest = result;
  while (!rest.empty()) {
    const ssize_t written = write(pipe_end, rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  _exit(0);
}

Outcome measure(const HostileCase& hostile) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t process = fork();
  if (process == 0) child(hostile, ends[1]);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  rusage usage{};
  EXPECT_EQ(wait4(process, &status, 0, &usage), process);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  Outcome outcome;
  outcome.ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  outcome.seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  outcome.megabytes = usage.ru_maxrss / 1024;
  const std::size_t line = std::min(text.find('\n'), text.size());
  outcome.first_error = text.substr(0, line);
  outcome.all = text.substr(std::min(line + 1, text.size()));
  return outcome;
}

class Hostile : public ::testing::TestWithParam<HostileCase> {};

TEST_P(Hostile, EndsSoonAndSmall) {
  const Outcome outcome = measure(GetParam());
  RecordProperty("seconds", fmt::format("{:.2f}", outcome.seconds));
  RecordProperty("megabytes", static_cast<int>(outcome.megabytes));
  RecordProperty("error", outcome.first_error);
  ASSERT_TRUE(outcome.ended) << "after " << outcome.seconds << " s, " << outcome.megabytes
                             << " MB\n"
                             << outcome.all;
  EXPECT_EQ(outcome.first_error, GetParam().expected) << outcome.all;
  EXPECT_LE(outcome.seconds, GetParam().large_launch() ? 5 * kSeconds : kSeconds) << outcome.all;
  EXPECT_LE(GROMA_SANITIZED ? 0 : outcome.megabytes, kMegabytes) << outcome.all;
}

INSTANTIATE_TEST_SUITE_P(Text, Hostile, ::testing::ValuesIn(testing::hostile_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace groma
