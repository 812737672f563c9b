// trace: a proposer that asks a model, by OptoPrime of Trace (Cheng et al., 2024), as the paper on
// agent-system interfaces uses it. The model sees the mapping as a computation whose variables are
// the texts of the segments: segments give a program, the program decides, and a run gives the
// result.
//
// OptoPrime changes the text that was tried last, whether it was good or bad. Here each step
// changes the best text so far, because a model without memory could not return to it. The prompt
// tells what was tried since then.
#include <fmt/format.h>

#include "model/asking.h"
#include "model/problem_words.h"
#include "model/reply_text.h"
#include "model/text_words.h"
#include "propose/proposers.h"

namespace groma::tuning {
namespace {

constexpr double kTemperature = 0.7;

// The part of the prompt that explains OptoPrime's notation.
constexpr std::string_view kReading =
    "You change the variables of a computation so that its output gets better. You are given:\n"
    "- #Instruction: what you should do.\n"
    "- #Code: how the output is computed from the variables.\n"
    "- #Documentation: what the functions in #Code do.\n"
    "- #Variables: what you may change. They hold the best values so far.\n"
    "- #Constraints: what each variable is for.\n"
    "- #Inputs: given values, which you cannot change.\n"
    "- #Others: intermediate values.\n"
    "- #Outputs: the result of the variables.\n"
    "- #Feedback: an explanation of the result, and the earlier tries.\n"
    "A value is written `<type> <name> = <value>`, or `(code) <name>:` with its lines below.\n\n";

// The form of the reply: a JSON object with new texts for some variables.
constexpr std::string_view kFormat =
    "Reply with one JSON object:\n"
    "{\"reasoning\": \"<what limits the result, and why the variables should change>\",\n"
    " \"change\": \"<one line: what you change now>\",\n"
    " \"suggestion\": {\"<variable>\": \"<all of its new text>\", ...}}\n"
    "Use only names from #Variables in \"suggestion\", and leave out the variables that stay. Runs "
    "that are left over are worth nothing. If you have no idea left that was not tried, reply with "
    "the one word TERMINATE, which ends the search.\n";

class Trace : public Proposer {
 public:
  Trace(const SearchProblem& problem, std::uint64_t seed, const AskOptions& options)
      : asker_(problem, seed, options) {}

  std::string_view name() const override { return "trace"; }
  GuideDetail reads() const override { return GuideDetail::kProfile; }

  // Asks the model for a change of the best text. Returns at most one proposal. Returns none if the
  // reply is unusable, changes nothing or ends the search.
  std::vector<Proposal> propose(SearchRound& round) override {
    const History& history = round.history();
    const Step* current = history.best() != nullptr ? history.best() : history.last();
    const Result<Segments> base = segments_of(round.problem(), text_of(current, round.problem()));
    if (!base.ok()) return {};
    ModelQuestion question;
    question.expects_program = true;
    build(question.prompt, round, current, *base);
    const auto replies = asker_.ask(round, std::span(&question, 1), kTemperature);
    if (!replies.front()) return {};
    // A round without a proposal and without a rejection ends the search.
    if (is_end(replies.front()->text)) {
      round.explain_end("the model finds nothing to change (TERMINATE)");
      return {};
    }
    const ModelAnswer answer = read_answer(*replies.front(), *base, asker_.expected_reply_form());
    std::vector<Proposal> proposals;
    if (auto proposal = asker_.make_proposal(round, answer, "as the model suggests")) {
      proposal->parents = history.parents_of(current);
      proposals.push_back(std::move(*proposal));
    }
    return proposals;
  }

 private:
  // Returns true if the reply is the word TERMINATE alone, perhaps in quotes or with a full stop.
  // Within a longer text the word may mean anything.
  static bool is_end(std::string_view text) {
    text = trimmed(text);
    while (!text.empty() && std::string_view("`\"'.*").find(text.front()) != text.npos) {
      text.remove_prefix(1);
    }
    while (!text.empty() && std::string_view("`\"'.*").find(text.back()) != text.npos) {
      text.remove_suffix(1);
    }
    return text == "TERMINATE";
  }

