// scientist: GPU Kernel Scientist (Andrews and Witteveen, 2025). A language model takes three
// roles. The selector picks a base and a reference from the texts that were tried. The designer
// lists ten avenues of improvement and plans five experiments. The writer carries out three of
// them. The only feedback about a run that worked is its timings. About a run that failed, the
// designer and the writer also learn the reason: without it they would write the same mistake
// again.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <iterator>
#include <map>
#include <utility>

#include "groma/harmless.h"
#include "model/asking.h"
#include "model/reply_text.h"
#include "propose/proposers.h"

namespace groma::tuning {
namespace {

constexpr double kScientistTemperature = 0.7;
constexpr std::size_t kMaxPopulation = 64, kShownMembers = 24;
constexpr std::size_t kMaxFindings = 1 << 20, kShownFindings = 8'000, kMaxWords = 400;
// Limits on the lines that a finding has about a failed run, and on the bytes of each of them.
constexpr std::size_t kMaxOutputLines = 6, kMaxExplanations = 2, kMaxLineBytes = 200;
constexpr std::size_t kAvenues = 10, kExperiments = 5, kMaxExperiments = 8;

// A text that was tried, with its result and the texts that it came from.
struct PopulationMember {
  // The number of the step in which the text was tried.
  std::int64_t id = 0;
  std::int64_t base = 0, reference = 0;
  std::string text;
  // The result of the text, without its feedback.
  Evaluation evaluation;
};

// An experiment that the designer planned on the base text.
struct Experiment {
  std::string description, rubric;
  // The least and the greatest gain that the model expects, in percent.
  double least = 0, most = 0;
  // How innovative the experiment is by the model's own rating, from 0 to 100.
  double innovation = 0;
  // The ids of the base and the reference of the proposal that carries out the experiment; 0 if
  // there is none.
  std::int64_t base = 0, reference = 0;
  double base_score = 0;
};

// JSON schemas of the replies of the selector and the designer.
constexpr std::string_view kSelectorSchema =
    R"({"type":"object","additionalProperties":false,"required":["base","reference","reason"],)"
    R"("properties":{"base":{"type":"integer"},"reference":{"type":"integer"},)"
    R"("reason":{"type":"string","maxLength":300}}})";
constexpr std::string_view kDesignerSchema =
    R"({"type":"object","additionalProperties":false,"required":["avenues","experiments"],)"
    R"("properties":{"avenues":{"type":"array","minItems":10,"maxItems":10,)"
    R"("items":{"type":"string","maxLength":120}},"experiments":{"type":"array","minItems":5,)"
    R"("maxItems":5,"items":{"type":"object","additionalProperties":false,)"
    R"("required":["description","rubric","gain","innovation"],"properties":{)"
    R"("description":{"type":"string","maxLength":200},"rubric":{"type":"string","maxLength":200},)"
    R"("gain":{"type":"array","minItems":2,"maxItems":2,"items":{"type":"integer"}},)"
    R"("innovation":{"type":"integer"}}}}}})";

// Returns the number, clamped to a million; nullopt if it is not a finite number.
std::optional<double> number_in(const llm::json& value) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (!std::isfinite(number)) return std::nullopt;
  return std::clamp(number, -1e6, 1e6);
}

// Returns a member of a JSON object as one line. A list of strings is joined by semicolons.
std::string words_in(const llm::json& object, const char* key) {
  const llm::json* value = llm::member(object, key);
  if (value == nullptr) return "";
  if (value->is_string()) return one_line(value->get<std::string>(), kMaxWords);
  // The items of the list, joined by semicolons.
  std::string words;
  for (const llm::json& item : *value) {
    if (!item.is_string()) continue;
    words += (words.empty() ? "" : "; ") + item.get<std::string>();
  }
  return one_line(words, kMaxWords);
}

// Reads an experiment from JSON. Returns nullopt if its description or its gain is missing.
std::optional<Experiment> experiment_in(const llm::json& value) {
  Experiment made;
  made.description = words_in(value, "description");
  made.rubric = words_in(value, "rubric");
  const llm::json* gain = llm::member(value, "gain");
  const llm::json* innovation = llm::member(value, "innovation");
  if (made.description.empty() || gain == nullptr || !gain->is_array() || gain->size() != 2) {
    return std::nullopt;
  }
  const std::optional<double> least = number_in((*gain)[0]), most = number_in((*gain)[1]);
  if (!least || !most) return std::nullopt;
  made.least = std::min(*least, *most);
  made.most = std::max(*least, *most);
  if (innovation != nullptr) made.innovation = number_in(*innovation).value_or(0);
  return made;
}

// Returns at most three distinct experiments: the most innovative one, the one with the highest
// maximum gain, and the one with the highest minimum gain.
std::vector<Experiment> picked(const std::vector<Experiment>& all) {
  std::vector<Experiment> chosen;
  std::vector<bool> taken(all.size());
  for (double Experiment::*by : {&Experiment::innovation, &Experiment::most, &Experiment::least}) {
    std::size_t best = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!taken[i] && (best == all.size() || all[i].*by > all[best].*by)) best = i;
    }
    if (best == all.size()) break;
    taken[best] = true;
    chosen.push_back(all[best]);
  }
  return chosen;
}

