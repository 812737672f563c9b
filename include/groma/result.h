// Result<T>: the return type of an operation that can fail. GROMA_CHECK: a check for errors in
// Groma itself.
//
// Nothing in Groma throws. A wrong *input text* is reported through Diagnostics (diagnostics.h). A
// failed *operation* (a file, an unknown machine name, a malformed JSON file) returns an Error.
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

// Limit on the mistakes in one file that are reported. Further mistakes are not reported.
inline constexpr std::size_t kMaxFileErrors = 20;

// Why an operation failed: a code to branch on, and a message that names the thing.
struct Error {
  enum class Code {
    // A file cannot be read or written.
    kUnreadable,
    // A limit on a size or a count would be exceeded.
    kTooLarge,
    // The machine, preset or parameter is unknown.
    kUnknown,
    // The text does not have the expected form.
    kMalformed,
    // The caller stopped the operation.
    kStopped,
  };
  Code code;
  // The message, in lower case and without a full stop: "cannot read `a.mapper`: permission
  // denied".
  std::string message;
  // A text that says what to do instead. May be empty.
  std::string help = {};
  // Other mistakes in the same file that are independent of this one. At most kMaxFileErrors in
  // all.
  std::vector<Error> more = {};
};

namespace internal {
[[noreturn]] inline void check_failed(std::string_view what, const char* file, int line) {
  std::fprintf(stderr,
               "groma: internal error at %s:%d: %.*s; this is our fault, please report it\n", file,
               line, static_cast<int>(what.size()), what.data());
  std::abort();
}
[[noreturn]] inline void requirement_failed(std::string_view rule, const char* file, int line) {
  std::fprintf(stderr, "groma: wrong use of the library: %.*s (checked at %s:%d)\n",
               static_cast<int>(rule.size()), rule.data(), file, line);
  std::abort();
}
}  // namespace internal

// Ends the process with a message that Groma is at fault. Never used for anything that an input can
// cause.
#define GROMA_CHECK(condition)        \
  ((condition) ? static_cast<void>(0) \
               : ::groma::internal::check_failed(#condition, __FILE__, __LINE__))

// Ends the process with a message that the code that calls Groma broke `rule`, a sentence about
// what it must pass or call. No file, mapping or option can cause this.
#define GROMA_REQUIRE(condition, rule) \
  ((condition) ? static_cast<void>(0)  \
               : ::groma::internal::requirement_failed(rule, __FILE__, __LINE__))

// A value, or the reason why there is none: an Error, or another type such as ChatError
// (groma/llm.h). Reading the side that is not there ends the process (GROMA_REQUIRE).
template <typename T, typename E = Error>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    GROMA_REQUIRE(ok(), kNoValue);
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    GROMA_REQUIRE(ok(), kNoValue);
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    GROMA_REQUIRE(ok(), kNoValue);
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const E& error() const {
    GROMA_REQUIRE(!ok(), "error() needs a result without a value");
    return *std::get_if<1>(&state_);
  }

 private:
  static constexpr std::string_view kNoValue =
      "value() needs a result with a value; ask ok() first";

  std::variant<T, E> state_;
};

}  // namespace groma
