// `groma record`: what Legion programs do, watched from outside, as applications.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "app/data.h"
#include "command/run.h"
#include "groma/benchmarks.h"
#include "groma/io.h"
#include "groma/workload.h"
#include "support/app_trace.h"

namespace groma::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Record : public testing::Test {
 protected:
  Record() { setenv("XDG_CACHE_HOME", (folder_.path() + "/cache").c_str(), 1); }

  std::string out() const { return folder_.path() + "/app.json"; }
  // `groma record OPTIONS --out app.json -- WORDS`
  Outcome record(const std::string& words, const std::string& options = "") const {
    return run("groma record " + options + " --out " + out() + " -- " + words);
  }
  Application recorded() const {
    auto app = load_application(out());
    EXPECT_TRUE(app.ok()) << app.error().message;
    return *std::move(app);
  }
  TemporaryFolder folder_;
};

// ---- The four programs: their own description of what they do comes back.

class Programs : public Record, public testing::WithParamInterface<std::string> {};

TEST_P(Programs, EqualTheirDescription) {
  const std::string& spec = GetParam();
  const std::string name = spec.substr(0, spec.find(':'));
  const auto described =
      with_values(on_cpus(find_benchmark(name)->make()), spec.substr(spec.find(':') + 1));
  ASSERT_TRUE(described.ok()) << described.error().message;
  const auto before = Workload::make(*described);
  ASSERT_TRUE(before.ok());
  std::string words = GROMA_PROGRAMS "/" + name;
  for (const auto& [parameter, value] : before->values()) {
    words += " -" + parameter + " " + std::to_string(value);
  }
  const Outcome outcome = record(words + " -ll:cpu 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(Not(HasSubstr("no rule")), Not(HasSubstr("holes")),
                                 Not(HasSubstr("differ"))));
  const auto after = Workload::make(recorded());
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(trace_of(after->data()), trace_of(before->data()));
}

INSTANTIATE_TEST_SUITE_P(
    All, Programs,
    testing::Values("cannon:n=64,nodes=6,repeats=2", "johnson:n=64,repeats=3",
                    "circuit:npp=150,wpp=500,superpiece=3,steps=3,loops=3",
                    "stencil:edge=33,nodes=2,loops=3"),
    [](const auto& spec) { return spec.param.substr(0, spec.param.find(':')); });

}  // namespace
}  // namespace groma::test
