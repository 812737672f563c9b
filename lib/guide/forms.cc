// Writes a GuideFeedback as JSON for tools and as text for people.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "groma/guide.h"
#include "groma/syntax.h"
#include "guide/printed.h"

namespace groma {
namespace {

using Json = nlohmann::ordered_json;

// Returns the facts of a profile as JSON. A cause that moved no data has no members about memories.
Json json_of(const ProfileFacts& facts) {
  Json causes = Json::array();
  for (const ProfileFacts::Cause& cause : facts.causes) {
    Json one = {{"doing", cause.doing}, {"share", cause.share}, {"waiting", cause.waiting}};
    if (!cause.task.empty()) one["task"] = cause.task;
    if (!cause.region.empty()) {
      one["region"] = cause.region;
      one["from"] = cause.from;
      one["to"] = cause.to;
      one["other_node"] = cause.other_node;
      one["same_memory"] = cause.same_memory;
      one["by"] = cause.place.empty() ? Json(nullptr)
                                      : Json{{"text", cause.statement}, {"place", cause.place}};
    }
    causes.push_back(std::move(one));
  }
  Json kinds = Json::array();
  for (const ProfileFacts::Kind& kind : facts.kinds) {
    kinds.push_back({{"kind", kind.kind},
                     {"processors", kind.processors},
                     {"used", kind.used},
                     {"busy", kind.busy},
                     {"imbalance", kind.imbalance}});
  }
  Json memories = Json::array();
  for (const ProfileFacts::Memory& memory : facts.memories) {
    memories.push_back({{"memory", memory.kind}, {"full", memory.full}});
  }
  return {{"title", facts.title},
          {"seconds", facts.seconds},
          {"measured", facts.measured.empty() ? Json(nullptr) : Json(facts.measured)},
          {"measured_seconds", facts.measured_seconds},
          {"tasks", facts.tasks},
          {"copies", facts.copies},
          {"runtime", facts.runtime},
          {"causes", std::move(causes)},
          {"kinds", std::move(kinds)},
          {"memories", std::move(memories)}};
}

// Returns a fix as JSON. The edits are written with line and column, which are computed from
// `source`.
Json json_of(const Fix& fix, const Source& source) {
  const auto place = [&](std::uint32_t offset) -> Json {
    const Position at = source.position(offset);
    return {{"line", at.line}, {"column", at.column}};
  };
  Json edits = Json::array();
  for (const Edit& edit : fix.edits) {
    edits.push_back(
        {{"start", place(edit.range.begin)}, {"end", place(edit.range.end)}, {"text", edit.text}});
  }
  return {{"title", fix.title}, {"edits", std::move(edits)}, {"sure", fix.sure}};
}

// The words for GuideFeedback::Status, in the order of its values.
constexpr std::string_view kStatusNames[] = {"ok", "error", "unknown"};

// Appends a title and indented lines to `text`. Appends nothing if there are no lines. `on` and
// `off` are the terminal codes that switch the style of the title on and off.
void draw_list(std::string_view title, const std::vector<std::string>& lines, std::string_view on,
               std::string_view off, std::string* text) {
  if (lines.empty()) return;
  *text += fmt::format("\n{}{}{}\n", on, title, off);
  for (const std::string& line : lines) *text += fmt::format("  {}\n", line);
}

// Replaces each mapping function in a sentence ("`def ...`") by the words "this function". Appends
// the functions as formatted, indented blocks, because a function is unreadable within a line.
std::string with_blocks(std::string sentence) {
  constexpr std::string_view kBegin = "`def ";
  std::string blocks;
  for (std::size_t at = sentence.find(kBegin); at != sentence.npos;
       at = sentence.find(kBegin, at)) {
    const std::size_t end = sentence.find('`', at + 1);
    if (end == sentence.npos) break;
    const Source function("", sentence.substr(at + 1, end - at - 1));
    Diagnostics ignored(function);
    const auto lines = format(function, ignored);
    if (!lines) break;
    sentence.replace(at, end + 1 - at, "this function");
    blocks += "\n      ";
    for (const char c : std::string_view(*lines).substr(0, lines->size() - 1)) {
      blocks += c;
      if (c == '\n') blocks += "      ";
    }
  }
  return sentence + blocks;
}

}  // namespace

// Returns the feedback as one line of JSON. If `source` is null, the fixes are left out, because
// their line numbers need the source.
std::string to_json(const GuideFeedback& feedback, const Source* source) {
  Json json;
  json["status"] = kStatusNames[static_cast<std::size_t>(feedback.status)];
  json["execution"] = feedback.execution;
  json["explain"] = feedback.explain;
  json["suggest"] = feedback.suggest;
  if (feedback.score) {
    json["score"] = {{"value", feedback.score->value},
                     {"unit", feedback.score->unit},
                     {"higher_is_better", feedback.score->higher_is_better}};
  } else {
    json["score"] = nullptr;
  }
  json["profile"] = feedback.profile ? json_of(*feedback.profile) : Json(nullptr);
  json["matches"] = Json::array();
  for (const GuideMatch& match : feedback.matches) {
    Json one = {{"rule", match.rule}, {"line", match.line}, {"count", match.count}};
    if (!match.log.empty()) one["log"] = match.log;
    one["text"] = match.text;
    json["matches"].push_back(std::move(one));
  }
  if (source != nullptr) {
    json["fixes"] = Json::array();
    for (const Fix& fix : feedback.fixes) json["fixes"].push_back(json_of(fix, *source));
  }
  if (!feedback.last_lines.empty()) json["last_lines"] = feedback.last_lines;
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> guide::printed_suggestions(const GuideFeedback& feedback) {
  std::vector<std::string> suggest = feedback.suggest;
  std::transform(suggest.begin(), suggest.end(), suggest.begin(), with_blocks);
  return suggest;
}

// Returns the explanations and the suggestions of a feedback as text for a person.
std::string draw_advice(const GuideFeedback& feedback, bool color) {
  const std::string_view bold = color ? "\x1b[1m" : "";
  const std::string_view off = color ? "\x1b[0m" : "";
  std::string text;
  draw_list("Explain", feedback.explain, bold, off, &text);
  draw_list("Suggest", guide::printed_suggestions(feedback), bold, off, &text);
  return text;
}

// The first line says how the run ended, in red for a failure. Explanations, suggestions, matched
// rules and the last lines of the run's output follow.
std::string draw(const GuideFeedback& feedback, bool color) {
  const std::string_view bold = color ? "\x1b[1m" : "";
  const std::string_view red = color ? "\x1b[1;31m" : "";
  const std::string_view off = color ? "\x1b[0m" : "";
  std::string text;
  if (feedback.execution.empty()) {
    text = feedback.score
               ? fmt::format("{:.6g} {}\n", feedback.score->value, feedback.score->unit)
               : fmt::format("{}\n", kStatusNames[static_cast<std::size_t>(feedback.status)]);
  } else {
    const bool failed = feedback.status == GuideFeedback::Status::kError;
    text = fmt::format("{}{}{}\n", failed ? red : bold, feedback.execution, off);
  }
  text += draw_advice(feedback, color);
  if (!feedback.matches.empty()) {
    text += fmt::format("\n{}Found{}\n", bold, off);
    for (const GuideMatch& match : feedback.matches) {
      text += "  " + match.rule;
      if (match.line > 0) {
        text += match.log.empty() ? fmt::format(", line {}", match.line)
                                  : fmt::format(", {}:{}", match.log, match.line);
      }
      if (match.count > 1) text += fmt::format(", {} times", match.count);
      text += '\n';
    }
  }
  draw_list("The last lines", feedback.last_lines, bold, off, &text);
  return text;
}

}  // namespace groma
