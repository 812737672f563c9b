// Removes keys from texts, however they are written there.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace groma::llm {

class ChatKey;

// The only access to the text of a key.
struct ChatKeyText {
  static const std::string& text_of(const ChatKey& key);
};

// The length of a part of a key: consecutive letters of the key, or consecutive characters of its
// base64. A shorter key, such as `EMPTY`, has no parts.
inline constexpr std::size_t kPartLetters = 8;

// A key and its parts. Parts are compared without regard to case.
class KeyForms {
 public:
  explicit KeyForms(std::string_view key);
  const std::string& text() const { return text_; }
  bool has_parts() const { return !parts_.empty(); }
  // Returns true if a part has this letter.
  bool has_letter(char letter) const;
  // Returns true if these eight letters are a part of the key. The lowest byte has the last letter.
  bool has_part(std::uint64_t letters) const;
  // Returns true if some part begins with the last `count` of these letters (1 to 7).
  bool begins_part(std::uint64_t letters, std::size_t count) const;

 private:
  std::string text_;
  std::vector<std::uint64_t> parts_;  // sorted
  std::bitset<256> letters_;          // letters of the parts
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
// Call it on a text before the text becomes part of another one, because the end is not visible
// there.
std::string redacted(std::string_view text, std::string_view key);

// Replaces only the whole key with "[key]". It is for Groma's own texts, in which a word may by
// chance begin like the key, such as `token` for the key `token-abc123`.
std::string without_whole_key(std::string_view text, std::string_view key);

// Redacts every text in a JSON body separately, and also a key whose pieces are spread over the
// texts of one list. Any other body is redacted as one text.
std::string redacted_body(const std::string& body, std::string_view key);

// Redacts a body of server-sent events. Texts at the same place in the events are pieces of one
// text. Returns the body unchanged if it contains nothing of the key.
std::string redacted_stream(const std::string& body, std::string_view key);

// Returns the body of Groma's own request without the whole key. The body is JSON; its members keep
// their names.
std::string redacted_request(const std::string& body, std::string_view key);

// Redacts a text while it arrives. Text that may be part of the key is held back until that is
// known.
class LiveRedactor {
 public:
  explicit LiveRedactor(std::string_view key) : key_(key) {}
  // Reads the next piece of the text. Returns the text that can be shown now.
  std::string feed(std::string_view more);
  // Ends the text. Returns the text that was still held back.
  std::string finish();

 private:
  KeyForms key_;
  std::string text_;       // the end of the shown text, then the text that is held back
  std::size_t shown_ = 0;  // number of bytes of `text_` that were shown
};

}  // namespace groma::llm
