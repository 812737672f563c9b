// Finds the program in a command line that may begin with launchers and interpreters.
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

constexpr std::array<std::string_view, 9> kRemoteStarters = {
    "srun", "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "jsrun", "aprun", "flux"};
// Commands that start another command on this computer.
constexpr std::array<std::string_view, 12> kHere = {"env",     "nice",   "nohup",   "numactl",
                                                    "perf",    "setsid", "stdbuf",  "strace",
                                                    "taskset", "time",   "timeout", "xvfb-run"};
// Interpreters, and the extension of their files.
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

// Returns the name without its version: "python" for python3, python3.11 and python.
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

bool starts_processes_elsewhere(std::string_view command) {
  return is_among(kRemoteStarters, file_name(command));
}

// Options of launchers may have values, which look like programs. A value is rarely the name of an
// executable program.
std::string program_name(const std::vector<std::string>& words) {
  std::size_t at = 0;
  for (;;) {
    std::string name = file_name(words[at]);
    const bool launches =
        starts_processes_elsewhere(name) || is_among(kHere, std::string_view(name));
    const Interpreter* const language = interpreter(name);
    if (!launches && language == nullptr) return name;
    std::size_t next = at + 1;
    for (; next < words.size(); ++next) {
      const std::string& word = words[next];
      if (language != nullptr && word == "-m" && next + 1 < words.size()) return words[next + 1];
      if (word.empty() || word.starts_with('-')) continue;
      if (language != nullptr) {
        // A script of the language, or of a language implemented in it (`python3 regent.py a.rg`).
        if (!is_file(word)) continue;
        if (interpreter(file_name(word)) != nullptr) break;
        if (fs::path(word).extension() == language->extension)
          return fs::path(word).stem().string();
        continue;
      }
      const bool assigns = word.find('=') != word.npos;  // `env NAME=value`
      if (!assigns && find_program(word)) break;
    }
    if (next == words.size()) return name;  // no word that could be a program
    at = next;
  }
}

}  // namespace groma
