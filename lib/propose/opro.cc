// opro: Optimization by PROmpting (Yang et al., 2023). The prompt lists texts with their scores,
// the best last, and asks for a text that is better than all of them. Each step takes eight samples
// (AskOptions::samples). The feedback of the guide stands beside each score, as in the paper on
// agent-system interfaces.
#include <fmt/format.h>

#include "model/asking.h"
#include "model/prompt.h"
#include "model/text_words.h"
#include "propose/proposers.h"

namespace groma::tuning {
namespace {

constexpr std::size_t kShown = 20;
constexpr double kOproTemperature = 1.0;

class Opro : public Proposer {
 public:
  Opro(const SearchProblem& problem, std::uint64_t seed, const AskOptions& options)
      : asker_(problem, seed, options), samples_(options.samples) {}

  std::string_view name() const override { return "opro"; }
  GuideDetail reads() const override { return GuideDetail::kProfile; }

  // Asks the same question several times, and proposes every reply that is usable and new.
  std::vector<Proposal> propose(SearchRound& round) override {
    const SearchProblem& problem = round.problem();
    const Result<Segments> base = segments_of(problem, text_of(round.history().best(), problem));
    if (!base.ok()) return {};
    ModelQuestion question;
    question.expects_program = true;
    build(question.prompt, round, *base);
    const std::vector<ModelQuestion> questions(std::min(samples_, round.max_proposals()), question);
    std::vector<Proposal> proposals;
    for (const auto& reply : asker_.ask(round, questions, kOproTemperature)) {
      if (!reply) continue;
      const ModelAnswer answer = read_answer(*reply, *base, {problem.is_mapping(), true});
      auto proposal = asker_.make_proposal(round, answer, "one of several samples");
      if (proposal) proposals.push_back(std::move(*proposal));
    }
    return proposals;
  }

 private:
  // Builds the prompt: the descriptions of the language and the problem, then the best texts with
  // their results. The best text stands last.
  void build(Prompt& prompt, SearchRound& round, const Segments& base) {
    const SearchProblem& problem = round.problem();
    const GuideDetail detail = std::min(round.detail(), reads());
    prompt.add_system_text(system_introduction(problem, round.evaluator()));
    prompt.add_system_text(whole_reply_instructions(problem, asker_.replies_with_program()));
    add_language_card(prompt, problem);
    add_problem(prompt, problem);
    add_text_outside_segments(prompt, problem);
    const std::vector<Step>& best = round.history().best_first();
    if (best.empty()) {
      prompt.add_user_text("THE TEXT TO BEGIN WITH\n" + shown(problem, base) + "\n");
    } else {
      prompt.add_heading("TEXTS WITH THEIR RESULTS, the best last\n", RemovalStage::kHistory);
    }
    for (std::size_t i = std::min(best.size(), kShown); i-- > 0;) {
      prompt.add_user_text(entry(best[i], round, detail),
                           i == 0 ? RemovalStage::kNever : RemovalStage::kHistory);
    }
    add_failures(prompt, round, base, detail);
    prompt.add_user_text("\n");
    add_budget(prompt, round);
    prompt.add_user_text(
        asker_.take_remarks() +
        "Write a new one that is different from all of the above and has a better result "
        "than all of them.\n");
  }

  // Returns a text with its result and its feedback, for the prompt. Returns an empty string if the
  // text has no segments.
  static std::string entry(const Step& step, const SearchRound& round, GuideDetail detail) {
    const auto segments = segments_of(round.problem(), step.proposal.text);
    if (!segments.ok()) return "";
    std::string text = shown(round.problem(), *segments);
    text += fmt::format("result: {}{}\n", format_score(step.evaluation, round.evaluator()),
                        format_input_values(step.evaluation, round.evaluator()));
    const std::string feedback = feedback_summary(step.evaluation.feedback, detail, 300);
    if (!feedback.empty()) text += "feedback: " + feedback + "\n";
    return text + "\n";
  }

  // Returns a mapping as one fenced block, and any other text as one block for each segment.
  static std::string shown(const SearchProblem& problem, const Segments& segments) {
    return problem.is_mapping() ? as_fenced_block(segments.text()) : fenced_segments(segments);
  }

  ModelAsker asker_;
  const std::size_t samples_;
};

}  // namespace

std::unique_ptr<Proposer> make_opro_proposer(const SearchProblem& problem, std::uint64_t seed,
                                             const AskOptions& options) {
  return std::make_unique<Opro>(problem, seed, options);
}

}  // namespace groma::tuning
