// Child processes: what they print, how they end, and that nobody of their group outlives them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "groma/system.h"

namespace groma {
namespace {

using End = CommandOutcome::End;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Command shell(const std::string& script) {
  Command command;
  command.words = {"sh", "-c", script};
  return command;
}

CommandOutcome run(const Command& command) {
  auto outcome = run_command(command);
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  return outcome ? *outcome : CommandOutcome{};
}

TEST(Command, ReadsItsInputAndPrintsToBothOutputs) {
  Command command = shell("cat; echo trouble >&2; exit 3");
  command.input = std::string(300'000, 'x') + "end";
  const CommandOutcome outcome = run(command);
  EXPECT_EQ(outcome.end, End::kExited);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out.text, command.input);
  EXPECT_EQ(outcome.err.text, "trouble\n");
  EXPECT_EQ(outcome.out.left_out_bytes, 0U);
}

// As run_command() finds it: run by its name, the one that was found says so.
TEST(Command, FindsAProgramWhereItIsRunFrom) {
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  const auto put = [&](const std::string& file, bool runs) {
    const std::string path = folder->path() + "/" + file;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    EXPECT_FALSE(write_file(path, "#!/bin/sh\necho " + path + "\n"));
    std::filesystem::permissions(
        path, runs ? std::filesystem::perms::owner_all : std::filesystem::perms::owner_read);
    return path;
  };
  put("text/groma_found", false);
  std::filesystem::create_directories(folder->path() + "/folder/groma_found");
  const std::string program = put("bin/groma_found", true);
  put("later/groma_found", true);
  EXPECT_EQ(find_program("groma_found"), std::nullopt);
  EXPECT_EQ(find_program(program), program);
  EXPECT_EQ(find_program(folder->path() + "/folder/groma_found"), std::nullopt);
  EXPECT_EQ(find_program(""), std::nullopt);

  const std::string before = std::getenv("PATH");
  std::string path;
  for (const char* each : {"none", "text", "folder", "bin", "later"}) {
    path += folder->path() + "/" + each + ":";
  }
  setenv("PATH", (path + before).c_str(), 1);
  const auto found = find_program("groma_found");
  Command command;
  command.words = {"groma_found"};
  const CommandOutcome outcome = run(command);
  setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(found, program);
  EXPECT_EQ(outcome.out.text, program + "\n");
}

TEST(Command, AnInputThatNobodyReadsHoldsNobodyUp) {
  Command command = shell("exit 0");
  command.input = std::string(5'000'000, 'x');
  EXPECT_EQ(run(command).code, 0);
}

TEST(Command, SaysWhatKilledIt) {
  const CommandOutcome outcome = run(shell("kill -SEGV $$"));
  EXPECT_EQ(outcome.end, End::kSignalled);
  EXPECT_EQ(outcome.code, SIGSEGV);
}

TEST(Command, TellsWhatItPrintsAsItComes) {
  // The second line waits for what hearing the first makes.
  const std::string file = ::testing::TempDir() + "groma_heard";
  std::filesystem::remove(file);
  Command command = shell("echo one; while [ ! -e '" + file + "' ]; do sleep 0.01; done; echo two");
  command.deadline_ms = 60'000;
  command.max_output_bytes = 2;
  std::string heard;
  command.on_output = [&](std::string_view bytes, bool is_error) {
    heard += is_error ? "error" : bytes;
    EXPECT_FALSE(write_file(file, "heard"));
  };
  EXPECT_EQ(run(command).end, End::kExited);
  EXPECT_EQ(heard, "one\ntwo\n");
  std::filesystem::remove(file);
}

TEST(Command, KeepsTheFirstAndTheLastOfTooMuchOutput) {
  Command command = shell("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo last");
  command.max_output_bytes = 1000;
  const CommandOutput out = run(command).out;
  EXPECT_EQ(out.text.size(), 1000U);
  EXPECT_EQ(out.cut_at, 500U);
  EXPECT_EQ(out.left_out_bytes, 3'000'011U - 1000U);
  EXPECT_EQ(out.text.substr(0, 7), "first\nx");
  EXPECT_EQ(out.text.substr(994), "xlast\n");
}

// The number that a process wrote of itself is nobody's any more.
bool gone(const std::string& number) {
  const pid_t process = static_cast<pid_t>(std::atoi(number.c_str()));
  for (int i = 0; i < 200; ++i) {
    if (kill(process, 0) != 0) return true;
    std::error_code ignored;  // a zombie that init has not reaped runs no more
    const auto at = std::filesystem::path("/proc") / std::to_string(process) / "exe";
    if (!std::filesystem::exists(std::filesystem::read_symlink(at, ignored)) && ignored) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Command, AtItsDeadlineTheWholeGroupEnds) {
  Command command = shell("sleep 300 & echo $!; trap '' TERM; while :; do sleep 1; done");
  command.deadline_ms = 200;
  const CommandOutcome outcome = run(command);
  EXPECT_EQ(outcome.end, End::kDeadline);
  ASSERT_FALSE(outcome.out.text.empty());
  EXPECT_TRUE(gone(outcome.out.text));
}

TEST(Command, WhatItLeavesBehindEndsWithIt) {
  const CommandOutcome outcome = run(shell("sleep 300 & echo $!"));
  EXPECT_EQ(outcome.end, End::kExited);
  EXPECT_TRUE(gone(outcome.out.text));
}

TEST(Command, IsStoppedWhenAsked) {
  Command command = shell("sleep 300");
  int asked = 0;
  command.stop = [&asked] { return ++asked == 3; };
  EXPECT_EQ(run(command).end, End::kStopped);
  EXPECT_EQ(asked, 3);
}

TEST(Command, IsStoppedLongBeforeItsDeadline) {
  Command command = shell("sleep 300");
  command.deadline_ms = 60'000;
  int asked = 0;
  command.stop = [&asked] { return ++asked == 3; };
  const CommandOutcome outcome = run(command);
  EXPECT_EQ(outcome.end, End::kStopped);
  EXPECT_LT(outcome.seconds, 30);
}

// It left the group, but not our reach.
TEST(Command, MaySayFarewellBeforeItIsStopped) {
  Command command =
      shell("trap 'echo saved; exit 7' INT; echo ready; while :; do sleep 0.01; done");
  bool ready = false;
  command.on_output = [&](std::string_view, bool) { ready = true; };
  command.stop = [&] { return ready; };
  command.farewell_ms = 10'000;
  const CommandOutcome outcome = run(command);
  EXPECT_EQ(outcome.end, End::kStopped);
  EXPECT_EQ(outcome.code, 7);
  EXPECT_EQ(outcome.out.text, "ready\nsaved\n");
  EXPECT_LT(outcome.seconds, 9);
}

TEST(Command, IsKilledIfItsFarewellTakesTooLong) {
  Command command = shell("trap '' INT; while :; do sleep 0.01; done");
  command.deadline_ms = 100;
  command.farewell_ms = 100;
  const CommandOutcome outcome = run(command);
  EXPECT_EQ(outcome.end, End::kDeadline);
  EXPECT_EQ(outcome.code, SIGKILL);
  EXPECT_LT(outcome.seconds, 5);
}

TEST(Command, WhatLeavesItsGroupEndsToo) {
  Command command;
  command.words = {"perl", "-e",
                   "setpgrp(0, getpgrp(getppid)); $| = 1; print \"$$\\n\"; sleep 300"};
  command.deadline_ms = 500;
  const CommandOutcome outcome = run(command);
  EXPECT_EQ(outcome.end, End::kDeadline);
  EXPECT_TRUE(gone(outcome.out.text));
}

// Not the command itself alone, but also what it started; this process learns of their end by that
// of a pipe that they hold.
TEST(Command, DiesWithWhoeverRunsIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t runner = fork();
  if (runner == 0) {
    close(ends[0]);
    run(shell(fmt::format("trap '' HUP TERM; (echo up >&{}; sleep 300); true", ends[1])));
    _exit(1);
  }
  close(ends[1]);
  std::array<char, 8> text{};
  ASSERT_EQ(read(ends[0], text.data(), text.size()), 3);
  kill(runner, SIGKILL);
  ASSERT_EQ(waitpid(runner, nullptr, 0), runner);
  pollfd file{ends[0], POLLIN, 0};
  ASSERT_EQ(poll(&file, 1, 60'000), 1) << "it still runs";
  EXPECT_EQ(read(ends[0], text.data(), text.size()), 0);
  close(ends[0]);
}

TEST(Command, EndsAtItsMostOutput) {
  Command command = shell("yes");
  command.max_output_bytes = 1000;
  command.end_at_max_output = true;
  const CommandOutcome outcome = run(command);
  EXPECT_EQ(outcome.end, End::kTooMuchOutput);
  EXPECT_EQ(outcome.out.text.size(), 1000U);
  command = shell("printf 12345");
  command.max_output_bytes = 5;
  command.end_at_max_output = true;
  EXPECT_EQ(run(command).end, End::kExited);
}

TEST(Command, NeedsToBeToldOfEnds) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  const auto outcome = run_command(shell("exit 3"));
  signal(SIGCHLD, before);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().message,
            "cannot run `sh`: SIGCHLD is ignored, so nobody learns its end");
}

TEST(Command, HasTheFolderAndTheEnvironmentThatItIsGiven) {
  setenv("GROMA_TEST_SECRET", "secret", 1);
  setenv("GROMA_TEST_KEPT", "kept", 1);
  Command command = shell("pwd; echo \"$GROMA_TEST_SECRET,$GROMA_TEST_KEPT,$GROMA_TEST_NEW\"");
  command.folder = "/";
  command.environment = {"GROMA_TEST_SECRET", "GROMA_TEST_NEW=new"};
  EXPECT_EQ(run(command).out.text, "/\n,kept,new\n");
}

// A shell does not look for a program in the present folder either.
TEST(Command, ThatStandsInThisFolderNeedsItsFolder) {
  namespace fs = std::filesystem;
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder.ok());
  const fs::path before = fs::current_path();
  fs::current_path(folder->path());
  fs::create_symlink("/bin/sh", "a-program-in-this-folder");
  Command command;
  command.words = {"a-program-in-this-folder"};
  const auto refused = run_command(command);
  fs::current_path(before);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().help,
            "the folder of `./a-program-in-this-folder` is not in PATH: write "
            "`./a-program-in-this-folder`");
}

TEST(Command, SaysWhyItCannotBeStarted) {
  Command command;
  command.words = {"no-such-program-here"};
  const auto unknown = run_command(command);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, Error::Code::kUnknown);
  EXPECT_EQ(unknown.error().message,
            "cannot run `no-such-program-here`: No such file or directory");
  EXPECT_EQ(unknown.error().help, "");
  command = shell("true");
  command.folder = "/no/such/folder";
  EXPECT_FALSE(run_command(command).ok());
  command = {};
  command.words = {"/etc/passwd"};
  const auto refused = run_command(command);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Error::Code::kUnreadable);
  EXPECT_THAT(refused.error().message, HasSubstr("Permission denied"));
  EXPECT_THAT(refused.error().help, HasSubstr("chmod +x"));
}

