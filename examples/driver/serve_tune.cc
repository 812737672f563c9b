// The tool `tune`: a search as a job in parts. A call ends after some seconds, or is cancelled; the
// search's directory then has all that was found, and another call continues the search.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "console.h"
#include "groma/proposers.h"
#include "groma/search_directory.h"
#include "groma/search_setup.h"
#include "groma/source.h"
#include "serve_calls.h"

namespace driver {
namespace {

namespace fs = std::filesystem;
using groma::CommandOutcome;
using groma::Error;
using groma::serve::Call;
using groma::serve::ToolResult;
using Json = nlohmann::json;

// How long a call waits for the end of the search. Some clients give up a call after a minute.
constexpr double kDefaultWait = 50;
constexpr const char* kDefaultTokens = "--tokens=200000";
// Limit on a line of the events. The last one has the texts that were found.
constexpr std::size_t kMaxEventBytes = std::size_t{32} << 20;
// No note is added when there are this many bytes of notes.
constexpr std::size_t kMaxNoteBytes = 4096;
// Limit on the report of a search, which has some 40 lines.
constexpr std::size_t kMaxReportBytes = std::size_t{1} << 20;

// Reads the events of `groma tune --json` as they come.
class SearchEvents {
 public:
  // `total` is the number of evaluations after which the search ends, if it is known.
  SearchEvents(const Call& call, std::optional<double> total) : call_(call), total_(total) {}

  void add(std::string_view bytes) {
    for (;;) {
      const std::size_t end = bytes.find('\n');
      if (line_.size() + std::min(end, bytes.size()) <= kMaxEventBytes) {
        line_ += bytes.substr(0, end);
      }
      if (end == bytes.npos) return;
      take(Json::parse(line_, nullptr, /*allow_exceptions=*/false));
      line_.clear();
      bytes.remove_prefix(end + 1);
    }
  }

  // The event that ended the search, and the one that says why there was none. Null: did not come.
  const Json& end() const { return end_; }
  const Json& error() const { return error_; }
  // What the search noted about its inputs, one note on each line.
  const std::string& notes() const { return notes_; }

 private:
  void take(const Json& event) {
    if (!event.is_object() || !event.contains("event")) return;
    const Json& kind = event["event"];
    if (kind == "end") end_ = event;
    if (kind == "error") error_ = event;
    if (kind == "note") add_note(event);
    if (kind != "evaluated" || !event.contains("evaluations")) return;
    const bool is_best = event.contains("best") && event["best"] == true;
    if (is_best && event.contains("score") && event["score"].is_number()) {
      best_ = fmt::format(", best {:.6g}", event["score"].get<double>());
    }
    const auto evaluations = event["evaluations"].get<double>();
    call_.report_progress(evaluations, total_, fmt::format("{:.0f} runs{}", evaluations, best_));
  }

  void add_note(const Json& event) {
    const Json message = event.value("message", Json());
    if (!message.is_string() || notes_.size() > kMaxNoteBytes) return;
    notes_ += fmt::format("note: {}\n", message.get<std::string>());
  }

