// Carries out the calls of all tools but `tune`: runs the command, and makes a result of its
// output.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <future>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "console.h"
#include "groma/source.h"
#include "serve_calls.h"
#include "serve_words.h"

namespace driver {
namespace {

namespace fs = std::filesystem;
using groma::CommandOutcome;
using groma::Error;
using groma::serve::Call;
using groma::serve::ToolResult;
using Json = nlohmann::json;

// How often a call that takes long says that it still works.
constexpr double kBetweenSigns = 2;

// Returns both outputs as a terminal shows them: diagnostics first.
std::string as_text(const ToolDefinition& tool, const CommandOutcome& outcome) {
  return in_words_of(tool, outcome.err.text) + outcome.out.text;
}

// The commands whose JSON has the same content as their text. Both are made at once, by two
// processes.
bool has_both_forms(std::string_view command) {
  constexpr std::string_view kCommands[] = {"check", "place", "explain", "run", "diff", "guide"};
  return std::find(std::begin(kCommands), std::end(kCommands), command) != std::end(kCommands);
}

std::vector<std::string> with_json(std::vector<std::string> words) {
  words.insert(words.begin() + 1, "--json");
  return words;
}

// Copies a mapping below the root into the call's folder and makes the command line refer to the
// copy, so that the command can change it.
std::optional<Error> work_on_copy(const ServeSetup& setup, const CallFolder& folder,
                                  ToolCommandLine* line) {
  std::string& file = line->positionals.front();
  if (fs::path(file).is_absolute()) return std::nullopt;
  const auto text = groma::read_file((setup.root.path() / file).string(), groma::kMaxSourceBytes);
  if (!text) return text.error();
  file = folder.path() + "/" + fs::path(file).filename().string();
  return groma::write_file(file, *text);
}

// Returns the members of an object that are texts, or lists of texts, each with its name.
std::string members_as_text(const Json& object, std::initializer_list<const char*> names) {
  std::string text;
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found == object.end()) continue;
    for (const Json& each : found->is_array() ? *found : Json::array({*found})) {
      if (!each.is_string()) continue;
      const auto& words = each.get_ref<const std::string&>();
      text += fmt::format("{}:{}{}\n", name, words.find('\n') == words.npos ? " " : "\n", words);
    }
  }
  return text;
}

// Returns the message of a diagnostic or an error as the command prints it: "error: ...", "help:
// ...".
std::string message_of(const Json& object) {
  std::string text;
  if (!object.is_object()) return text;
  const Json message = object.value("message", Json());
  if (message.is_string()) {
    const Json severity = object.value("severity", Json());
    text = fmt::format("{}: {}\n", severity.is_string() ? severity.get<std::string>() : "error",
                       message.get<std::string>());
  }
  return text + members_as_text(object, {"help"});
}

// Runs a command once, or twice at once for its text and its JSON.
class ToolRun {
 public:
  ToolRun(ServeSetup& setup, const ToolDefinition& tool, const Call& call, const CallFolder& folder)
      : setup_(setup), tool_(tool), call_(call), folder_(folder) {}

  ToolResult in_both_forms(const ToolCommandLine& line) {
    const std::vector<std::string> words = line.words(tool_.command);
    auto other = std::async(std::launch::async, [&] {
      return run_child(setup_, child(with_json(words), line.input), call_);
    });
    ChildRun first = child(words, line.input);
    first.on_tick = sign_of_life();
    const auto text = run_child(setup_, first, call_);
    const auto structured = other.get();
    if (!text) return refusal(text.error());
    if (!structured) return refusal(structured.error());
    for (const CommandOutcome* outcome : {&*text, &*structured}) {
      const std::string why = why_broken_off(*outcome, setup_.seconds);
      if (!why.empty()) return broken_off(why, *text);
    }
    // A check that finds mistakes has done what it was asked.
    const bool is_check = tool_.command == "check" && text->code == kWrongInput;
    return result(as_text(tool_, *text), structured->out.text, text->code != kFine && !is_check);
  }

  // Runs a command that has no JSON. Its output is the member `name` of the structured content.
  ToolResult in_one_form(const ToolCommandLine& line, const char* name) {
    ChildRun only = child(line.words(tool_.command), line.input);
    only.on_tick = sign_of_life();
    const auto outcome = run_child(setup_, only, call_);
    if (!outcome) return refusal(outcome.error());
    const std::string why = why_broken_off(*outcome, setup_.seconds);
    if (!why.empty()) return broken_off(why, *outcome);
    const bool fine = outcome->code == kFine;
    return result(as_text(tool_, *outcome), fine ? Json{{name, outcome->out.text}}.dump() : "",
                  !fine);
  }

