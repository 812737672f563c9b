// examples/kernel/opencl: its driver program with right and with wrong kernels, on the first OpenCL
// device. How fast a kernel is, is not looked at.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "groma/system.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace groma {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFolder = "examples/kernel/opencl/";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return at == text.npos ? text : text.replace(at, what.size(), by);
}

class OpenclKernel : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef GROMA_KERNEL_OPENCL
    GTEST_SKIP() << "examples/kernel/opencl was not built";
#else
    const CommandOutcome probe = drive(file("matmul_plain.cl"), "--check");
    if (probe.code == 3) GTEST_SKIP() << probe.out.text << probe.err.text;
#endif
  }

  static std::string file(const std::string& name) {
    return testing::in_tree(kFolder + name).string();
  }
  static std::string text(const std::string& name) { return testing::read_text(file(name)); }

  // Runs the driver program with a kernel file.
  CommandOutcome drive(const std::string& path, const std::string& arguments) {
#ifdef GROMA_KERNEL_OPENCL
    const std::string program = GROMA_KERNEL_OPENCL;
#else
    const std::string program = "false";
#endif
    Command command;
    command.words = {"sh", "-c",
                     fmt::format("POCL_CACHE_DIR=\"$PWD/cache\" {} --kernel {} --seconds 0.001 {}",
                                 program, path, arguments)};
    command.folder = folder_.path();
    command.deadline_ms = 250'000;
    auto outcome = run_command(command);
    EXPECT_TRUE(outcome.ok());
    return *outcome;
  }
  // Checks a kernel with this text, and expects that the driver program refuses it. Returns what it
  // prints.
  std::string refused(const std::string& kernel) {
    const CommandOutcome outcome = drive(folder_.write("changed.cl", kernel), "--check");
    EXPECT_EQ(outcome.code, 1) << outcome.out.text << outcome.err.text;
    return outcome.out.text + outcome.err.text;
  }

  test::TemporaryFolder folder_;
};

TEST_F(OpenclKernel, AllOfTheFolderAreRight) {
  for (const char* name :
       {"matmul", "matmul_plain", "matmul_by_hand", "stencil", "stencil_by_hand"}) {
    const CommandOutcome outcome = drive(file(std::string(name) + ".cl"), "--check");
    EXPECT_TRUE(outcome.ended_well()) << name << outcome.err.text;
    EXPECT_THAT(outcome.out.text, EndsWith("right\n")) << name << outcome.err.text;
  }
}

TEST_F(OpenclKernel, IsRightWithOtherValuesOfItsMarks) {
  std::string kernel = text("matmul.cl");
  kernel = replaced(kernel, "LANES 1 ", "LANES 4 ");
  kernel = replaced(kernel, "VECTORS 1 ", "VECTORS 3 ");
  kernel = replaced(kernel, "TILE_Y 1 ", "TILE_Y 6 ");
  EXPECT_TRUE(drive(folder_.write("m.cl", kernel), "--check").ended_well());
  kernel = replaced(text("stencil.cl"), "TILE_X 1 ", "TILE_X 8 ");
  kernel = replaced(kernel, "TILE_Z 1 ", "TILE_Z 4 ");
  EXPECT_TRUE(drive(folder_.write("s.cl", kernel), "--check").ended_well());
}

TEST_F(OpenclKernel, IsTimedAsJson) {
  for (const char* shape : {"16x32x64", "65x33x17"}) {
    const CommandOutcome outcome = drive(file("matmul.cl"), fmt::format("--json {} 8x8x8", shape));
    ASSERT_TRUE(outcome.ended_well()) << outcome.err.text;
    const auto json = nlohmann::json::parse(outcome.out.text);
    EXPECT_EQ(json["check"], "right");
    EXPECT_EQ(json["shapes"][0]["name"], shape);
    EXPECT_GT(json["shapes"][1]["seconds"], 0);
    EXPECT_GT(json["shapes"][1]["gflops"], 0);
    EXPECT_GT(json["gflops"], 0);
    EXPECT_GE(json["spread"], 0);
  }
}

