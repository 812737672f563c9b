// groma completion: prints the scripts for shells, and the candidates for which these scripts ask.
#include "completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "commands.h"
#include "completion_scripts.h"
#include "console.h"
#include "groma/harmless.h"
#include "help_formatter.h"
#include "value_types.h"

namespace driver {
namespace {

bool takes_value(const CLI::Option& option) {
  return option.get_type_size() != 0 && option.get_items_expected_max() > 0;
}
bool is_repeatable(const CLI::Option& option) {
  return option.get_items_expected_max() >= CLI::detail::expected_max_vector_size;
}

// Returns the first sentence of a description, shortened to a line for a list.
std::string shortened(const std::string& description) {
  constexpr std::size_t kMost = 76;
  std::string text = description.substr(0, description.find('\n'));
  text = text.substr(0, text.find(". "));
  if (text.ends_with('.')) text.pop_back();
  if (text.size() <= kMost) return text;
  return text.substr(0, text.rfind(' ', kMost)) + " ...";
}

// The state of a command line after some of its words: the command, and what may come next.
class Walk {
 public:
  explicit Walk(const CLI::App& root) : command_(&root), named_(&root) {}

  void add(const std::string& word);
  Completion complete(const std::string& word) const;

 private:
  const CLI::Option* find(const std::string& name) const;
  // Returns the positional argument that the next word belongs to, or null.
  const CLI::Option* next_positional() const;
  void note_value(const CLI::Option& option, const std::string& value);
  Completion values(const CLI::Option& option, const std::string& typed) const;
  static std::vector<Candidate> subcommands(const CLI::App& command);
  std::vector<Candidate> options() const;
  bool is_excluded(const CLI::Option& option) const;

