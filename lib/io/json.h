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

// A value of JSON with everything in it.
struct JsonValue {
  using Array = std::vector<JsonValue>;
  // The members in the order of the text. No key occurs twice.
  using Object = std::vector<JsonMember>;
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> data;

  const Array* array() const { return std::get_if<Array>(&data); }
  const Object* object() const { return std::get_if<Object>(&data); }
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

// The limit in bytes on a default name. An application or machine whose file states no name gets
// the name of the file, cut to this length.
inline constexpr std::size_t kLongestDefaultName = 200;

inline constexpr std::size_t kMaxJsonDepth = 16;
// The limit on the members of one object.
inline constexpr std::size_t kMaxJsonMembers = 64;
inline constexpr std::size_t kMaxJsonValues = std::size_t{1} << 21;

// Parses all of `text`. Fails with kMalformed, or with kTooLarge beyond the limits above. The
// message has line and column, or the pointer of a repeated key. `name` is used in messages. Never
// throws.
Result<JsonValue> parse_json(std::string_view text, std::string_view name,
                             std::size_t max_depth = kMaxJsonDepth);

// Returns `text` as a JSON string with quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

// A JSON value with its place in the document. `parent` is the place of the array or object that
// contains the value, and null for the root. The caller keeps the parent places alive.
struct JsonPlace {
  const JsonValue* value;
  const JsonPlace* parent = nullptr;
  // The key of the value, if it is a member of an object. Otherwise empty.
  std::string_view key = {};
  // The index of the value, if it is an element of an array.
  std::size_t index = 0;
};

// Reads values out of a parsed JSON document and collects errors.
class JsonReader {
 public:
  explicit JsonReader(std::string name) : name_(std::move(name)) {}

  // ok() returns true if there are no errors, error_count() returns the number of errors, and
  // has_max_errors() returns true if further errors are dropped.
  bool ok() const { return errors_.empty(); }
  std::size_t error_count() const { return errors_.size(); }
  bool has_max_errors() const { return error_count() == kMaxFileErrors; }
  // Returns true if an error was added since there were `count` errors. Also returns true if so
  // many were added that later ones are dropped.
  bool failed_since(std::size_t count) const { return has_max_errors() || errors_.size() != count; }
  // Returns all errors: the first one, with the others in its `more`.
  Error error() const;
  // Records an error at `place`, or at the value to which the JSON pointer `below` leads from
  // there. Drops the error if the limit on the number of errors is reached.
  void fail(const JsonPlace& place, std::string_view message, std::string help = {},
            std::string_view below = {});

  // The next functions read the value at a place. If the value has another type, they record an
  // error and return an empty value or 0. is_object() returns true if the value is an object; its
  // keys must be among `keys`. If an object has other keys, missing keys are not reported, because
  // a misspelt key is probably the missing one.
  bool is_object(const JsonPlace& place, std::span<const std::string_view> keys);
  const JsonValue::Array& array(const JsonPlace& place);
  std::string text(const JsonPlace& place);
  bool boolean(const JsonPlace& place);
  double number(const JsonPlace& place);
  // Returns a whole number. It may be written as 1e9.
  std::int64_t integer(const JsonPlace& place);
  // Reads a string that must be one of `names`, and returns its index there. `what` describes these
  // words in the error message.
  std::size_t index_of_word(const JsonPlace& place, std::span<const std::string_view> names,
                            std::string_view what);

  // Returns the member `key` of an object, if it exists. The result refers to `place`, which must
  // outlive it.
  static std::optional<JsonPlace> member(const JsonPlace& place, std::string_view key);
  // Returns the longest beginning of `pointer` that leads to an existing value below `place`.
  static std::string_view existing_pointer_prefix(const JsonPlace& place, std::string_view pointer);
  // Returns true if is_object() found unknown keys in this object.
  bool has_wrong_keys(const JsonPlace& place) const;
  // Returns the member `key` of an object. Records an error with `help` if the member is missing.
  std::optional<JsonPlace> required(const JsonPlace& place, std::string_view key,
                                    std::string help = {});
  // Records that the value has the wrong type. `due` is the name of the right type, such as "a
  // whole number".
  void fail_wrong_type(const JsonPlace& place, std::string_view due);

 private:
  std::string name_;
  std::vector<Error> errors_;
  // The objects in which is_object() found unknown keys.
  std::vector<const JsonValue*> wrong_keys_;
};

}  // namespace groma
