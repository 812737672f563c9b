// Reads the reply of a language model as an Answer. Models ignore parts of the requested form, so
// the reader accepts several forms, and records the parts of the reply that it could not use.
#include "model/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "edit/definitions.h"
#include "edit/mapping.h"
#include "model/edits.h"
#include "search/lines.h"
#include "syntax/lexer.h"
#include "syntax/parser.h"

namespace groma::tuning {
namespace {

// The name of the segment that holds the functions and machines of a mapping.
constexpr std::string_view kFunctions = "functions";

// Limits on the remarks about a model's reply, on the bytes of a remark and of a plan, and on the
// fenced blocks that are read.
constexpr std::size_t kMaxNotes = 6, kMaxNote = 300, kMaxPlan = 200, kMaxBlocks = 256;

// Normalises the label of a block: lower case, without punctuation and without the words that
// models like to append. "Index_Task_Map segment" becomes "indextaskmap".
std::string plain_label(std::string_view label) {
  std::string plain;
  for (const char c : label.substr(0, 64)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) plain += static_cast<char>(std::tolower(byte));
  }
  for (std::string_view behind : {"segment", "block", "statements", "decision"}) {
    if (plain.size() > behind.size() && plain.ends_with(behind)) {
      plain.resize(plain.size() - behind.size());
    }
  }
  return plain;
}

// Returns the name of the mapping segment that a block's label means ("region" for "Memory"), or an
// empty text if the label means none.
std::string_view segment_of_label(std::string_view label) {
  static const std::map<std::string_view, std::string_view> kLabels = {{"task", "task"},
                                                                       {"tasks", "task"},
                                                                       {"region", "region"},
                                                                       {"regions", "region"},
                                                                       {"memory", "region"},
                                                                       {"layout", "layout"},
                                                                       {"layouts", "layout"},
                                                                       {"limit", "limit"},
                                                                       {"limits", "limit"},
                                                                       {"functions", "functions"},
                                                                       {"function", "functions"},
                                                                       {"definitions", "functions"},
                                                                       {"machines", "functions"},
                                                                       {"index", "index"},
                                                                       {"instancelimit", "limit"},
                                                                       {"instancelimits", "limit"},
                                                                       {"indexmap", "index"},
                                                                       {"indextaskmap", "index"},
                                                                       {"indextaskmaps", "index"},
                                                                       {"indexmapping", "index"},
                                                                       {"single", "single"},
                                                                       {"singlemap", "single"},
                                                                       {"singletaskmap", "single"},
                                                                       {"singletask", "single"},
                                                                       {"singletaskmaps", "single"},
                                                                       {"other", "other"}};
  const auto found = kLabels.find(plain_label(label));
  return found == kLabels.end() ? std::string_view() : found->second;
}

// Returns true if the text of a block is one of these words and nothing else.
bool is_word(std::string_view body, std::initializer_list<std::string_view> words) {
  const std::string plain = plain_label(body);
  return trimmed(body).size() < 24 && std::find(words.begin(), words.end(), plain) != words.end();
}

// Returns true if a line begins with the keyword of a mapping statement, or assigns a machine view
// (`m = Machine(GPU);`).
bool begins_statement(std::string_view line) {
  line = trimmed(line);
  const std::string_view word = line.substr(0, line.find_first_of(" \t=("));
  const syntax::ReservedWord* reserved = syntax::find_reserved_word(word);
  if (reserved != nullptr) return reserved->kind == syntax::TokenKind::kStatementWord;
  const std::string_view rest = trimmed(line.substr(word.size()));
  return !word.empty() && rest.starts_with("=") && rest.find("Machine") != rest.npos;
}

// Returns the part of a reply without fenced blocks that looks like mapping statements, or an empty
// text if there is none. If the reply was cut off (`cut`), the part extends to the end of the
// reply.
std::string_view bare_statements(std::string_view text, bool cut) {
  std::size_t begin = text.npos, end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, next - at);
    if (begin == text.npos && begins_statement(line)) begin = at;
    const std::string_view said = trimmed(line);
    // Prose behind the last statement is left out.
    const bool ends = said.ends_with(';') || said.ends_with('}');
    if (begin != text.npos && (ends || cut || begins_statement(line))) end = next;
    at = next;
  }
  return begin == text.npos || end <= begin ? std::string_view() : text.substr(begin, end - begin);
}

