// scientist: GPU Kernel Scientist (Andrews and Witteveen, 2025). A language model takes three
// roles. The selector picks a base and a reference from the texts that were tried. The designer
// lists ten avenues of improvement and plans five experiments. The writer carries out three of
// them. The only feedback about a run that worked is its timings, unless the user asks for more.
// About a run that failed, the designer and the writer also learn the reason: without it they would
// write the same mistake again. If the text is not a mapping, the writer is asked once to repair
// what failed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "groma/harmless.h"
#include "model/asking.h"
#include "model/reply_text.h"
#include "propose/experiments.h"
#include "propose/population.h"
#include "propose/proposers.h"
#include "propose/scientist_prompts.h"

namespace groma::tuning {
namespace {

constexpr double kScientistTemperature = 0.7;
constexpr std::size_t kMaxFindings = 1 << 20, kShownFindings = 8'000;
// Limits on the lines that a finding has about a failed run, and on the bytes of a reason.
constexpr std::size_t kFindingLines = 6, kMaxReason = 300;

// The JSON schema of the reply of the selector.
constexpr std::string_view kSelectorSchema =
    R"({"type":"object","additionalProperties":false,"required":["base","reference","reason"],)"
    R"("properties":{"base":{"type":"integer"},"reference":{"type":"integer"},)"
    R"("reason":{"type":"string","maxLength":300}}})";

class Scientist : public Proposer {
 public:
  Scientist(const SearchProblem& problem, std::uint64_t seed, const AskOptions& options)
      : asker_(problem, seed, options), is_mapping_(problem.is_mapping()) {}

  std::string_view name() const override { return "scientist"; }
  // The prompts for a mapping say why its runs failed. The prompts for any other text also show
  // what its runs printed.
  GuideDetail reads() const override {
    return is_mapping_ ? GuideDetail::kExplain : GuideDetail::kProfile;
  }
  std::string findings() const override {
    std::string all;
    for (const Finding& finding : findings_) all += finding.text;
    return all;
  }

  // Repairs the texts that failed in the last round. If there are none: selects a base text,
  // designs experiments on it, and asks the model for one text for each experiment.
  std::vector<Proposal> propose(SearchRound& round) override {
    measured_ = measured_word(round.evaluator());
    detail_ = std::min(round.detail(), reads());
    higher_is_better_ = round.evaluator().higher_is_better();
    if (!broken_.empty()) return repair(round);
    std::string reason;
    const BaseAndReference pair = select(round, &reason);
    const SearchProblem& problem = round.problem();
    const Result<Segments> base =
        segments_of(problem, pair.base == nullptr ? problem.start : pair.base->text);
    if (!base.ok()) return {};
    const std::vector<std::string> shown = shown_findings();
    const ScientistRound now = round_of(round, pair, *base, shown);
    std::vector<Experiment> experiments = design(round, now, reason);
    designer_remarks_ = asker_.take_remarks();
    if (experiments.empty()) return {};
    if (experiments.size() > round.max_proposals()) experiments.resize(round.max_proposals());
    std::vector<ModelQuestion> questions;
    for (Experiment& experiment : experiments) {
      if (pair.base != nullptr) {
        experiment.base = pair.base->id;
        experiment.base_score = pair.base->evaluation.score;
      }
      if (pair.reference != nullptr) experiment.reference = pair.reference->id;
      ModelQuestion& question = questions.emplace_back();
      question.expects_program = true;
      build_writer(question.prompt, now, experiment, writer_remarks_);
    }
    const auto replies = asker_.ask(round, questions, kScientistTemperature);
    std::vector<Proposal> proposals;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      if (auto proposal = carry_out(round, replies[i], *base, experiments[i])) {
        proposals.push_back(std::move(*proposal));
      }
    }
    writer_remarks_ = asker_.take_remarks();
    return proposals;
  }

