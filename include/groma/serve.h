// Serving: a server of the Model Context Protocol (MCP) over two files, such as standard input and
// output. A language model's client sends it requests as lines of JSON-RPC 2.0. The caller says
// which tools and resources there are; this library speaks the protocol. docs/agents.md describes
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/result.h"

namespace groma::serve {

// What a tool or a resource is asked, and how it speaks to the client meanwhile. Its functions may
// be called from any thread until the call has returned.
struct Call {
  // The arguments as the text of a JSON object.
  std::string arguments;
  // Returns true if the client has cancelled the call, or the server is about to end. The call then
  // has to return soon. Its result is dropped.
  std::function<bool()> cancelled;
  // Tells the client how far the call is, if the client wants to know. `progress` must grow from
  // time to time; a call with a smaller or equal value, or too soon after the last one, is ignored.
  // `total` is the value of `progress` at the end, if it is known.
  std::function<void(double progress, std::optional<double> total, std::string_view message)>
      report_progress;
};

// The result of a tool.
struct ToolResult {
  // What the model reads.
  std::string text;
  // The same as the text of a JSON object, for programs. Empty: there is none.
  std::string structured = {};
  // True if the tool could not do what it was asked. `text` then says why, so that the model can
  // correct its call.
  bool is_error = false;
};

// A tool: a function that a model may call.
struct Tool {
  std::string name = {}, title = {}, description = {};
  // The JSON schema of the arguments, as the text of a JSON object.
  std::string input_schema = {};
  // Hints for the client. `reads_only`: nothing is changed. `destroys`: something may be replaced
  // or removed. `is_idempotent`: a second equal call changes nothing more. `open_world`: the tool
  // reaches programs or computers that this server does not control.
  bool reads_only = false, destroys = false, is_idempotent = false, open_world = false;
  // Carries out a call. It is called by several threads at once, and must not throw.
  std::function<ToolResult(const Call& call)> run = {};
};

// Something that a client can read by its URI.
struct Resource {
  std::string uri = {}, name = {}, title = {}, description = {};
  std::string mime_type = "text/plain";
};
// A family of resources: a URI with names in braces, as in RFC 6570.
struct ResourceTemplate {
  std::string uri_template = {}, name = {}, title = {}, description = {};
  std::string mime_type = "text/plain";
};
// One text of a resource.
struct ResourceText {
  std::string uri, text;
  std::string mime_type = "text/plain";
};

// Everything that a server offers. The functions are called by several threads at once, and must
// not throw.
struct Service {
  std::string name, title, version;
  // What a model is told about the server as a whole.
  std::string instructions;
  std::vector<Tool> tools;
  std::function<std::vector<Resource>(const Call& call)> list_resources;
  std::vector<ResourceTemplate> resource_templates;
  // Returns the texts of a resource. Fails with kUnknown if there is no such resource.
  std::function<Result<std::vector<ResourceText>>(const std::string& uri, const Call& call)>
      read_resource;
};

struct ServeOptions {
  // Limit on the calls that are carried out at the same time.
  int jobs = 4;
  // Limit on the calls that wait for their turn. A further one is refused.
  std::size_t max_waiting = 64;
  // Limit on the bytes of a message. A longer one is dropped and answered with an error.
  std::size_t max_message_bytes = std::size_t{4} << 20;
  // How long calls may go on after the end of the input before they are cancelled.
  std::int64_t last_calls_ms = 2000;
  // Asked several times a second. The server ends, and cancels its calls, when it returns true. An
  // empty function never ends it.
  std::function<bool()> stop = {};
};

// The reason why a server ended.
enum class ServeEnd : std::uint8_t { kInputClosed, kOutputClosed, kStopped };

// Answers the messages of one client until the input ends, the output can no longer be written, or
// `options.stop` says so. Returns when no call is left. Any input is safe: a message that is not
// valid is answered with an error of JSON-RPC. `input` and `output` are file descriptors, which
// stay open. The caller must ignore SIGPIPE.
ServeEnd serve_client(const Service& service, int input, int output,
                      const ServeOptions& options = {});

// The versions of the protocol that serve_client() speaks, the oldest first.
std::vector<std::string_view> protocol_versions();

}  // namespace groma::serve
