#include "command/run.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/files.h"

namespace groma::test {

std::string read_text(const std::string& path) { return testing::read_text(path); }

Outcome run(const std::string& line, const std::string& input) {
  const TemporaryFolder folder;
  const std::string in = folder.write("in", input);
  std::string command_folder = std::filesystem::path(GROMA_COMMAND).parent_path().string();
#ifdef GROMA_EMBED
  command_folder += "':'" + std::filesystem::path(GROMA_EMBED).parent_path().string();
#endif
#ifdef GROMA_LEGION_APPS
  command_folder += "':'" GROMA_LEGION_APPS;
#endif
  const std::string script = folder.write(
      "script", "cd '" GROMA_SOURCE_DIR "' && PATH='" + command_folder + "':$PATH\n" + line + "\n");
  const int status = std::system(("sh '" + script + "' < '" + in + "' > '" + folder.path() +
                                  "/out' 2> '" + folder.path() + "/err'")
                                     .c_str());
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = read_text(folder.path() + "/out");
  outcome.err = read_text(folder.path() + "/err");
  return outcome;
}

bool is_installed(const std::string& program) {
  return run("command -v " + program).exit_code == 0;
}

}  // namespace groma::test
