// hybrid: a language model and the proposer `guided` take turns. The model changes segments of the
// best text, and sees the earlier steps in their order, with the change and verdict of each. Of
// three samples, the one with the best estimate is tried. If one of the two has no proposal, the
// other continues alone. For texts that are not mappings, only the model proposes.
#include <fmt/format.h>

#include <algorithm>

#include "model/asking.h"
#include "model/problem_words.h"
#include "model/step_history.h"
#include "model/text_words.h"
#include "propose/proposers.h"

namespace groma::tuning {
namespace {

constexpr double kHybridTemperature = 0.7;
// The number of replies to each question, if estimates can choose one of them.
constexpr std::size_t kSamples = 3;
// The number of rounds without a usable reply after which the model is asked rarely.
constexpr int kMostFailed = 2;
// The number of turns until the model is asked again after such rounds.
constexpr int kPauseTurns = 16;
// The tag that marks a proposal as one of the language model. The proposer `guided` uses other
// tags.
constexpr std::int64_t kAsked = -1;

class Hybrid : public Proposer {
 public:
  Hybrid(const SearchProblem& problem, std::uint64_t seed, const AskOptions& options)
      : asker_(problem, seed, options),
        guided_(problem.is_mapping() ? make_guided_proposer_in_turns(problem, seed) : nullptr) {}

  std::string_view name() const override { return "hybrid"; }
  GuideDetail reads() const override { return GuideDetail::kProfile; }

  // Lets the model propose every second time. After kMostFailed rounds without a usable reply, asks
  // the model only every kPauseTurns times.
  std::vector<Proposal> propose(SearchRound& round) override {
    const int period = failed_ < kMostFailed ? 2 : kPauseTurns;
    const bool model_first = guided_ == nullptr || turn_++ % period == period - 1;
    std::vector<Proposal> proposals = model_first ? asked(round) : guided(round);
    if (!proposals.empty() || guided_ == nullptr || round.stop()) return proposals;
    return model_first ? guided(round) : asked(round);
  }

  // The proposer `guided` learns from the first mapping of the search and from its own proposals,
  // but not from those of the language model, which have a tag.
  void learn(const Step& step) override {
    if (guided_ != nullptr && step.proposal.tag != kAsked) guided_->learn(step);
  }

 private:
  // Lets `guided` propose, and notes its texts so that the model does not propose them again.
  std::vector<Proposal> guided(SearchRound& round) {
    std::vector<Proposal> proposals = guided_->propose(round);
    for (Proposal& proposal : proposals) {
      asker_.mark_proposed(round, proposal.text);
      proposal.why =
          (failed_ < kMostFailed ? "guided: " : "guided, the model was no use lately: ") +
          proposal.why;
    }
    return proposals;
  }

  // Asks the model for new segments of the best text. With estimates, takes several replies and
  // keeps the one with the best estimate.
  std::vector<Proposal> asked(SearchRound& round) {
    const SearchProblem& problem = round.problem();
    const Step* best = round.history().best();
    const Result<Segments> base = segments_of(problem, text_of(best, problem));
    if (!base.ok()) return {};
    ModelQuestion question;
    question.expects_program = true;
    build(question.prompt, round, best, *base);
    const std::vector<ModelQuestion> questions(round.has_estimates() && !spent_ ? kSamples : 1,
                                               question);
    std::vector<Proposal> proposals;
    for (const auto& reply : asker_.ask(round, questions, kHybridTemperature)) {
      if (!reply) continue;
      const ModelAnswer answer = read_answer(*reply, *base, asker_.expected_reply_form());
      auto proposal = asker_.make_proposal(round, answer, "as the model suggests");
      if (!proposal) continue;
      proposal->tag = kAsked;
      proposal->parents = round.history().parents_of(best);
      proposals.push_back(std::move(*proposal));
    }
    failed_ = proposals.empty() ? failed_ + 1 : 0;
    if (proposals.size() > 1) keep_best(round, proposals);
    return proposals;
  }

  // Keeps the proposal with the best estimate. The model may propose the other texts again, since
  // they were not tried.
  void keep_best(SearchRound& round, std::vector<Proposal>& proposals) {
    std::vector<std::string> texts;
    for (const Proposal& proposal : proposals) texts.push_back(proposal.text);
    const std::vector<Evaluation> estimates = round.estimate(texts, GuideDetail::kNone);
    spent_ = estimates.size() < texts.size();
    std::size_t best = 0;
    for (std::size_t i = 1; i < estimates.size(); ++i) {
      if (estimates[i].score < estimates[best].score) best = i;
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (i != best) asker_.unmark_proposed(round, texts[i]);
    }
    proposals = {std::move(proposals[best])};
  }

  // Builds the prompt: the descriptions of the language and the problem, the best text, the earlier
  // steps, and the feedback about the best text.
  void build(Prompt& prompt, SearchRound& round, const Step* best, const Segments& base) {
    const SearchProblem& problem = round.problem();
    const GuideDetail detail = std::min(round.detail(), reads());
    prompt.add_system_text(system_introduction(problem, round.evaluator()));
    prompt.add_system_text(asker_.replies_with_program() ? whole_reply_instructions(problem, true)
                                                         : segment_reply_instructions(problem));
    add_language_card(prompt, problem);
    add_problem(prompt, problem);
    add_text_outside_segments(prompt, problem);
    prompt.add_user_text(best == nullptr ? "CURRENT, not run yet\n"
                                         : fmt::format("CURRENT (#{}, the best)\n", best->number));
    prompt.add_user_text(fenced_segments(base));
    if (problem.is_mapping() && !problem.inputs.empty()) {
      prompt.add_user_text(
          "DECISIONS of CURRENT\n" +
              describe_decisions(base.text(), *problem.machine, problem.inputs.front()),
          RemovalStage::kTried);
    }
    add_step_history(prompt, round, detail);
    prompt.add_user_text("\n");
    add_budget(prompt, round);
    if (best != nullptr) add_feedback(prompt, best->evaluation, round, detail);
    prompt.add_user_text(asker_.take_remarks() +
                         "You may change all segments. PLAN, then blocks.\n");
  }

  ModelAsker asker_;
  // The proposer `guided`; null if the text is not a mapping.
  std::unique_ptr<Proposer> guided_;
  int turn_ = 0, failed_ = 0;
  // True if no estimates are left.
  bool spent_ = false;
};

}  // namespace

std::unique_ptr<Proposer> make_hybrid_proposer(const SearchProblem& problem, std::uint64_t seed,
                                               const AskOptions& options) {
  return std::make_unique<Hybrid>(problem, seed, options);
}

}  // namespace groma::tuning
