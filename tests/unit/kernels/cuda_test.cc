// examples/kernel/cuda without a GPU: the kernels are compiled with a stand-in for CUDA
// (support/cuda_on_host.h), and the driver program checks their results.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <regex>

#include "groma/system.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace groma {
namespace {

using ::testing::HasSubstr;
using testing::in_tree;
using testing::read_text;

class CudaKernel : public ::testing::TestWithParam<const char*> {
 protected:
  CudaKernel() {
    for (const char* header : {"cuda_bf16.h", "cuda_fp16.h", "cuda_fp8.h", "cuda_pipeline.h",
                               "cuda_runtime.h", "mma.h"}) {
      folder_.write(header, "#include \"support/cuda_on_host.h\"\n");
    }
  }
  CommandOutcome shell(const std::string& line) {
    Command command;
    command.words = {"sh", "-c", line};
    command.folder = folder_.path();
    command.deadline_ms = 250'000;
    auto outcome = run_command(command);
    EXPECT_TRUE(outcome.ok());
    return *outcome;
  }
  // Compiles a kernel for the host and checks its results. Returns the outcome of the last command.
  CommandOutcome check(const std::string& kernel) {
    static const std::regex kLaunch(R"((\w+(<\w+>)?)<<<(.*)>>>\()");
    folder_.write("kernel.cc",
                  std::regex_replace(kernel, kLaunch, "cuda_on_host::launch($1, $3)("));
    return shell(
        fmt::format("{} -std=c++17 -O1 -w -I . -I {} -I {} -I {} kernel.cc -x c++ {} -o kernel && "
                    "./kernel --check && CUDA_ON_HOST_REVERSED=1 ./kernel --check",
                    GROMA_CXX, in_tree("tests").string(), in_tree("examples").string(),
                    in_tree("examples/kernel/cuda").string(),
                    in_tree("examples/kernel/cuda/driver.cu").string()));
  }

  test::TemporaryFolder folder_;
};

TEST_P(CudaKernel, IsRightOnTheHost) {
  const CommandOutcome outcome =
      check(read_text(in_tree(fmt::format("examples/kernel/cuda/{}.cu", GetParam()))));
  EXPECT_TRUE(outcome.ended_well()) << outcome.out.text << outcome.err.text;
  EXPECT_EQ(outcome.out.text, "device: host\nright\ndevice: host\nright\n");
}

INSTANTIATE_TEST_SUITE_P(All, CudaKernel,
                         ::testing::Values("matmul", "matmul_by_hand", "scaled_matmul"),
                         [](const auto& param) { return std::string(param.param); });

// The stand-in finds what goes wrong on a GPU only now and then.
TEST_F(CudaKernel, ThatLacksABarrierIsRefused) {
  std::string kernel = read_text(in_tree("examples/kernel/cuda/matmul.cu"));
  const std::size_t barrier = kernel.find("    __syncthreads();\n");
  ASSERT_NE(barrier, kernel.npos);
  kernel.erase(barrier, kernel.find('\n', barrier) - barrier);
  const CommandOutcome outcome = check(kernel);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out.text, HasSubstr("error: 7x5x3: c[0][0] is "));
}

}  // namespace
}  // namespace groma