  const CLI::App* command_;
  // The command that arguments of type COMMAND name so far.
  const CLI::App* named_;
  // The option whose value is the next word.
  const CLI::Option* open_ = nullptr;
  std::set<const CLI::Option*> seen_;
  std::size_t positionals_ = 0;
  // The number of words so far, and of those up to `--`, if the command takes words behind it.
  std::size_t words_ = 0, divided_ = 0;
  // After `groma help`, only names of commands follow.
  bool asks_help_ = false;
  KnownWords known_;
};

const CLI::Option* Walk::find(const std::string& name) const {
  return command_->get_option_no_throw(name);
}

const CLI::Option* Walk::next_positional() const {
  const auto all = command_->get_options(
      [](const CLI::Option* each) { return each->get_positional() && !each->get_group().empty(); });
  if (positionals_ < all.size()) return all[positionals_];
  return !all.empty() && is_repeatable(*all.back()) ? all.back() : nullptr;
}

void Walk::note_value(const CLI::Option& option, const std::string& value) {
  const std::string type = option.get_type_name();
  if (type == kAppType) known_.app = value;
  if (type == kCommandType && named_ != nullptr) named_ = find_command(*named_, value);
  if (type == kDomainFileType) known_.domain_file = value;
}

void Walk::add(const std::string& word) {
  const bool is_first = words_++ == 0;
  if (divided_ != 0) return;
  if (const CLI::Option* option = std::exchange(open_, nullptr)) return note_value(*option, word);
  if (is_first && word == "help") {
    asks_help_ = true;
  } else if (word == "--") {
    divided_ = words_;
  } else if (word.size() > 1 && word.front() == '-') {
    const std::size_t equals = word.find('=');
    // `-j4` is the option -j with its value.
    const bool is_long = word.starts_with("--");
    const CLI::Option* const option = find(is_long ? word.substr(0, equals) : word.substr(0, 2));
    if (option == nullptr) return;
    seen_.insert(option);
    if (is_long && equals != std::string::npos) return note_value(*option, word.substr(equals + 1));
    if (takes_value(*option) && (is_long || word.size() == 2)) open_ = option;
  } else if (const CLI::App* next = find_command(*command_, word)) {
    command_ = next;
    seen_.clear();
    positionals_ = 0;
  } else {
    if (const CLI::Option* positional = next_positional()) note_value(*positional, word);
    ++positionals_;
  }
}

Completion Walk::values(const CLI::Option& option, const std::string& typed) const {
  const std::string type = option.get_type_name();
  if (type != kCommandType) return complete_value(type, typed, known_);
  return named_ == nullptr ? Completion() : Completion{subcommands(*named_)};
}

std::vector<Candidate> Walk::subcommands(const CLI::App& command) {
  std::vector<Candidate> candidates;
  for (const CLI::App* each : command.get_subcommands({})) {
    if (each->get_group().empty()) continue;  // hidden
    candidates.push_back({each->get_name(), each->get_description()});
  }
  return candidates;
}

bool Walk::is_excluded(const CLI::Option& option) const {
  const auto& excluded = option.get_excludes();
  return std::any_of(excluded.begin(), excluded.end(),
                     [&](const CLI::Option* each) { return seen_.contains(each); });
}

// Each option stands in the list once, with its long name if it has one.
std::vector<Candidate> Walk::options() const {
  std::vector<Candidate> candidates;
  for (const CLI::Option* each : command_->get_options()) {
    if (!each->nonpositional() || each->get_group().empty() || is_excluded(*each)) continue;
    if (seen_.contains(each) && !is_repeatable(*each)) continue;
    const auto& names = each->get_lnames();
    const std::string name = names.empty() ? "-" + each->get_snames()[0] : "--" + names[0];
    candidates.push_back({name, each->get_description()});
  }
  if (!help_formatter(*command_).behind().empty()) {
    candidates.push_back({"--", "A program or flags follow"});
  }
  return candidates;
}

Completion Walk::complete(const std::string& word) const {
  if (divided_ != 0) {
    const bool takes_program = !help_formatter(*command_).behind().empty();
    return {{}, takes_program ? Paths::kProgram : Paths::kFiles, {}, takes_program ? divided_ : 0};
  }
  if (open_ != nullptr) return values(*open_, word);
  const std::size_t equals = word.find('=');
  if (word.starts_with("--") && equals != std::string::npos) {
    const std::string before = word.substr(0, equals + 1);
    const CLI::Option* const option = find(word.substr(0, equals));
    if (option == nullptr) return {};
    Completion completion = values(*option, word.substr(equals + 1));
    for (Candidate& candidate : completion.candidates) candidate.word.insert(0, before);
    completion.start = before.size();
    return completion;
  }
  if (word.starts_with('-') && !asks_help_) return {options()};
  if (asks_help_) return {subcommands(*command_)};
  const CLI::Option* const positional = next_positional();
  Completion completion;
  if (positional != nullptr) completion = values(*positional, word);
  if (positionals_ == 0) {
    const auto commands = subcommands(*command_);
    completion.candidates.insert(completion.candidates.end(), commands.begin(), commands.end());
  }
  if (completion.candidates.empty() && completion.paths == Paths::kNone) return {options()};
  return completion;
}

// The form that the scripts read: a line `WORD<tab>MEANING` for each candidate. The last line is
// `:PATHS START ENDINGS...`.
std::string written(const Completion& completion) {
  std::string text;
  for (const Candidate& candidate : completion.candidates) {
    text += fmt::format("{}\t{}\n", candidate.word, candidate.meaning);
  }
  constexpr const char* kNames[] = {"none", "files", "folders", "program"};
  text += fmt::format(":{} {}", kNames[static_cast<int>(completion.paths)], completion.start);
  for (const std::string_view ending : completion.endings) text += fmt::format(" {}", ending);
  return text + "\n";
}

}  // namespace

Completion complete(const CLI::App& root, std::vector<std::string> words) {
  if (words.empty()) words.emplace_back();
  Walk walk(root);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) walk.add(words[i]);
  Completion completion = walk.complete(words.back());
  // A name that a terminal would not show as it is cannot be typed from what the shell shows.
  std::erase_if(completion.candidates, [&](const Candidate& each) {
    return !each.word.starts_with(words.back()) || groma::harmless(each.word) != each.word;
  });
  for (Candidate& each : completion.candidates)
    each.meaning = groma::harmless(shortened(each.meaning));
  return completion;
}

void add_completion(CLI::App& root, const std::vector<std::string>& behind, int* exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = root.add_subcommand(
      "completion", "Print the completion for a shell, or what it offers for a command line");
  std::set<std::string> names;
  for (const CompletionScript& script : completion_scripts()) names.emplace(script.shell);
  CLI::Option* const argument =
      command->add_option("SHELL", *shell, "The shell whose script is printed")
          ->check(CLI::IsMember(names));
  command->formatter(std::make_shared<HelpFormatter>("[-- WORDS]"));
  command->footer(
      "Examples:\n"
      "  source <(groma completion bash)                for this shell\n"
      "  groma completion bash > ~/.local/share/bash-completion/completions/groma\n"
      "  groma completion zsh > ~/.zfunc/_groma         ~/.zfunc is in $fpath\n"
      "  groma completion fish > ~/.config/fish/completions/groma.fish\n"
      "  groma completion -- tune --proposer ''         what may stand in place of ''\n\n"
      "With words after `--`, the candidates for the last of them are printed with their meaning. "
      "The "
      "last line says whether names of files may stand there too.");
  command->callback([=, &root, &behind] {
    if ((argument->count() > 0) == !behind.empty()) {
      throw CLI::RequiredError("SHELL, or words after `--`,");
    }
    if (!behind.empty()) {
      *exit_code = print(written(complete(root, behind)));
      return;
    }
    for (const CompletionScript& script : completion_scripts()) {
      if (script.shell == *shell) *exit_code = print(script.text);
    }
  });
}

}  // namespace driver