  // Corrects a copy of the mapping, and then checks what is left. The two processes of a check must
  // not both change the copy, so it is changed before.
  ToolResult fix(ToolCommandLine line) {
    if (const auto error = work_on_copy(setup_, folder_, &line)) return refusal(*error);
    const auto fixed = run_child(setup_, child(line.words(tool_.command), ""), call_);
    if (!fixed) return refusal(fixed.error());
    std::erase(line.options, "--fix");
    ToolResult left = in_both_forms(line);
    const auto mapping = groma::read_file(line.positionals.front(), groma::kMaxSourceBytes);
    Json structured = Json::parse(left.structured, nullptr, false);
    if (!mapping || !structured.is_object()) return left;
    structured["mapping"] = *mapping;
    return result(fmt::format("After the certain corrections:\n{}\n{}", *mapping, left.text),
                  structured.dump(-1, ' ', false, Json::error_handler_t::replace), left.is_error);
  }

  // Runs a Legion program under a mapping. What the program prints is standard error.
  ToolResult run_program(ToolCommandLine line) {
    if (line.positionals.empty()) {
      return refusal({Error::Code::kMalformed, "`program` needs a mapping",
                      "give `mapping` or `mapping_file`"});
    }
    line.options.push_back("--map=" + line.positionals.front());
    line.positionals.clear();
    return once(line, false, [](const Json& found) {
      return members_as_text(found, {"raw", "explain", "suggest"});
    });
  }

  // Lets a language model write a mapping. Each question costs, so the text is made from the JSON.
  ToolResult write(ToolCommandLine line, const std::string& endpoint, bool replays) {
    if (!replays) {
      if (const auto error = add_endpoint(setup_, endpoint, &line.options)) return refusal(*error);
    }
    return once(line, !replays, [](const Json& found) {
      std::string text =
          members_as_text(found, {"mapping", "summary", "refusal"}) + message_of(found);
      if (found.contains("error")) text += message_of(found["error"]);
      if (!found.contains("diagnostics")) return text;
      for (const Json& each : found["diagnostics"]) text += message_of(each);
      return text;
    });
  }

 private:
  // Runs the command with --json. `words` makes a text of the JSON.
  ToolResult once(const ToolCommandLine& line, bool asks_model,
                  const std::function<std::string(const Json&)>& words) {
    ChildRun only = child(with_json(line.words(tool_.command)), line.input);
    only.asks_model = asks_model;
    only.on_tick = sign_of_life();
    const auto outcome = run_child(setup_, only, call_);
    if (!outcome) return refusal(outcome.error());
    const std::string why = why_broken_off(*outcome, setup_.seconds);
    if (!why.empty()) return broken_off(why, *outcome);
    const Json found = Json::parse(outcome->out.text, nullptr, false);
    const std::string text = found.is_object() ? words(found) : outcome->out.text;
    return result(in_words_of(tool_, text + outcome->err.text), outcome->out.text,
                  outcome->code != kFine);
  }

  ChildRun child(std::vector<std::string> words, const std::string& input) const {
    return {.words = std::move(words), .input = input, .seconds = setup_.seconds};
  }

  // Clients give up a call that is silent for long.
  std::function<void(double)> sign_of_life() const {
    return [this, next = kBetweenSigns](double seconds) mutable {
      if (seconds < next) return;
      next = seconds + kBetweenSigns;
      call_.report_progress(seconds, std::nullopt, fmt::format("{:.0f} s", seconds));
    };
  }

  ToolResult broken_off(const std::string& why, const CommandOutcome& outcome) const {
    return result(fmt::format("{}`groma {}` {}\n", as_text(tool_, outcome), tool_.command, why), "",
                  true);
  }

  ToolResult result(std::string text, std::string structured, bool is_error) const {
    return limited_result(setup_, folder_.without_path(std::move(text)),
                          folder_.without_path(std::move(structured)), is_error);
  }

  ServeSetup& setup_;
  const ToolDefinition& tool_;
  const Call& call_;
  const CallFolder& folder_;
};

}  // namespace

ToolResult call_tool(ServeSetup& setup, const ToolDefinition& tool, const Call& call) {
  if (tool.command == "tune") return call_tune(setup, tool, call);
  const Json arguments = Json::parse(call.arguments, nullptr, false);
  const CallFolder folder(setup);
  auto line =
      folder.path().empty()
          ? Error{Error::Code::kUnreadable, "cannot make a folder for temporary files"}
          : read_tool_arguments(tool, arguments, setup.root, folder.path(), setup.allows_commands);
  if (!line) return refusal(line.error());
  ToolRun run(setup, tool, call, folder);
  if (tool.command == "write") {
    return run.write(std::move(line).value(), text_argument(arguments, "endpoint"),
                     !text_argument(arguments, "replay_file").empty());
  }
  if (!line->behind.empty()) return run.run_program(std::move(line).value());
  if (flag_argument(arguments, "fix")) return run.fix(std::move(line).value());
  // A mapping that is made, and a reference, have no other form than text.
  const bool makes_mapping = tool.command == "format" || flag_argument(arguments, "as_mapping");
  if (!makes_mapping && has_both_forms(tool.command)) return run.in_both_forms(*line);
  return run.in_one_form(*line, makes_mapping ? "mapping" : "text");
}

}  // namespace driver
