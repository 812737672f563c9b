// Reads JSON text into a tree with bounded size. nlohmann-json delivers events; a tree that exceeds
// a limit is never built, and errors arrive as calls instead of exceptions.
#include "io/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "groma/harmless.h"
#include "groma/source.h"
#include "groma/spelling.h"
#include "machine/quote.h"

namespace groma {
namespace {

using nlohmann::json;

// The limit in bytes on a reason that is quoted in a message.
constexpr std::size_t kLongestReason = 160;

// Returns the reason in a message of nlohmann-json: "[json...] ... - REASON; last read: '...';
// expected X". The text it last read is left out because it can be as long as the file.
std::string reason_of(std::string_view what) {
  const std::size_t dash = what.find(" - ");
  const std::size_t bracket = what.find("] ");
  if (dash != what.npos) {
    what.remove_prefix(dash + 3);
  } else if (bracket != what.npos) {
    what.remove_prefix(bracket + 2);
  }
  const std::size_t read = what.find("; last read: '");
  const std::size_t expected = what.rfind("; expected ");
  std::string reason(what.substr(0, read));
  if (read != what.npos && expected != what.npos && expected > read) {
    reason += what.substr(expected);
  }
  return harmless(reason, kLongestReason);
}

// Builds the tree from events. A value under construction is the last of its container, and a
// container does not grow while a value in it is open, so the pointers in `open_` stay valid.
class Builder : public nlohmann::json_sax<json> {
 public:
  Builder(std::string_view text, std::string_view name, std::size_t max_depth)
      : text_(text), name_(name), max_depth_(max_depth) {}

  // Returns the tree after a successful parse.
  JsonValue take() { return std::move(root_); }
  const Error& error() const { return *error_; }

