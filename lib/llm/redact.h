// Removes keys from texts, however a text writes them.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace groma::llm {

class ChatKey;

// Gives access to the text of a secret ChatKey. No other code can read this text.
struct ChatKeyText {
  static const std::string& text_of(const ChatKey& key);
};

// The number of characters in a part of a key. A part is a run of consecutive characters of the
// key, or of its base64. A shorter key, such as `EMPTY`, has no parts.
inline constexpr std::size_t kPartLetters = 8;

// A key and all its parts. Parts are compared without regard to case.
class KeyForms {
 public:
  explicit KeyForms(std::string_view key);
  const std::string& text() const { return text_; }
  bool has_parts() const { return !parts_.empty(); }
  // Returns true if some part of the key contains this character.
  bool occurs_in_some_part(char letter) const;
  // Returns true if these eight characters are a part of the key. The lowest byte has the last
  // character.
  bool has_part(std::uint64_t letters) const;
  // Returns true if some part of the key begins with the last `count` of these characters (1 to 7).
  bool begins_part(std::uint64_t letters, std::size_t count) const;

 private:
  std::string text_;
  // The parts of the key, in ascending order. Each number holds the eight characters of a part.
  std::vector<std::uint64_t> parts_;
  // The characters that occur in the parts of the key.
  std::bitset<256> letters_;
};

// Replaces with "[key]":
//   * the key, anywhere in `text`,
//   * a beginning of the key that begins a word or ends the text (four letters or more, since a
//     server may cut the key short),
//   * eight or more consecutive letters of the key, in upper or lower case,
//   * eight or more consecutive characters of its base64, also inside the base64 of a longer text
//     (proxies repeat `Basic` and `Bearer` headers).
// The letters may be escaped as in JSON (also in a text within a text) or as in a URL.
//
// Call redacted() on a text before the text becomes part of another text, because the end of the
// text is not visible there.
std::string redacted(std::string_view text, std::string_view key);

// Replaces only the whole key by "[key]". It is meant for Groma's own texts, in which a word may by
// chance begin like the key, such as `token` for the key `token-abc123`.
std::string without_whole_key(std::string_view text, std::string_view key);

// Redacts every string in a JSON body by itself, and also a key whose pieces are spread over the
// strings of one list. A body that is not JSON is redacted as one text.
std::string redacted_body(const std::string& body, std::string_view key);

// Redacts a body of server-sent events. Strings with the same path in the JSON of all events are
// pieces of one text, so they are joined before the search. Returns the body unchanged if it
// contains nothing of the key.
std::string redacted_stream(const std::string& body, std::string_view key);

// Returns the body of one of Groma's own requests without the whole key. The body is JSON, and its
// members keep their names.
std::string redacted_request(const std::string& body, std::string_view key);

// Redacts a text while it arrives. Text that may be the beginning of the key is held back until
// more text decides.
class LiveRedactor {
 public:
  explicit LiveRedactor(std::string_view key) : key_(key) {}
  // Reads the next piece of the text. Returns the text that can be shown now.
  std::string feed(std::string_view more);
  // Ends the text. Returns the text that was still held back.
  std::string finish();

 private:
  KeyForms key_;
  // The end of the text that was shown already, followed by the text that is held back.
  std::string text_;
  // The number of bytes of `text_` that were shown already.
  std::size_t shown_ = 0;
};

}  // namespace groma::llm
