// A small tree of files in a folder of its own, removed when it goes.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "groma/result.h"

namespace groma::architecture {

class FakeTree {
 public:
  FakeTree() {
    std::string name = (std::filesystem::temp_directory_path() / "groma-tree-XXXXXX").string();
    GROMA_CHECK(mkdtemp(name.data()) != nullptr);
    root_ = name;
  }
  ~FakeTree() { std::filesystem::remove_all(root_); }
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;

  const std::filesystem::path& root() const { return root_; }

  void write(std::string_view path, std::string_view text) {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

 private:
  std::filesystem::path root_;
};

}  // namespace groma::architecture
