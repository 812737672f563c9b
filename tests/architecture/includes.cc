#include "architecture/includes.h"

#include <array>
#include <optional>
#include <regex>

namespace groma::architecture {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDriver = "driver";

struct Include {
  std::string path;
  bool quoted;
};

std::vector<Include> includes_of(const fs::path& file) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  std::vector<Include> includes;
  for (const std::string& line : lines_of(read_text(file))) {
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) includes.push_back({match[2], match[1] == "\""});
  }
  return includes;
}

// <vector>, <cstdio>; and what every POSIX system has.
bool is_system_header(const std::string& path) {
  static const std::regex kStandard("[a-z0-9_]+");
  static const std::set<std::string> kPosix = {"arpa/inet.h", "dirent.h",  "dlfcn.h",  "fcntl.h",
                                               "poll.h",      "pthread.h", "signal.h", "spawn.h",
                                               "termios.h",   "unistd.h"};
  return std::regex_match(path, kStandard) || path.starts_with("sys/") || kPosix.contains(path);
}

// Adds to each folder what the folders it may include may include, until nothing is new.
void close_over(std::map<std::string, std::set<std::string>>* reach) {
  for (bool grown = true; grown;) {
    grown = false;
    for (auto& [folder, near] : *reach) {
      const std::set<std::string> before = near;
      for (const std::string& other : before) {
        if (const auto far = reach->find(other); far != reach->end()) {
          near.insert(far->second.begin(), far->second.end());
        }
      }
      grown = grown || near.size() != before.size();
    }
  }
}

class Checker {
 public:
  Checker(const fs::path& root, const Rules& rules) : root_(root), rules_(rules) {}

  Violations run() {
    for (const fs::path& file : files_below(root_ / "lib")) {
      if (is_code(file)) check_library_file(file);
    }
    for (const fs::path& file : files_below(root_ / "include" / "groma")) check_public(file);
    for (const fs::path& file : files_below(root_ / "examples" / "driver")) {
      if (is_code(file)) check_driver_file(file);
    }
    return violations_;
  }

 private:
  static bool is_code(const fs::path& file) {
    const std::string extension = file.extension().string();
    return extension == ".h" || extension == ".cc" || extension == ".inc";
  }

  void complain(const fs::path& file, const std::string& what) {
    violations_.push_back(fs::relative(file, root_).string() + ": " + what);
  }

  void check_library_file(const fs::path& file) {
    const std::string folder = fs::relative(file, root_ / "lib").begin()->string();
    if (!rules_.reach.contains(folder)) {
      complain(file, "docs/design.md has no row for lib/" + folder);
      return;
    }
    for (const Include& include : includes_of(file)) {
      if (!include.quoted) {
        check_library_use(file, folder, include.path);
      } else if (const auto target = folder_of(file, folder, include.path)) {
        check_reach(file, folder, *target, include.path);
      }
    }
  }

  void check_public(const fs::path& file) {
    const auto owner = rules_.owner.find(file.filename().string());
    if (owner == rules_.owner.end()) {
      complain(file, "docs/design.md gives this header to no folder");
      return;
    }
    for (const Include& include : includes_of(file)) {
      if (!include.quoted) {
        if (!is_system_header(include.path)) {
          complain(file, "a public header includes <" + include.path + ">, of another library");
        }
      } else if (!include.path.starts_with("groma/")) {
        complain(file, "a public header includes the private `" + include.path + "`");
      } else if (const auto target = folder_of(file, owner->second, include.path)) {
        check_reach(file, owner->second, *target, include.path);
      }
    }
  }

  void check_driver_file(const fs::path& file) {
    for (const Include& include : includes_of(file)) {
      const std::string first = include.path.substr(0, include.path.find('/'));
      if (!include.quoted) {
        check_library_use(file, std::string(kDriver), include.path);
      } else if (first != kDriver && first != "groma" && first != include.path) {
        complain(file, "the driver includes the private `" + include.path + "`");
      }
    }
  }

