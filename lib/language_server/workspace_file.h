// The file `groma.toml`: which machine and which application the mappings of a folder are for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/source.h"

namespace groma::language_server {

// Limit on the size of a `groma.toml`.
inline constexpr std::size_t kMaxWorkspaceFileBytes = std::size_t{64} << 10;
inline constexpr std::string_view kWorkspaceFile = "groma.toml";

// A value of the file, with its place there.
struct WorkspaceValue {
  std::string text;
  Range range;
};

// A mistake in the file.
struct WorkspaceProblem {
  std::string message;
  Range range;
};

// The entry [[mapping]] of the file: other values for some mappings.
struct MappingEntry {
  // A pattern for the path of a mapping, relative to the folder of the file. `*` stands for any
  // characters except `/`, and `?` for one of them.
  std::string files;
  std::optional<WorkspaceValue> machine, app;
};

// The contents of one `groma.toml`.
struct WorkspaceFile {
  std::string path;
  std::string text;
  std::optional<WorkspaceValue> machine, app;
  std::vector<MappingEntry> mappings;
  std::vector<WorkspaceProblem> problems;
};

// Reads the text of a `groma.toml`. Always returns what could be read; `problems` has the rest.
WorkspaceFile parse_workspace_file(std::string path, std::string text);

// Returns the path of the nearest `groma.toml` in the folder of `path` or above it, or "".
std::string find_workspace_file(const std::string& path);

// Returns true if the pattern matches the whole path. `*` stands for any characters and `?` for
// one, but neither for `/`.
bool matches_path_pattern(std::string_view pattern, std::string_view path);

// Returns the machine or the application that `file` names for the mapping at `path`, or null. The
// first [[mapping]] that matches and has the value takes precedence.
const WorkspaceValue* value_for(const WorkspaceFile& file, const std::string& path,
                                std::optional<WorkspaceValue> WorkspaceFile::*general,
                                std::optional<WorkspaceValue> MappingEntry::*special);

// Returns a machine or an application as `load_machine` and `load_application` take it. If it names
// a file by a relative path, the path is taken from the folder of `workspace_file`.
std::string spec_from(const std::string& workspace_file, const std::string& spec);
// Returns the path of the file that such a spec names, or "" if it names no file.
std::string file_of_spec(const std::string& spec);
// Returns why the spec must not be loaded, or "". Standard input belongs to the protocol, and a
// pipe or device might never end.
std::string why_refused(const std::string& spec);

}  // namespace groma::language_server