  const Call& call_;
  std::optional<double> total_;
  std::string line_, best_, notes_;
  Json end_, error_;
};

bool asks_model(std::string_view proposer) {
  const auto infos = groma::tuning::proposers();
  return std::any_of(infos.begin(), infos.end(), [&](const groma::tuning::ProposerInfo& info) {
    return info.name == proposer && info.asks_model;
  });
}

// Returns a number among the arguments, or the default.
double number_argument(const Json& arguments, const char* name, double otherwise) {
  const auto found = arguments.find(name);
  return found != arguments.end() && found->is_number() ? found->get<double>() : otherwise;
}

// Makes the result of a search that ran until it ended or was interrupted.
ToolResult search_result(const ServeSetup& setup, const ToolDefinition& tool,
                         const CallFolder& folder, const std::string& directory,
                         const SearchEvents& events, const CommandOutcome& outcome) {
  if (events.end().is_null()) {
    std::string why = why_broken_off(outcome, setup.seconds);
    if (!why.empty()) why = fmt::format("the search {}\n", why);
    for (const char* part : {"message", "help"}) {
      const Json said = events.error().is_object() ? events.error().value(part, Json()) : Json();
      if (said.is_string()) why += said.get<std::string>() + "\n";
    }
    return limited_result(setup, folder.without_path(in_words_of(tool, outcome.err.text + why)), "",
                          true);
  }
  Json end = events.end();
  end.erase("event");
  // A search that was interrupted, at the limit of `wait` or by its budget of time, can go on.
  const bool goes_on = end.value("end", Json()) == "stopped";
  const Json structured = {{"directory", directory}, {"goes_on", goes_on}, {"search", end}};
  std::string text = in_words_of(tool, events.notes() + outcome.err.text);
  const auto file = setup.root.file(directory + "/report.txt");
  const auto report =
      file ? groma::read_file((setup.root.path() / *file).string(), kMaxReportBytes) : file;
  if (report) text += *report;
  if (end.contains("best") && end["best"].is_object()) {
    const Json best = end["best"].value("text", Json());
    text += !best.is_string() || best.get_ref<const std::string&>().empty()
                ? "\nThe best is the empty mapping: the default mapper decides everything.\n"
                : fmt::format("\nThe best text, also in {}/best.*:\n{}\n", directory,
                              best.get<std::string>());
  }
  text += fmt::format("\nThe search is in `{}`. ", directory);
  text += goes_on ? fmt::format(
                        "It has not ended: call this tool with {{\"resume\": \"{}\"}} to "
                        "continue it.\n",
                        directory)
                  : "It has ended; with `resume` and a larger budget it would go on.\n";
  const bool is_error = !end.contains("best") || end["best"].is_null();
  return limited_result(setup, folder.without_path(std::move(text)),
                        folder.without_path(structured.dump()), is_error);
}

}  // namespace

std::optional<Error> stored_search_error(const ServeSetup& setup, const std::string& directory,
                                         bool* asks) {
  const fs::path path = setup.root.path() / directory;
  const auto stored = groma::tuning::stored_search(path.string());
  if (!stored) return stored.error();
  const groma::tuning::SearchSetup& search = stored->setup;
  *asks = asks_model(search.proposer);
  // The search reads its inputs in the folder where it began.
  const fs::path from = search.command.folder;
  const auto machine = setup.root.machine(search.machine, from);
  if (!machine && !search.machine.empty()) return machine.error();
  for (const std::string& app : search.apps) {
    const auto found = setup.root.application(app, from);
    if (!found) return found.error();
  }
  for (const std::string& file : search.files) {
    const auto found = setup.root.file(file, from);
    if (!found) return found.error();
  }
  return std::nullopt;
}

ToolResult call_tune(ServeSetup& setup, const ToolDefinition& tool, const Call& call) {
  const Json arguments = Json::parse(call.arguments, nullptr, false);
  const CallFolder folder(setup);
  auto line =
      folder.path().empty()
          ? Error{Error::Code::kUnreadable, "cannot make a folder for temporary files"}
          : read_tool_arguments(tool, arguments, setup.root, folder.path(), setup.allows_commands);
  if (!line) return refusal(line.error());
  const auto path_of = [&](const char* name) {
    std::string given = text_argument(arguments, name);
    if (given.empty()) return given;
    const auto path =
        name == std::string_view("out") ? setup.root.new_path(given) : setup.root.folder(given);
    return path ? *path : "";
  };
  std::string directory = path_of("resume");
  bool asks = asks_model(text_argument(arguments, "proposer"));
  if (!directory.empty()) {
    if (const auto error = stored_search_error(setup, directory, &asks)) return refusal(*error);
  }
  const bool replays = !text_argument(arguments, "replay_file").empty();
  if (asks && !replays) {
    const auto error = add_endpoint(setup, text_argument(arguments, "endpoint"), &line->options);
    if (error) return refusal(*error);
  }
  if (asks && !arguments.contains("tokens")) line->options.emplace_back(kDefaultTokens);
  const bool is_new = directory.empty();
  if (is_new) directory = path_of("out");
  const bool has_own_name = is_new && directory.empty();
  if (has_own_name) {
    // The working folder of the server is the root.
    directory = groma::tuning::make_search_directory();
    line->options.push_back("--out=" + directory);
  }
  const bool runs_commands = !text_argument(arguments, "command").empty();
  SearchEvents events(call, is_new ? std::optional(number_argument(arguments, "evaluations",
                                                                   runs_commands ? 10 : 100))
                                   : std::nullopt);
  line->options.emplace_back("--json");
  ChildRun child{.words = line->words(tool.command), .input = line->input};
  child.seconds = std::min(setup.seconds, number_argument(arguments, "wait", kDefaultWait));
  child.asks_model = asks && !replays;
  child.on_output = [&events](std::string_view bytes) { events.add(bytes); };
  const auto outcome = run_child(setup, child, call);
  // Removes the directory of a search that did not begin: only an empty one can be removed so.
  std::error_code ignored;
  if (has_own_name) fs::remove(setup.root.path() / directory, ignored);
  if (!outcome) return refusal(outcome.error());
  return search_result(setup, tool, folder, directory, events, *outcome);
}

}  // namespace driver
