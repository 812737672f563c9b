// write_mapping(): a language model writes a mapping from a sentence that says what the mapping
// shall do. Each reply is checked, and the model repairs its mistakes in further rounds.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/explain.h"
#include "groma/inspect.h"
#include "groma/llm.h"
#include "groma/log.h"
#include "groma/machine.h"
#include "groma/workload.h"

namespace groma::tuning {

// Limit on the bytes of the sentence.
inline constexpr std::size_t kMaxSentenceBytes = std::size_t{16} << 10;

// What a model shall write, and what is known about the program that is mapped.
struct WritingProblem {
  // What the mapping shall do, in any words: "Place ghost regions onto GPU zero-copy memory".
  std::string sentence;
  // The machine. Null if it is not known; then there must be no application either.
  std::shared_ptr<const Machine> machine = nullptr;
  // The application, which must outlive the call. Null if it is not known. The mapping is then
  // checked without it, and nothing is known about its decisions.
  const Workload* app = nullptr;
  // The mapping that the sentence changes. Empty if the model writes a new mapping.
  std::string start = {};
};

// Options of write_mapping().
struct WritingOptions {
  // Limit on the questions after the first one, in which the model repairs its mapping.
  int repairs = 3;
  // Makes the server enforce the grammar of the language if it can, narrowed to the names of the
  // application. If false, the form is only requested in the prompt.
  bool constrain = false;
  // The temperature of the first question and of all repairs.
  double temperature = 0;
  // Limit on the tokens of a reply.
  int reply_tokens = 4096;
  // Limits of the check of each mapping. Its `stop` ends the check, but not a call to the model.
  // After a stop the decisions are not known.
  CheckOptions check = {};
  // The name by which diagnostics call the mapping.
  std::string name = "<mapping>";
  // The sink is told why a mapping is repaired. It is not owned, and may be null.
  LogSink* log = nullptr;
};

// A mapping that a model wrote, and everything that is known about it.
struct WrittenMapping {
  // The mapping in the standard style, below a comment with the sentence. If it has syntax errors,
  // the model's own text. Empty if no reply had a mapping.
  std::string text;
  // The diagnostics of `text`.
  Diagnostics diags{Source()};
  // The mapping, bound to the machine. nullopt if there is no machine or `text` has errors.
  std::optional<BoundProgram> bound = {};
  // The decisions about the application. nullopt if there is none, or if `text` has errors. Its
  // members `unmatched` and `never_decide` are the statements that decide nothing.
  std::optional<Explanation> explanation = {};
  // If the last reply had no mapping: the reason.
  std::string refusal = {};
  // The failed call that ended the writing before the mapping was as good as possible.
  std::optional<llm::ChatError> error = {};
  // The number of questions that the model answered.
  int rounds = 0;
  // The tokens of all replies. Their cost, if the price is known.
  llm::ChatUsage usage = {};
  std::optional<double> money = {};

  // Returns true if there is a mapping without errors.
  bool ok() const { return !text.empty() && !diags.has_errors(); }
};

// Asks the model for a mapping that does what the sentence says. The prompt has the reference card
// of the language, the machine, the tasks and regions of the application, and the sentence.
// * If a reply has no mapping, or its mapping has errors, the model gets the diagnostics and writes
//   the mapping again, at most `repairs` times.
// * If the mapping has no errors, but a warning or a statement that decides nothing for the
//   application, the model is told so once. The corrected mapping counts only if it has no errors.
// Replies are untrusted. They are read and checked within limits, and nothing in them is executed
// beyond that.
WrittenMapping write_mapping(llm::ChatClient& client, const WritingProblem& problem,
                             const WritingOptions& options = {},
                             const llm::ChatClient::ReplyWatcher& watch = {});

// Returns a text for a person about a mapping without errors, which ends with a line end: what the
// mapping decides (draw_summary), and its statements that decide nothing. Without an application,
// says that nothing is known about the decisions.
std::string draw(const WrittenMapping& written);
// Returns the mapping as one JSON document. docs/commands.md describes the shape.
std::string to_json(const WrittenMapping& written);

}  // namespace groma::tuning
