// What the proposers that ask a model have in common: requests, and what is remembered of replies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tune/answer.h"
#include "tune/prompt.h"
#include "tune/recent.h"

namespace groma::tuning {

struct Question {
  Prompt prompt;
  std::string json_schema = {};  // of the reply, where replies are constrained
  bool program = false;          // the reply is a mapping program, where replies are constrained
};

class Asker {
 public:
  Asker(const Problem& problem, std::uint64_t seed, const AskOptions& options,
        std::size_t prompt_bytes = kPromptBytes);

  // Whether replies to `program` questions are bare programs: constrained, and the text a mapping.
  bool writes_programs() const { return options_.constrain && is_mapping_; }
  AnswerForm form() const { return {is_mapping_, writes_programs()}; }

  // Asks all of them at once, with seeds of their own. No reply where there is none, which the
  // round is told. A prompt that is too long for the model is asked again, shorter.
  std::vector<std::optional<ChatReply>> ask(Round& round, std::span<const Question> questions,
                                            double temperature);

  // Tells the round, and the next prompt, that a reply is of no use.
  void refuse(Round& round, const std::string& why);
  void remark(std::string text);
  // A proposal of an answer; nothing, and refused, where it holds nothing or nothing new. What it
  // left out is remarked.
  std::optional<Proposal> proposal(Round& round, const Answer& answer, std::string_view otherwise);
  // That somebody else proposed it.
  void known(const Round& round, const std::string& text) {
    proposed_.add(hash_of(round.evaluator().canonical(text)), {});
  }
  // That what this model proposed was not tried, so it may propose it again.
  void forget(const Round& round, const std::string& text) {
    proposed_.forget(hash_of(round.evaluator().canonical(text)));
  }
  // "YOUR LAST REPLY ...", what was remarked since the last time; empty: nothing.
  std::string take_remarks();

 private:
  ChatRequest request(const Question& question, std::uint64_t sample) const;
  bool shorten(const ChatError& error);
  void remark_refusal(const std::string& why);
  // As refuse(), of a reply that was to be a proposal.
  std::nullopt_t refuse_proposal(Round& round, const std::string& why);

  const bool is_mapping_;
  const std::uint64_t seed_;
  AskOptions options_;
  std::size_t prompt_bytes_;
  ChatConstraint grammar_;
  std::uint64_t step_ = 0;
  bool begun_ = false;
  Recent<std::monostate> proposed_{4096};  // hashes of canonical texts
  std::vector<std::string> remarks_;
};

// "You improve ... ": what is wanted, whoever asks.
std::string role_words(const Problem& problem, const Evaluator& evaluator);
// How segments are to be answered.
std::string segments_format(const Problem& problem);
// How a whole text is to be answered.
std::string whole_format(const Problem& problem, bool bare);
void add_card(Prompt& prompt, const Problem& problem);
// The text of a step, or the problem's start where there is none.
const std::string& text_of(const Step* step, const Problem& problem);

}  // namespace groma::tuning
