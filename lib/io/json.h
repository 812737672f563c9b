// JSON as a tree with limits, for files that people write. parse_json is the only entry point.
// JsonReader reads the values of a tree and records errors with their JSON pointers.
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

// A file that states no name of its application or machine gives it the file's own name, of at most
// this many bytes.
inline constexpr std::size_t kLongestDefaultName = 200;

inline constexpr std::size_t kMaxJsonDepth = 16;
inline constexpr std::size_t kMaxJsonMembers = 64;  // in one object
inline constexpr std::size_t kMaxJsonValues = std::size_t{1} << 21;

// Parses all of `text`. Fails with kMalformed, or with kTooLarge beyond the limits above. The
// message has line and column, or the pointer of a repeated key. `name` is used in messages. Never
// throws.
Result<JsonValue> parse_json(std::string_view text, std::string_view name,
                             std::size_t max_depth = kMaxJsonDepth);

// Returns `text` as a JSON string with quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

// A value and the path to it. Places live on the stack of the functions that read.
struct JsonPlace {
  const JsonValue* value;
  const JsonPlace* parent = nullptr;
  std::string_view key = {};  // key of the value if it is a member; empty if it is an element
  std::size_t index = 0;      // index of the value if it is an element
};

// Reads values out of a parsed JSON document and collects errors.
class JsonReader {
 public:
  explicit JsonReader(std::string name) : name_(std::move(name)) {}

  bool ok() const { return errors_.empty(); }
  std::size_t count() const { return errors_.size(); }
  bool full() const { return count() == kMaxFileErrors; }
  // Returns true if an error was added since there were `count` errors. Also returns true if so
  // many were added that later ones are dropped.
  bool failed_since(std::size_t count) const { return full() || errors_.size() != count; }
  // Returns all errors: the first one, with the others in its `more`.
  Error error() const;
  // Records an error at `place` (and `below` it, a pointer), unless there are enough errors.
  void fail(const JsonPlace& place, std::string_view message, std::string help = {},
            std::string_view below = {});

  // Each of these records an error if the value has another type, and then returns a harmless
  // value. is_object returns true if the value is an object. Its keys must be among `keys`. If an
  // object has other keys, missing keys are not reported.
  bool is_object(const JsonPlace& place, std::span<const std::string_view> keys);
  const JsonValue::Array& array(const JsonPlace& place);
  std::string text(const JsonPlace& place);
  bool truth(const JsonPlace& place);
  double number(const JsonPlace& place);
  // Returns a whole number. It may be written as 1e9.
  std::int64_t integer(const JsonPlace& place);
  // Returns the index of the value in `names`.
  std::size_t word(const JsonPlace& place, std::span<const std::string_view> names,
                   std::string_view what);

  // Returns the member `key` of an object, if it exists. The result refers to `place`, which must
  // outlive it.
  static std::optional<JsonPlace> member(const JsonPlace& place, std::string_view key);
  // Returns the part of a pointer that exists below `place`. The part after it was left out.
  static std::string_view existing(const JsonPlace& place, std::string_view pointer);
  bool has_wrong_keys(const JsonPlace& place) const;
  // Returns a member. Records an error with `help` if it is missing.
  std::optional<JsonPlace> required(const JsonPlace& place, std::string_view key,
                                    std::string help = {});
  void fail_type(const JsonPlace& place, std::string_view due);

 private:
  std::string name_;
  std::vector<Error> errors_;
  std::vector<const JsonValue*> wrong_keys_;  // objects that have unknown keys
};

}  // namespace groma
