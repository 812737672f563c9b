// Asker: sends the questions of a proposer to a language model, and turns the replies into
// proposals. All proposers that ask a model share this code.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "model/answer.h"
#include "model/prompt.h"
#include "search/recent.h"

namespace groma::tuning {

// A question to the model, and the form in which it has to reply.
struct ModelQuestion {
  Prompt prompt;
  std::string json_schema = {};  // JSON schema of the reply, if replies are constrained
  bool program = false;          // true: the reply is a mapping program, if replies are constrained
};

// Sends the questions of one proposer, and turns the replies into proposals.
class Asker {
 public:
  Asker(const Problem& problem, std::uint64_t seed, const AskOptions& options,
        std::size_t prompt_bytes = kPromptBytes);

  // Returns true if the reply to a `program` question is a bare program without fences. This needs
  // constrained replies (AskOptions::constrain) and a text that is a mapping.
  bool writes_programs() const { return options_.constrain && is_mapping_; }
  AnswerForm form() const { return {is_mapping_, writes_programs()}; }

  // Asks all questions concurrently, each with its own seed, and returns one entry for each. An
  // entry is nullopt if there was no reply; Round::reject() is then told the reason. If a prompt is
  // too long for the model, it is shortened and sent again.
  std::vector<std::optional<llm::ChatReply>> ask(Round& round,
                                                 std::span<const ModelQuestion> questions,
                                                 double temperature);

  // Reports that a reply could not be used, to the round and to the model in the next prompt.
  void refuse(Round& round, const std::string& why);
  // Adds a remark to the next prompt.
  void remark(std::string text);
  // Turns an answer into a proposal. Its description is the plan in the answer, or `otherwise` if
  // the answer states no plan. Refuses the reply and returns nullopt if the answer has no text, or
  // a text that was proposed before. The notes of the answer become remarks in the next prompt.
  std::optional<Proposal> proposal(Round& round, const Answer& answer, std::string_view otherwise);
  // Records a text that another proposer proposed, so that the model cannot propose it again.
  void mark_proposed(const Round& round, const std::string& text) {
    proposed_.add(hash_of(round.evaluator().canonical(text)), {});
  }
  // Records that a proposed text was not tried, so that the model may propose it again.
  void unmark_proposed(const Round& round, const std::string& text) {
    proposed_.forget(hash_of(round.evaluator().canonical(text)));
  }
  // Returns the remarks since the last call, one on each line ("YOUR LAST REPLY ..."), and clears
  // them. Returns an empty text if there are none.
  std::string take_remarks();

 private:
  llm::ChatRequest request(const ModelQuestion& question, std::uint64_t sample) const;
  bool shorten(const llm::ChatError& error);
  void remark_refusal(const std::string& why);
  // Works like refuse(), for a reply that should have been a proposal.
  std::nullopt_t refuse_proposal(Round& round, const std::string& why);

  const bool is_mapping_;
  const std::uint64_t seed_;
  AskOptions options_;
  std::size_t prompt_bytes_;
  llm::ChatConstraint grammar_;
  std::uint64_t step_ = 0;
  bool begun_ = false;
  RecentMap<std::monostate> proposed_{4096};  // hashes of canonical texts
  std::vector<std::string> remarks_;
};

// Returns the first sentences of the system message ("You improve ..."), the same for every
// proposer.
std::string role_words(const Problem& problem, const Evaluator& evaluator);
// Returns the instructions for a reply that consists of segments.
std::string segments_format(const Problem& problem);
// Returns the instructions for a reply that is a whole text. `bare`: the reply has no plan and no
// fences.
std::string whole_format(const Problem& problem, bool bare);
// Adds the description of the mapping language, if the text is a mapping.
void add_card(Prompt& prompt, const Problem& problem);
// Returns the text of a step, or the problem's start if `step` is null.
const std::string& text_of(const Step* step, const Problem& problem);

}  // namespace groma::tuning
