// Reads the arguments of a call into a command line.
#include "serve_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "groma/harmless.h"
#include "groma/spelling.h"
#include "groma/system.h"
#include "serve_words.h"

namespace driver {
namespace {

using groma::Error;
using groma::Result;
using groma::visible;
using Json = nlohmann::json;

// Limit on a text that becomes a word of the command line. The system has a limit of 128 KiB.
constexpr std::size_t kMaxWordBytes = std::size_t{32} << 10;

Error wrong(std::string message, std::string help = {}) {
  return {Error::Code::kMalformed, std::move(message), std::move(help)};
}

// Reads the arguments of one call.
class ArgumentReader {
 public:
  // Both arguments must outlive the reader.
  ArgumentReader(const ServeRoot& root, const std::string& scratch)
      : root_(root), scratch_(scratch) {}

  std::optional<Error> read(const ToolParameter& parameter, const Json& value) {
    using enum ParameterKind;
    name_ = parameter.name;
    switch (parameter.kind) {
      case kText:
        return add_text(parameter, value);
      case kInput:
        return add_input(value);
      case kTexts:
      case kFiles:
        return add_list(parameter, value);
      case kProgram:
        return add_program(value);
      case kInteger:
      case kNumber:
      case kOwnNumber:
        return add_number(parameter, value);
      case kFlag:
        if (!value.is_boolean()) return expected("true or false");
        if (value.get<bool>()) made_.options.emplace_back(parameter.option);
        return std::nullopt;
      case kChoice:
        return add_choice(parameter, value);
      case kContent:
        return add_content(parameter, value);
      case kFile:
      case kFolder:
      case kNewPath:
        return add_path(parameter, value);
      case kMachine:
      case kApplication:
        return add_spec(parameter, value);
      case kApplications:
        if (value.is_array()) return add_list(parameter, value);
        return add_spec(parameter, value);
      case kOwnText:
        return value.is_string() ? std::nullopt : expected("a text");
    }
    return std::nullopt;
  }

  ToolCommandLine take() { return std::move(made_); }

 private:
  std::optional<Error> expected(std::string_view what) const {
    return wrong(fmt::format("`{}` is not {}", name_, what));
  }

  // Returns an error unless the value can be one word of a command line. Behind `--task=` an empty
  // value would make the next word the value.
  std::optional<Error> word_error(const Json& value) const {
    if (!value.is_string()) return expected("a text");
    const auto& text = value.get_ref<const std::string&>();
    if (text.empty() || text.size() > kMaxWordBytes || text.find('\0') != text.npos) {
      return expected(fmt::format("a text of 1 to {} bytes, without zeros", kMaxWordBytes));
    }
    return std::nullopt;
  }

  // Adds an option with its value in one word, so that the value cannot be taken for an option. A
  // positional argument comes from ServeRoot or is a temporary file, so it cannot either.
  void add(const ToolParameter& parameter, const std::string& value) {
    if (parameter.option.empty()) {
      made_.positionals.push_back(value);
    } else {
      made_.options.push_back(fmt::format("{}={}", parameter.option, value));
    }
  }

  std::optional<Error> add_text(const ToolParameter& parameter, const Json& value) {
    if (auto error = word_error(value)) return error;
    add(parameter, value.get<std::string>());
    return std::nullopt;
  }

  std::optional<Error> add_input(const Json& value) {
    if (!value.is_string()) return expected("a text");
    made_.input = value.get<std::string>();
    made_.positionals.emplace_back("-");
    return std::nullopt;
  }

  std::optional<Error> add_list(const ToolParameter& parameter, const Json& value) {
    if (!value.is_array() || value.empty() || value.size() > kMaxListItems) {
      return expected(fmt::format("a list of 1 to {} items", kMaxListItems));
    }
    ToolParameter item = parameter;
    item.kind = parameter.kind == ParameterKind::kFiles          ? ParameterKind::kFile
                : parameter.kind == ParameterKind::kApplications ? ParameterKind::kApplication
                                                                 : ParameterKind::kText;
    for (const Json& each : value) {
      if (auto error = read(item, each)) return error;
    }
    return std::nullopt;
  }

  std::optional<Error> add_program(const Json& value) {
    if (!value.is_array() || value.empty() || value.size() > kMaxListItems) {
      return expected(fmt::format("a list of 1 to {} words", kMaxListItems));
    }
    for (const Json& each : value) {
      if (auto error = word_error(each)) return error;
      made_.behind.push_back(each.get<std::string>());
    }
    return std::nullopt;
  }

  std::optional<Error> add_number(const ToolParameter& parameter, const Json& value) {
    const bool whole = parameter.kind == ParameterKind::kInteger;
    const bool fits = value.is_number() && value.get<double>() >= parameter.least &&
                      value.get<double>() <= parameter.most &&
                      (!whole || value.get<double>() == std::trunc(value.get<double>()));
    if (!fits) {
      return expected(fmt::format("{} from {} to {}", whole ? "a whole number" : "a number",
                                  parameter.least, parameter.most));
    }
    if (parameter.kind == ParameterKind::kOwnNumber) return std::nullopt;
    add(parameter, whole ? fmt::format("{}", value.get<std::int64_t>())
                         : fmt::format("{}", value.get<double>()));
    return std::nullopt;
  }

  std::optional<Error> add_choice(const ToolParameter& parameter, const Json& value) {
    const auto words = words_in(parameter.words);
    const auto* const text = value.get_ptr<const std::string*>();
    if (text == nullptr || std::find(words.begin(), words.end(), *text) == words.end()) {
      return expected(fmt::format("one of {}", groma::join_names(words, "and")));
    }
    add(parameter, *text);
    return std::nullopt;
  }

