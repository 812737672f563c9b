// The values that a journal records, and their JSON: evaluations, steps, questions and replies. The
// functions that read take untrusted JSON. They return nullopt if the JSON is not as Groma writes
// it.
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

// Returns a member of a JSON object. Returns the JSON value null if there is no such member, or if
// the JSON is not an object.
const Json& member(const Json& json, const char* name);

// Returns false if a successful evaluation has a score that is not finite and above 0, a noise that
// is negative or not finite, or values that are not finite.
bool has_valid_numbers(const Evaluation& evaluation);

// Removes from an evaluation those parts of the feedback that a journal does not record. A resumed
// search then sees the same evaluation as the first run.
void drop_unrecorded_feedback(Evaluation* evaluation);

// Removes the parents of a step that Proposal::parents does not allow. A proposer may be the user's
// own code.
void keep_valid_parents(Step* step);

// Converts an evaluation to JSON, and back.
Json json_of(const Evaluation& evaluation);
std::optional<Evaluation> evaluation_of(const Json& json);

// A step of the search: a text that was tried, and its result.
struct RecordedStep {
  Step step;
  // True if the score is better than the best, but only by less than the noise of the measurements.
  bool within_noise = false;
  // True if the text had been tried before.
  bool repeated = false;
  // True if the step did not count against the budget of evaluations.
  bool free = false;
  // True if the text was evaluated twice, because it looked better at first.
  bool again = false;
  // The seconds from the start of the search to the step; 0 if they are not known.
  double seconds = 0;
};
// Converts a step to JSON, and back. Refuses parents that keep_valid_parents() would remove. Steps
// that older versions wrote have no parents.
Json json_of(const RecordedStep& recorded);
std::optional<RecordedStep> step_from_json(const Json& json);

// Reads the end of a search: the seconds from its start. Returns nullopt if the JSON is not as
// Groma writes it.
std::optional<double> end_from_json(const Json& json);

// Converts a question to JSON. Nothing reads a question back as a value, except for the texts of
// its messages.
Json json_of(const llm::ChatRequest& request);
// Returns the texts of the messages of a question in JSON; an empty list if there are none.
std::vector<std::string> message_texts(const Json& request);

// The reply to one of several questions that were asked together.
struct RecordedReply {
  // The index of the question among those that were asked together.
  std::size_t question = 0;
  Result<llm::ChatReply, llm::ChatError> reply = llm::ChatError{};
  // The tokens and the money that the search spent between the previous reply and this one,
  // including failed attempts.
  std::int64_t tokens = 0;
  double money = 0;
  // True if the tokens that the search has spent so far are partly estimated.
  bool estimated = false;
};
// Converts a reply or an error to JSON, and back.
Json json_of(const RecordedReply& recorded);
std::optional<RecordedReply> reply_from_json(const Json& json);

}  // namespace groma::tuning
