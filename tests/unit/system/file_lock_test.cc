// Locks against a second holder in this process and in real others, until these end by themselves
// or are killed.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "groma/system.h"

namespace groma {
namespace {

using ::testing::HasSubstr;

class Lock : public ::testing::Test {
 protected:
  Lock() {
    std::string made = (std::filesystem::temp_directory_path() / "groma-lock.XXXXXX").string();
    EXPECT_NE(mkdtemp(made.data()), nullptr);
    folder_ = made;
    path_ = made + "/lock";
  }
  ~Lock() override { std::filesystem::remove_all(folder_); }

  std::string failure() const {
    const auto lock = FileLock::take(path_);
    return lock.ok() ? "none" : lock.error().message;
  }

  std::string folder_, path_;
};

// A process that takes the lock, says so, and holds it until its pipe closes or it is killed.
struct Holder {
  pid_t process = 0;
  int hold = -1;

  explicit Holder(const std::string& path) {
    std::array<int, 2> said{}, held{};
    EXPECT_EQ(pipe(said.data()), 0);
    EXPECT_EQ(pipe(held.data()), 0);
    process = fork();
    if (process == 0) {
      close(held[1]);
      auto lock = FileLock::take(path);
      char byte = lock.ok() ? 'y' : 'n';
      if (write(said[1], &byte, 1) == 1) static_cast<void>(!read(held[0], &byte, 1));
      _exit(0);
    }
    close(said[1]);
    close(held[0]);
    hold = held[1];
    char byte = 0;
    EXPECT_EQ(read(said[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    close(said[0]);
  }
  void end() {
    close(hold);
    waitpid(process, nullptr, 0);
  }
};

TEST_F(Lock, IsHadByOne) {
  {
    auto lock = FileLock::take(path_);
    ASSERT_TRUE(lock.ok());
    EXPECT_EQ(failure(), fmt::format("process {} has the lock `{}`", getpid(), path_));
    FileLock moved = std::move(*lock);
    EXPECT_NE(failure(), "none");
  }
  EXPECT_EQ(failure(), "none");
  EXPECT_EQ(failure(), "none");
}

TEST_F(Lock, IsSeenWithoutTakingIt) {
  const std::string path = folder_ + "/seen";
  EXPECT_FALSE(FileLock::is_taken(path));
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    const auto lock = FileLock::take(path);
    ASSERT_TRUE(lock.ok());
    EXPECT_TRUE(FileLock::is_taken(path));
    EXPECT_GT(std::filesystem::file_size(path), 0U);
  }
  EXPECT_FALSE(FileLock::is_taken(path));
  EXPECT_TRUE(FileLock::take(path).ok());
  std::filesystem::create_symlink(path, folder_ + "/link");
  EXPECT_FALSE(FileLock::is_taken(folder_ + "/link"));
}

TEST_F(Lock, OfAnotherProcessEndsWithThat) {
  for (const bool killed : {false, true}) {
    Holder holder(path_);
    EXPECT_EQ(failure(), fmt::format("process {} has the lock `{}`", holder.process, path_));
    if (killed) kill(holder.process, SIGKILL);
    holder.end();
    EXPECT_EQ(failure(), "none") << killed;
  }
}

TEST_F(Lock, IsNotInheritedByCommands) {
  auto lock = FileLock::take(path_);
  ASSERT_TRUE(lock.ok());
  Command command;
  command.words = {"sh", "-c", "readlink /proc/$$/fd/*"};
  const auto outcome = run_command(command);
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->out.text, ::testing::Not(HasSubstr(path_)));
}

TEST_F(Lock, SaysWhyThereIsNone) {
  const auto none = FileLock::take(folder_ + "/no/lock");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Error::Code::kUnreadable);
  EXPECT_EQ(none.error().message,
            fmt::format("cannot lock `{}/no/lock`: No such file or directory", folder_));
  EXPECT_FALSE(FileLock::take(folder_).ok());
  // Of a link, which would be written through.
  const std::string mine = folder_ + "/mine", link = folder_ + "/link";
  EXPECT_FALSE(write_file(mine, "mine\n"));
  std::filesystem::create_symlink(mine, link);
  EXPECT_FALSE(FileLock::take(link).ok());
  EXPECT_EQ(std::filesystem::file_size(mine), 5U);
  // Of a file that has another name, which would lose its text.
  const std::string other = folder_ + "/other";
  std::filesystem::create_hard_link(mine, other);
  {
    const auto taken = FileLock::take(other);
    EXPECT_TRUE(taken.ok());
    EXPECT_FALSE(FileLock::take(other).ok());
  }
  EXPECT_EQ(std::filesystem::file_size(mine), 5U);
  // Of one who did not come to write its number.
  const int file = open(path_.c_str(), O_RDWR | O_CREAT, 0666);
  const auto lock = FileLock::take(path_);
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(ftruncate(file, 0), 0);
  close(file);
  EXPECT_EQ(failure(), fmt::format("another process has the lock `{}`", path_));
}

}  // namespace
}  // namespace groma