  // The folder in which a quoted include lies.
  std::optional<std::string> folder_of(const fs::path& file, const std::string& own,
                                       const std::string& path) {
    const std::size_t slash = path.find('/');
    if (slash == std::string::npos) return own;
    const std::string first = path.substr(0, slash);
    if (first != "groma") {
      if (rules_.reach.contains(first)) return first;
      complain(file, "`" + path + "` is in no folder that docs/design.md names");
      return std::nullopt;
    }
    const auto owner = rules_.owner.find(path.substr(slash + 1));
    if (owner != rules_.owner.end()) return owner->second;
    complain(file, "docs/design.md gives `" + path + "` to no folder");
    return std::nullopt;
  }

  void check_reach(const fs::path& file, const std::string& from, const std::string& to,
                   const std::string& path) {
    if (rules_.reach.at(from).contains(to)) return;
    complain(file, from + " may not include " + to + ": `" + path + "`");
  }

  void check_library_use(const fs::path& file, const std::string& folder, const std::string& path) {
    if (is_system_header(path)) return;
    for (const Library& library : rules_.libraries) {
      for (const std::string& header : library.headers) {
        if (header.ends_with('/') ? !path.starts_with(header) : path != header) continue;
        if (library.users.contains("all") || library.users.contains(folder)) return;
        complain(file, folder + " may not use " + library.name + ": <" + path + ">");
        return;
      }
    }
    complain(file, "<" + path + "> belongs to no library that docs/design.md names");
  }

  const fs::path& root_;
  const Rules& rules_;
  Violations violations_;
};

}  // namespace

Rules parse_rules(std::string_view design, Violations* violations) {
  Rules rules;
  enum class Table { kNone, kFolders, kLibraries } table = Table::kNone;
  for (const std::string& line : lines_of(design)) {
    const std::vector<std::string> cells = table_cells(line);
    if (cells.empty()) {
      table = Table::kNone;
    } else if (cells[0] == "folder of `lib/`" && cells.size() == 4) {
      table = Table::kFolders;
    } else if (cells[0] == "library" && cells.size() == 3) {
      table = Table::kLibraries;
    } else if (cells[0].starts_with("---") || table == Table::kNone) {
      continue;
    } else if (table == Table::kFolders && cells.size() == 4) {
      const std::string folder = names_in(cells[0]).at(0);
      for (const std::string& header : names_in(cells[2])) rules.owner[header] = folder;
      rules.reach[folder] = {folder, "base"};
      for (const std::string& other : names_in(cells[3])) rules.reach[folder].insert(other);
    } else if (table == Table::kLibraries && cells.size() == 3) {
      const std::vector<std::string> users = names_in(cells[2]);
      rules.libraries.push_back({cells[0], names_in(cells[1]), {users.begin(), users.end()}});
    } else {
      violations->push_back("docs/design.md: a row with the wrong number of cells: " + line);
    }
  }

  if (rules.reach.empty()) violations->push_back("docs/design.md: no table of folders");
  if (rules.libraries.empty()) violations->push_back("docs/design.md: no table of libraries");
  for (const auto& [folder, near] : rules.reach) {
    for (const std::string& other : near) {
      if (!rules.reach.contains(other)) {
        violations->push_back("docs/design.md: " + folder + " may include `" + other +
                              "`, which has no row");
      }
    }
  }
  close_over(&rules.reach);
  for (const auto& [folder, far] : rules.reach) {
    for (const std::string& other : far) {
      if (other != folder && rules.reach.contains(other) &&
          rules.reach.at(other).contains(folder)) {
        violations->push_back("docs/design.md: " + folder + " and " + other +
                              " may include each other");
      }
    }
  }
  return rules;
}

Violations check_includes(const fs::path& root, const Rules& rules) {
  return Checker(root, rules).run();
}

}  // namespace groma::architecture
