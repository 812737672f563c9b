// Reads the reply of a language model as an Answer: new texts of segments, a whole text, edits of a
// text, or a JSON object. A segment is a named part of the text that is tuned. Replies are
// untrusted: they are only read or refused, in time linear in their length, and never executed.
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

// Limits on the bytes of the text that a model's reply gives for one segment: of a mapping, and of
// another text, whose segments may be whole files.
inline constexpr std::size_t kMaxSegmentBytes = std::size_t{1} << 16,
                             kMaxFileBytes = std::size_t{1} << 19;
// From this number of bytes on, prompts ask for edits of a file, and may show only parts of it.
inline constexpr std::size_t kLongFileBytes = 16'000;

// The form in which a language model is expected to reply.
struct ExpectedReplyForm {
  // True if the text is a mapping. False if it is another text, whose segments are enclosed by
  // marks or are whole files.
  bool is_mapping = true;
  // True if the reply replaces the whole text. Segments of a mapping that the reply does not
  // mention then become empty. Segments of another text that the reply does not mention keep their
  // text.
  bool is_whole = false;
};

// What could be read from the reply of a language model.
struct ModelAnswer {
  // The segments with the changes of the reply. nullopt if nothing in the reply could be used.
  std::optional<Segments> segments;
  // If `segments` is nullopt, the reason why. The next prompt tells it to the model.
  std::string refusal_reason;
  // Remarks about the parts of the reply that were ignored.
  std::vector<std::string> notes;
  // The plan that the reply states, in one line. Empty if it states none.
  std::string plan;
};

// Reads the new texts of segments from a model's reply: from fenced blocks (by their labels), from
// JSON, or from bare statements. A mapping statement is added to the segment that its keyword
// belongs to, whatever the label says. A segment whose new text has a mistake keeps its text in
// `base`. If the text is not a mapping, a reply with SEARCH/REPLACE edits is read as these.
ModelAnswer read_answer(const llm::ChatReply& reply, const Segments& base,
                        const ExpectedReplyForm& form);

// Applies the SEARCH/REPLACE edits in a model's reply to base.text(). Every SEARCH text must occur
// there, in one place. A reply without edits is read as a whole text.
ModelAnswer apply_reply_edits(const llm::ChatReply& reply, const Segments& base, bool is_mapping);

// Returns the JSON object in a model's reply, which may stand alone, in a fenced block or inside
// prose. Line ends inside strings are accepted. Returns nullopt if there is no object, or if the
// object is cut off or nested too deeply.
std::optional<llm::json> find_json_object(std::string_view text);

}  // namespace groma::tuning