// The changes that a model's reply makes to one segment of a text.
struct SegmentChange {
  // The new text of the segment. nullopt if the reply has no new text for the segment.
  std::optional<std::string> instead;
  // Statements to insert before the segment's text, where they take precedence.
  std::string added;
};

// Describes the first syntax error in a mapping in one line, with the source line and the first
// help. Returns an empty text if there is no error. The model sees this line in its next prompt.
std::string mistake_in(std::string_view text) {
  Diagnostics diags(Source("reply", std::string(text)));
  syntax::parse(diags.source(), diags);
  for (const Diagnostic& diagnostic : diags.sorted()) {
    if (diagnostic.severity != Severity::kError) continue;
    const Source& source = diags.source();
    const std::string_view line =
        diagnostic.range ? source.text(source.line_at(diagnostic.range->begin)) : "";
    return fmt::format("{} in `{}`{}", one_line(diagnostic.message, 160), one_line(line, 100),
                       diagnostic.helps.empty()
                           ? std::string()
                           : fmt::format(" ({})", one_line(diagnostic.helps.front(), 100)));
  }
  return "";
}

// Returns the plan that a reply states before its fenced blocks or edits: the text behind "PLAN:",
// or else the first line.
std::string plan_in(std::string_view text) {
  for (const std::string_view begin : {"```", "~~~", "<<<<<"}) {
    text = text.substr(0, text.find(begin));
  }
  text = trimmed(text);
  const std::size_t plan = text.find("PLAN:");
  if (plan != text.npos) text = trimmed(text.substr(plan + 5));
  text = text.substr(0, text.find('\n'));
  return text.starts_with('{') || begins_statement(text) ? "" : one_line(text, kMaxPlan);
}

// Applies edits of a reply to `base`. `edits` are those that were read from the reply's text
// `text`; nullopt if they could not be read, and then `answer` has the reason.
ModelAnswer apply_edits_to(const Segments& base, std::string_view text,
                           const std::optional<std::vector<SearchReplaceEdit>>& edits,
                           bool is_mapping, ModelAnswer answer) {
  if (!edits) return answer;
  const std::optional<std::string> changed =
      apply_edits(base.text(), *edits, &answer.refusal_reason);
  if (!changed) return answer;
  answer.plan = plan_in(text);
  if (!is_mapping && changed->find('\0') != changed->npos) {
    answer.refusal_reason = "it has a NUL byte";
    return answer;
  }
  if (is_mapping) {
    answer.refusal_reason = mistake_in(*changed);
    if (answer.refusal_reason.empty()) {
      answer.segments = Segments::of_mapping(Source("reply", *changed));
    }
    return answer;
  }
  // The only file of a text has the name of the source.
  Result<Segments> edited = Segments::of_text(Source(base.all().front().name, *changed));
  // Sets the new segments in a copy of the base text. If the copy differs from the edited text, an
  // edit changed the text outside the segments.
  Segments kept = base;
  bool same = edited.ok();
  if (same) {
    for (const Segment& segment : edited->all()) same &= !kept.set(segment.name, segment.text);
  }
  if (!same || kept.text() != *changed) {
    answer.refusal_reason = "it edits what stands outside of the segments";
    return answer;
  }
  answer.segments = std::move(kept);
  return answer;
}

// Collects the changes that a model's reply makes to each segment, then applies the changes to the
// text `base`.
class Reader {
 public:
  Reader(const Segments& base, const ExpectedReplyForm& form) : base_(base), form_(form) {}

