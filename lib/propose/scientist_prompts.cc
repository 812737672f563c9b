// Builds the prompts of the proposer `scientist`.
#include "propose/scientist_prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "groma/line_edits.h"
#include "model/asking.h"
#include "model/text_words.h"
#include "search/lines.h"

namespace groma::tuning {
namespace {

constexpr std::size_t kShownMembers = 24, kShownBest = 8, kMaxValues = 300;
// Limits on the lines that describe a failure, and on the bytes of each of them.
constexpr std::size_t kMaxExplanations = 2, kMaxLineBytes = 200, kRepairLines = 16;
// The parts of a prompt that a text which is not a mapping may have: the base, and less of it in a
// prompt that would be too long; the differences of the reference and of the last change.
constexpr std::size_t kBasePart = 2, kShortBasePart = 5, kDifferencePart = 8;
// The weights of words by which excerpts are chosen.
constexpr double kOfExperiment = 3, kOfError = 3, kOfErrorLine = 4, kOfChange = 1;

// Returns the values of a member, each behind a space: " small 0.1 s, large 0.2 s".
std::string values_of(const PopulationMember& member, const Evaluator& evaluator) {
  std::string line;
  const std::vector<std::string> inputs = evaluator.inputs();
  for (std::size_t i = 0; i < member.evaluation.values.size(); ++i) {
    line += fmt::format("{} {}{:.3g} {}", i == 0 ? "" : ",",
                        i < inputs.size() && inputs.size() > 1
                            ? strip_directories(one_line(inputs[i], 60)) + " "
                            : std::string(),
                        member.evaluation.values[i], evaluator.unit());
  }
  return line;
}

// Returns one line about a member: its id, its parents and its values.
std::string line_of(const PopulationMember& member, const Evaluator& evaluator) {
  std::string line = fmt::format(" #{} | ", member.id);
  line += member.base == 0 ? "none" : fmt::format("#{}", member.base);
  if (member.reference != 0) line += fmt::format(", #{}", member.reference);
  if (!member.evaluation.ok()) return line + " | did not run\n";
  return line + " |" + values_of(member, evaluator) + "\n";
}

// Adds what the prompts of the designer and the writer have in common: the problem, and the
// findings of earlier experiments. Excerpts and quotations are chosen by the query.
void add_common_parts(Prompt& prompt, const ScientistRound& now, const QueryWords& query) {
  const SearchProblem& problem = now.round.problem();
  add_language_card(prompt, problem);
  if (problem.is_mapping()) {
    add_problem(prompt, problem);
  } else {
    add_about_text(prompt, problem, query);
  }
  add_text_outside_segments(prompt, problem);
  if (now.findings.empty()) return;
  prompt.add_heading("FINDINGS of earlier experiments\n", RemovalStage::kFindings);
  for (const std::string& finding : now.findings) {
    prompt.add_user_text(finding, RemovalStage::kFindings);
  }
  prompt.add_user_text("\n");
}

// Adds a text with its result to the prompt. A text that is not a mapping becomes an excerpt if it
// is too long, and a shorter one if the prompt is.
void add_text(Prompt& prompt, const std::string& title, const Segments& segments,
              const ScientistRound& now, const QueryWords& query) {
  prompt.add_user_text(title);
  if (now.round.problem().is_mapping()) {
    prompt.add_user_text(fenced_segments(segments));
    return;
  }
  prompt.add_user_text(fenced_excerpts(segments, now.prompt_bytes / kBasePart, query),
                       RemovalStage::kText,
                       fenced_excerpts(segments, now.prompt_bytes / kShortBasePart, query));
}

// Returns the line above a member's text: its name, its base and its values.
std::string title_of(std::string_view name, const PopulationMember* member,
                     const Evaluator& evaluator) {
  if (member == nullptr) return fmt::format("{}, not run yet\n", name);
  const std::string made =
      member->base == 0 ? std::string() : fmt::format(", made from #{}", member->base);
  return fmt::format("{}: #{}{},{}\n", name, member->id, made,
                     values_of(*member, evaluator).substr(0, kMaxValues));
}

// Adds the base of the round, with what its run printed if the detail allows that.
void add_base(Prompt& prompt, const ScientistRound& now, const QueryWords& query) {
  add_text(prompt, title_of("BASE", now.pair.base, now.round.evaluator()), now.base, now, query);
  if (now.pair.base == nullptr || now.detail < GuideDetail::kProfile) return;
  const std::vector<std::string>& lines = now.pair.base->evaluation.feedback.last_lines;
  if (lines.empty()) return;
  prompt.add_user_text("THE RUN OF THE BASE PRINTED\n", RemovalStage::kProfile);
  for (const std::string& line : lines) {
    prompt.add_user_text(one_line(strip_directories(line), kMaxLineBytes) + "\n",
                         RemovalStage::kProfile);
  }
}

// Adds the reference: its segments if the text is a mapping, otherwise how it differs from the
// base.
void add_reference(Prompt& prompt, const ScientistRound& now) {
  const PopulationMember* reference = now.pair.reference;
  if (reference == nullptr) return;
  const SearchProblem& problem = now.round.problem();
  const std::string title = title_of("REFERENCE", reference, now.round.evaluator());
  if (problem.is_mapping()) {
    const Result<Segments> segments = segments_of(problem, reference->text);
    if (segments.ok()) prompt.add_user_text(title + fenced_segments(*segments));
    return;
  }
  const std::string changes =
      describe_line_changes(now.base.text(), reference->text, now.prompt_bytes / kDifferencePart);
  prompt.add_user_text(
      title + "It differs from the base in these lines (-: the base, +: the reference).\n" +
          as_fenced_block(changes, "diff"),
      RemovalStage::kHistory);
}

// Returns the words by which excerpts for the round are chosen: those of the problem, and those of
// the lines that the base has changed.
QueryWords query_of(const ScientistRound& now) {
  const SearchProblem& problem = now.round.problem();
  if (problem.is_mapping()) return {};
  QueryWords query = words_of_interest(problem);
  add_words_of_changes(problem.start, now.base.text(), kOfChange, &query);
  return query;
}

// Adds the words of a compiler's output to the query, and those of the lines of the text that it
// names (`kernel.cl:12:3: error: ...`).
void add_words_of_errors(const std::vector<std::string>& errors, const std::string& text,
                         QueryWords* query) {
  const std::vector<std::string_view> lines = lines_of(text);
  for (const std::string& error : errors) {
    add_query_words(error, kOfError, query);
    for (std::size_t at = error.find(':'); at != error.npos; at = error.find(':', at + 1)) {
      std::size_t number = 0, end = at + 1;
      while (end < error.size() && std::isdigit(static_cast<unsigned char>(error[end])) != 0 &&
             number < lines.size()) {
        number = 10 * number + static_cast<std::size_t>(error[end++] - '0');
      }
      const bool is_line = end > at + 1 && end < error.size() && error[end] == ':';
      if (!is_line || number == 0 || number > lines.size()) continue;
      add_query_words(lines[number - 1], kOfErrorLine, query);
      break;
    }
  }
}

}  // namespace

std::string measured_word(const Evaluator& evaluator) {
  return evaluator.unit() == "s" ? "time" : one_line(evaluator.unit(), 40);
}

std::string_view why_it_failed(const Evaluation& evaluation) {
  using Status = Evaluation::Status;
  return evaluation.status == Status::kRefused
             ? "it was refused: it does not build, or its results are wrong"
         : evaluation.status == Status::kTimedOut ? "its run did not end in time"
                                                  : "its run failed";
}

std::vector<std::string> failure_lines(const GuideFeedback& feedback, GuideDetail detail,
                                       std::size_t most_lines) {
  std::vector<std::string> lines;
  // The white space at the beginning of a line stays, since compilers mark places below a line.
  const auto add = [&lines](const std::string& text) {
    const std::string line = strip_directories(text);
    const std::size_t begin = std::min(line.find_first_not_of(' '), kMaxLineBytes / 2);
    std::string words = one_line(line, kMaxLineBytes);
    if (!words.empty()) lines.push_back(std::string(begin, ' ') + std::move(words));
  };
  if (detail >= GuideDetail::kExecution) {
    add(feedback.execution);
    const std::vector<std::string>& output = feedback.last_lines;
    for (std::size_t i = 0; i < std::min(output.size(), most_lines); ++i) add(output[i]);
  }
  if (detail >= GuideDetail::kExplain) {
    const std::vector<std::string>& all = feedback.explain;
    for (std::size_t i = 0; i < std::min(all.size(), kMaxExplanations); ++i) add(all[i]);
  }
  return lines;
}

void build_selector(Prompt& prompt, const SearchRound& round, const Population& population) {
  prompt.add_system_text(system_introduction(round.problem(), round.evaluator()));
  prompt.add_system_text(
      "You select what the next experiments start from. Base: the one to change, the best overall "
      "or the most promising. Reference: one to learn from, of another line of descent, or better "
      "for some inputs.\nReply with one JSON object: {\"base\": <id>, \"reference\": <id>, "
      "\"reason\": \"<why>\"}.\n");
  prompt.add_user_text(fmt::format("POPULATION id | parents | {} for each input\n",
                                   measured_word(round.evaluator())));
  const std::vector<PopulationMember>& members = population.all();
  const std::size_t first = members.size() - std::min(members.size(), kShownMembers);
  std::vector<const PopulationMember*> best = population.valid();
  best.resize(std::min(best.size(), kShownBest));
  for (std::size_t i = 0; i < members.size(); ++i) {
    const PopulationMember& member = members[i];
    const bool among = std::find(best.begin(), best.end(), &member) != best.end();
    if (i < first && !among) continue;
    prompt.add_user_text(line_of(member, round.evaluator()),
                         among ? RemovalStage::kNever : RemovalStage::kHistory);
  }
}

void build_designer(Prompt& prompt, const ScientistRound& now, const std::string& remarks) {
  const SearchProblem& problem = now.round.problem();
  prompt.add_system_text(system_introduction(problem, now.round.evaluator()));
  prompt.add_system_text(fmt::format(
      "You design experiments on the base text below. First list ten avenues by which it may get "
      "better, as different as you can. Then plan five experiments: what is changed and why, a "
      "rubric of the edits that are expected{}, the gain that you expect as a range in percent{}, "
      "and how innovative it is, 0 to 100.\nReply with one JSON object: {{\"avenues\": "
      "[\"<ten>\"], \"experiments\": [{{\"description\": \"...\", \"rubric\": \"...\", \"gain\": "
      "[<min>, <max>], \"innovation\": <0 to 100>}}, <five of them>]}}.\n",
      problem.is_mapping() ? "" : " with the names of the functions and variables",
      problem.is_mapping() ? "" : " of the base's result"));
  if (!problem.is_mapping()) {
    prompt.add_system_text(
        "The writer, who carries an experiment out, sees only its description and rubric. At most "
        "three are carried out: the most innovative one, the one with the highest and the one with "
        "the surest gain.\n");
  }
  const QueryWords query = query_of(now);
  add_common_parts(prompt, now, query);
  if (!problem.is_mapping()) add_reference(prompt, now);
  add_base(prompt, now, query);
  prompt.add_user_text(remarks);
}

void build_writer(Prompt& prompt, const ScientistRound& now, const Experiment& experiment,
                  const std::string& remarks) {
  const SearchProblem& problem = now.round.problem();
  prompt.add_system_text(system_introduction(problem, now.round.evaluator()));
  prompt.add_system_text(now.bare_replies ? whole_reply_instructions(problem, true)
                                          : segment_reply_instructions(problem));
  QueryWords query = query_of(now);
  add_query_words(experiment.description, kOfExperiment, &query);
  add_query_words(experiment.rubric, kOfExperiment, &query);
  add_common_parts(prompt, now, query);
  add_reference(prompt, now);
  add_base(prompt, now, query);
  if (!remarks.empty()) {
    prompt.add_user_text("\nABOUT THE LAST REPLIES, to other experiments:\n" + remarks);
  }
  if (!problem.is_mapping()) {
    prompt.add_user_text(
        "\nYou may depart from the rubric if the aim of the experiment stays; say so in PLAN.");
  }
  prompt.add_user_text(fmt::format("\nEXPERIMENT, to be carried out on the base: {}\nRUBRIC: {}\n",
                                   experiment.description, experiment.rubric));
}

void build_repair(Prompt& prompt, const ScientistRound& now, const BrokenText& broken) {
  const SearchProblem& problem = now.round.problem();
  prompt.add_system_text(system_introduction(problem, now.round.evaluator()));
  prompt.add_system_text(
      "You repair a text that failed. Repair the error that is reported. Then look whether the "
      "changed lines still compute what they computed before, and correct what else the experiment "
      "broke. Keep what the experiment is about.\n");
  prompt.add_system_text(
      segment_reply_instructions(problem, "the cause of the failure and the correction"));
  const std::vector<std::string> errors =
      failure_lines(broken.evaluation.feedback, now.detail, kRepairLines);
  QueryWords query = query_of(now);
  add_query_words(broken.experiment.description, kOfExperiment, &query);
  add_words_of_errors(errors, broken.text, &query);
  add_common_parts(prompt, now, query);
  const std::string& base = now.pair.base == nullptr ? problem.start : now.pair.base->text;
  add_text(prompt, "THE TEXT THAT FAILED\n", now.base, now, query);
  prompt.add_user_text(
      "WHAT IT CHANGED in a text that works\n" +
          as_fenced_block(
              describe_line_changes(base, broken.text, now.prompt_bytes / kDifferencePart), "diff"),
      RemovalStage::kHistory);
  prompt.add_user_text(fmt::format("\nITS EXPERIMENT: {}\nRUBRIC: {}\nWHAT WENT WRONG: {}.\n",
                                   broken.experiment.description, broken.experiment.rubric,
                                   why_it_failed(broken.evaluation)));
  for (const std::string& line : errors) prompt.add_user_text("  " + line + "\n");
}

}  // namespace groma::tuning
