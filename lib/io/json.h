// JSON as a bounded tree, for files that people write: parse_json is the only way in. JsonReader
// takes a tree apart and remembers what is wrong, with its JSON pointer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "groma/result.h"

namespace groma {

struct JsonMember;

struct JsonValue {
  using Array = std::vector<JsonValue>;
  using Object = std::vector<JsonMember>;  // in the order of the text, no key twice
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> data;

  const Array* array() const { return std::get_if<Array>(&data); }
  const Object* object() const { return std::get_if<Object>(&data); }
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

inline constexpr std::size_t kMaxJsonDepth = 16;
inline constexpr std::size_t kMaxJsonMembers = 64;  // of one object
inline constexpr std::size_t kMaxJsonValues = std::size_t{1} << 21;

// Reads all of `text`. Fails (kMalformed, kTooLarge beyond the bounds above) with line and column,
// or with the pointer of a key that is there twice. `name` is for messages. Never throws.
Result<JsonValue> parse_json(std::string_view text, std::string_view name,
                             std::size_t max_depth = kMaxJsonDepth);

// `text` as a JSON string, with quotes; what is not UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

// A value and the way to it. Places lie on the stack of the functions that read.
struct JsonPlace {
  const JsonValue* value;
  const JsonPlace* parent = nullptr;
  std::string_view key = {};  // of a member; empty for an element
  std::size_t index = 0;      // of an element
};

class JsonReader {
 public:
  explicit JsonReader(std::string name) : name_(std::move(name)) {}

  bool ok() const { return errors_.empty(); }
  std::size_t count() const { return errors_.size(); }
  bool full() const { return count() == kMaxFileErrors; }
  // Whether anything was wrong since there were `count` errors, or may have been.
  bool failed_since(std::size_t count) const { return full() || errors_.size() != count; }
  // All of them, the first before its `more`.
  Error error() const;
  // Records an error at `place` (and `below` it, a pointer), unless there are enough.
  void fail(const JsonPlace& place, std::string_view message, std::string help = {},
            std::string_view below = {});

  // Each of these fails where the value is of another type and then returns something harmless.
  // Whether it is an object. Its keys must be among `keys`; nothing is missed in one that has
  // others.
  bool is_object(const JsonPlace& place, std::span<const std::string_view> keys);
  const JsonValue::Array& array(const JsonPlace& place);
  std::string text(const JsonPlace& place);
  bool truth(const JsonPlace& place);
  double number(const JsonPlace& place);
  // A whole number; 1e9 is one too.
  std::int64_t integer(const JsonPlace& place);
  // One of `names`: its index.
  std::size_t word(const JsonPlace& place, std::span<const std::string_view> names,
                   std::string_view what);

  // The member `key` of an object, if it is there. It refers to `place`, which must outlive it.
  static std::optional<JsonPlace> member(const JsonPlace& place, std::string_view key);
  // How much of a pointer there is below `place`: what stands behind it was left out.
  static std::string_view existing(const JsonPlace& place, std::string_view pointer);
  bool has_wrong_keys(const JsonPlace& place) const;
  // A member, failing where it is not there, with what it may be.
  std::optional<JsonPlace> required(const JsonPlace& place, std::string_view key,
                                    std::string help = {});
  void fail_type(const JsonPlace& place, std::string_view due);

 private:
  std::string name_;
  std::vector<Error> errors_;
  std::vector<const JsonValue*> wrong_keys_;  // objects that have some
};

}  // namespace groma
