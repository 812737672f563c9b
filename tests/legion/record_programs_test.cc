// `groma record`: the recordings of the programs in examples/legion equal their own descriptions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "app/data.h"
#include "groma/benchmarks.h"
#include "groma/io.h"
#include "groma/workload.h"
#include "record_fixture.h"
#include "support/app_trace.h"

namespace groma::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The benchmarks.

class Programs : public Record, public testing::WithParamInterface<std::string> {
 protected:
  // "cannon:n=64,nodes=6" is the program cannon with -n 64 -nodes 6.
  static std::string name_of_program() { return GetParam().substr(0, GetParam().find(':')); }
  static std::string values() { return GetParam().substr(GetParam().find(':') + 1); }

  // Records the program, and expects that it does what `described` does.
  void expect_to_be(const Workload& described, const std::string& parameters) const {
    const Outcome outcome =
        record(GROMA_PROGRAMS "/" + name_of_program() + parameters + " -ll:cpu 2");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(Not(HasSubstr("no rule")), Not(HasSubstr(" holes")),
                                   Not(HasSubstr("differ"))));
    const auto after = Workload::make(recorded());
    ASSERT_TRUE(after.ok()) << after.error().message;
    EXPECT_EQ(trace_of(after->data()), trace_of(described.data()));
  }
};

TEST_P(Programs, EqualTheirDescription) {
  const auto described = with_values(
      as_legion_program(find_benchmark(name_of_program())->make(), ProgramVariants::kCpus),
      values());
  ASSERT_TRUE(described.ok()) << described.error().message;
  const auto before = Workload::make(*described);
  ASSERT_TRUE(before.ok());
  std::string parameters;
  for (const auto& [parameter, value] : before->values()) {
    parameters += " -" + parameter + " " + std::to_string(value);
  }
  expect_to_be(*before, parameters);
}

INSTANTIATE_TEST_SUITE_P(All, Programs,
                         testing::Values("cannon:n=64,nodes=6,repeats=2", "cholesky:edge=8,tiles=5",
                                         "johnson:n=64,repeats=3",
                                         "circuit:npp=150,wpp=500,superpiece=3,steps=3,loops=3",
                                         "stencil:edge=33,nodes=2,loops=3"),
                         [](const auto& spec) {
                           return spec.param.substr(0, spec.param.find(':'));
                         });

// The applications that benchmarks/applications describes.
class Applications : public Programs {};

TEST_P(Applications, EqualTheirDescription) {
  const auto file =
      load_application(GROMA_SOURCE_DIR "/benchmarks/applications/" + name_of_program() + ".json");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto described = with_values(*file, values());
  ASSERT_TRUE(described.ok()) << described.error().message;
  const auto before = Workload::make(*described);
  ASSERT_TRUE(before.ok()) << before.error().message;
  std::string parameters = " -" + values();
  for (std::size_t at = 0; (at = parameters.find_first_of("=,", at)) != parameters.npos;) {
    parameters.replace(at, 1, parameters[at] == '=' ? " " : " -");
  }
  expect_to_be(*before, parameters);
  // A mapping of the description names the same data.
  const Application after = recorded();
  const auto has_name = [&](const std::string& name) {
    return std::any_of(after.partitions.begin(), after.partitions.end(),
                       [&](const AppPartition& partition) {
                         const auto& others = partition.aliases;
                         return partition.name == name ||
                                std::find(others.begin(), others.end(), name) != others.end();
                       });
  };
  for (const AppPartition& partition : described->partitions) {
    EXPECT_TRUE(has_name(partition.name)) << partition.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Applications,
    testing::Values("cg:nx=5,nz=8,nodes=2,iterations=3", "cg:nx=4,nz=8,iterations=2,over=2",
                    "kmeans:samples=101,k=5,dim=3,iterations=2,over=1",
                    "kmeans:samples=40,nodes=2,k=3,dim=1,iterations=3",
                    "sort_tree:keys=1003,depth=4", "sort_tree:keys=4001,depth=6"),
    [](const auto& spec) {
      std::string name = spec.param;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == ':' || c == '=' || c == ','; }, '_');
      return name;
    });

}  // namespace
}  // namespace groma::test
