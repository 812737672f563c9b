// Result<T>: what an operation that can fail returns, and GROMA_CHECK, for failures that are ours.
//
// Nothing in Groma throws. A wrong *input text* is reported through Diagnostics (diagnostics.h); a
// failed *operation* (a file, an unknown machine name, a malformed JSON file) comes back as an
// Error.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace groma {

// More mistakes of one file are not told.
inline constexpr std::size_t kMaxFileErrors = 20;

// Why an operation failed: a code to branch on, a message that names the thing.
struct Error {
  enum class Code {
    kUnreadable,  // a file cannot be read or written
    kTooLarge,    // a bound on size or count would be passed
    kUnknown,     // no such machine, preset, parameter
    kMalformed,   // the text does not have the shape that it should have
    kStopped,     // the caller asked for it to end
  };
  Code code;
  std::string message;    // lower case, no full stop: "cannot read `a.mapper`: permission denied"
  std::string help = {};  // what to do instead; may be empty
  // What else is wrong with a file, beside this and not because of it: up to kMaxFileErrors in all.
  std::vector<Error> more = {};
};

namespace internal {
[[noreturn]] inline void check_failed(std::string_view what, const char* file, int line) {
  std::fprintf(stderr,
               "groma: internal error at %s:%d: %.*s; this is our fault, please report it\n", file,
               line, static_cast<int>(what.size()), what.data());
  std::abort();
}
}  // namespace internal

// Ends the process, saying that the fault is ours. Never for anything that an input can cause.
#define GROMA_CHECK(condition)        \
  ((condition) ? static_cast<void>(0) \
               : ::groma::internal::check_failed(#condition, __FILE__, __LINE__))

// A value or the reason why there is none: an Error, or what its place says (groma/llm.h). Reading
// the side that is not there is our fault.
template <typename T, typename E = Error>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    GROMA_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    GROMA_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    GROMA_CHECK(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const E& error() const {
    GROMA_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, E> state_;
};

}  // namespace groma
