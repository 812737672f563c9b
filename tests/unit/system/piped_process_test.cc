// A child process that stays and answers.
#include "system/piped_process.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace groma::system {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<PipedProcess> started(const std::string& script) {
  Command command;
  command.words = {"sh", "-c", script};
  auto process = PipedProcess::start(command);
  EXPECT_TRUE(process.ok()) << process.error().message;
  return std::move(*process);
}

// Waits until the output has this many bytes or the process has ended.
std::string output_of(PipedProcess& process, std::size_t bytes) {
  while (process.output().size() < bytes && process.wait(100)) {
  }
  return process.output();
}

TEST(PipedProcess, AnswersMoreThanAPipeHolds) {
  const auto process = started("cat");
  const std::string text(3'000'000, 'x');
  process->send(text);
  EXPECT_EQ(output_of(*process, text.size()), text);
  process->output().clear();
  process->send("again");
  EXPECT_EQ(output_of(*process, 5), "again");
  EXPECT_EQ(process->exit_code(), std::nullopt);
}

TEST(PipedProcess, SaysHowItEnded) {
  const auto failed = started("echo no route >&2; exit 255");
  EXPECT_EQ(output_of(*failed, 1), "");
  EXPECT_EQ(failed->how_it_ended(), "exit code 255");
  EXPECT_EQ(failed->exit_code(), 255);
  EXPECT_EQ(failed->last_errors(), "no route\n");
  failed->send("more");  // nobody reads it, and nothing happens
  EXPECT_FALSE(failed->wait(10));
  const auto killed = started("kill -9 $$");
  EXPECT_EQ(output_of(*killed, 1), "");
  EXPECT_THAT(killed->how_it_ended(), HasSubstr("signal 9"));
  EXPECT_EQ(killed->exit_code(), std::nullopt);
  Command unknown;
  unknown.words = {"no_such_program_here"};
  EXPECT_EQ(PipedProcess::start(unknown).error().code, Error::Code::kUnknown);
}

// The process learns from its input that it must end; what it leaves in its group ends, too.
TEST(PipedProcess, EndsWithItsInput) {
  auto process = started("sleep 300 & echo $!; read -r line; echo ended >&2");
  while (process->output().find('\n') == std::string::npos && process->wait(100)) {
  }
  const int child = std::atoi(process->output().c_str());
  ASSERT_GT(child, 0);
  process.reset();
  for (int i = 0; i < 500 && kill(child, 0) == 0; ++i) usleep(10'000);
  EXPECT_NE(kill(child, 0), 0);
}

}  // namespace
}  // namespace groma::system
