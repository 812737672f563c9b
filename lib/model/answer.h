// Reads the reply of a language model as an Answer: new texts of segments, a whole text, edits of a
// text, or a JSON object. A reply is untrusted. It is only read or refused, in time linear in its
// length, and never executed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/llm.h"
#include "groma/segments.h"
#include "llm/json.h"
#include "model/reply_text.h"

namespace groma::tuning {

// Limit on the bytes of the text that a reply gives for one segment.
inline constexpr std::size_t kMaxSegmentBytes = std::size_t{1} << 16;

// The form in which a reply is expected.
struct AnswerForm {
  bool is_mapping = true;  // false: a text with marked segments
  // True if the reply replaces the whole text. Segments of a mapping that the reply does not
  // mention then become empty. Segments of a marked text that the reply does not mention keep their
  // text.
  bool is_whole = false;
};

// What could be read from a reply.
struct Answer {
  std::optional<Segments> segments;  // nullopt: nothing in the reply could be used
  std::string why;                 // the reason if `segments` is nullopt; goes into the next prompt
  std::vector<std::string> notes;  // ignored parts of a reply that is otherwise used
  std::string plan;                // the plan that the reply states, one line
};

// Reads segments from fenced blocks (by their labels), from JSON, or from bare statements. A
// statement of a mapping goes to the segment that its keyword belongs to, whatever the label says.
// If the new text of a segment has a mistake, the segment keeps its text in `base`.
Answer read_answer(const llm::ChatReply& reply, const Segments& base, const AnswerForm& form);

// Applies the SEARCH/REPLACE edits of the reply to base.text(). Every SEARCH text must occur there.
// A reply without edits is read as a whole text.
Answer read_edits(const llm::ChatReply& reply, const Segments& base, bool is_mapping);

// Returns the JSON object in a reply, which may stand alone, in a fenced block or inside prose.
// Line ends inside strings are accepted. Returns nullopt if there is no object, or if the object is
// cut off or nested too deeply.
std::optional<llm::json> read_object(std::string_view text);

}  // namespace groma::tuning