  // Adds the tried text to the population. If the text carried out an experiment, records its
  // result as a finding.
  void learn(const Step& step) override {
    PopulationMember member{step.number, 0, 0, step.proposal.text, step.evaluation};
    member.evaluation.feedback = {};
    if (detail_ >= GuideDetail::kProfile) {
      member.evaluation.feedback.last_lines = step.evaluation.feedback.last_lines;
    }
    const auto found = pending_.find(step.proposal.tag);
    if (found != pending_.end()) {
      Experiment& experiment = found->second;
      member.base = experiment.base;
      member.reference = experiment.reference;
      const Evaluation& evaluation = step.evaluation;
      note(fmt::format("\"{}\"{} on #{}: {}.", experiment.description,
                       experiment.repaired ? ", repaired," : "", experiment.base,
                       outcome(evaluation, experiment)),
           evaluation.ok() ? std::vector<std::string>()
                           : failure_lines(evaluation.feedback, detail_, kFindingLines));
      const bool may_repair =
          !is_mapping_ && !experiment.repaired && detail_ >= GuideDetail::kExecution;
      if (may_repair && !evaluation.ok()) {
        broken_.push_back({step.number, step.proposal.text, evaluation, std::move(experiment)});
      }
      pending_.erase(found);
    }
    population_.add(std::move(member));
  }

 private:
  // A result or a plan. Only results are shown to the model.
  struct Finding {
    std::string text;
    bool is_result = true;
  };

  // Returns what the prompts of a round have in common.
  ScientistRound round_of(const SearchRound& round, const BaseAndReference& pair,
                          const Segments& base, const std::vector<std::string>& shown) const {
    return {
        round, pair, base, shown, asker_.prompt_bytes(), detail_, asker_.replies_with_program()};
  }

  // Makes a proposal from a reply of the writer. Keeps the experiment until its result is known.
  // Returns nullopt if there is no usable reply.
  std::optional<Proposal> carry_out(SearchRound& round, const std::optional<llm::ChatReply>& reply,
                                    const Segments& base, const Experiment& experiment) {
    if (!reply) {
      note(fmt::format("\"{}\" was not {}: no reply.", experiment.description,
                       experiment.repaired ? "repaired" : "carried out"));
      return std::nullopt;
    }
    const ModelAnswer answer = read_answer(*reply, base, asker_.expected_reply_form());
    auto proposal = asker_.make_proposal(round, answer, "");
    if (!proposal) {
      note(fmt::format("\"{}\" was not {}: {}.", experiment.description,
                       experiment.repaired ? "repaired" : "carried out",
                       answer.segments ? "its text is nothing new"
                                       : one_line(answer.refusal_reason, kMaxReason) +
                                             " (the reply; the idea is still untested)"));
      return std::nullopt;
    }
    proposal->parents = round.history().parents_of(nullptr);
    if (experiment.base != 0) proposal->parents = {experiment.base};
    if (experiment.reference != 0) proposal->parents.push_back(experiment.reference);
    proposal->why = experiment.description;
    proposal->tag = ++tags_;
    pending_.emplace(tags_, experiment);
    return proposal;
  }

  // Asks once for each text that failed in the last round to repair it.
  std::vector<Proposal> repair(SearchRound& round) {
    std::vector<BrokenText> broken = std::exchange(broken_, {});
    if (broken.size() > round.max_proposals()) broken.resize(round.max_proposals());
    const std::vector<std::string> shown = shown_findings();
    std::vector<ModelQuestion> questions;
    std::vector<Segments> texts;
    for (BrokenText& each : broken) {
      each.experiment.repaired = true;
      Result<Segments> text = segments_of(round.problem(), each.text);
      texts.push_back(text.ok() ? std::move(text).value() : Segments());
      ModelQuestion& question = questions.emplace_back();
      question.expects_program = true;
      const BaseAndReference pair{member_of(each.experiment.base), nullptr};
      build_repair(question.prompt, round_of(round, pair, texts.back(), shown), each);
    }
    const auto replies = asker_.ask(round, questions, kScientistTemperature);
    std::vector<Proposal> proposals;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      auto proposal = carry_out(round, replies[i], texts[i], broken[i].experiment);
      if (!proposal) continue;
      proposal->parents.insert(proposal->parents.begin(), broken[i].id);
      proposal->why = "repaired: " + proposal->why;
      proposals.push_back(std::move(*proposal));
    }
    writer_remarks_ = asker_.take_remarks();
    return proposals;
  }

