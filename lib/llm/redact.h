// Keys taken out of texts, however they are written.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace groma {

class ChatKey;

// The one way to a key's letters.
struct ChatKeyText {
  static const std::string& of(const ChatKey& key);
};

}  // namespace groma

namespace groma::llm {

// The length of a part of a key: consecutive letters of the key, or consecutive characters of its
// base64. A shorter key, such as `EMPTY`, has no parts.
inline constexpr std::size_t kPartLetters = 8;

// A key, and its parts without regard to case.
class KeyForms {
 public:
  explicit KeyForms(std::string_view key);
  const std::string& text() const { return text_; }
  bool has_parts() const { return !parts_.empty(); }
  // Returns true if a part has this letter.
  bool has_letter(char letter) const;
  // Returns true if these letters are a part. The last letter is in the lowest byte.
  bool has_part(std::uint64_t letters) const;
  // Returns true if the last `count` of these letters, 1 to 7, begin a part.
  bool begins_part(std::uint64_t letters, std::size_t count) const;

 private:
  std::string text_;
  std::vector<std::uint64_t> parts_;  // sorted
  std::bitset<256> letters_;          // of the parts
};

// Puts "[key]" in place of
//   * the key, wherever it stands in `text`,
//   * a beginning of it (four letters or more, since a server may cut it short) that begins a word
//     or ends the text,
//   * eight or more consecutive letters of the key, in upper or lower case,
//   * eight or more consecutive characters of its base64, also inside the base64 of a longer text
//     (proxies repeat `Basic` and `Bearer` headers).
// The letters may be escaped as JSON does it (also in a text within a text) or as a URL does it.
//
// Call it on a text before that text becomes part of another one: there the end can no longer be
// seen.
std::string redacted(std::string_view text, std::string_view key);

// Puts "[key]" in place of the whole key alone. For texts of our own, in which a word may begin as
// the key does by chance, such as `token` for the key `token-abc123`.
std::string without_whole_key(std::string_view text, std::string_view key);

// Redacts every text in a body of JSON by itself, and the key where texts of one list have its
// pieces. A body of anything else is one text.
std::string redacted_body(const std::string& body, std::string_view key);

// Redacts a body of server-sent events. The texts that stand at one place of the events are one
// text, which came in pieces. Returns the body itself where it holds nothing of the key.
std::string redacted_stream(const std::string& body, std::string_view key);

// The body of a request of ours without the whole key. It is JSON; its members keep their names.
std::string redacted_request(const std::string& body, std::string_view key);

// Redacts a text while it comes. Text that may turn out to be the key is held back until it is
// known.
class LiveRedactor {
 public:
  explicit LiveRedactor(std::string_view key) : key_(key) {}
  // Both return what can be shown now.
  std::string feed(std::string_view more);
  std::string finish();

 private:
  KeyForms key_;
  std::string text_;       // what was shown last, and what is held back
  std::size_t shown_ = 0;  // how many bytes of `text_` were shown
};

}  // namespace groma::llm
