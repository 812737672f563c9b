// Reads `groma.toml` with toml++, and finds the file and its values for a mapping.
#include "language_server/workspace_file.h"

// toml++ 3.3 as headers alone, without exceptions.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "groma/harmless.h"
#include "groma/spelling.h"

namespace groma::language_server {
namespace {

namespace fs = std::filesystem;

// Limit on the folders above a mapping that are looked into, and on the entries of the file.
constexpr int kMaxFolders = 64;
// Limit on the bytes of a path whose folders are searched. A longer one is none of this computer.
constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::size_t kMaxMappingEntries = 1000;

// Reads the tables of one file, and collects its problems.
class WorkspaceReader {
 public:
  explicit WorkspaceReader(WorkspaceFile& file)
      : file_(file), source_(file.path, std::string(file.text)) {}

  void read() {
    const toml::parse_result parsed = toml::parse(std::string_view(file_.text), file_.path);
    if (!parsed) {
      report(parsed.error().source(), std::string(parsed.error().description()));
      return;
    }
    constexpr std::string_view kKeys[] = {"machine", "app", "mapping"};
    for (const auto& [key, node] : parsed.table()) {
      if (key.str() == "machine") {
        read_value(key, node, file_.machine);
      } else if (key.str() == "app") {
        read_value(key, node, file_.app);
      } else if (key.str() == "mapping") {
        read_mappings(node);
      } else {
        report_unknown(key, kKeys);
      }
    }
  }

 private:
  // Returns the bytes of a region of toml++. Its columns count characters, as those of Source do.
  Range range_of(const toml::source_region& where) const {
    const auto offset = [this](const toml::source_position& at) {
      std::uint32_t found = 0;
      const bool exists = at && source_.offset({at.line, at.column}, &found);
      return exists ? found : std::uint32_t{0};
    };
    const Range range{offset(where.begin), offset(where.end)};
    return {range.begin, std::max(range.begin, range.end)};
  }

  void report(const toml::source_region& where, std::string message) {
    if (file_.problems.size() >= kMaxFileErrors) return;
    file_.problems.push_back({std::move(message), range_of(where)});
  }

  void report_unknown(const toml::key& key, std::span<const std::string_view> known) {
    const auto near = near_names(key.str(), known, 1);
    report(key.source(), fmt::format("unknown key `{}`; {}", harmless(key.str(), 60),
                                     near.empty() ? "the keys are " + join_names(known, "and")
                                                  : "did you mean " + join_names(near) + "?"));
  }

  void read_value(const toml::key& key, const toml::node& node,
                  std::optional<WorkspaceValue>& into) {
    const auto* text = node.as_string();
    if (text == nullptr || text->get().empty()) {
      report(node.source(), fmt::format("`{}` needs a text in quotes", key.str()));
      return;
    }
    into = WorkspaceValue{text->get(), range_of(node.source())};
  }

  // Reads the tables [[mapping]].
  void read_mappings(const toml::node& node) {
    const toml::array* entries = node.as_array();
    if (entries == nullptr) {
      report(node.source(), "write [[mapping]] with two pairs of brackets");
      return;
    }
    for (const toml::node& entry : *entries) {
      const toml::table* table = entry.as_table();
      if (table == nullptr || file_.mappings.size() >= kMaxMappingEntries) {
        report(entry.source(), table == nullptr
                                   ? "`mapping` needs tables: [[mapping]]"
                                   : fmt::format("more than {} mappings", kMaxMappingEntries));
        return;
      }
      read_mapping(*table);
    }
  }

  void read_mapping(const toml::table& table) {
    constexpr std::string_view kKeys[] = {"files", "machine", "app"};
    MappingEntry entry;
    std::optional<WorkspaceValue> files;
    for (const auto& [key, node] : table) {
      if (key.str() == "files") {
        read_value(key, node, files);
      } else if (key.str() == "machine") {
        read_value(key, node, entry.machine);
      } else if (key.str() == "app") {
        read_value(key, node, entry.app);
      } else {
        report_unknown(key, kKeys);
      }
    }
    if (!files) {
      report(table.source(), "`files` is missing, such as files = \"circuit*.mapper\"");
      return;
    }
    entry.files = files->text;
    file_.mappings.push_back(std::move(entry));
  }

  WorkspaceFile& file_;
  Source source_;
};

}  // namespace

WorkspaceFile parse_workspace_file(std::string path, std::string text) {
  WorkspaceFile file;
  file.path = std::move(path);
  file.text = std::move(text);
  WorkspaceReader(file).read();
  return file;
}

std::string find_workspace_file(const std::string& path) {
  if (path.empty() || path.size() > kMaxPathBytes) return "";
  fs::path folder = fs::path(path).lexically_normal().parent_path();
  for (int i = 0; i < kMaxFolders; ++i) {
    std::error_code code;
    const fs::path file = folder / kWorkspaceFile;
    if (fs::is_regular_file(file, code)) return file.string();
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return "";
}

// Compares from the left. After a mismatch it goes back to the last `*`, which then takes one
// character more, so the time is at most the product of both lengths.
bool matches_path_pattern(std::string_view pattern, std::string_view path) {
  std::size_t p = 0, at = 0, star = std::string_view::npos, star_at = 0;
  while (at < path.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_at = at;
    } else if (p < pattern.size() &&
               (pattern[p] == path[at] || (pattern[p] == '?' && path[at] != '/'))) {
      ++p;
      ++at;
    } else if (star != std::string_view::npos && path[star_at] != '/') {
      p = star + 1;
      at = ++star_at;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

const WorkspaceValue* value_for(const WorkspaceFile& file, const std::string& path,
                                std::optional<WorkspaceValue> WorkspaceFile::*general,
                                std::optional<WorkspaceValue> MappingEntry::*special) {
  const fs::path folder = fs::path(file.path).parent_path();
  const std::string relative =
      fs::path(path).lexically_normal().lexically_relative(folder).string();
  for (const MappingEntry& entry : file.mappings) {
    if (entry.*special && matches_path_pattern(entry.files, relative)) return &*(entry.*special);
  }
  return file.*general ? &*(file.*general) : nullptr;
}

std::string file_of_spec(const std::string& spec) {
  // Values of parameters may follow behind a colon.
  const std::string name = spec.substr(0, spec.find(':'));
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".json");
  return is_path ? name : "";
}

std::string spec_from(const std::string& workspace_file, const std::string& spec) {
  const std::string name = file_of_spec(spec);
  if (name.empty() || fs::path(name).is_absolute()) return spec;
  const fs::path folder = fs::path(workspace_file).parent_path();
  return (folder / name).lexically_normal().string() + spec.substr(name.size());
}

std::string why_refused(const std::string& spec) {
  const std::string name = spec.substr(0, spec.find(':'));
  if (name == "-") return "`-` is the standard input, which belongs to the editor";
  std::error_code code;
  const fs::file_status status = fs::status(name, code);
  if (!fs::exists(status) || fs::is_regular_file(status)) return "";
  return fmt::format("`{}` is not a regular file", harmless(name));
}

}  // namespace groma::language_server