  // Returns the member with this id; null if the population does not have it any more.
  const PopulationMember* member_of(std::int64_t id) const {
    const auto& all = population_.all();
    const auto found = std::find_if(
        all.begin(), all.end(), [id](const PopulationMember& member) { return member.id == id; });
    return found == all.end() ? nullptr : &*found;
  }

  // Returns in words how the measured value changed against the base of the experiment, in percent.
  // Says so if the text did not run or if there is no difference.
  std::string outcome(const Evaluation& evaluation, const Experiment& experiment) const {
    if (!evaluation.ok()) return "it did not run";
    if (experiment.base_score <= 0 || !std::isfinite(experiment.base_score)) return "it ran";
    const double times = evaluation.score / experiment.base_score;
    if (std::abs(times - 1) <= evaluation.noise) return "no difference";
    return fmt::format("{:+.1f} % {}", 100 * ((higher_is_better_ ? 1 / times : times) - 1),
                       measured_);
  }

  // Appends a finding, with further lines below it. If the findings together exceed their limit,
  // removes the oldest ones.
  void note(std::string_view text, const std::vector<std::string>& further = {},
            bool is_result = true) {
    std::string finding = fmt::format("- {}\n", harmless(text));
    for (const std::string& line : further) finding += fmt::format("  {}\n", line);
    findings_bytes_ += finding.size();
    findings_.push_back({std::move(finding), is_result});
    for (; findings_bytes_ > kMaxFindings; findings_.pop_front()) {
      findings_bytes_ -= findings_.front().text.size();
    }
  }

  // Returns the newest results among the findings, the oldest of them first, each as a whole, at
  // most kShownFindings bytes.
  std::vector<std::string> shown_findings() const {
    std::vector<std::string> shown;
    std::size_t bytes = 0;
    for (auto finding = findings_.rbegin(); finding != findings_.rend(); ++finding) {
      if (!finding->is_result) continue;
      bytes += finding->text.size();
      if (bytes > kShownFindings) break;
      shown.push_back(finding->text);
    }
    std::reverse(shown.begin(), shown.end());
    return shown;
  }

  // Asks the model for a base and a reference, and sets `reason` to what it says. Without a usable
  // reply, takes the best member as the base and the member that differs most from it as the
  // reference.
  BaseAndReference select(SearchRound& round, std::string* reason) {
    const std::vector<const PopulationMember*> members = population_.valid();
    if (members.empty()) return {};
    if (members.size() == 1) return {members.front(), nullptr};
    ModelQuestion question;
    question.json_schema = kSelectorSchema;
    build_selector(question.prompt, round, population_);
    const auto replies = asker_.ask(round, std::span(&question, 1), kScientistTemperature);
    BaseAndReference pair{members.front(), nullptr};
    std::string why;
    const auto text =
        replies.front() ? text_without_reasoning(*replies.front(), &why) : std::nullopt;
    if (const auto object = text ? find_json_object(*text) : std::nullopt) {
      const auto find = [&](const char* key) {
        const std::int64_t id = llm::count_in(*object, key, -1);
        const auto found =
            std::find_if(members.begin(), members.end(),
                         [id](const PopulationMember* member) { return member->id == id; });
        return found == members.end() ? nullptr : *found;
      };
      if (const PopulationMember* base = find("base")) pair.base = base;
      pair.reference = find("reference");
      *reason = one_line(llm::text_in(*object, "reason"), kMaxReason);
    }
    if (pair.reference == nullptr || pair.reference == pair.base) {
      pair.reference = most_different(round.problem(), *pair.base, members);
    }
    return pair;
  }

