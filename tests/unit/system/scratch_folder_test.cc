// Folders for a while: that they go, whatever is in them and however we end, and nothing else does.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "groma/system.h"
#include "support/temporary_folder.h"

namespace groma {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

// Where temporary files go, for a while.
class TemporaryFiles {
 public:
  explicit TemporaryFiles(const std::string& folder) {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", folder.c_str(), 1);
  }
  ~TemporaryFiles() {
    if (before_) setenv("TMPDIR", before_->c_str(), 1);
    if (!before_) unsetenv("TMPDIR");
  }
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;

 private:
  std::optional<std::string> before_;
};

bool there(const std::string& path) { return fs::exists(fs::symlink_status(path)); }

// Within a minute.
bool goes(const std::string& path) {
  for (int i = 0; i < 6000 && there(path); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return !there(path);
}

// What a command may leave there; `outside` has a file.
void fill(const std::string& path, const std::string& outside) {
  fs::create_directories(path + "/a b/$(c)/-d");
  std::ofstream(path + "/a b/$(c)/-d/file") << "text";
  fs::create_directory_symlink(outside, path + "/link");
  fs::create_symlink(outside + "/file", path + "/file link");
  fs::create_directories(path + "/locked/in it");
  fs::permissions(path + "/locked/in it", fs::perms::none);
  fs::permissions(path + "/locked", fs::perms::none);
}

TEST(ScratchFolder, GoesWithItsObject) {
  const TemporaryFolder outside;
  const std::string file = outside.write("file", "mine");
  std::string path;
  {
    const auto folder = ScratchFolder::make();
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    path = folder->path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    fill(path, outside.path());
  }
  EXPECT_FALSE(there(path));
  EXPECT_TRUE(fs::exists(file));
}

TEST(ScratchFolder, IsMovedWhole) {
  auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path();
  {
    const ScratchFolder moved = std::move(folder).value();
    EXPECT_EQ(moved.path(), path);
    EXPECT_TRUE(there(path));
  }
  EXPECT_FALSE(there(path));
}

// A process that makes a folder, has something done to it, and is killed; the folder's path.
template <typename Fill>
std::string made_by_who_is_killed(const Fill& fill) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto folder = ScratchFolder::make();
    if (!folder) _exit(1);
    fill(folder->path());
    const std::string& path = folder->path();
    if (write(ends[1], path.data(), path.size()) < 0) _exit(1);
    for (;;) pause();
  }
  char text[1000];
  const ssize_t size = read(ends[0], text, sizeof text);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (const int end : ends) close(end);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

// In a folder whose name the shell could take for something else.
TEST(ScratchFolder, GoesWhereWeAreKilled) {
  const TemporaryFolder outside;
  const std::string file = outside.write("file", "mine");
  const TemporaryFolder folder;
  const std::string in = folder.path() + "/-a 'b\" $(touch evil); touch evil\n* \\";
  fs::create_directory(in);
  const TemporaryFiles at(in);
  const std::string path = made_by_who_is_killed([&](const std::string& made) {
    fill(made, outside.path());
    std::ofstream(in + "/beside") << "mine";
  });
  EXPECT_TRUE(path.starts_with(in + "/groma-")) << path;
  EXPECT_TRUE(goes(path));
  EXPECT_TRUE(fs::exists(in + "/beside"));
  EXPECT_TRUE(fs::exists(file));
}

// What stands in its place is not a folder of ours: the link goes, not what it names.
TEST(ScratchFolder, ALinkInItsPlaceIsNotFollowed) {
  const TemporaryFolder outside;
  const std::string file = outside.write("file", "mine");
  fs::permissions(outside.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const std::string path = made_by_who_is_killed([&](const std::string& made) {
    fs::remove(made);
    fs::create_directory_symlink(outside.path(), made);
  });
  EXPECT_TRUE(goes(path));
  EXPECT_TRUE(fs::exists(file));
  EXPECT_EQ(fs::status(outside.path()).permissions(),
            fs::perms::owner_read | fs::perms::owner_exec);
  fs::permissions(outside.path(), fs::perms::owner_all);
}

// Also where the folder for temporary files is said from here.
TEST(ScratchFolder, HasAnAbsolutePath) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() + "/here");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const TemporaryFiles at("here");
  const auto made = ScratchFolder::make();
  fs::current_path(before);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(fs::path(made->path()).parent_path(), folder.path() + "/here");
}

}  // namespace
}  // namespace groma
