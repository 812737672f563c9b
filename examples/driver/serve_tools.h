// The tools of `groma serve`: for each tool the command that it stands for, and the parameters that
// a client may give. This table is the only list of what a client can make a command do: an option
// that is not in it cannot be given.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

namespace driver {

// What the value of a parameter is, and how it becomes a word of the command line.
enum class ParameterKind {
  // A text. kInput is a text that becomes the standard input of the command, and the word `-`.
  kText,
  kInput,
  // A list of texts. The option is repeated.
  kTexts,
  // The words of a program to run, which stand behind `--`.
  kProgram,
  kInteger,
  kNumber,
  // True gives the option.
  kFlag,
  kChoice,
  // The content of a file, which is written to a temporary file. Any JSON value is written as JSON.
  kContent,
  // Paths below the root: of a file, of a list of files, of a folder, of something new.
  kFile,
  kFiles,
  kFolder,
  kNewPath,
  // What --machine and --app take, or the content of such a file as a JSON object.
  kMachine,
  kApplication,
  // The same, or a list of them. The option is repeated.
  kApplications,
  // Not an option of the command: the tool itself reads it. A number, and an endpoint.
  kOwnNumber,
  kOwnText,
};

struct ToolParameter {
  std::string_view name;
  ParameterKind kind;
  // The option of the command. Empty for a positional argument.
  std::string_view option;
  std::string_view about;
  // The range of a number.
  double least = 0, most = 0;
  // The words of a choice, separated by spaces; the name of the temporary file of a content.
  std::string_view words = {};
  // True if the parameter makes a command run something, so that the user has to allow it.
  bool runs_commands = false;
};

// A set of parameters, of which a call gives at most one, or exactly one.
struct ParameterChoice {
  // Separated by spaces.
  std::string_view names;
  bool is_required = false;
};

struct ToolDefinition {
  std::string_view name, title, about;
  // The words of the command line before the parameters.
  std::string_view command;
  std::span<const ToolParameter> parameters;
  std::span<const ParameterChoice> choices;
  // Hints for the client, as in groma/serve.h.
  bool reads_only = true, destroys = false, is_idempotent = true, open_world = false;
};

// Returns all tools. The spans refer to constants.
std::span<const ToolDefinition> tool_definitions();

// Returns the JSON schema of the tool's arguments. Without `allows_commands` it leaves out the
// parameters that make a command run something.
nlohmann::json input_schema(const ToolDefinition& tool, bool allows_commands);

}  // namespace driver