  // Asks the model for avenues and experiments. Returns the experiments to carry out; none if the
  // reply is unusable, which the next prompt then mentions. `reason` is that of the selector.
  std::vector<Experiment> design(SearchRound& round, const ScientistRound& now,
                                 const std::string& reason) {
    ModelQuestion question;
    question.json_schema = kDesignerSchema;
    build_designer(question.prompt, now, std::exchange(designer_remarks_, {}));
    const auto replies = asker_.ask(round, std::span(&question, 1), kScientistTemperature);
    if (!replies.front()) return {};
    std::string why;
    const auto text = text_without_reasoning(*replies.front(), &why);
    const auto object = text ? find_json_object(*text) : std::nullopt;
    const Design design = object ? design_in(*object) : Design();
    const std::size_t avenues = design.avenues.size(), experiments = design.experiments.size();
    if (experiments == 0) {
      asker_.report_unusable_reply(
          round, !why.empty() ? why
                 : !object    ? "it is not a JSON object"
                              : "it has no experiment with a description and a gain of "
                                "two numbers");
      return {};
    }
    std::vector<Experiment> chosen = picked(design.experiments);
    note_plan(now.pair, reason, design, chosen);
    if (avenues < kAvenues || experiments < kExperiments) {
      asker_.add_remark(fmt::format(
          "YOUR LAST DESIGN was short: {} avenues instead of ten, {} experiments of use instead of "
          "five.",
          avenues, experiments));
      note(fmt::format("A design had {} avenues and {} experiments of use.", avenues, experiments),
           {}, false);
    }
    return chosen;
  }

  // Notes for people what a round begins with and what was planned.
  void note_plan(const BaseAndReference& pair, const std::string& reason, const Design& design,
                 const std::vector<Experiment>& chosen) {
    std::vector<std::string> lines;
    for (const std::string& avenue : design.avenues) lines.push_back("avenue: " + avenue);
    for (const Experiment& experiment : design.experiments) {
      const bool is_chosen = std::any_of(chosen.begin(), chosen.end(), [&](const Experiment& each) {
        return each.description == experiment.description;
      });
      lines.push_back(fmt::format("{}: {}; expects {:g} to {:g} %, innovation {:g}; {}",
                                  is_chosen ? "experiment" : "not carried out",
                                  experiment.description, experiment.least, experiment.most,
                                  experiment.innovation, experiment.rubric));
    }
    const auto name = [](const PopulationMember* member, const char* otherwise) {
      return member == nullptr ? std::string(otherwise) : fmt::format("#{}", member->id);
    };
    note(fmt::format("Plan: base {}, reference {}{}{}", name(pair.base, "the start"),
                     name(pair.reference, "none"), reason.empty() ? "" : ": ", reason),
         lines, false);
  }

  ModelAsker asker_;
  const bool is_mapping_;
  Population population_;
  // The experiments whose results are not known yet, by the tag of their proposals.
  std::map<std::int64_t, Experiment> pending_;
  std::int64_t tags_ = 0;
  // The texts of the last round that failed and are to be repaired.
  std::vector<BrokenText> broken_;
  // One entry for each result and each plan: a line that begins with a dash, and indented lines.
  std::deque<Finding> findings_;
  std::size_t findings_bytes_ = 0;
  // Remarks about the last replies of the designer and of the writer, for the next question to the
  // same role. The asker holds remarks only while the replies of one role are read.
  std::string designer_remarks_, writer_remarks_;
  // How much the findings say about runs.
  GuideDetail detail_ = GuideDetail::kNone;
  // The word for what the evaluator measures, such as "time".
  std::string measured_;
  bool higher_is_better_ = false;
};

}  // namespace

std::unique_ptr<Proposer> make_scientist_proposer(const SearchProblem& problem, std::uint64_t seed,
                                                  const AskOptions& options) {
  return std::make_unique<Scientist>(problem, seed, options);
}

}  // namespace groma::tuning