  // Reads the reply of a model. If `cut` is true, the reply ended at its limit of tokens, so its
  // last statement may be incomplete.
  ModelAnswer read(std::string_view text, bool cut) {
    const std::vector<FencedBlock> fences = fenced_blocks(text);
    if (fences.empty()) {
      read_bare(text, cut);
    } else {
      for (std::size_t i = 0; i < std::min(fences.size(), kMaxBlocks); ++i) read_fence(fences[i]);
      if (fences.size() > kMaxBlocks) note("it has too many blocks");
    }
    if (answer_.plan.empty()) answer_.plan = plan_in(text);
    finish(fences.empty());
    return std::move(answer_);
  }

 private:
  // Reads a reply without fenced blocks: a JSON object, a marked text or bare statements.
  void read_bare(std::string_view text, bool cut) {
    const std::string_view braces = text_in_outermost_braces(text);
    if (const auto object = parse_object(braces)) {
      if (read_object(*object)) return;
    }
    // A JSON reply that was cut off is not valid JSON, but may have complete members.
    if (trimmed(text).starts_with('{') && read_members(text)) return;
    if (!form_.is_mapping) {
      if (form_.is_whole) read_marked(text);
      return;
    }
    const std::string_view statements = bare_statements(text, cut);
    if (!statements.empty()) read_statements("", statements, cut);
  }

  // Reads one fenced block of a reply. The label of the block is the word behind the opening fence,
  // or the line above the fence. A block without a label may be a whole marked text, or the text of
  // the only segment.
  void read_fence(const FencedBlock& fence) {
    const std::string_view body = trimmed(fence.body);
    if (body.starts_with('{')) {
      const auto object = parse_object(body);
      if (object ? read_object(*object) : read_members(body)) return;
    }
    std::string_view label = find_label(fence.info);
    if (label.empty() && fence.line_above.size() < 64) label = find_label(fence.line_above);
    const auto& all = base_.all();
    if (label.empty() && !form_.is_mapping && read_marked(fence.body)) return;
    if (label.empty() && !form_.is_mapping && all.size() == 1) label = all.front().name;
    read_block(label, fence.body, !fence.closed);
  }

  // Returns the name of the segment that a block's label means, or an empty text if the label means
  // none.
  std::string_view find_label(std::string_view label) const {
    if (form_.is_mapping) return segment_of_label(label);
    while (!label.empty() && (label.back() == ':' || label.back() == '*' || label.back() == '`')) {
      label.remove_suffix(1);
    }
    label = label.substr(std::min(label.find_first_not_of("#*` "), label.size()));
    const Segment* segment = base_.find(label);
    return segment != nullptr ? std::string_view(segment->name) : std::string_view();
  }

  // Adds a remark to the answer about a part of the reply that could not be used.
  void note(std::string_view text) {
    if (answer_.notes.size() < kMaxNotes) answer_.notes.push_back(one_line(text, kMaxNote));
  }
  // Marks a segment whose new text cannot be used, and adds a remark with the reason. The segment
  // then keeps its old text.
  void damage(std::string_view segment, std::string_view why) {
    damaged_.emplace(segment);
    note(fmt::format("`{}` stays as it was: {}", segment, why));
  }

  // Reads the text of a block for the segment `label`. The word NONE empties the segment, and KEEP
  // leaves the segment unchanged. If `label` is empty, the statements in the block decide which
  // segments are meant.
  void read_block(std::string_view label, std::string_view body, bool cut) {
    if (!label.empty()) {
      if (is_word(body, {"keep", "unchanged", "same", "nochange"})) return;
      if (is_word(body, {"none", "empty"})) {
        pieces_[std::string(label)].instead = "";
        return;
      }
      if (cut) return damage(label, "its block has no end");
      if (trimmed(body).empty()) return damage(label, "its block is empty (NONE empties it)");
      if (body.size() > (form_.is_mapping ? kMaxSegmentBytes : kMaxFileBytes)) {
        return damage(label, "its block is too long");
      }
    }
    if (form_.is_mapping) return read_statements(label, body, cut);
    if (!label.empty() && body.find('\0') != body.npos) return damage(label, "it has a NUL byte");
    if (!label.empty() && is_small_part(label, body)) {
      return damage(label, "its block has less than half of the file: write edits");
    }
    if (label.empty()) return note("a block has no label that is a segment's name");
    pieces_[std::string(label)].instead = std::string(body);
  }

