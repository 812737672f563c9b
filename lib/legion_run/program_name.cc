// Finds the name of the program in a command line that may begin with launchers and interpreters.
#include "legion_run/program_name.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <system_error>

#include "groma/run_program.h"
#include "groma/system.h"

namespace groma {
namespace {

namespace fs = std::filesystem;

// The names of launchers that may start processes on other computers.
constexpr std::array<std::string_view, 9> kRemoteStarters = {
    "srun", "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "jsrun", "aprun", "flux"};
// The names of commands that start another command on this computer.
constexpr std::array<std::string_view, 12> kHere = {"env",     "nice",   "nohup",   "numactl",
                                                    "perf",    "setsid", "stdbuf",  "strace",
                                                    "taskset", "time",   "timeout", "xvfb-run"};
// An interpreter, and the extension of the files that it runs.
struct Interpreter {
  std::string_view name, extension;
};
constexpr std::array<Interpreter, 6> kInterpreters = {{{"python", ".py"},
                                                       {"legate", ".py"},
                                                       {"legion_python", ".py"},
                                                       {"regent", ".rg"},
                                                       {"terra", ".rg"},
                                                       {"regent.py", ".rg"}}};

std::string file_name(std::string_view path) { return fs::path(path).filename().string(); }

template <typename Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the interpreter with this name, or null. For Python, the name may end with a version:
// python3.11.
const Interpreter* interpreter(std::string_view name) {
  for (const Interpreter& each : kInterpreters) {
    const bool is_it =
        name == each.name || (each.name == "python" && name.starts_with(each.name) &&
                              name.find_first_not_of("0123456789.", each.name.size()) == name.npos);
    if (is_it) return &each;
  }
  return nullptr;
}

bool is_file(const std::string& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

}  // namespace

bool may_use_other_computers(std::string_view command) {
  return is_among(kRemoteStarters, file_name(command));
}

// Returns the name of the program that a command starts, without its folder and, for a script,
// without its extension. Launchers and interpreters are skipped with their options. The value of an
// option may look like the program; such a value is rarely the name of an executable file, so the
// first word that names one is taken. Examples:
// * `mpirun -n 4 ./circuit -ll:gpu 1` gives `circuit`
// * `python3 solver.py` gives `solver`
// * `python3 -m legate.jupyter` gives `legate.jupyter`
std::string program_name(const std::vector<std::string>& words) {
  std::size_t at = 0;
  for (;;) {
    std::string name = file_name(words[at]);
    const bool launches = may_use_other_computers(name) || is_among(kHere, std::string_view(name));
    const Interpreter* const language = interpreter(name);
    if (!launches && language == nullptr) return name;
    std::size_t next = at + 1;
    for (; next < words.size(); ++next) {
      const std::string& word = words[next];
      if (language != nullptr && word == "-m" && next + 1 < words.size()) return words[next + 1];
      if (word.empty() || word.starts_with('-')) continue;
      if (language != nullptr) {
        // The word is a script that the interpreter runs, or an interpreter that is itself a
        // script, as in `python3 regent.py a.rg`.
        if (!is_file(word)) continue;
        if (interpreter(file_name(word)) != nullptr) break;
        if (fs::path(word).extension() == language->extension)
          return fs::path(word).stem().string();
        continue;
      }
      // A word with `=` sets an environment variable, as in `env NAME=value`.
      const bool assigns = word.find('=') != word.npos;
      if (!assigns && find_program(word)) break;
    }
    // No further word of the command could be a program, so the launcher itself is the result.
    if (next == words.size()) return name;
    at = next;
  }
}

}  // namespace groma
