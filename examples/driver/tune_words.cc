// Writes the arguments of a search as lines of text and reads them back.
#include "tune_words.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

namespace driver {
namespace {

// How often an option may be repeated, so that reading the words of a stranger ends soon.
constexpr std::size_t kMaxRepeated = 1'000;

// Calls each(name, field) for every field that is stored.
template <typename Arguments, typename Each>
void for_each_word(Arguments& arguments, const Each& each) {
  auto& command = arguments.command;
  auto& budget = arguments.tune.budget;
  each("folder", command.folder);
  each("machine", arguments.machine);
  each("on", arguments.on);
  each("flag", arguments.flags);
  each("app", arguments.apps);
  each("file", arguments.file);
  each("about", arguments.about);
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
  each("override-layouts-of", arguments.program.override_layouts.tasks);
  each("checks", arguments.program.checks);
  each("same", arguments.program.same);
  each("tolerance", arguments.program.tolerance);
  each("evaluations", budget.evaluations);
  each("estimates", budget.estimates);
  each("time", budget.seconds);
  each("tokens", budget.tokens);
  each("money", budget.money);
  each("proposer", arguments.proposer);
  each("seed", arguments.tune.seed);
  each("feedback", arguments.feedback);
  each("compare", arguments.tune.compare);
  each("constrain", arguments.ask.constrain);
  each("reply-tokens", arguments.ask.max_tokens);
  each("temperature", arguments.ask.temperature);
}

// Converts a text to one line, and back.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
  return line;
}
std::string on_its_lines(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool escaped = line[i] == '\\' && i + 1 < line.size();
    text += !escaped ? line[i] : line[++i] == 'n' ? '\n' : line[i];
  }
  return text;
}

std::string value_words(const std::string& value) { return on_one_line(value); }
std::string value_words(bool value) { return value ? "1" : "0"; }
template <typename Number>
std::string value_words(Number value) {
  return fmt::format("{}", value);
}

// Returns false if the text is not a value of this type.
bool read_value(std::string_view text, std::string* value) {
  *value = on_its_lines(text);
  return true;
}
bool read_value(std::string_view text, bool* value) {
  *value = text == "1";
  return *value || text == "0";
}
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

struct Writer {
  std::string* words;

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

struct Reader {
  std::string_view name, text;
  bool* read;

  template <typename Value>
  void operator()(std::string_view each, Value& value) const {
    if (each == name) *read = read_value(text, &value);
  }
};

}  // namespace

std::string words_of(const TuneArguments& arguments) {
  std::string words;
  for_each_word(arguments, Writer{&words});
  return words;
}

std::optional<groma::Error> read_words(const std::string& words, TuneArguments* arguments) {
  const auto wrong = [](const std::string& why) {
    return groma::Error{groma::Error::Code::kMalformed, why,
                        "it was begun by another version, or by another program"};
  };
  std::istringstream lines(words);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view all = line;
    const std::size_t space = std::min(all.find(' '), all.size());
    bool read = false;
    for_each_word(*arguments,
                  Reader{all.substr(0, space), all.substr(std::min(space + 1, all.size())), &read});
    if (!read) return wrong("what the search was begun with cannot be read");
  }
  if (arguments->apps.empty() == arguments->file.empty()) {
    return wrong("the search was not begun by `groma tune`");
  }
  if (arguments->on != "simulator" && arguments->on != "legion") {
    return wrong("what the search was begun with cannot be read");
  }
  if (arguments->on == "legion" && arguments->apps.empty()) {
    return wrong("the search was not begun by `groma tune`");
  }
  if (!arguments->file.empty() && arguments->command.command.empty()) {
    return wrong("the search has a text, but no command");
  }
  if (!groma::guide_detail(arguments->feedback)) {
    return wrong("what the search was begun with cannot be read");
  }
  return std::nullopt;
}

}  // namespace driver