  // Returns true if a block would replace a long file, of which a prompt may have shown parts, by a
  // text of less than half its size.
  bool is_small_part(std::string_view label, std::string_view body) const {
    const std::size_t bytes = base_.find(label)->text.size();
    return base_.are_files() && bytes > kLongFileBytes && body.size() < bytes / 2;
  }

  // Reads the segments of a whole text in which marks enclose the segments. Returns false if the
  // text has no valid marks.
  bool read_marked(std::string_view text) {
    const Result<Segments> read = Segments::of_marked(Source("reply", std::string(text)));
    if (!read.ok()) return false;
    for (const Segment& segment : read->all()) {
      if (base_.find(segment.name) == nullptr) {
        note(fmt::format("there is no segment `{}`", segment.name));
      } else {
        read_block(base_.find(segment.name)->name, segment.text, false);
      }
    }
    return true;
  }

  // Adds each mapping statement in a block to the segment that its keyword belongs to. A segment
  // whose new statements have an error keeps its old text.
  void read_statements(std::string_view label, std::string_view body, bool cut) {
    if (body.size() > kMaxSegmentBytes) return note("a block is too long for a mapping");
    if (cut) body = without_last_statement(body);
    const Segments parts = Segments::of_mapping(Source("reply", std::string(body)));
    for (const Segment& part : parts.all()) {
      if (part.text.empty()) continue;
      const std::string mistake = mistake_in(part.text);
      if (!mistake.empty()) {
        damage(part.name, mistake);
        if (!label.empty()) damaged_.emplace(label);
        continue;
      }
      // A block that has only comments changes nothing.
      if (edit::EditableMapping(part.text).items().empty()) continue;
      if (part.name == label || (label.empty() && (form_.is_whole || part.name != kFunctions))) {
        replace(part.name, part.text);
        continue;
      }
      // A block may define the functions that its statements use. They join the other functions.
      if (part.name != kFunctions) {
        note(fmt::format("statements of the block `{}` belong to `{}` and were put there", label,
                         part.name));
      }
      pieces_[part.name].added += part.text;
    }
  }

  // Returns mapping statements without the last one, because the reply was cut off and the end of
  // that statement may be missing. The segment of the removed statement keeps its old text.
  std::string_view without_last_statement(std::string_view body) {
    std::size_t last = 0;
    for (std::size_t at = 0; at < body.size();) {
      const char first = body[at];
      if (first != ' ' && first != '\t' && first != '}' && first != '\n') last = at;
      at = std::min(body.find('\n', at), body.size() - 1) + 1;
    }
    const Segments rest = Segments::of_mapping(Source("reply", std::string(body.substr(last))));
    for (const Segment& segment : rest.all()) {
      if (!segment.text.empty()) damage(segment.name, "the reply was cut off in it");
    }
    return body.substr(0, last);
  }

  // Stores the new text of a segment. The text of a second block for the same segment is appended.
  // If the second block has a statement with the same key as one in the first block, the second
  // block replaces the first one.
  void replace(std::string_view segment, const std::string& text) {
    std::optional<std::string>& instead = pieces_[std::string(segment)].instead;
    if (instead) {
      const edit::Keys before = edit::EditableMapping(*instead).item_keys(),
                       now = edit::EditableMapping(text).item_keys();
      // Two statements with the same key would contradict each other.
      const bool again = std::any_of(now.begin(), now.end(),
                                     [&](const std::string& key) { return before.contains(key); });
      if (!again) {
        *instead += text;
        return;
      }
    }
    instead = text;
  }

