// Stores the options with which a search was begun as lines of text, and reads them again from the
// search's directory, which may come from a stranger.
#include "groma/search_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "groma/guide.h"
#include "groma/harmless.h"
#include "groma/search_directory.h"

namespace groma::tuning {
namespace {

namespace fs = std::filesystem;

// Limit on how often a field may be repeated. The text is untrusted, and reading it must not take
// long.
constexpr std::size_t kMaxRepeated = 1'000;

// A flag that is stored as one of two words, such as "simulator" or "legion".
template <typename Flag>
struct Choice {
  Flag* value;
  std::string_view if_false, if_true;
};
template <typename Flag>
Choice(Flag*, std::string_view, std::string_view) -> Choice<Flag>;

// Calls each(name, field) for every field that is stored. Writer and Reader use this one list, so
// they cannot disagree. `Setup` is SearchSetup or const SearchSetup.
template <typename Setup, typename Each>
void for_each_word(Setup& setup, const Each& each) {
  auto& command = setup.command;
  auto& budget = setup.budget;
  each("folder", command.folder);
  each("machine", setup.machine);
  each("on", Choice{&setup.on_legion, "simulator", "legion"});
  each("flag", setup.flags);
  each("app", setup.apps);
  each("file", setup.files);
  each("about", setup.about);
  each("hardware", setup.hardware);
  each("knowledge", setup.knowledge);
  each("command", command.command);
  each("check-command", command.check_command);
  each("input", command.inputs);
  each("metric", command.metric_pattern);
  each("metric-json", command.metric_pointer);
  each("unit", command.unit);
  each("higher-is-better", command.higher_is_better);
  each("repeats", command.repeats);
  each("warmup", command.warmup);
  each("timeout", command.timeout_ms);
  each("memory", command.memory_bytes);
  each("workers", command.workers);
  each("override-layouts-of", setup.override_layouts.tasks);
  each("checks", Choice{&setup.compare_results, "never", "first"});
  each("same", setup.results.same);
  each("tolerance", setup.results.tolerance);
  each("evaluations", budget.evaluations);
  each("estimates", budget.estimates);
  each("time", budget.seconds);
  each("tokens", budget.tokens);
  each("money", budget.money);
  each("proposer", setup.proposer);
  each("seed", setup.seed);
  each("feedback", setup.feedback);
  each("compare", setup.compare);
  each("pareto", setup.pareto);
  each("constrain", setup.ask.constrain);
  each("reply-tokens", setup.ask.max_tokens);
  each("prompt-bytes", setup.ask.prompt_bytes);
  each("temperature", setup.ask.temperature);
}

// Escapes line feeds and backslashes, so that the text is one line.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
  return line;
}
// Undoes the escapes of on_one_line().
std::string on_its_lines(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool escaped = line[i] == '\\' && i + 1 < line.size();
    text += !escaped ? line[i] : line[++i] == 'n' ? '\n' : line[i];
  }
  return text;
}

// Returns a value as the text that its line stores.
std::string value_words(const std::string& value) { return on_one_line(value); }
std::string value_words(bool value) { return value ? "1" : "0"; }
template <typename Number>
std::string value_words(Number value) {
  return fmt::format("{}", value);
}

// Parse a text into a value. Each read_value() returns false if the text is not a value of this
// type.
bool read_value(std::string_view text, std::string* value) {
  *value = on_its_lines(text);
  return true;
}
bool read_value(std::string_view text, bool* value) {
  *value = text == "1";
  return *value || text == "0";
}
// Appends the text to the list, because a list is stored as one line for each element.
bool read_value(std::string_view text, std::vector<std::string>* value) {
  value->push_back(on_its_lines(text));
  return value->size() <= kMaxRepeated;
}
template <typename Number>
bool read_value(std::string_view text, Number* value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return code == std::errc() && end == text.data() + text.size();
}

template <typename Value>
bool read_value(std::string_view text, std::optional<Value>* value) {
  return read_value(text, &value->emplace());
}

// Writes each field as a line "NAME VALUE". A list becomes one line for each element; an optional
// without a value is not written.
struct Writer {
  std::string* words;

  template <typename Flag>
  void operator()(std::string_view name, const Choice<Flag>& choice) const {
    *words += fmt::format("{} {}\n", name, *choice.value ? choice.if_true : choice.if_false);
  }
  void operator()(std::string_view name, const std::vector<std::string>& all) const {
    for (const std::string& value : all) (*this)(name, value);
  }
  template <typename Value>
  void operator()(std::string_view name, const std::optional<Value>& value) const {
    if (value) (*this)(name, *value);
  }
  template <typename Value>
  void operator()(std::string_view name, const Value& value) const {
    *words += fmt::format("{} {}\n", name, value_words(value));
  }
};

// Reads the line "NAME TEXT" into the field with this name. `*read` becomes true if there is such a
// field and the text is valid.
struct Reader {
  std::string_view name, text;
  bool* read;

  void operator()(std::string_view each, const Choice<bool>& choice) const {
    if (each != name) return;
    *choice.value = text == choice.if_true;
    *read = *choice.value || text == choice.if_false;
  }
  template <typename Value>
  void operator()(std::string_view each, Value& value) const {
    if (each == name) *read = read_value(text, &value);
  }
};

