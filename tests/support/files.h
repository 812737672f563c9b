// Files of the tree, for tests that hold them to something.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace groma::testing {

inline std::filesystem::path in_tree(const std::string& path) {
  return std::filesystem::path(GROMA_SOURCE_DIR) / path;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ostringstream text;  // quicker than iterators, which are slow in tests
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

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
