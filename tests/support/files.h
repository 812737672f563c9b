// Files of the tree, for tests that hold them to something.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "groma/result.h"

namespace groma::testing {

inline std::filesystem::path in_tree(const std::string& path) {
  return std::filesystem::path(GROMA_SOURCE_DIR) / path;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder for this test alone, empty, gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "groma-test-XXXXXX").string();
    GROMA_CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::string path_;
};

// What lies below `folder` with this extension, by name.
inline std::vector<std::filesystem::path> files_below(const std::string& folder,
                                                      const std::string& extension) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(in_tree(folder))) {
    if (entry.path().extension() == extension) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Whether expected texts are to be written anew instead of compared: GROMA_UPDATE=1.
inline bool updating() {
  const char* value = std::getenv("GROMA_UPDATE");
  return value != nullptr && std::string(value) == "1";
}

}  // namespace groma::testing
