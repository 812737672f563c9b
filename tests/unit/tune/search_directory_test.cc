// What may not be in the directory of a search before it begins, and the name of a new one.
#include "groma/search_directory.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "groma/tune.h"
#include "support/temporary_folder.h"

namespace groma {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

TEST(SearchDirectory, ANewOneHasANewName) {
  const TemporaryFolder folder;
  const fs::path here = fs::current_path();
  fs::current_path(folder.path());
  EXPECT_EQ(tuning::make_search_directory(), "tune");
  EXPECT_EQ(tuning::make_search_directory(), "tune.2");
  folder.write("tune.3", "a file");
  EXPECT_EQ(tuning::make_search_directory(), "tune.4");
  EXPECT_TRUE(fs::is_directory("tune.4"));
  fs::current_path(here);
}

TEST(SearchDirectory, AFileIsNoDirectory) {
  const TemporaryFolder folder;
  EXPECT_FALSE(tuning::not_a_directory(folder.path()));
  EXPECT_FALSE(tuning::not_a_directory(folder.path() + "/absent"));
  const auto error = tuning::not_a_directory(folder.write("file\x1b", ""));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "`" + folder.path() + "/file\\u001b` is a file, not a directory");
}

TEST(SearchDirectory, NoFileMayBeALink) {
  const TemporaryFolder folder;
  EXPECT_FALSE(tuning::error_if_search_has_links(folder.path()));
  fs::create_symlink("elsewhere", folder.path() + "/other");  // no file of a search
  EXPECT_FALSE(tuning::error_if_search_has_links(folder.path()));
  for (const std::string name :
       {"best.mapper", "verified.mapper", "journal.jsonl", "lock", "front"}) {
    fs::create_symlink("elsewhere", folder.path() + "/" + name);
    const auto error = tuning::error_if_search_has_links(folder.path());
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->message, "`" + folder.path() + "` has a link for its `" + name + "`");
    fs::remove(folder.path() + "/" + name);
  }
}

TEST(SearchDirectory, NothingIsReplaced) {
  const TemporaryFolder folder;
  EXPECT_FALSE(tuning::error_if_search_replaces(folder.path() + "/absent"));
  folder.write("notes.txt", "of the user");
  EXPECT_FALSE(tuning::error_if_search_replaces(folder.path()));
  for (const std::string name : tuning::kSearchFiles) {
    folder.write(name, "a line\n");
    const auto error = tuning::error_if_search_replaces(folder.path());
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->message, "`" + folder.path() + "` has a file `" + name + "`");
    fs::remove(folder.path() + "/" + name);
  }
}

TEST(SearchDirectory, TheFolderOfAFrontIsNotReplaced) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() + "/front");
  const auto error = tuning::error_if_search_replaces(folder.path());
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "`" + folder.path() + "` has a folder `front`");
}

// A search that was killed in the first line of its journal has lost nothing.
TEST(SearchDirectory, ABrokenOffBeginningIsReplaced) {
  const TemporaryFolder folder;
  folder.write("journal.jsonl", R"({"search":{"version")");
  EXPECT_TRUE(tuning::holds_no_search_yet(folder.path()));
  EXPECT_FALSE(tuning::error_if_search_replaces(folder.path()));
}

}  // namespace
}  // namespace groma