// Returns the reason why a run failed, in a few lines of text: the error, the first lines of the
// output, and what they mean. Contains no more than `detail` allows, and no folders.
std::vector<std::string> failure_lines(const GuideFeedback& feedback, GuideDetail detail) {
  std::vector<std::string> lines;
  const auto add = [&lines](const std::string& text) {
    std::string line = one_line(strip_directories(text), kMaxLineBytes);
    if (!line.empty()) lines.push_back(std::move(line));
  };
  if (detail >= GuideDetail::kExecution) {
    add(feedback.execution);
    const std::vector<std::string>& output = feedback.last_lines;
    for (std::size_t i = 0; i < std::min(output.size(), kMaxOutputLines); ++i) add(output[i]);
  }
  if (detail >= GuideDetail::kExplain) {
    const std::vector<std::string>& all = feedback.explain;
    for (std::size_t i = 0; i < std::min(all.size(), kMaxExplanations); ++i) add(all[i]);
  }
  return lines;
}

class Scientist : public Proposer {
 public:
  Scientist(const SearchProblem& problem, std::uint64_t seed, const AskOptions& options)
      : asker_(problem, seed, options) {}

  std::string_view name() const override { return "scientist"; }
  // What the prompts say about failed runs.
  GuideDetail reads() const override { return GuideDetail::kExplain; }
  std::string findings() const override {
    std::string all;
    for (const std::string& finding : findings_) all += finding;
    return all;
  }

  // Selects a base text, designs experiments on it, and asks the model for one text for each
  // experiment.
  std::vector<Proposal> propose(SearchRound& round) override {
    measured_ = what(round.evaluator());
    detail_ = std::min(round.detail(), reads());
    higher_is_better_ = round.evaluator().higher_is_better();
    const Pair pair = select(round);
    const SearchProblem& problem = round.problem();
    const Result<Segments> base =
        segments_of(problem, pair.base == nullptr ? problem.start : pair.base->text);
    if (!base.ok()) return {};
    std::vector<Experiment> experiments = design(round, pair, *base);
    designer_remarks_ = asker_.take_remarks();
    if (experiments.empty()) return {};
    if (experiments.size() > round.max_proposals()) experiments.resize(round.max_proposals());
    std::vector<ModelQuestion> questions;
    for (const Experiment& experiment : experiments) {
      ModelQuestion& question = questions.emplace_back();
      question.expects_program = true;
      build_writer(question.prompt, round, pair, *base, experiment);
    }
    const auto replies = asker_.ask(round, questions, kScientistTemperature);
    std::vector<Proposal> proposals = carry_out(round, pair, *base, replies, &experiments);
    writer_remarks_ = asker_.take_remarks();
    return proposals;
  }

  // Adds the tried text to the population. If the text carried out an experiment, records its
  // result as a finding.
  void learn(const Step& step) override {
    PopulationMember member{step.number, 0, 0, step.proposal.text, step.evaluation};
    member.evaluation.feedback = {};
    const auto found = pending_.find(step.proposal.tag);
    if (found != pending_.end()) {
      const Experiment& experiment = found->second;
      member.base = experiment.base;
      member.reference = experiment.reference;
      const Evaluation& evaluation = step.evaluation;
      note(fmt::format("\"{}\" on #{}: {}.", experiment.description, experiment.base,
                       outcome(evaluation, experiment)),
           evaluation.ok() ? std::vector<std::string>()
                           : failure_lines(evaluation.feedback, detail_));
      pending_.erase(found);
    }
    population_.push_back(std::move(member));
    if (population_.size() > kMaxPopulation) forget();
  }