  // Reads the texts of segments from a JSON object, or from its member "segments", "suggestion" or
  // "answer". The value for a segment is a text, a list of lines, or null for no change. Returns
  // false if the object names no segment.
  bool read_object(const llm::json& object) {
    const llm::json* from = &object;
    // Models wrap the segments in one of these members, whatever the prompt says.
    for (const char* key : {"segments", "suggestion", "answer"}) {
      const llm::json* inner = llm::member(object, key);
      if (inner != nullptr && inner->is_object()) from = inner;
    }
    for (const char* key : {"change", "plan", "reasoning"}) {
      if (answer_.plan.empty()) answer_.plan = one_line(llm::text_in(object, key), kMaxPlan);
    }
    bool any = from != &object;
    if (any && from->empty()) {
      note("its `suggestion` is empty: give the new text of at least one variable");
    }
    for (const auto& [key, value] : from->items()) {
      const std::string_view label = find_label(key);
      if (label.empty()) {
        if (from != &object) note(fmt::format("there is no segment `{}`", one_line(key, 40)));
        continue;
      }
      any = true;
      if (value.is_null()) continue;
      std::string text;
      if (value.is_string()) {
        text = value.get<std::string>();
      } else if (value.is_array() &&
                 std::all_of(value.begin(), value.end(),
                             [](const llm::json& item) { return item.is_string(); })) {
        for (const llm::json& item : value) text += item.get<std::string>() + "\n";
        if (value.empty()) text = "NONE";
      } else {
        damage(label, "its value is not a text");
        continue;
      }
      read_value(label, text);
    }
    return any;
  }

  // Reads the texts of segments from the complete members of a JSON object that was cut off.
  // Returns false if there is none.
  bool read_members(std::string_view text) {
    bool any = false;
    for (const Segment& segment : base_.all()) {
      const std::optional<std::string> value = find_string_member(text, segment.name);
      if (!value) continue;
      any = true;
      read_value(segment.name, *value);
    }
    if (any) note("the reply is not a complete JSON object");
    return any;
  }

  // Reads the text of a segment from a JSON string, in which the text may stand in a fenced block.
  // An empty string empties the segment. (In a reply without JSON, only the word NONE does so.)
  void read_value(std::string_view label, std::string_view text) {
    const std::vector<FencedBlock> fences = fenced_blocks(text);
    if (fences.size() == 1 && fences.front().closed) text = fences.front().body;
    if (trimmed(text).empty()) {
      pieces_[std::string(label)].instead = "";
    } else {
      read_block(label, text, false);
    }
  }

  // Applies the collected changes to the text `base_`. Segments with an error keep their text.
  // Functions that the reply defines replace older functions with the same name.
  void finish(bool without_fences) {
    for (const std::string& segment : damaged_) pieces_.erase(segment);
    if (pieces_.empty()) return refuse(without_fences);
    Segments result = base_;
    for (const Segment& segment : base_.all()) {
      const auto found = pieces_.find(segment.name);
      std::string text = segment.text;
      // In a whole mapping, a segment that the reply does not mention is empty. If the functions
      // are damaged, the statements that use the old ones stay.
      const bool stays =
          damaged_.contains(segment.name) ||
          (damaged_.contains(kFunctions) && (segment.name == "index" || segment.name == "single"));
      if (form_.is_mapping && form_.is_whole && !stays) text.clear();
      if (found != pieces_.end()) text = changed_text(segment.name, std::move(text), found->second);
      if (const auto error = result.set(segment.name, std::move(text))) {
        note(error->message);
        if (pieces_.size() == 1) return refuse(without_fences);
      }
    }
    if (form_.is_mapping && !form_.is_whole) keep_used_functions(result);
    answer_.segments = std::move(result);
  }

  // Returns the text of a segment with the changes of the reply. Statements that stood in the block
  // of another segment take precedence over older statements with the same key.
  static std::string changed_text(std::string_view segment, std::string text,
                                  const SegmentChange& change) {
    if (change.instead) text = *change.instead;
    if (change.added.empty()) return text;
    if (segment == kFunctions) return edit::join_definitions(text, change.added);
    return change.added + edit::EditableMapping(text).text_without(
                              edit::EditableMapping(change.added).item_keys());
  }

