// The calls of `groma serve`: each call runs the command groma as a child process, with limits on
// its time, memory and output. So a call that fails in any way cannot harm the server.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/result.h"
#include "groma/serve.h"
#include "groma/system.h"
#include "serve_arguments.h"
#include "serve_root.h"

namespace driver {

// What all calls share. The user decides it when the server starts.
struct ServeSetup {
  // The path of the command groma.
  std::string groma;
  ServeRoot root;
  // A folder in which each call makes its own.
  groma::ScratchFolder scratch;
  bool allows_commands = false;
  // The endpoints of language models that calls may use, and the options that belong to them.
  std::vector<std::string> endpoints;
  std::vector<std::string> model_options;
  // Limits on one call: its time, the memory of each process, the bytes of its text and of its
  // structured content.
  double seconds = 0;
  std::int64_t memory_bytes = 0;
  std::size_t result_bytes = 0;
  std::atomic<std::uint64_t> calls{0};
};

// A folder for the files of one call. It is removed with this object.
class CallFolder {
 public:
  // Check path() for emptiness: the folder could not be made.
  explicit CallFolder(ServeSetup& setup);
  ~CallFolder();
  CallFolder(const CallFolder&) = delete;
  CallFolder& operator=(const CallFolder&) = delete;
  const std::string& path() const { return path_; }
  // Returns the text without the path of this folder, so that a file in it is shown by its name.
  std::string without_path(std::string text) const;

 private:
  std::string path_;
};

// How one child process of a call runs.
struct ChildRun {
  // The words behind `groma`.
  std::vector<std::string> words;
  std::string input = {};
  // The limit on its time. After it the process may end as after Ctrl-C.
  double seconds = 0;
  // True if it may use the key of a language model.
  bool asks_model = false;
  // Receives standard output as it comes.
  std::function<void(std::string_view bytes)> on_output = {};
  // Called several times a second, with the seconds since its beginning.
  std::function<void(double seconds)> on_tick = {};
};

// Runs the command. Ends it when the call is cancelled, as Ctrl-C does.
groma::Result<groma::CommandOutcome> run_child(const ServeSetup& setup, const ChildRun& child,
                                               const groma::serve::Call& call);

// Returns why a process did not end by itself, or an empty text if it did.
std::string why_broken_off(const groma::CommandOutcome& outcome, double seconds);

// Returns what a command said about its options in the words of the tool: `--time` becomes `time`.
// If the text names options that a client cannot give, a last line says so.
std::string in_words_of(const ToolDefinition& tool, std::string_view text);

// Returns a tool's result that says what is wrong.
groma::serve::ToolResult refusal(const groma::Error& error);
// Returns a tool's result, within the limits of the setup. What is too long is cut, and the text
// says so.
groma::serve::ToolResult limited_result(const ServeSetup& setup, const std::string& text,
                                        std::string structured, bool is_error);

// Adds to a command line the options of the endpoint that the call may use: `asked`, or the first
// that is allowed if it is empty. Fails if it is not allowed.
std::optional<groma::Error> add_endpoint(const ServeSetup& setup, const std::string& asked,
                                         std::vector<std::string>* options);

// Carry out a call of a tool.
groma::serve::ToolResult call_tool(ServeSetup& setup, const ToolDefinition& tool,
                                   const groma::serve::Call& call);
groma::serve::ToolResult call_tune(ServeSetup& setup, const ToolDefinition& tool,
                                   const groma::serve::Call& call);

// The resources of the server.
std::vector<groma::serve::Resource> list_resources(const ServeSetup& setup,
                                                   const groma::serve::Call& call);
std::vector<groma::serve::ResourceTemplate> resource_templates();
groma::Result<std::vector<groma::serve::ResourceText>> read_resource(
    ServeSetup& setup, const std::string& uri, const groma::serve::Call& call);

// Returns an error if the search in the directory, a path from ServeRoot, reads files that are not
// below the root. Sets *asks_model if the search asks a language model.
std::optional<groma::Error> stored_search_error(const ServeSetup& setup,
                                                const std::string& directory, bool* asks_model);

}  // namespace driver