 private:
  // The two texts with which an experiment begins: the base that is changed, and a reference.
  struct Pair {
    // The text to change; null if it is the text with which the search starts.
    const PopulationMember* base = nullptr;
    const PopulationMember* reference = nullptr;
  };

  // Makes proposals from the replies of the writer, one reply for each experiment. Keeps the
  // experiments until their results are known.
  std::vector<Proposal> carry_out(SearchRound& round, const Pair& pair, const Segments& base,
                                  const std::vector<std::optional<llm::ChatReply>>& replies,
                                  std::vector<Experiment>* experiments) {
    std::vector<Proposal> proposals;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      if (!replies[i]) continue;
      Experiment& experiment = (*experiments)[i];
      const ModelAnswer answer = read_answer(*replies[i], base, asker_.expected_reply_form());
      auto proposal = asker_.make_proposal(round, answer, "");
      if (!proposal) {
        note(fmt::format("\"{}\" was not carried out: {}.", experiment.description,
                         answer.segments ? "its text is nothing new"
                                         : one_line(answer.refusal_reason, kMaxLineBytes)));
        continue;
      }
      proposal->parents = round.history().parents_of(nullptr);
      if (pair.base != nullptr) {
        proposal->parents = {pair.base->id};
        experiment.base = pair.base->id;
        experiment.base_score = pair.base->evaluation.score;
      }
      if (pair.reference != nullptr) {
        experiment.reference = pair.reference->id;
        proposal->parents.push_back(pair.reference->id);
      }
      proposal->why = experiment.description;
      proposal->tag = ++tags_;
      pending_.emplace(tags_, std::move(experiment));
      proposals.push_back(std::move(*proposal));
    }
    return proposals;
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
  // Returns the word for what is measured, such as "time".
  static std::string what(const Evaluator& evaluator) {
    return evaluator.unit() == "s" ? "time" : one_line(evaluator.unit(), 40);
  }

  // Removes one member of the population: the oldest one that failed, or else the worst. Never
  // removes the newest one.
  void forget() {
    const auto worst = std::max_element(population_.begin(), population_.end() - 1,
                                        [](const PopulationMember& a, const PopulationMember& b) {
                                          return std::pair(a.evaluation.score, -a.id) <
                                                 std::pair(b.evaluation.score, -b.id);
                                        });
    population_.erase(worst);
  }

  // Appends a finding, with further lines below it. If the findings together exceed their limit,
  // removes the oldest ones.
  void note(std::string_view text, const std::vector<std::string>& further = {}) {
    std::string finding = fmt::format("- {}\n", harmless(text));
    for (const std::string& line : further) finding += fmt::format("  {}\n", line);
    findings_bytes_ += finding.size();
    findings_.push_back(std::move(finding));
    for (; findings_bytes_ > kMaxFindings; findings_.pop_front()) {
      findings_bytes_ -= findings_.front().size();
    }
  }

  // Returns the members of the population that ran, the best first.
  std::vector<const PopulationMember*> valid() const {
    std::vector<const PopulationMember*> members;
    for (const PopulationMember& member : population_) {
      if (member.evaluation.ok()) members.push_back(&member);
    }
    std::stable_sort(members.begin(), members.end(),
                     [](const PopulationMember* a, const PopulationMember* b) {
                       return a->evaluation.score < b->evaluation.score;
                     });
    return members;
  }