  // Corrects the functions of a changed mapping. Restores the functions of the base that the reply
  // removed although statements still use them. Removes those that only replaced statements used.
  void keep_used_functions(Segments& result) const {
    const std::string before = base_.find(kFunctions)->text;
    const std::string now = result.find(kFunctions)->text;
    const edit::Keys uses = keys_used_by_statements(result),
                     used_before = keys_used_by_statements(base_);
    const std::string all = edit::join_definitions(before, now);
    edit::Keys dropped = edit::EditableMapping(before).definition_keys();
    for (const std::string& key : edit::EditableMapping(now).definition_keys()) dropped.erase(key);
    // What nothing used before is kept as the reply has it, since the user may want it there.
    dropped.merge(edit::keys_of_needed_definitions(before, used_before));
    for (const std::string& key : edit::keys_of_needed_definitions(all, uses)) dropped.erase(key);
    static_cast<void>(result.set(kFunctions, edit::EditableMapping(all).text_without(dropped)));
  }

  // Returns the keys of the names that the statements of a mapping use outside of its functions.
  static edit::Keys keys_used_by_statements(const Segments& mapping) {
    edit::Keys uses;
    for (const Segment& segment : mapping.all()) {
      if (segment.name != kFunctions) uses.merge(edit::keys_of_used_names(segment.text));
    }
    return uses;
  }

  // Stores in the answer the reason why nothing in the reply could be used.
  void refuse(bool without_fences) {
    for (const std::string& text : answer_.notes) {
      answer_.refusal_reason += (answer_.refusal_reason.empty() ? "" : "; ") + text;
    }
    if (!answer_.refusal_reason.empty()) return;
    answer_.refusal_reason = without_fences
                                 ? "no block in the form that was asked for was found in it"
                                 : "nothing in its blocks could be used";
  }

  const Segments& base_;
  const ExpectedReplyForm form_;
  ModelAnswer answer_;
  // The changes of each segment, by the name of the segment.
  std::map<std::string, SegmentChange, std::less<>> pieces_;
  std::set<std::string, std::less<>> damaged_;
};

}  // namespace

// If a reply ended at its limit of tokens, its complete statements are read. Of edits that were cut
// off, none is applied, since a half of a change does not work.
ModelAnswer read_answer(const llm::ChatReply& reply, const Segments& base,
                        const ExpectedReplyForm& form) {
  ModelAnswer answer;
  const std::optional<std::string> text = text_without_reasoning(reply, &answer.refusal_reason);
  if (!text) return answer;
  if (!form.is_mapping) {
    const auto edits = parse_edits(*text, &answer.refusal_reason);
    if (!edits || !edits->empty()) return apply_edits_to(base, *text, edits, false, answer);
  }
  return Reader(base, form).read(*text, reply.finish == llm::ChatReply::Finish::kLength);
}

// Refuses the whole reply if the SEARCH text of one edit is not found, or if an edit changes a
// marked text outside its segments.
ModelAnswer apply_reply_edits(const llm::ChatReply& reply, const Segments& base, bool is_mapping) {
  ModelAnswer answer;
  const std::optional<std::string> text = text_without_reasoning(reply, &answer.refusal_reason);
  if (!text) return answer;
  const auto edits = parse_edits(*text, &answer.refusal_reason);
  if (edits && edits->empty()) return read_answer(reply, base, {is_mapping, true});
  return apply_edits_to(base, *text, edits, is_mapping, answer);
}

// A JSON object in a closed fenced block is preferred to braces in prose.
std::optional<llm::json> find_json_object(std::string_view text) {
  for (const FencedBlock& fence : fenced_blocks(text)) {
    if (!fence.closed || !trimmed(fence.body).starts_with('{')) continue;
    if (auto object = parse_object(fence.body)) return object;
  }
  return parse_object(text_in_outermost_braces(text));
}

}  // namespace groma::tuning
