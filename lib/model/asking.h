// ModelAsker: sends the questions of a proposer to a language model, and turns the replies into
// proposals of mappings. All proposers that use a model share this code.
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

// A question to a language model, and the form in which the model has to reply.
struct ModelQuestion {
  Prompt prompt;
  // The JSON schema to which the reply is constrained, if AskOptions::constrain is set.
  std::string json_schema = {};
  // True if the reply is a mapping program. If AskOptions::constrain is set, the reply is then
  // constrained to the grammar of the mapping language.
  bool expects_program = false;
};

// Sends the questions of one proposer to a language model, and turns the replies into proposals.
class ModelAsker {
 public:
  ModelAsker(const SearchProblem& problem, std::uint64_t seed, const AskOptions& options);

  // Returns true if the model replies by a bare program without fences to a question with
  // ModelQuestion::expects_program set. This is so if replies are constrained
  // (AskOptions::constrain) and the text is a mapping.
  bool replies_with_program() const { return options_.constrain && is_mapping_; }
  // The limit on the bytes of a prompt. It falls when a server says that a prompt was too long.
  std::size_t prompt_bytes() const { return prompt_bytes_; }
  ExpectedReplyForm expected_reply_form() const { return {is_mapping_, replies_with_program()}; }

  // Sends the questions to the model, several at the same time and each with its own seed. Returns
  // one entry for each question, which is nullopt if there was no reply. The reason is then passed
  // to SearchRound::reject(). Prompts that are too long for the model are shortened and sent again.
  std::vector<std::optional<llm::ChatReply>> ask(SearchRound& round,
                                                 std::span<const ModelQuestion> questions,
                                                 double temperature);

  // Reports that a reply could not be used: to the current round of the search, and in the next
  // prompt to the model.
  void report_unusable_reply(SearchRound& round, const std::string& why);
  // Adds a remark to the model's next prompt.
  void add_remark(std::string text);
  // Turns a model's answer into a proposal for the search. The description of the proposal is the
  // plan in the answer, or `otherwise` if the answer states no plan. Refuses the reply and returns
  // nullopt if the answer has no text, a text that was proposed before, or a mapping that makes the
  // same decisions as an earlier one. The notes of the answer become remarks in the next prompt.
  std::optional<Proposal> make_proposal(SearchRound& round, const ModelAnswer& answer,
                                        std::string_view otherwise);
  // Marks a text that another proposer has proposed, so that the model cannot propose it again.
  void mark_proposed(const SearchRound& round, const std::string& text) {
    proposed_.add(hash_of(round.evaluator().canonical(text)), {});
  }
  // Removes the mark of a proposed text that was not tried, so that the model may propose it again.
  void unmark_proposed(const SearchRound& round, const std::string& text) {
    proposed_.erase(hash_of(round.evaluator().canonical(text)));
  }
  // Returns the remarks about the model's replies since the last call, one on each line ("YOUR LAST
  // REPLY ..."), and removes them. Returns an empty text if there are none.
  std::string take_remarks();

 private:
  llm::ChatRequest make_request(const ModelQuestion& question, std::uint64_t sample) const;
  bool reduce_prompt_limit(const llm::ChatError& error);
  void add_remarks_about_names(const SearchProblem& problem, const std::string& text);
  // Notes for the next prompt why the last reply of the model was not accepted.
  void add_unusable_reply_remark(const std::string& why);
  // Reports that a reply could not be used as a proposal: to the current round of the search, and
  // in the next prompt to the model. Always returns nullopt.
  std::nullopt_t refuse_proposal(SearchRound& round, const std::string& why);

  const bool is_mapping_;
  const std::uint64_t seed_;
  AskOptions options_;
  std::size_t prompt_bytes_;
  llm::ChatConstraint grammar_;
  std::uint64_t step_ = 0;
  bool has_marked_history_ = false;
  // The hashes of the normal forms of the texts that were proposed.
  RecentMap<std::monostate> proposed_{4096};
  std::vector<std::string> remarks_;
};

// Returns the first sentences of the system message to the model ("You improve ..."). They are the
// same for every proposer.
std::string system_introduction(const SearchProblem& problem, const Evaluator& evaluator);
// Returns the part of a prompt that tells the model to reply with new texts of segments, or with
// edits. `plan` says what the first line of the reply shall state.
std::string segment_reply_instructions(
    const SearchProblem& problem,
    std::string_view plan =
        "what limits the current text and the one or two changes that you try "
        "now");
// Returns the part of a prompt that tells the model to reply with a whole text. If `bare` is true,
// the reply shall have no plan and no fences.
std::string whole_reply_instructions(const SearchProblem& problem, bool bare);
// Adds the description of the mapping language to a prompt, if the text is a mapping.
void add_language_card(Prompt& prompt, const SearchProblem& problem);
// Returns the text that was tried in a step of the search, or the problem's start text if `step` is
// null.
const std::string& text_of(const Step* step, const SearchProblem& problem);

}  // namespace groma::tuning