  // Asks the model for a base and a reference. Without a usable reply, takes the best member as the
  // base and the member that differs most from it as the reference.
  Pair select(SearchRound& round) {
    const std::vector<const PopulationMember*> members = valid();
    if (members.empty()) return {};
    if (members.size() == 1) return {members.front(), nullptr};
    ModelQuestion question;
    question.json_schema = kSelectorSchema;
    build_selector(question.prompt, round);
    const auto replies = asker_.ask(round, std::span(&question, 1), kScientistTemperature);
    Pair pair{members.front(), nullptr};
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
    }
    if (pair.reference == nullptr || pair.reference == pair.base) {
      pair.reference = most_different(round.problem(), *pair.base, members);
    }
    return pair;
  }

  // Returns the member that differs from `base` in the most segments; null if there is no other
  // member.
  static const PopulationMember* most_different(
      const SearchProblem& problem, const PopulationMember& base,
      const std::vector<const PopulationMember*>& members) {
    const Result<Segments> own = segments_of(problem, base.text);
    const PopulationMember* found = nullptr;
    std::ptrdiff_t most = -1;
    for (const PopulationMember* member : members) {
      const Result<Segments> other = segments_of(problem, member->text);
      if (member == &base || !own.ok() || !other.ok()) continue;
      const auto differing =
          std::count_if(own->all().begin(), own->all().end(), [&](const Segment& segment) {
            const Segment* same = other->find(segment.name);
            return same == nullptr || same->text != segment.text;
          });
      if (differing > most) {
        most = differing;
        found = member;
      }
    }
    return found;
  }

  // Builds the selector's prompt: the latest members of the population, and the eight best ones.
  void build_selector(Prompt& prompt, const SearchRound& round) const {
    prompt.add_system_text(system_introduction(round.problem(), round.evaluator()));
    prompt.add_system_text(
        "You select what the next experiments start from. Base: the one to change, the best "
        "overall "
        "or the most promising. Reference: one to learn from, of another line of descent, or "
        "better "
        "for some inputs.\nReply with one JSON object: {\"base\": <id>, \"reference\": <id>, "
        "\"reason\": \"<why>\"}.\n");
    prompt.add_user_text(
        fmt::format("POPULATION id | parents | {} for each input\n", what(round.evaluator())));
    const std::size_t first = population_.size() - std::min(population_.size(), kShownMembers);
    const std::vector<const PopulationMember*> best = valid();
    for (std::size_t i = 0; i < population_.size(); ++i) {
      const PopulationMember& member = population_[i];
      const auto end =
          best.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(8, best.size()));
      const bool among = std::find(best.begin(), end, &member) != end;
      if (i < first && !among) continue;
      prompt.add_user_text(line_of(member, round.evaluator()),
                           among ? RemovalStage::kNever : RemovalStage::kHistory);
    }
  }

  // Returns one line about a member: its id, its parents and its values.
  static std::string line_of(const PopulationMember& member, const Evaluator& evaluator) {
    std::string line = fmt::format(" #{} | ", member.id);
    line += member.base == 0 ? "none" : fmt::format("#{}", member.base);
    if (member.reference != 0) line += fmt::format(", #{}", member.reference);
    if (!member.evaluation.ok()) return line + " | did not run\n";
    line += " |";
    const std::vector<std::string> inputs = evaluator.inputs();
    for (std::size_t i = 0; i < member.evaluation.values.size(); ++i) {
      line += fmt::format("{} {}{:.3g} {}", i == 0 ? "" : ",",
                          i < inputs.size() && inputs.size() > 1
                              ? strip_directories(one_line(inputs[i], 60)) + " "
                              : std::string(),
                          member.evaluation.values[i], evaluator.unit());
    }
    return line + "\n";
  }

  // Adds the newest findings to the prompt, each as a whole, at most kShownFindings bytes of them.
  void add_findings(Prompt& prompt) const {
    if (findings_.empty()) return;
    prompt.add_heading("FINDINGS of earlier experiments\n", RemovalStage::kHistory);
    auto first = findings_.end();
    for (std::size_t bytes = 0; first != findings_.begin(); --first) {
      bytes += std::prev(first)->size();
      if (bytes > kShownFindings) break;
    }
    for (; first != findings_.end(); ++first) {
      prompt.add_user_text(*first, RemovalStage::kHistory);
    }
    prompt.add_user_text("\n");
  }

  // Adds a member's result and its text to the prompt.
  static void add_member(Prompt& prompt, std::string_view title, const PopulationMember* member,
                         const Segments& segments, const Evaluator& evaluator) {
    prompt.add_user_text(fmt::format("{}{}\n{}", title,
                                     member == nullptr ? std::string(", not run yet")
                                                       : line_of(*member, evaluator).substr(0, 300),
                                     fenced_segments(segments)));
  }

  // Asks the model for avenues and experiments. Returns the experiments to carry out; none if the
  // reply is unusable, which the next prompt then mentions.
  std::vector<Experiment> design(SearchRound& round, const Pair& pair, const Segments& base) {
    ModelQuestion question;
    question.json_schema = kDesignerSchema;
    Prompt& prompt = question.prompt;
    const SearchProblem& problem = round.problem();
    prompt.add_system_text(system_introduction(problem, round.evaluator()));
    prompt.add_system_text(
        "You design experiments on the base text below. First list ten avenues by which it may get "
        "better, as different as you can. Then plan five experiments: what is changed and why, a "
        "rubric of the edits that are expected, the gain that you expect as a range in percent, "
        "and how innovative it is, 0 to 100.\nReply with one JSON object: {\"avenues\": "
        "[\"<ten>\"],"
        " \"experiments\": [{\"description\": \"...\", \"rubric\": \"...\", \"gain\": [<min>, "
        "<max>], \"innovation\": <0 to 100>}, <five of them>]}.\n");
    add_language_card(prompt, problem);
    add_problem(prompt, problem);
    add_text_outside_segments(prompt, problem);
    add_findings(prompt);
    add_member(prompt, "BASE", pair.base, base, round.evaluator());
    prompt.add_user_text(std::exchange(designer_remarks_, {}));
    const auto replies = asker_.ask(round, std::span(&question, 1), kScientistTemperature);
    if (!replies.front()) return {};
    std::string why;
    const auto text = text_without_reasoning(*replies.front(), &why);
    const auto object = text ? find_json_object(*text) : std::nullopt;
    std::vector<Experiment> experiments;
    if (const llm::json* list = object ? llm::member(*object, "experiments") : nullptr) {
      for (const llm::json& value : *list) {
        if (auto made = experiment_in(value)) experiments.push_back(std::move(*made));
        if (experiments.size() == kMaxExperiments) break;
      }
    }
    const llm::json* avenues = object ? llm::member(*object, "avenues") : nullptr;
    const std::size_t listed = avenues != nullptr && avenues->is_array() ? avenues->size() : 0;
    if (!experiments.empty() && (listed < kAvenues || experiments.size() < kExperiments)) {
      asker_.add_remark(fmt::format(
          "YOUR LAST DESIGN was short: {} avenues instead of ten, {} experiments of use instead of "
          "five.",
          listed, experiments.size()));
      note(fmt::format("A design had {} avenues and {} experiments of use.", listed,
                       experiments.size()));
    }
    if (experiments.empty()) {
      asker_.report_unusable_reply(
          round, !why.empty() ? why
                 : !object    ? "it is not a JSON object"
                              : "it has no experiment with a description and a gain of "
                                "two numbers");
    }
    return picked(experiments);
  }

  // Builds the writer's prompt, which asks for the text of one experiment.
  void build_writer(Prompt& prompt, const SearchRound& round, const Pair& pair,
                    const Segments& base, const Experiment& experiment) const {
    const SearchProblem& problem = round.problem();
    prompt.add_system_text(system_introduction(problem, round.evaluator()));
    prompt.add_system_text(asker_.replies_with_program() ? whole_reply_instructions(problem, true)
                                                         : segment_reply_instructions(problem));
    add_language_card(prompt, problem);
    add_problem(prompt, problem);
    add_text_outside_segments(prompt, problem);
    add_findings(prompt);
    if (pair.reference != nullptr) {
      const Result<Segments> reference = segments_of(problem, pair.reference->text);
      if (reference.ok()) {
        add_member(prompt, "REFERENCE", pair.reference, *reference, round.evaluator());
      }
    }
    add_member(prompt, "BASE", pair.base, base, round.evaluator());
    if (!writer_remarks_.empty()) {
      prompt.add_user_text("\nABOUT THE LAST REPLIES, to other experiments:\n" + writer_remarks_);
    }
    prompt.add_user_text(
        fmt::format("\nEXPERIMENT, to be carried out on the base: {}\nRUBRIC: {}\n",
                    experiment.description, experiment.rubric));
  }

  ModelAsker asker_;
  // The texts that were tried, the oldest first.
  std::vector<PopulationMember> population_;
  // The experiments whose results are not known yet, by the tag of their proposals.
  std::map<std::int64_t, Experiment> pending_;
  std::int64_t tags_ = 0;
  // One entry for each result: a line that begins with a dash, and indented lines.
  std::deque<std::string> findings_;
  std::size_t findings_bytes_ = 0;
  // Remarks about the last replies of the designer and of the writer, for the next question to the
  // same role. The asker holds remarks only while the replies of one role are read.
  std::string designer_remarks_, writer_remarks_;
  // How much the findings say about failed runs.
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