// The bound holds for the program from its start, for its children, and to the KB.
TEST(Command, BoundsTheMemoryOfEachProcess) {
  Command command = shell("grep 'address space' /proc/self/limits");
  command.memory_bytes = std::int64_t{100} << 20;
  EXPECT_THAT(run(command).out.text, HasSubstr(" 104857600            104857600 "));
  constexpr const char* kFill = "my $x = 'x' x 300_000_000; print length $x";
  command.words = {"perl", "-e", kFill};
  command.memory_bytes = std::int64_t{200} << 20;
  const CommandOutcome alone = run(command);
  EXPECT_NE(alone.code, 0);
  EXPECT_EQ(alone.out.text, "");
  command.words = {"sh", "-c", "perl -e \"$0\"; echo \", $?\"", kFill};
  EXPECT_THAT(run(command).out.text, AllOf(HasSubstr(", "), Not(HasSubstr(", 0"))));
  command.memory_bytes = std::int64_t{800} << 20;
  EXPECT_EQ(run(command).out.text, "300000000, 0\n");
}

TEST(Command, WithAMemoryBoundHasItsWordsAndEndsAsThey) {
  Command command;
  command.memory_bytes = std::int64_t{1} << 30;
  command.words = {"printf", "%s|", "a b", "$(id)", "\"", ""};
  EXPECT_EQ(run(command).out.text, "a b|$(id)|\"||");
  command.words = {"sh", "-c", "kill -SEGV $$"};
  EXPECT_EQ(run(command).end, End::kSignalled);
  command.words = {"no-such-program-here"};
  EXPECT_EQ(run(command).code, 127);
}

TEST(Command, ManyThreadsRunTheirOwn) {
  std::vector<std::thread> threads;
  std::vector<std::string> texts(8);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    threads.emplace_back([&texts, i] {
      Command command = shell("cat");
      command.input = std::to_string(i);
      texts[i] = run(command).out.text;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], std::to_string(i));
}

}  // namespace
}  // namespace groma
