// Files that are replaced whole: what is on the disk when, with which permissions, and what a kill
// leaves behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "groma/system.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;

// What the system was asked for, in turn: "file" or "folder" is written to the disk.
std::vector<std::string> synced;  // NOLINT
std::string watched;              // NOLINT: the file that is replaced
std::string seen_in_folder;       // NOLINT: its content when its folder was written to the disk
std::atomic<int> umask_calls = 0;

}  // namespace

// These take the place of libc's own in this program.
extern "C" int fsync(int file) {
  struct stat status {};
  fstat(file, &status);
  synced.emplace_back(S_ISDIR(status.st_mode) ? "folder" : "file");
  if (S_ISDIR(status.st_mode)) seen_in_folder = groma::testing::read_text(watched);
  return static_cast<int>(syscall(SYS_fsync, file));
}
extern "C" mode_t umask(mode_t mask) {
  ++umask_calls;
  return static_cast<mode_t>(syscall(SYS_umask, mask));
}

namespace groma {
namespace {

using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

TEST(WriteFile, FirstTheContentThenTheNameReachesTheDisk) {
  const TemporaryFolder folder;
  watched = folder.path() + "/file";
  for (const char* text : {"new", "newer"}) {
    synced.clear();
    ASSERT_FALSE(write_file(watched, text));
    EXPECT_THAT(synced, ElementsAre("file", "folder"));
    EXPECT_EQ(seen_in_folder, text) << "the folder was written before the rename";
    EXPECT_EQ(::groma::testing::read_text(watched), text);
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("file"));
}

TEST(WriteFile, AFileOfTheWorkingFolderIsWrittenToo) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  watched = "file";
  synced.clear();
  EXPECT_FALSE(write_file("file", "text"));
  EXPECT_THAT(synced, ElementsAre("file", "folder"));
  fs::current_path(before);
}

// The umask is the process's, not a thread's: to ask for it is to change it for an instant, in
// which other threads make files that everybody may write.
TEST(WriteFile, TheUmaskHoldsAndIsNotTouched) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  for (const mode_t mask : {022U, 077U, 002U}) {
    fs::remove(path);
    const auto before = static_cast<mode_t>(syscall(SYS_umask, mask));
    umask_calls = 0;
    EXPECT_FALSE(write_file(path, "text"));
    EXPECT_EQ(umask_calls, 0);
    syscall(SYS_umask, before);
    EXPECT_EQ(mode_of(path), 0666U & ~mask);
  }
}

TEST(WriteFile, AnOldFilesPermissionsStay) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "old");
  for (const mode_t mode : {0600U, 0644U, 0751U}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_FALSE(write_file(path, "new"));
    EXPECT_EQ(mode_of(path), mode);
  }
  // A file may belong to somebody else; the new one is ours.
  for (const mode_t mode : {04755U, 02775U, 01777U}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_FALSE(write_file(path, "new"));
    EXPECT_EQ(mode_of(path), mode & 0777U) << "set-uid, set-gid and sticky bits are not kept";
  }
  // Nobody else can read the new content before the permissions are those of the old file.
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  FileReplacement file(path);
  for (const std::string& name : names_in(folder.path())) {
    EXPECT_EQ(mode_of(folder.path() + "/" + name) & 077U, 0U) << name;
  }
}

TEST(WriteFile, ALinkStaysALink) {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "old");
  const std::string link = folder.path() + "/link";
  fs::create_symlink("file", link);
  EXPECT_FALSE(write_file(link, "new"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(groma::testing::read_text(file), "new");
}

// A pipe is written to, not replaced by a file.
TEST(WriteFile, APipeStaysAPipe) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  EXPECT_FALSE(write_file(path, "text"));
  char bytes[16] = {};
  EXPECT_EQ(read(reader, bytes, sizeof bytes), 4);
  EXPECT_EQ(std::string(bytes), "text");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST(WriteFile, WhatAKillLeftBehindIsRemoved) {
  const TemporaryFolder folder;
  const std::string path = folder.write("best.mapper", "old");
  const pid_t child = fork();
  if (child == 0) {
    FileReplacement file(path);
    file.write("half of the ");
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(names_in(folder.path()).size(), 2U);
  EXPECT_EQ(::groma::testing::read_text(path), "old");
  // What only looks like it stays.
  for (const char* mine : {"best.mapper.groma-", "best.mapper.groma-abcde", "best.mapper.backup",
                           "best.mapper.groma-ABCDEF", "best.mapper.groma-abcdef7", "est.mapper",
                           "other.groma-abcdef"}) {
    folder.write(mine, "mine");
  }
  fs::create_directory(folder.path() + "/best.mapper.groma-folder");
  fs::create_symlink("/etc/hostname", folder.path() + "/best.mapper.groma-linked");
  remove_unfinished_replacements(path);
  EXPECT_THAT(names_in(folder.path()),
              UnorderedElementsAre("best.mapper", "best.mapper.groma-", "best.mapper.groma-abcde",
                                   "best.mapper.backup", "best.mapper.groma-ABCDEF",
                                   "best.mapper.groma-abcdef7", "est.mapper", "other.groma-abcdef",
                                   "best.mapper.groma-folder", "best.mapper.groma-linked"));
  remove_unfinished_replacements(folder.path() + "/no/such/file");
}

}  // namespace
}  // namespace groma
