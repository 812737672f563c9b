// Who may include whom, as the tables of docs/design.md say, and whether the tree keeps to it.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "architecture/text.h"

namespace groma::architecture {

struct Library {
  std::string name;
  std::vector<std::string> headers;  // a prefix that ends in `/`, or a whole name
  std::set<std::string> users;       // folders of lib/, `driver`, or `all`
};

struct Rules {
  // Folder of lib/ to the folders it may include, itself and `base` among them: the closure.
  std::map<std::string, std::set<std::string>> reach;
  // Header of include/groma to its folder.
  std::map<std::string, std::string> owner;
  std::vector<Library> libraries;
};

// Reads the table whose first heading is "folder of `lib/`" (folder, what it holds, public headers,
// may include) and the one whose first heading is "library" (library, headers, used by).
Rules parse_rules(std::string_view design, Violations* violations);

// Holds lib/, include/groma and examples/driver below `root` to the rules.
Violations check_includes(const std::filesystem::path& root, const Rules& rules);

}  // namespace groma::architecture
