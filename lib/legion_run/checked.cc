// SuccessfulRuns: each line of the file has a day, and the key of a program and a mapping with
// which the program ran successfully on that day.
#include "legion_run/checked.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "groma/system.h"
#include "legion_run/program_name.h"

namespace groma::inspect {
namespace {

namespace fs = std::filesystem;

// The largest number of lines in the file.
constexpr std::size_t kMostChecked = 1000;
constexpr std::size_t kMostCheckedBytes = 1 << 20;
constexpr std::int64_t kMostDays = 7;

// Returns the absolute path, the size and the modification time of a file as text; "" if there is
// no such file.
std::string file_of(const std::string& path) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) return "";
  const auto bytes = fs::file_size(path, code);
  const auto time = fs::last_write_time(path, code).time_since_epoch().count();
  return fmt::format("({} {} {})", fs::weakly_canonical(path, code).string(), bytes, time);
}

// The environment variables that are ignored when runs of a program are compared. docs/legion.md
// lists these names, too.
constexpr std::array kIgnoredVariables = std::to_array<std::string_view>(
    {// The shell.
     "_", "HISTCONTROL", "HISTFILE", "HISTFILESIZE", "HISTSIZE", "MAIL", "OLDPWD", "PROMPT_COMMAND",
     "PS1", "PS2", "PWD", "SHLVL",
     // Variables of the terminal.
     "CLICOLOR", "COLORTERM", "COLUMNS", "ITERM_*", "KITTY_*", "LESSCLOSE", "LESSOPEN", "LINES",
     "LSCOLORS", "LS_COLORS", "STY", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION",
     "TERM_SESSION_ID", "TMUX", "TMUX_PANE", "VSCODE_*", "VTE_VERSION", "WINDOW", "WINDOWID",
     // Variables of the login session.
     "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "DISPLAY", "GNOME_*", "GPG_AGENT_INFO",
     "GPG_TTY", "INVOCATION_ID", "JOURNAL_STREAM", "SESSION_MANAGER", "SSH_*", "SYSTEMD_EXEC_PID",
     "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_CURRENT_DESKTOP", "XDG_RUNTIME_DIR", "XDG_SEAT",
     "XDG_SESSION_*", "XDG_VTNR",
     // Groma removes this variable from the environment of the program.
     "GROMA_API_KEY"});

// Returns true if the environment variable cannot change what a program computes. A pattern that
// ends with `*` stands for all names that begin so.
bool is_ignored(std::string_view name) {
  return std::any_of(kIgnoredVariables.begin(), kIgnoredVariables.end(),
                     [&](std::string_view pattern) {
                       if (!pattern.ends_with('*')) return name == pattern;
                       return name.starts_with(pattern.substr(0, pattern.size() - 1));
                     });
}

// Returns a hash of the current folder and of the environment variables that may affect a program.
// The variables are sorted, so that their order does not matter.
std::string surroundings() {
  std::vector<std::string_view> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view variable(*at);
    if (!is_ignored(variable.substr(0, variable.find('=')))) variables.push_back(variable);
  }
  std::sort(variables.begin(), variables.end());
  std::error_code code;
  std::string all = fs::current_path(code).string();
  for (const std::string_view variable : variables) (all += '\n') += variable;
  return fmt::format("{:016x}", std::hash<std::string>()(all));
}

// Calls `use(line, day, key)` for each valid line of the file of successful runs, and skips the
// others. The last line, too, must end with a line break, because a line that was cut off must not
// count.
template <typename Use>
void for_each_line(std::string_view text, const Use& use) {
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    const std::string_view line = text.substr(0, end);
    std::int64_t day = 0;
    const auto [stop, code] = std::from_chars(line.data(), line.data() + line.size(), day);
    const std::string_view key = line.substr(static_cast<std::size_t>(stop - line.data()));
    if (code == std::errc() && day >= 0 && key.starts_with(' ')) use(line, day, key.substr(1));
  }
}

}  // namespace

std::span<const std::string_view> ignored_variables() { return kIgnoredVariables; }

std::int64_t SuccessfulRuns::days_since_1970() {
  using Days = std::chrono::duration<std::int64_t, std::ratio<86'400>>;
  return std::chrono::floor<Days>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Builds the key of this program under this mapping, and reads the file of successful runs. The
// file is then not used if the key is too long, because such keys would fill the file.
SuccessfulRuns::SuccessfulRuns(const Program& mapping, const ProgramRun& run, bool compares,
                               std::int64_t today)
    : file_(run.checked_file), today_(today) {
  own_ = mapping_mark(mapping) + ' ' + surroundings();
  // All words of the command are part of the key, because the program may stand behind a launcher.
  // For a word that names a file, so are the size and time of the file.
  for (const std::string& word : run.words) {
    const bool is_program = &word == &run.words.front();
    own_ += ' ' + word + file_of(is_program ? find_program(word).value_or(word) : word);
    // An option may name a file, as in --input=FILE.
    const std::size_t equals = word.find('=');
    if (equals != word.npos) own_ += file_of(word.substr(equals + 1));
  }
  for (const std::string& task : run.override_layouts.tasks) own_ += " --override-layouts=" + task;
  compares = compares && run.results != nullptr && !run.compare_failures_only;
  own_ += compares ? " compared as " + run.results->key() : " not compared";
  std::replace(own_.begin(), own_.end(), '\n', '?');
  // A key of this length would fill too much of the file.
  if (own_.size() > kMostCheckedBytes / kMostChecked) file_.clear();
  if (file_.empty()) return;
  const auto text = read_file(file_, kMostCheckedBytes);
  if (text) rest_ = *text;
}

// Returns true if the file has the key of this run with a day of the last week. A day in the future
// does not count.
bool SuccessfulRuns::has_recent_success() const {
  bool is_known = false;
  for_each_line(rest_, [&](std::string_view, std::int64_t day, std::string_view key) {
    is_known = is_known || (key == own_ && day <= today_ && today_ - day < kMostDays);
  });
  return is_known;
}

// Writes the file anew: first the line for this run, then at most kMostChecked - 1 of the old
// lines, so that the oldest lines are dropped. An error is ignored, because the program is then
// only checked again.
void SuccessfulRuns::add_success() const {
  if (file_.empty() || has_recent_success()) return;
  std::string text = fmt::format("{} {}\n", today_, own_);
  std::size_t count = 1;
  for_each_line(rest_, [&](std::string_view line, std::int64_t, std::string_view key) {
    if (key != own_ && ++count <= kMostChecked) (text += line) += '\n';
  });
  std::error_code code;
  fs::create_directories(fs::path(file_).parent_path(), code);
  (void)!write_file(file_, text);
}

}  // namespace groma::inspect