  // The JSON parser calls one of the next functions for each value. A function that returns false
  // ends the parsing.
  bool null() override { return add({nullptr}); }
  bool boolean(bool value) override { return add({value}); }
  bool number_integer(std::int64_t value) override { return add({value}); }
  // A number above the largest integer becomes a real number.
  bool number_unsigned(std::uint64_t value) override {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return add({static_cast<double>(value)});
    return add({static_cast<std::int64_t>(value)});
  }
  bool number_float(double value, const std::string&) override { return add({value}); }
  bool string(std::string& value) override { return add({std::move(value)}); }
  bool binary(json::binary_t&) override { return refuse("binary data"); }
  bool start_object(std::size_t) override { return open({JsonValue::Object{}}); }
  bool start_array(std::size_t) override { return open({JsonValue::Array{}}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  // Accepts a key unless it is a duplicate or exceeds kMaxJsonMembers.
  bool key(std::string& key) override {
    auto& members = std::get<JsonValue::Object>(open_.back()->data);
    const auto same = [&key](const JsonMember& member) { return member.key == key; };
    if (std::any_of(members.begin(), members.end(), same)) {
      return refuse(fmt::format("the key {} stands there twice", in_quotes(key)));
    }
    if (members.size() == kMaxJsonMembers) {
      return refuse(fmt::format("more than {} keys in one object", kMaxJsonMembers));
    }
    members.push_back({std::move(key), {}});
    return true;
  }

  // Records invalid JSON with line and column. `position` counts bytes from 1.
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& why) override {
    const std::size_t offset = std::min(position == 0 ? 0 : position - 1, text_.size());
    const Position at = Source(name_, std::string(text_.substr(0, offset)))
                            .position(static_cast<std::uint32_t>(offset));
    error_ = {Error::Code::kMalformed,
              fmt::format("`{}`: line {}, column {}: this is not JSON: {}", name_, at.line,
                          at.column, reason_of(why.what()))};
    return false;
  }

 private:
  // Returns the place for the next value: a new element of the open array, the value of the last
  // key, or the root.
  JsonValue* next() {
    if (open_.empty()) return &root_;
    if (auto* array = std::get_if<JsonValue::Array>(&open_.back()->data)) {
      return &array->emplace_back();
    }
    return &std::get<JsonValue::Object>(open_.back()->data).back().value;
  }
  bool add(JsonValue value) {
    if (++count_ > kMaxJsonValues) return refuse("too many values", Error::Code::kTooLarge);
    *next() = std::move(value);
    return true;
  }
  // Begins an array or an object, unless it would be nested too deeply.
  bool open(JsonValue value) {
    if (open_.size() == max_depth_) {
      return refuse(fmt::format("nested deeper than {}", max_depth_), Error::Code::kTooLarge);
    }
    if (++count_ > kMaxJsonValues) return refuse("too many values", Error::Code::kTooLarge);
    JsonValue* place = next();
    *place = std::move(value);
    open_.push_back(place);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  // Records an error at the current place, with its JSON pointer, and ends the parsing. Errors
  // about the size of the tree have no place.
  bool refuse(std::string_view message, Error::Code code = Error::Code::kMalformed) {
    std::string pointer;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) pointer += step(*open_[i]);
    if (code == Error::Code::kTooLarge) pointer.clear();
    error_ = {code,
              fmt::format("`{}`: {}{}{}", name_, pointer, pointer.empty() ? "" : ": ", message)};
    return false;
  }
  // Returns the part of a JSON pointer that leads from a container to its open value.
  static std::string step(const JsonValue& value) {
    if (const auto* array = value.array()) return fmt::format("/{}", array->size() - 1);
    const std::string key = in_quotes(value.object()->back().key);
    return "/" + key.substr(1, key.size() - 2);
  }

  std::string_view text_;
  std::string name_;
  std::size_t max_depth_;
  JsonValue root_;
  // The containers that contain the next value, from the root inwards.
  std::vector<JsonValue*> open_;
  std::size_t count_ = 0;
  std::optional<Error> error_;
};

// Returns the name of the value's type for messages.
std::string_view type_name(const JsonValue& value) {
  constexpr std::string_view kNames[] = {"null",     "a truth value", "a number", "a number",
                                         "a string", "an array",      "an object"};
  return kNames[value.data.index()];
}

// Returns the JSON pointer that leads to a place, such as "/nodes/0/count".
std::string pointer_to(const JsonPlace& place) {
  if (place.parent == nullptr) return {};
  const std::string way = pointer_to(*place.parent);
  if (place.parent->value->array() != nullptr) return fmt::format("{}/{}", way, place.index);
  return fmt::format("{}/{}", way, place.key);
}

// Returns similar names as help, or all names if none is similar.
std::string help_for(std::string_view word, std::span<const std::string_view> names) {
  const std::vector<std::string_view> near = near_names(word, names);
  if (!near.empty()) return fmt::format("did you mean {}?", join_names(near));
  return fmt::format("known are {}", join_names(names, "and"));
}

}  // namespace

// Parses JSON text. `name` is the file's name for messages.
Result<JsonValue> parse_json(std::string_view text, std::string_view name, std::size_t max_depth) {
  Builder builder(text, name, max_depth);
  if (!json::sax_parse(text, &builder)) return builder.error();
  return builder.take();
}

// Returns the text as a JSON string. Invalid UTF-8 becomes U+FFFD; hidden characters are escaped.
std::string json_string(std::string_view text) {
  return harmless_lines(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
}

// Returns the first error. Its member `more` has the other errors.
Error JsonReader::error() const {
  Error error = errors_.front();
  error.more.assign(errors_.begin() + 1, errors_.end());
  return error;
}

// Records an error at `place`, unless the limit on the number of errors is reached. `below` is a
// JSON pointer that leads from `place` to the wrong value.
void JsonReader::fail(const JsonPlace& place, std::string_view message, std::string help,
                      std::string_view below) {
  if (has_max_errors()) return;
  const std::string pointer = pointer_to(place) + std::string(below);
  errors_.push_back(
      {Error::Code::kMalformed,
       fmt::format("`{}`: {}{}{}", name_, pointer, pointer.empty() ? "" : ": ", message),
       std::move(help)});
}

// Records that a value has the wrong type. `due` is the name of the right type.
void JsonReader::fail_wrong_type(const JsonPlace& place, std::string_view due) {
  fail(place, fmt::format("{} stands where {} is due", type_name(*place.value), due));
}

// Checks that a value is an object without unknown keys. Returns false only if it is not an object.
// Objects with unknown keys are remembered: required() then reports nothing, because a misspelt key
// is probably the missing one.
bool JsonReader::is_object(const JsonPlace& place, std::span<const std::string_view> keys) {
  const JsonValue::Object* members = place.value->object();
  if (members == nullptr) {
    fail_wrong_type(place, "an object");
    return false;
  }
  for (const JsonMember& member : *members) {
    if (std::find(keys.begin(), keys.end(), member.key) != keys.end()) continue;
    fail(place, fmt::format("no such key: {}", in_quotes(member.key)), help_for(member.key, keys));
    if (!has_wrong_keys(place)) wrong_keys_.push_back(place.value);
  }
  return true;
}

bool JsonReader::has_wrong_keys(const JsonPlace& place) const {
  return std::find(wrong_keys_.begin(), wrong_keys_.end(), place.value) != wrong_keys_.end();
}

// Returns the elements of a list. Reports an error and returns no elements if the value is not one.
const JsonValue::Array& JsonReader::array(const JsonPlace& place) {
  static const JsonValue::Array kNone;
  if (const JsonValue::Array* array = place.value->array()) return *array;
  fail_wrong_type(place, "an array");
  return kNone;
}

std::string JsonReader::text(const JsonPlace& place) {
  if (const auto* text = std::get_if<std::string>(&place.value->data)) return *text;
  fail_wrong_type(place, "a string");
  return {};
}

bool JsonReader::boolean(const JsonPlace& place) {
  if (const auto* truth = std::get_if<bool>(&place.value->data)) return *truth;
  fail_wrong_type(place, "`true` or `false`");
  return false;
}

// Returns a number, which may be written as a whole one.
double JsonReader::number(const JsonPlace& place) {
  if (const auto* real = std::get_if<double>(&place.value->data)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&place.value->data)) {
    return static_cast<double>(*whole);
  }
  fail_wrong_type(place, "a number");
  return 0;
}

// Returns a whole number, which may be written as a real number such as 1e9. A real number of 2^53
// or more is refused because it may have been rounded.
std::int64_t JsonReader::integer(const JsonPlace& place) {
  // The largest number up to which a double represents every whole number: 2^53.
  constexpr double kExact = 9007199254740992;
  if (const auto* whole = std::get_if<std::int64_t>(&place.value->data)) return *whole;
  if (!std::holds_alternative<double>(place.value->data)) {
    fail_wrong_type(place, "a whole number");
    return 0;
  }
  const double real = std::get<double>(place.value->data);
  if (real > -kExact && real < kExact &&
      real == static_cast<double>(static_cast<std::int64_t>(real))) {
    return static_cast<std::int64_t>(real);
  }
  fail(place, fmt::format("{} is not a whole number that can be kept", real));
  return 0;
}

// Returns the index of a word in `names`, or 0 after reporting an unknown word. `what` describes
// the words for the message.
std::size_t JsonReader::index_of_word(const JsonPlace& place,
                                      std::span<const std::string_view> names,
                                      std::string_view what) {
  const std::size_t before = error_count();
  const std::string word = text(place);
  if (failed_since(before)) return 0;
  const auto at = std::find(names.begin(), names.end(), word);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  fail(place, fmt::format("{} is not a {}", in_quotes(word), what), help_for(word, names));
  return 0;
}

// Returns the member with this key, if the object has it.
std::optional<JsonPlace> JsonReader::member(const JsonPlace& place, std::string_view key) {
  const JsonValue::Object* members = place.value->object();
  if (members == nullptr) return std::nullopt;
  for (const JsonMember& member : *members) {
    if (member.key == key) return JsonPlace{&member.value, &place, key, 0};
  }
  return std::nullopt;
}

// Returns the longest part of `pointer` that leads to an existing value below `place`.
std::string_view JsonReader::existing_pointer_prefix(const JsonPlace& place,
                                                     std::string_view pointer) {
  const JsonValue* value = place.value;
  std::size_t end = 0;
  while (end < pointer.size()) {
    const std::size_t next = std::min(pointer.find('/', end + 1), pointer.size());
    const std::string_view step = pointer.substr(end + 1, next - end - 1);
    // A part of a JSON pointer between two slashes is an index if it leads into an array, and a key
    // if it leads into an object.
    if (const JsonValue::Array* array = value->array()) {
      std::size_t index = array->size();
      std::from_chars(step.data(), step.data() + step.size(), index);
      if (index >= array->size()) break;
      value = &(*array)[index];
    } else {
      const std::optional<JsonPlace> found = member({value}, step);
      if (!found) break;
      value = found->value;
    }
    end = next;
  }
  return pointer.substr(0, end);
}

// Returns the member with this key. Reports that it is missing unless the object has wrong keys.
std::optional<JsonPlace> JsonReader::required(const JsonPlace& place, std::string_view key,
                                              std::string help) {
  std::optional<JsonPlace> found = member(place, key);
  if (!found && !has_wrong_keys(place)) {
    fail(place, fmt::format("`{}` is missing", key), std::move(help));
  }
  return found;
}

}  // namespace groma