  // Writes the parts of an OptoPrime prompt in the order of the paper. `current` is the step with
  // the text `base` that the model changes; null before the first step. If the prompt is too long,
  // the parts with a RemovalStage are removed first.
  void build(Prompt& prompt, SearchRound& round, const Step* current, const Segments& base) {
    const SearchProblem& problem = round.problem();
    const GuideDetail detail = std::min(round.detail(), reads());
    prompt.add_system_text(std::string(kReading));
    prompt.add_system_text(asker_.replies_with_program() ? whole_reply_instructions(problem, true)
                                                         : std::string(kFormat));
    prompt.add_user_text(
        "#Instruction\n" + system_introduction(problem, round.evaluator()) +
        "Change the values of the variables in #Variables to reach this goal. Use what #Feedback "
        "says.\n\n");
    add_code(prompt, problem, base);
    std::string variables = "#Variables\n", constraints = "#Constraints\n";
    for (const Segment& segment : base.all()) {
      variables += fmt::format("(code) {}:{}\n{}", segment.name,
                               segment.text.empty() ? " (empty)" : "", segment.text);
      if (!variables.ends_with('\n')) variables += '\n';
      constraints += fmt::format(
          "(code) {}: {}\n", segment.name,
          segment.about.empty() ? "the text of this segment" : strip_directories(segment.about));
    }
    prompt.add_user_text(variables + "\n");
    prompt.add_user_text(constraints + "\n", RemovalStage::kCard);
    prompt.add_user_text("#Inputs\n");
    add_problem(prompt, problem);
    add_text_outside_segments(prompt, problem);
    prompt.add_user_text("#Others\n");
    // The decisions show the model what the mapping does. They are left out of a prompt that is too
    // long.
    if (problem.is_mapping() && !problem.inputs.empty()) {
      const std::string decisions =
          describe_decisions(base.text(), *problem.machine, problem.inputs.front());
      if (!decisions.empty())
        prompt.add_user_text("(code) decisions:\n" + decisions, RemovalStage::kTried);
    }
    add_outputs(prompt, round, current, base, detail);
  }

  // Writes the computation as three lines of code with their documentation. For a mapping, the
  // documentation includes the description of the language.
  static void add_code(Prompt& prompt, const SearchProblem& problem, const Segments& base) {
    std::string names;
    for (const Segment& segment : base.all()) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", segment.name);
    }
    prompt.add_user_text("#Code\n");
    if (!problem.is_mapping()) {
      prompt.add_user_text(
          fmt::format("text = put_together({})\nresult = run(text)\n\n#Documentation\n"
                      "[put_together]: Puts the segments in their places in the text.\n"
                      "[run]: Checks the text and measures it.\n\n",
                      names));
      return;
    }
    prompt.add_user_text(
        fmt::format("program = put_together({})\ndecisions = decide(program, application, machine)"
                    "\nresult = run(decisions)\n\n#Documentation\n"
                    "[put_together]: Puts the segments one below the other, in this order.\n"
                    "[run]: Runs the application on the machine and measures it.\n"
                    "[decide]: Reads the program and decides for each task and region. Its "
                    "language:\n",
                    names));
    for (const LanguageCardPart& piece : language_card()) {
      prompt.add_user_text(piece.text, piece.stage);
    }
    prompt.add_user_text("\n");
  }

  // Writes the result of the current text with the feedback about it, the result of the last try if
  // that was another text, and the earlier steps.
  void add_outputs(Prompt& prompt, SearchRound& round, const Step* current, const Segments& base,
                   GuideDetail detail) {
    const Step* last = round.history().last();
    if (current == nullptr) {
      prompt.add_user_text(
          "\n#Outputs\n(result) result = not known: nothing was run yet\n\n#Feedback\n");
    } else {
      prompt.add_user_text(fmt::format("\n#Outputs\n(result) result = {} (#{})\n\n#Feedback\n",
                                       describe_result(current->evaluation, round.evaluator()),
                                       current->number));
      add_lines(prompt, *current, detail);
    }
    if (last != nullptr && current != nullptr && last->number != current->number) {
      add_last_try(prompt, round, *last, *current, base, detail);
    }
    // The last try is told above.
    const std::size_t told = last != nullptr && !last->evaluation.ok() ? 1 : 0;
    if (current != nullptr && round.history().failures().size() > told) {
      add_failures(prompt, round, base, detail);
    }
    add_search_state(prompt, round, detail);
    prompt.add_user_text(asker_.take_remarks() + "\nYour response:\n");
  }

  static void add_lines(Prompt& prompt, const Step& step, GuideDetail detail) {
    for (FeedbackLine& line : feedback_lines(step.evaluation.feedback, detail)) {
      prompt.add_user_text(std::move(line.text), line.stage);
    }
  }

  // Writes how the last try differed from the current text `base`, and the feedback about it.
  static void add_last_try(Prompt& prompt, const SearchRound& round, const Step& last,
                           const Step& current, const Segments& base, GuideDetail detail) {
    std::string text = fmt::format(
        "\nTHE LAST TRY, #{}, was not better: {}. It differs from #{} in:\n", last.number,
        describe_result(last.evaluation, round.evaluator()), current.number);
    const auto tried = segments_of(round.problem(), last.proposal.text);
    if (tried.ok()) text += describe_segment_changes(*tried, base);
    prompt.add_user_text(std::move(text), RemovalStage::kTried);
    for (FeedbackLine& line : feedback_lines(last.evaluation.feedback, detail)) {
      prompt.add_user_text(std::move(line.text), RemovalStage::kTried);
    }
    prompt.add_user_text("\n");
  }

  ModelAsker asker_;
};

}  // namespace

std::unique_ptr<Proposer> make_trace_proposer(const SearchProblem& problem, std::uint64_t seed,
                                              const AskOptions& options) {
  return std::make_unique<Trace>(problem, seed, options);
}

}  // namespace groma::tuning