// Returns true if reading the file would never end, or would read something that changes: standard
// input, a pipe, a device, or a file that the system generates. Parameters may follow the name
// after colons, so each beginning of the text that ends before a colon is tested too.
bool may_never_end(const fs::path& folder, const std::string& name) {
  if (name == "-" || name.starts_with("-:")) return true;
  for (std::size_t end = name.size(); end != name.npos && end > 0; end = name.rfind(':', end - 1)) {
    std::error_code ignored;
    const fs::path path = folder / name.substr(0, end);
    const fs::file_status status = fs::status(path, ignored);
    if (!fs::exists(status)) continue;
    if (!fs::is_regular_file(status) && !fs::is_directory(status)) return true;
    const std::string real = fs::canonical(path, ignored).string() + "/";
    for (const char* made_up : {"/dev/", "/proc/", "/sys/"}) {
      if (real.starts_with(made_up)) return true;
    }
  }
  return false;
}

// Returns the error for options that this version cannot read.
Error wrong_setup(const std::string& why) {
  return {Error::Code::kMalformed, why, "it was begun by another version, or by another program"};
}

}  // namespace

Error unusable_search_error(const std::string& directory, const std::string& what,
                            std::string help) {
  return {Error::Code::kMalformed, fmt::format("the search in `{}` {}", directory, what),
          std::move(help)};
}

// A command counts as one input if it has no `{input}`. Without a command, each application is an
// input.
std::size_t SearchSetup::input_count() const {
  return command.command.empty() ? apps.size() : std::max<std::size_t>(command.inputs.size(), 1);
}

// Writes all options of a search as lines of text. The result is also the fingerprint of the
// search.
std::string to_text(const SearchSetup& setup) {
  std::string words;
  for_each_word(setup, Writer{&words});
  return words;
}

// Fails if a line has an unknown name or an invalid value, or if a field is repeated too often.
// Also fails if the options contradict each other, because `groma tune` never stores such options.
Result<SearchSetup> search_setup(const std::string& text) {
  constexpr const char* kUnreadable = "what the search was begun with cannot be read";
  SearchSetup setup;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view all = line;
    const std::size_t space = std::min(all.find(' '), all.size());
    bool read = false;
    for_each_word(setup,
                  Reader{all.substr(0, space), all.substr(std::min(space + 1, all.size())), &read});
    if (!read) return wrong_setup(kUnreadable);
  }
  if (setup.apps.empty() == setup.files.empty() || (setup.on_legion && setup.apps.empty())) {
    return wrong_setup("the search was not begun by `groma tune`");
  }
  if (!setup.files.empty() && setup.command.command.empty()) {
    return wrong_setup("the search has a text, but no command");
  }
  if (setup.pareto && setup.input_count() < 2) {
    return wrong_setup("the search has a Pareto front, but only one input");
  }
  if (!guide_detail(setup.feedback)) return wrong_setup(kUnreadable);
  return setup;
}

// Fails before it reads anything if one of the search's files is a link.
Result<StoredSearch> stored_search(const std::string& directory) {
  if (auto error = error_if_search_has_links(directory)) return *std::move(error);
  auto recorded = recorded_search(directory);
  if (!recorded) return recorded.error();
  auto setup = search_setup(recorded->fingerprint);
  if (!setup) return setup.error();
  return StoredSearch{directory, std::move(setup).value(), std::move(recorded->fingerprint),
                      std::move(recorded->start)};
}

// Hidden characters are shown as escapes, since the directory may come from a stranger who wants to
// hide a command.
std::string commands_of(const SearchSetup& setup) {
  const CommandEvaluatorOptions& options = setup.command;
  std::string words = "`" + visible(options.command) + "`";
  if (!options.check_command.empty()) words += " and `" + visible(options.check_command) + "`";
  for (const std::string& input : options.inputs) {
    words +=
        fmt::format("{}`{}`", &input == options.inputs.data() ? " with " : ", ", visible(input));
  }
  for (const std::string& worker : options.workers) {
    words += fmt::format("{}`{}`", &worker == options.workers.data() ? " by the workers " : ", ",
                         visible(worker));
  }
  return words + " in `" + visible(options.folder) + "`";
}

// A search of simulated mappings runs no command, so it needs no trust.
std::optional<Error> needs_trust(const StoredSearch& search) {
  if (search.setup.command.command.empty() && !search.setup.on_legion) return std::nullopt;
  return unusable_search_error(
      search.directory, "runs " + commands_of(search.setup),
      "the directory is as trustworthy as who made it: `--trust` runs what stands there");
}

// A resumed search reads the machine and the applications again, so neither may be a pipe or a
// device.
std::optional<Error> never_ending_input(const StoredSearch& search) {
  std::vector<std::string> files = search.setup.apps;
  files.push_back(search.setup.machine);
  for (const std::string& file : files) {
    if (!may_never_end(fs::path(search.setup.command.folder), file)) continue;
    return unusable_search_error(
        search.directory, fmt::format("has no file for `{}`", visible(file)),
        "a pipe or a device cannot be read again: put a file in its place");
  }
  return std::nullopt;
}

}  // namespace groma::tuning
