// The requests of a session about its documents.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "groma/harmless.h"
#include "language_server/answers.h"
#include "language_server/session.h"

namespace groma::language_server {
namespace {

constexpr std::size_t kMaxUriBytes = 200;
// Limit on the hovers that wait at the same time. Further ones are answered at once.
constexpr std::size_t kMaxWaiting = 64;

}  // namespace

OpenDocument* Session::document_of(const Json& params, Answer* answer) {
  const auto uri = find_text(params, {"textDocument", "uri"});
  if (!uri) {
    *answer = failed(ErrorCode::kInvalidParams, "`textDocument.uri` is missing");
    return nullptr;
  }
  const auto document = documents_.find(*uri);
  if (document == documents_.end()) {
    *answer = failed(ErrorCode::kInvalidParams,
                     fmt::format("`{}` is not open", harmless(*uri, kMaxUriBytes)));
    return nullptr;
  }
  if (!document->second.unusable.empty()) {
    *answer = failed(ErrorCode::kRequestFailed, document->second.unusable);
    return nullptr;
  }
  return &document->second;
}

Session::PlaceInDocument Session::place_of(const Json& params) {
  PlaceInDocument place;
  OpenDocument* document = document_of(params, &place.answer);
  if (document == nullptr) return place;
  const auto position = find_position(params, {"position"});
  if (!position) {
    place.answer = failed(ErrorCode::kInvalidParams, "`position` is missing");
    return place;
  }
  place.document = document;
  place.offset = document->text.offset_of(*position, encoding_);
  return place;
}

Session::NameInDocument Session::name_of(const Json& params) {
  NameInDocument name{place_of(params)};
  if (name.document == nullptr) return name;
  name.symbols = &symbols_of(*name.document);
  name.at = name.symbols->at(name.offset);
  return name;
}

// Returns the range of the parameters, or nullopt if they have none.
std::optional<Range> Session::range_of(const OpenDocument& document, const Json& params) const {
  const auto start = find_position(params, {"range", "start"});
  const auto end = find_position(params, {"range", "end"});
  if (!start || !end) return std::nullopt;
  return Range{static_cast<std::uint32_t>(document.text.offset_of(*start, encoding_)),
               static_cast<std::uint32_t>(document.text.offset_of(*end, encoding_))};
}

Json Session::locations(const OpenDocument& document, const std::vector<Occurrence>& places) const {
  Json list = Json::array();
  for (const Occurrence& each : places) {
    list.push_back(
        {{"uri", document.uri}, {"range", json_of(document.text, each.range, encoding_)}});
  }
  return list;
}

// Answers with what is known. If the decisions are not explained yet, waits a little for them.
Session::Answer Session::hover(const Json& id, const Json& params) {
  PlaceInDocument place = place_of(params);
  if (place.document == nullptr) return place.answer;
  OpenDocument& document = *place.document;
  const bool has_inputs = !document.specs.machine.empty() && !document.specs.app.empty();
  const bool is_examined = document.result != nullptr && document.result->complete;
  if (has_inputs && !is_examined && waiting_.size() < kMaxWaiting) {
    waiting_.push_back({id, document.uri, place.offset, Clock::now() + kMaxHoverWait});
    place.answer.later = true;
    return place.answer;
  }
  place.answer.result = hover_json(document, place.offset, hover_markdown_, encoding_);
  return place.answer;
}

// Answers the hovers that wait for a document.
void Session::answer_waiting(const std::string& uri) {
  std::vector<WaitingHover> ready;
  for (std::size_t i = 0; i < waiting_.size();) {
    if (waiting_[i].uri != uri) {
      ++i;
      continue;
    }
    ready.push_back(std::move(waiting_[i]));
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const auto document = documents_.find(uri);
  for (const WaitingHover& each : ready) {
    Answer answer;
    if (document != documents_.end() && document->second.unusable.empty()) {
      answer.result = hover_json(document->second, each.offset, hover_markdown_, encoding_);
    }
    reply(each.id, answer);
  }
}

void Session::expire(Clock::time_point now) {
  std::set<std::string> uris;
  for (const WaitingHover& each : waiting_) {
    if (each.deadline <= now) uris.insert(each.uri);
  }
  for (const std::string& uri : uris) answer_waiting(uri);
}

std::optional<Session::Clock::time_point> Session::next_deadline() const {
  std::optional<Clock::time_point> next;
  for (const WaitingHover& each : waiting_) {
    if (!next || each.deadline < *next) next = each.deadline;
  }
  return next;
}

Session::Answer Session::completion(const Json&, const Json& params) {
  PlaceInDocument place = place_of(params);
  if (place.document != nullptr) {
    place.answer.result = completion_json(*place.document, place.offset, encoding_);
  }
  return place.answer;
}

// Names of tasks and regions are defined by the application, so they have no definition here.
Session::Answer Session::definition(const Json&, const Json& params) {
  NameInDocument name = name_of(params);
  if (name.at == nullptr) return name.answer;
  const std::uint32_t symbol = name.at->symbol;
  const auto& definition = name.symbols->symbols[symbol].definition;
  if (definition) {
    name.answer.result = locations(*name.document, {{*definition, symbol, true}}).front();
  }
  return name.answer;
}

Session::Answer Session::references(const Json&, const Json& params) {
  NameInDocument name = name_of(params);
  if (name.document == nullptr) return name.answer;
  name.answer.result = Json::array();
  if (name.at == nullptr) return name.answer;
  std::vector<Occurrence> places = name.symbols->of(name.at->symbol);
  if (!find_flag(params, {"context", "includeDeclaration"})) {
    const auto& definition = name.symbols->symbols[name.at->symbol].definition;
    std::erase_if(places, [&](const Occurrence& each) { return each.range == definition; });
  }
  name.answer.result = locations(*name.document, places);
  return name.answer;
}

Session::Answer Session::highlights(const Json&, const Json& params) {
  NameInDocument name = name_of(params);
  if (name.document == nullptr) return name.answer;
  name.answer.result = Json::array();
  if (name.at == nullptr) return name.answer;
  constexpr int kRead = 2, kWrite = 3;
  for (const Occurrence& each : name.symbols->of(name.at->symbol)) {
    name.answer.result.push_back({{"range", json_of(name.document->text, each.range, encoding_)},
                                  {"kind", each.writes ? kWrite : kRead}});
  }
  return name.answer;
}

Session::Answer Session::prepare_rename(const Json&, const Json& params) {
  NameInDocument name = name_of(params);
  if (name.at == nullptr) return name.answer;
  name.answer.result = {{"range", json_of(name.document->text, name.at->range, encoding_)},
                        {"placeholder", name.symbols->symbols[name.at->symbol].name}};
  return name.answer;
}

Session::Answer Session::rename(const Json&, const Json& params) {
  NameInDocument name = name_of(params);
  if (name.document == nullptr) return name.answer;
  const auto new_name = find_text(params, {"newName"});
  if (!new_name) return failed(ErrorCode::kInvalidParams, "`newName` is missing");
  if (name.at == nullptr) {
    return failed(ErrorCode::kRequestFailed, "the cursor is not on a name");
  }
  const Renaming renaming =
      rename_symbol(analyse(*name.document).source, *name.symbols, *name.at, *new_name);
  if (!renaming.problem.empty()) return failed(ErrorCode::kRequestFailed, renaming.problem);
  Json edits = Json::array();
  for (const Range& range : renaming.places) {
    edits.push_back(
        {{"range", json_of(name.document->text, range, encoding_)}, {"newText", renaming.text}});
  }
  name.answer.result = {{"changes", {{name.document->uri, std::move(edits)}}}};
  return name.answer;
}

Session::Answer Session::document_symbols(const Json&, const Json& params) {
  Answer answer;
  OpenDocument* document = document_of(params, &answer);
  if (document != nullptr) answer.result = symbols_json(*document, symbol_tree_, encoding_);
  return answer;
}

Session::Answer Session::formatting(const Json&, const Json& params) {
  Answer answer;
  OpenDocument* document = document_of(params, &answer);
  if (document != nullptr) answer.result = formatting_json(*document, encoding_);
  return answer;
}

Session::Answer Session::code_actions(const Json&, const Json& params) {
  Answer answer;
  OpenDocument* document = document_of(params, &answer);
  if (document == nullptr) return answer;
  const auto range = range_of(*document, params);
  if (!range) return failed(ErrorCode::kInvalidParams, "`range` is missing");
  answer.result =
      code_actions_json(*document, *range, find(params, {"context", "only"}), encoding_);
  return answer;
}

Session::Answer Session::inlay_hints(const Json&, const Json& params) {
  Answer answer;
  OpenDocument* document = document_of(params, &answer);
  if (document == nullptr) return answer;
  const auto range = range_of(*document, params);
  if (!range) return failed(ErrorCode::kInvalidParams, "`range` is missing");
  answer.result = inlay_hints_json(*document, *range, encoding_);
  return answer;
}

}  // namespace groma::language_server
