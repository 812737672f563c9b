// What a journal records, and its JSON: evaluations, steps, questions and replies. The functions
// that read take untrusted JSON. They return nullopt if the JSON is not as Groma writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "groma/llm.h"
#include "groma/result.h"
#include "groma/tune.h"

namespace groma::tuning {

using Json = nlohmann::ordered_json;

// Returns a member of a JSON object. Returns null if there is none, or if the JSON is not an
// object.
const Json& member(const Json& json, const char* name);

// Returns false if a successful evaluation has a score that is not finite and above 0, a noise that
// is negative or not finite, or values that are not finite.
bool is_sound(const Evaluation& evaluation);

// Removes from an evaluation what a journal does not record, so that a resumed search sees the same
// evaluation.
void keep_what_is_recorded(Evaluation* evaluation);

Json json_of(const Evaluation& evaluation);
std::optional<Evaluation> evaluation_of(const Json& json);

// A step of the search: a text that was tried, and its result.
struct RecordedStep {
  Step step;
  bool within_noise = false;  // true: not better than the best by more than the noise
  bool repeated = false;      // true: the text had been tried before
  bool free = false;          // true: the step did not count against the budget
  bool again = false;         // true: the second evaluation of the same proposal
  double seconds = 0;         // seconds since the start of the search; 0: not known
};
Json json_of(const RecordedStep& recorded);
std::optional<RecordedStep> step_of(const Json& json);

Json json_of(const llm::ChatRequest& request);
// Returns the texts of a request's messages; empty if there are none.
std::vector<std::string> message_texts(const Json& request);

// The reply to one of the questions that were asked together.
struct RecordedReply {
  std::size_t question = 0;  // index of the question
  Result<llm::ChatReply, llm::ChatError> reply = llm::ChatError{};
  // The tokens and money spent since the reply before it, also on failed attempts.
  std::int64_t tokens = 0;
  double money = 0;
};
Json json_of(const RecordedReply& recorded);
std::optional<RecordedReply> reply_of(const Json& json);

}  // namespace groma::tuning
