// The language server: answers an editor's questions about mappings while they are written. It
// speaks the Language Server Protocol 3.17 over two streams of bytes. docs/editors.md says what an
// editor gets.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "groma/log.h"

namespace groma {

// Limit on the size of one message. The server refuses a larger message without reading it into
// memory.
inline constexpr std::size_t kMaxLanguageMessageBytes = std::size_t{32} << 20;
// Limit on the size of one document. A larger document gets a diagnostic that says so, and nothing
// else.
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{8} << 20;
// Limits on the number and the size of all documents that are open at the same time. Further ones
// are not examined.
inline constexpr std::size_t kMaxOpenDocuments = 1024;
inline constexpr std::size_t kMaxOpenBytes = std::size_t{64} << 20;

// What the mappings of a workspace are for. The file `groma.toml` that is nearest to a mapping
// takes precedence.
struct LanguageServerOptions {
  // A machine as in load_machine(), and an application as in load_application(). Empty: none.
  std::string machine, app;
  // Receives warnings. May be null.
  LogSink* log = nullptr;
};

// Reads at most `size` bytes into `buffer` and waits for the first of them. Returns the number of
// bytes, or 0 at the end of the input.
using ReadBytes = std::function<std::size_t(char* buffer, std::size_t size)>;
// Writes all bytes. Returns false if nobody reads them any more.
using WriteBytes = std::function<bool(std::string_view bytes)>;

// Serves one editor until it sends `exit` or the input ends. Returns the exit code of the process:
// 0 if the editor sent `shutdown` before `exit`, otherwise 1. `read` is called by the calling
// thread, `write` by another thread. Messages are not trusted: a wrong one is answered with an
// error, and sizes, depth and memory are limited.
int serve_language(const ReadBytes& read, const WriteBytes& write,
                   const LanguageServerOptions& options = {});

}  // namespace groma