  // Writes a content to a temporary file. A second one of the same name gets a number.
  Result<std::string> write_content(std::string_view file_name, const Json& value) {
    const std::size_t dot = std::min(file_name.rfind('.'), file_name.size());
    std::string path = fmt::format("{}/{}", scratch_, file_name);
    std::error_code ignored;
    for (int number = 2; std::filesystem::exists(path, ignored); ++number) {
      path = fmt::format("{}/{}{}{}", scratch_, file_name.substr(0, dot), number,
                         file_name.substr(dot));
    }
    const std::string text =
        value.is_string() ? value.get<std::string>()
                          : value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (const auto error = groma::write_file(path, text)) return *error;
    return path;
  }

  std::optional<Error> add_content(const ToolParameter& parameter, const Json& value) {
    const bool is_json = parameter.words.ends_with(".json");
    if (!value.is_string() && !(is_json && value.is_object())) {
      return expected(is_json ? "a text or a JSON object" : "a text");
    }
    const auto path = write_content(parameter.words, value);
    if (!path) return path.error();
    add(parameter, *path);
    return std::nullopt;
  }

  std::optional<Error> add_path(const ToolParameter& parameter, const Json& value) {
    if (auto error = word_error(value)) return error;
    const auto& given = value.get_ref<const std::string&>();
    const auto path = parameter.kind == ParameterKind::kFile     ? root_.file(given)
                      : parameter.kind == ParameterKind::kFolder ? root_.folder(given)
                                                                 : root_.new_path(given);
    if (!path) return path.error();
    add(parameter, *path);
    return std::nullopt;
  }

  std::optional<Error> add_spec(const ToolParameter& parameter, const Json& value) {
    const bool is_machine = parameter.kind == ParameterKind::kMachine;
    if (value.is_object()) {
      const auto path = write_content(is_machine ? "machine.json" : "app.json", value);
      if (!path) return path.error();
      add(parameter, *path);
      return std::nullopt;
    }
    if (auto error = word_error(value)) return error;
    const auto& given = value.get_ref<const std::string&>();
    const auto spec = is_machine ? root_.machine(given) : root_.application(given);
    if (!spec) return spec.error();
    add(parameter, *spec);
    return std::nullopt;
  }

  const ServeRoot& root_;
  const std::string& scratch_;
  // The name of the argument that is read.
  std::string_view name_;
  ToolCommandLine made_;
};

// Returns an error if the arguments contradict each other, or one is missing. The error names only
// what the client may give.
std::optional<Error> choice_error(const ToolDefinition& tool, const Json& arguments,
                                  bool allows_commands) {
  for (const ParameterChoice& choice : tool.choices) {
    std::vector<std::string_view> names = words_in(choice.names);
    std::erase_if(names, [&](std::string_view name) {
      return !allows_commands && std::any_of(tool.parameters.begin(), tool.parameters.end(),
                                             [&](const ToolParameter& each) {
                                               return each.name == name && each.runs_commands;
                                             });
    });
    const auto given = std::count_if(names.begin(), names.end(), [&](std::string_view name) {
      const auto found = arguments.find(std::string(name));
      return found != arguments.end() && *found != false;
    });
    if (given == 1 || (given == 0 && !choice.is_required)) continue;
    return wrong(names.size() == 1 ? fmt::format("`{}` is missing", names.front())
                                   : fmt::format("give {} of {}", given == 0 ? "one" : "only one",
                                                 groma::join_names(names, "and")));
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> ToolCommandLine::words(std::string_view command) const {
  std::vector<std::string> all = {std::string(command)};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), positionals.begin(), positionals.end());
  if (!behind.empty()) all.emplace_back("--");
  all.insert(all.end(), behind.begin(), behind.end());
  return all;
}

// The parameters are read in the order of the table, which is the order of positional arguments.
// An argument of null is taken as not given, as some clients write it.
Result<ToolCommandLine> read_tool_arguments(const ToolDefinition& tool, const Json& arguments,
                                            const ServeRoot& root, const std::string& scratch,
                                            bool allows_commands) {
  Json given = Json::object();
  for (const auto& [name, value] : arguments.items()) {
    const auto known =
        std::find_if(tool.parameters.begin(), tool.parameters.end(),
                     [&name = name](const ToolParameter& each) { return each.name == name; });
    if (known == tool.parameters.end()) {
      std::vector<std::string_view> names;
      for (const ToolParameter& each : tool.parameters) names.push_back(each.name);
      const auto near = groma::near_names(name, names);
      return wrong(fmt::format("the tool `{}` has no argument `{}`", tool.name,
                               visible(name.substr(0, 100))),
                   near.empty() ? fmt::format("it has {}", groma::join_names(names, "and"))
                                : fmt::format("did you mean {}?", groma::join_names(near)));
    }
    if (known->runs_commands && !allows_commands && !value.is_null() && value != false) {
      return Error{Error::Code::kUnreadable,
                   fmt::format("`{}` runs programs, which this server does not allow", name),
                   "the user may start it with --allow-commands: groma serve --allow-commands"};
    }
    if (!value.is_null()) given[name] = value;
  }
  if (auto error = choice_error(tool, given, allows_commands)) return *error;
  ArgumentReader reader(root, scratch);
  for (const ToolParameter& parameter : tool.parameters) {
    const auto found = given.find(std::string(parameter.name));
    if (found == given.end()) continue;
    if (auto error = reader.read(parameter, *found)) return *error;
  }
  return reader.take();
}

std::string text_argument(const Json& arguments, const char* name) {
  const auto found = arguments.find(name);
  return found != arguments.end() && found->is_string() ? found->get<std::string>() : "";
}

bool flag_argument(const Json& arguments, const char* name) {
  const auto found = arguments.find(name);
  return found != arguments.end() && *found == true;
}

}  // namespace driver
