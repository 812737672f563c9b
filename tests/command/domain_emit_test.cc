// `groma domain emit` and `bench` as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "command/run.h"

namespace groma {
namespace {

namespace fs = std::filesystem;

using test::Outcome;
using test::run;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(DomainEmit, PrintsAHeaderInEachLanguage) {
  EXPECT_THAT(run("groma domain emit triangle:n=4096").out,
              AllOf(HasSubstr("// triangle:n=4096: a domain of 8390656 points."),
                    HasSubstr("inline constexpr std::int64_t triangle_count = 8390656;")));
  EXPECT_THAT(run("groma domain emit menger --language cuda --out -").out,
              HasSubstr("__global__ void menger_kernel(F f)"));
  EXPECT_THAT(run("groma domain emit menger --language opencl").out,
              HasSubstr("#define menger_for_each(k, x, y, z)"));
  const Outcome own =
      run("groma domain emit line --file -", "domain line = x in loops 3 <= x < 9;");
  EXPECT_EQ(own.exit_code, 0) << own.err;
  EXPECT_THAT(own.out, HasSubstr("line_point(std::int64_t k, std::int64_t* to_x)"));
}

TEST(DomainEmit, WritesAHeaderAndItsTest) {
  const test::TemporaryFolder folder;
  const std::string made = folder.path() + "/new/";
  const Outcome in_folder =
      run("groma domain emit pairs:n=100 --language cuda --test --out " + made);
  EXPECT_EQ(in_folder.exit_code, 0) << in_folder.err;
  EXPECT_EQ(in_folder.out, "");
  EXPECT_THAT(test::read_text(made + "pairs_test.cu"), HasSubstr("#include \"pairs.cuh\""));
  EXPECT_TRUE(fs::exists(made + "pairs.cuh"));

  const std::string file = folder.path() + "/my_pairs.hpp";
  EXPECT_EQ(run("groma domain emit pairs --test -o " + file).exit_code, 0);
  EXPECT_THAT(test::read_text(folder.path() + "/my_pairs_test.cc"),
              HasSubstr("#include \"my_pairs.hpp\""));
}

TEST(DomainEmit, RefusesWhatItCannotWrite) {
  EXPECT_EQ(run("groma domain emit triangle --test").exit_code, 2);
  EXPECT_EQ(run("groma domain emit triangle --language fortran").exit_code, 2);
  EXPECT_EQ(run("groma domain emit triangle:n").exit_code, 2);
  EXPECT_EQ(run("groma domain emit nothing").exit_code, 1);
  const Outcome unwritable = run("groma domain emit triangle -o /proc/none/triangle.h");
  EXPECT_EQ(unwritable.exit_code, 1);
  EXPECT_THAT(unwritable.err, HasSubstr("cannot write"));
  const test::TemporaryFolder folder;
  for (const char* const missing : {"/none/triangle.h", "/none/deeper/"}) {
    const Outcome outcome = run("groma domain emit triangle -o " + folder.path() + missing);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("cannot write"));
  }
  EXPECT_FALSE(fs::exists(folder.path() + "/none"));
  const Outcome wide = run("groma domain emit triangle:n=4000000000 --language opencl");
  EXPECT_EQ(wide.exit_code, 1);
  EXPECT_EQ(
      wide.err,
      "groma: triangle:n=4000000000 needs integers of 128 bits, which OpenCL C does not have\n"
      "help: give its parameters smaller values, or use --language cuda\n");
}

TEST(DomainBench, MeasuresAndComparesResults) {
  const Outcome outcome = run("groma domain bench --quick menger:r=1 gasket:r=4 gasket:r=5");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("| `menger:r=1` | 20 | 1.35 | 12.80 | 1.60 |"),
                                 HasSubstr("\nFitted, in ns a cell (c_test) or a point:\n"),
                                 HasSubstr("| `gasket:r=5` | 1000 | ")));
}

TEST(DomainBench, SaysWhatItCannotMeasure) {
  const Outcome list = run("groma domain bench disk:r=5");
  EXPECT_EQ(list.exit_code, 1);
  EXPECT_THAT(list.err, HasSubstr("disk:r=5 cannot be measured: it is known point by point"));
  EXPECT_THAT(run("groma domain bench triangle:n=0").err, HasSubstr("it has no points"));
  EXPECT_THAT(run("groma domain bench triangle:n=100000").err, HasSubstr("more than 2^32 cells"));
  const Outcome compiler = run("CXX=no-such-compiler groma domain bench --quick menger:r=1");
  EXPECT_EQ(compiler.exit_code, 1);
  EXPECT_THAT(compiler.err, HasSubstr("name a C++ compiler in the environment variable CXX"));
  EXPECT_THAT(run("groma domain bench menger:r=1 --out -").out, HasSubstr("int main("));
}

}  // namespace
}  // namespace groma
