// Turns the arguments of a tool's call into a command line of groma. Arguments are untrusted: each
// one is checked against the table of serve_tools.h, and each path against the root.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "groma/result.h"
#include "serve_root.h"
#include "serve_tools.h"

namespace driver {

// A command line of groma, in parts.
struct ToolCommandLine {
  // Options with their values, such as `--task=work`.
  std::vector<std::string> options;
  std::vector<std::string> positionals;
  // The words behind `--`.
  std::vector<std::string> behind;
  // The standard input.
  std::string input;

  // Returns all words: the command, options, positional arguments, and those behind `--`.
  std::vector<std::string> words(std::string_view command) const;
};

// Reads the arguments of a call. Writes contents to files in `scratch`, an existing empty folder.
// Fails if an argument is unknown, is not of its kind, contradicts another one, is missing, is not
// allowed or names a path that is not below the root. The message says what to give instead.
groma::Result<ToolCommandLine> read_tool_arguments(const ToolDefinition& tool,
                                                   const nlohmann::json& arguments,
                                                   const ServeRoot& root,
                                                   const std::string& scratch,
                                                   bool allows_commands);

// Return an argument of a call that was read before: a text (empty if it is not given), a flag.
std::string text_argument(const nlohmann::json& arguments, const char* name);
bool flag_argument(const nlohmann::json& arguments, const char* name);

}  // namespace driver
