// What a model's reply says: segments, a whole text, edits of one, an object. A reply is untrusted:
// it is read or refused, never carried out; in time linear in its length.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/llm.h"
#include "groma/segments.h"
#include "llm/json.h"
#include "tune/reply_text.h"

namespace groma::tuning {

// The longest text that one segment gets from a reply.
inline constexpr std::size_t kMaxSegmentBytes = std::size_t{1} << 16;

struct AnswerForm {
  bool is_mapping = true;  // else marked segments
  // The reply is all of the text: what it does not mention is empty, not as before. Of a marked
  // text what is not mentioned stays.
  bool is_whole = false;
};

struct Answer {
  std::optional<Segments> segments;  // none: nothing could be used
  std::string why;                   // then: why; a sentence for the next prompt
  std::vector<std::string> notes;    // what could not be used of a reply that else could
  std::string plan;                  // what it says that it tries, a line
};

// Reads segments: fenced blocks by their labels, JSON, or bare statements. Statements of a mapping
// go where they belong, whatever the label says; a segment of which any statement is damaged stays
// as it is in `base`.
Answer read_answer(const ChatReply& reply, const Segments& base, const AnswerForm& form);

// Carries out SEARCH/REPLACE edits of base.text(). Every SEARCH must be found. A reply without any
// is read as a whole text.
Answer read_edits(const ChatReply& reply, const Segments& base, bool is_mapping);

// The object in a reply, bare, fenced or within prose; line ends within strings are taken as they
// are. Nothing where there is none, it is cut off, or nested too deep.
std::optional<llm::json> read_object(std::string_view text);

}  // namespace groma::tuning