TEST_F(OpenclKernel, ThatIsWrongIsRefusedWithItsFirstElement) {
  const std::string start = text("matmul_plain.cl");
  EXPECT_THAT(refused(replaced(start, "k < depth", "k < min(depth, 64)")),
              HasSubstr("error: 33x17x65: c[0][0] is "));
  EXPECT_THAT(refused(replaced(start, "= sum;", "= sum + (i == 3 && j == 4 ? 1 : 0);")),
              AllOf(HasSubstr("error: 7x5x3: c[3][4] is "), HasSubstr(", expected ")));
  EXPECT_THAT(refused(replaced(start, "float sum = 0", "float sum = i == 6 ? NAN : 0")),
              HasSubstr("error: 7x5x3: c[6][0] is nan, expected "));
  // An element that is not written.
  EXPECT_THAT(refused(replaced(start, "float sum = 0", "if (i == 5) return;\n  float sum = 0")),
              HasSubstr("c[5][0] is nan"));
  EXPECT_THAT(refused(replaced(text("stencil.cl"), "z == 0 || ", "")),
              HasSubstr("error: 3x3x3: out[0][1][1] is nan, expected "));
}

TEST_F(OpenclKernel, ThatWritesBesideTheResultIsRefused) {
  const std::string start = text("matmul_plain.cl");
  EXPECT_THAT(refused(replaced(start, "= sum;", "= sum;\n  c[rows * columns + 2] = 0;")),
              HasSubstr("error: 1x1x1: c[3] was written, which lies behind the end of the array"));
  EXPECT_THAT(refused(replaced(start, "= sum;", "= sum;\n  c[-1] = 0;")),
              HasSubstr("c[-1] was written, which lies before the array"));
  EXPECT_THAT(refused(replaced(start, "= sum;", "= sum;\n  ((global float*)b)[0] = 3;")),
              HasSubstr("b was written"));
}

TEST_F(OpenclKernel, ThatDoesNotCompileIsRefusedWithItsLines) {
  const std::string out =
      refused(replaced(text("matmul_plain.cl"), "float sum = 0", "float sum = zero"));
  EXPECT_THAT(out, HasSubstr("changed.cl:7:15: error: use of undeclared identifier 'zero'"));
  EXPECT_THAT(refused("kernel void other(global float* x) { x[0] = 1; }\n"),
              HasSubstr("there must be either a kernel matmul or a kernel stencil"));
  EXPECT_THAT(
      refused("kernel void matmul(int rows) {}\n"),
      HasSubstr("argument 2 of matmul(rows, columns, depth, a, b, c): the kernel has fewer"));
}

TEST_F(OpenclKernel, ThatCannotBeLaunchedIsRefused) {
  const std::string start = text("matmul_plain.cl");
  EXPECT_THAT(refused("#define TILE_X (3 - 3)\n" + start),
              HasSubstr("changed.cl: TILE_X is 0, not 1 to 1048576"));
  EXPECT_THAT(refused("#define GROUP_X 100000\n" + start),
              HasSubstr("cannot launch the kernel with work-groups of 100000x1x1: "));
}

TEST_F(OpenclKernel, CannotPrintItsOwnRate) {
  const std::string kernel =
      replaced(text("matmul_plain.cl"), "float sum = 0",
               "if (i + j == 0) printf(\"GFLOP/s: 1e9\\n\");\n  float sum = 0");
  const CommandOutcome outcome = drive(folder_.write("prints.cl", kernel), "--time 8x8x8");
  EXPECT_TRUE(outcome.ended_well());
  EXPECT_THAT(outcome.out.text, AllOf(HasSubstr("GFLOP/s: "), Not(HasSubstr("1e9"))));
}

TEST_F(OpenclKernel, WrongUseAndMissingDevicesHaveTheirOwnExitCodes) {
  EXPECT_EQ(drive("none.cl", "--check").code, 2);
  EXPECT_EQ(drive(file("matmul.cl"), "8x8").code, 2);
  const CommandOutcome outcome = drive(file("matmul.cl"), "--device 1000 --json");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(nlohmann::json::parse(outcome.out.text)["error"], HasSubstr("no OpenCL device 1000"));
}

}  // namespace
}  // namespace groma
