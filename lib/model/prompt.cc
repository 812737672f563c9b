// Builds prompts for a language model from parts, and removes parts until a prompt is short enough.
#include "model/prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "llm/text.h"
#include "model/problem_words.h"
#include "model/profile_words.h"
#include "model/reply_text.h"
#include "model/text_words.h"

namespace groma::tuning {
namespace {

// Limit on the bytes of a line of feedback in a prompt.
constexpr std::size_t kMaxLine = 600;
// Limit on the sentences of each kind of feedback in a prompt.
constexpr std::size_t kMaxSentences = 8;
// Limit on the bytes that describe the added, or the removed, lines of a changed segment.
constexpr std::size_t kMaxDifference = 1'000;
constexpr std::size_t kMaxFailures = 6;
constexpr std::size_t kMaxOfSegment = 200;
// Limit on the earlier steps that a prompt lists.
constexpr std::size_t kMaxStepsShown = 24;
// The bytes that are kept free for the line that says what is left out.
constexpr std::size_t kLeftOutLine = 300;
constexpr std::size_t kMaxInputs = 8;

// Returns true if the character may be part of a file's path. A slash is not included.
bool in_path(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
         c == '+' || c == '~' || c == '@' || static_cast<unsigned char>(c) >= 0x80;
}

// Returns the lines of a text, without blank lines and without white space at the ends of each
// line.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty()) lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Returns the lines of `a` that are not in `b`, each on a line of its own with `sign` in front. If
// a line occurs n times more often in `a`, it is returned n times. Says how many lines are left out
// of a long result.
std::string lines_without(std::string_view a, std::string_view b, char sign) {
  std::map<std::string, int> there;
  for (const std::string& line : lines_of(b)) ++there[line];
  std::string found;
  std::size_t left_out = 0;
  for (const std::string& line : lines_of(a)) {
    if (there[line]-- > 0) continue;
    if (found.size() > kMaxDifference) {
      ++left_out;
    } else {
      found += fmt::format("    {} {}\n", sign, one_line(line, 160));
    }
  }
  if (left_out > 0) found += fmt::format("    {} ({} more lines)\n", sign, left_out);
  return found;
}

// Returns a line that says which parts a prompt leaves out because it may have only `limit` bytes.
// Returns an empty text if nothing was removed. `removed` has the number of removed parts by their
// RemovalStage.
std::string left_out_words(
    const std::array<std::size_t, static_cast<std::size_t>(RemovalStage::kNever)>& removed,
    std::size_t limit) {
  constexpr std::string_view kOf[] = {
      "quotations from documents",       "the profile",
      "entries about earlier texts",     "lines about failures and decisions",
      "details of the problem",          "parts of the reference card",
      "findings of earlier experiments", "parts of the program"};
  std::vector<std::string> words;
  for (std::size_t stage = 0; stage < removed.size(); ++stage) {
    if (removed[stage] == 0) continue;
    words.emplace_back(kOf[stage]);
    const bool is_history = stage == static_cast<std::size_t>(RemovalStage::kHistory);
    if (is_history) words.back() += fmt::format(" ({})", removed[stage]);
  }
  if (words.empty()) return "";
  return fmt::format("(This prompt may have {} bytes. It leaves out: {}.)\n\n", limit,
                     fmt::join(words, ", "));
}

// Formats a measured value with two significant digits if the noise is at least 5 %, with four if
// there is none, and otherwise with three.
std::string number_words(double value, double noise) {
  return fmt::format("{:.{}g}", value, noise >= 0.05 ? 2 : noise > 0 ? 3 : 4);
}

// Adds the example mappings of a problem to a prompt, each as a fenced block.
void add_examples(Prompt& prompt, const SearchProblem& problem) {
  if (problem.examples.empty()) return;
  prompt.add_heading("EXAMPLES: mappings of other applications, with other tasks and regions\n",
                     RemovalStage::kCard);
  for (const std::string& example : problem.examples) {
    prompt.add_user_text(as_fenced_block(example), RemovalStage::kCard);
  }
  prompt.add_user_text("\n");
}

}  // namespace

// A path begins with `/` or `~/` and does not follow a word. Only its last component is kept,
// because prompts must not show how the user's disk is organised.
std::string strip_directories(std::string_view text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size();) {
    // A `/` behind a word or a bracket is a division or part of a URL, not the beginning of a path.
    const bool begins = (text[i] == '/' || (text[i] == '~' && text.substr(i).starts_with("~/"))) &&
                        (i == 0 || (!in_path(text[i - 1]) && text[i - 1] != ')' &&
                                    text[i - 1] != ']' && text[i - 1] != '/'));
    const bool stands_alone =
        i + 1 == text.size() || text[i + 1] == ' ' || text.substr(i).starts_with("//");
    if (!begins || stands_alone) {
      kept += text[i++];
      continue;
    }
    std::size_t end = i, name = i + 1;
    for (; end < text.size() && (in_path(text[end]) || text[end] == '/'); ++end) {
      if (text[end] == '/' && end + 1 < text.size() && in_path(text[end + 1])) name = end + 1;
    }
    kept += text.substr(name, end - name);
    i = end;
  }
  return kept;
}

// -------------------------------------------------------------------------------------- the prompt

// Removes parts of the prompt, stage by stage, until the rest has at most `most_bytes` bytes. A
// heading is removed together with the last part of its stage that follows it.
std::vector<llm::ChatMessage> Prompt::messages(std::size_t most_bytes) const {
  std::vector<bool> left(parts_.size());
  std::size_t bytes = 0;
  for (const PromptPart& part : parts_) bytes += part.text.size();
  const std::size_t limit = most_bytes;
  if (bytes > most_bytes) most_bytes -= std::min(most_bytes, kLeftOutLine);
  // The number of parts that were removed, by their stage.
  std::array<std::size_t, static_cast<std::size_t>(RemovalStage::kNever)> removed{};
  for (int kind = 0; kind < static_cast<int>(RemovalStage::kNever); ++kind) {
    const auto is_one = [&](const PromptPart& part) {
      return static_cast<int>(part.stage) == kind;
    };
    for (std::size_t i = 0; i < parts_.size() && bytes > most_bytes; ++i) {
      if (!is_one(parts_[i]) || parts_[i].heading) continue;
      if (parts_[i].shorter.size() >= parts_[i].text.size()) continue;
      left[i] = true;
      ++removed[static_cast<std::size_t>(kind)];
      bytes -= parts_[i].text.size() - parts_[i].shorter.size();
    }
    // A heading is removed if no part of its stage remains between it and the next heading of this
    // stage. The loop goes backwards over the parts. `follows` is true if a part of this stage
    // remains between the current part and the next heading of this stage.
    bool follows = false;
    for (std::size_t i = parts_.size(); i-- > 0;) {
      if (!is_one(parts_[i])) continue;
      if (!parts_[i].heading) {
        follows |= !left[i];
      } else if (!std::exchange(follows, false)) {
        left[i] = true;
        bytes -= parts_[i].text.size();
      }
    }
  }
  llm::ChatMessage system{llm::ChatMessage::Role::kSystem, ""},
      user{llm::ChatMessage::Role::kUser, ""};
  user.text = left_out_words(removed, limit);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    (parts_[i].system ? system : user).text += left[i] ? parts_[i].shorter : parts_[i].text;
  }
  std::vector<llm::ChatMessage> messages;
  for (llm::ChatMessage* message : {&system, &user}) {
    // The journal of the search records prompts in valid UTF-8, so the model gets the same text.
    message->text = llm::valid_utf8(message->text);
    if (!message->text.empty()) messages.push_back(std::move(*message));
  }
  return messages;
}

// -------------------------------------------------------------------------------------- its blocks

// Describes the goal of the search: which unit the result has, and whether it should be high or
// low.
std::string describe_goal(const Evaluator& evaluator) {
  const std::vector<std::string> inputs = evaluator.inputs();
  std::string words = fmt::format(
      "{} the {}, which is measured in {}", evaluator.higher_is_better() ? "Maximise" : "Minimise",
      evaluator.unit() == "s" ? "run time" : "result", evaluator.unit());
  if (inputs.size() > 1) {
    words += fmt::format(", as the geometric mean over {} inputs", inputs.size());
  }
  return words;
}

// For a mapping, describes the machine and the tasks of the application.
void add_problem(Prompt& prompt, const SearchProblem& problem) {
  if (!problem.is_mapping()) return add_about_text(prompt, problem, words_of_interest(problem));
  const Machine& machine = *problem.machine;
  prompt.add_user_text(fmt::format("MACHINE: {}\n", describe_machine(machine)));
  prompt.add_user_text(describe_bandwidths(machine), RemovalStage::kApp);
  if (problem.inputs.empty()) return;
  const AppDescription words = describe_application(problem.inputs.front(), machine);
  prompt.add_user_text(fmt::format("APPLICATION: {}{}\n",
                                   strip_directories(one_line(words.name, 80)),
                                   words.values.empty() ? "" : " with " + words.values));
  for (std::size_t i = 1; i < std::min(problem.inputs.size(), kMaxInputs); ++i) {
    prompt.add_user_text(fmt::format("ALSO RUN WITH: {}\n",
                                     describe_application(problem.inputs[i], machine).values));
  }
  prompt.add_user_text(fmt::format("RUNTIME: {}\n", words.runtime_costs), RemovalStage::kApp);
  // The names of the tasks always stay, since a mapping cannot be written without names.
  prompt.add_user_text(
      "TASKS name | variants | launched as | regions (access, MB of a typical point) | demands\n");
  prompt.add_user_text(
      "(Points that agree in the coordinates in [] use the same piece of the region; without [], "
      "each point has its own. The names in {} are the fields that the task uses, where a region "
      "has several.)\n",
      RemovalStage::kApp);
  for (std::size_t i = 0; i < words.tasks.size(); ++i) {
    prompt.add_user_text(fmt::format(" {}\n", words.tasks[i]), RemovalStage::kApp,
                         fmt::format(" {}\n", words.task_names[i]));
  }
  prompt.add_user_text("\n");
  add_examples(prompt, problem);
}

void add_card_and_facts(Prompt& prompt, const std::shared_ptr<const Machine>& machine,
                        const Workload* app) {
  for (const LanguageCardPart& part : language_card()) {
    prompt.add_system_text(part.text, part.stage);
  }
  if (machine == nullptr) return;
  SearchProblem described{.start = "", .machine = machine, .inputs = {}, .about = ""};
  if (app != nullptr) described.inputs.push_back(*app);
  add_problem(prompt, described);
}

Result<Segments> segments_of(const SearchProblem& problem, const std::string& text) {
  if (problem.is_mapping()) return Segments::of_mapping(Source("mapping", text));
  return Segments::of_text(Source(problem.file.empty() ? "text" : problem.file, text));
}

// The fence has three backticks, or more if the text itself contains three in a row.
std::string as_fenced_block(std::string_view text, std::string_view label) {
  std::size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string marks(longest + 1, '`');
  return fmt::format("{}{}\n{}{}{}\n", marks, label, text,
                     text.empty() || text.back() == '\n' ? "" : "\n", marks);
}

std::string fenced_segments(const Segments& segments) {
  std::string shown;
  for (const Segment& segment : segments.all()) {
    // The segments of a mapping need no description, because the card describes them.
    if (!segment.about.empty() && !segments.outside().empty()) {
      shown += fmt::format("{}: {}\n", segment.name,
                           one_line(strip_directories(segment.about), kMaxOfSegment));
    }
    shown += as_fenced_block(segment.text.empty() ? "NONE" : segment.text, segment.name);
  }
  return shown;
}

// In each segment, the lines that only `base` has come first, with the sign `-`. Then come the
// lines that only `text` has, with the sign `+`.
std::string describe_segment_changes(const Segments& text, const Segments& base) {
  std::string lines;
  for (const Segment& segment : text.all()) {
    const Segment* other = base.find(segment.name);
    const std::string_view before = other == nullptr ? std::string_view() : other->text;
    if (segment.text == before) continue;
    const std::string more = lines_without(segment.text, before, '+');
    const std::string less = lines_without(before, segment.text, '-');
    if (more.empty() && less.empty()) continue;
    lines += fmt::format("  {}:\n{}{}", segment.name, less, more);
  }
  return lines;
}

std::string format_score(const Evaluation& evaluation, const Evaluator& evaluator) {
  return fmt::format("{} {}", number_words(evaluator.value_of(evaluation.score), evaluation.noise),
                     evaluator.unit());
}

// Shows the values of at most kMaxInputs inputs.
std::string format_input_values(const Evaluation& evaluation, const Evaluator& evaluator) {
  const std::vector<std::string> inputs = evaluator.inputs();
  if (inputs.size() < 2 || evaluation.values.size() != inputs.size()) return "";
  std::string words;
  for (std::size_t i = 0; i < std::min(inputs.size(), kMaxInputs); ++i) {
    words +=
        fmt::format("{}{} {}", i == 0 ? " (" : ", ", strip_directories(one_line(inputs[i], 60)),
                    number_words(evaluation.values[i], evaluation.noise));
  }
  return words + ")";
}

// The description of a valid result includes the score and the values of the inputs.
std::string describe_result(const Evaluation& evaluation, const Evaluator& evaluator) {
  switch (evaluation.status) {
    case Evaluation::Status::kOk:
      return "valid, " + format_score(evaluation, evaluator) +
             format_input_values(evaluation, evaluator);
    case Evaluation::Status::kRefused:
      return "refused before it ran";
    case Evaluation::Status::kFailed:
      return "failed";
    case Evaluation::Status::kTimedOut:
      break;
  }
  return "stopped, being far slower than the best";
}

// A failure is described by the error message of the run.
std::string describe_main_cause(const Evaluation& evaluation, GuideDetail detail) {
  const GuideFeedback& feedback = evaluation.feedback;
  if (!evaluation.ok()) {
    return detail >= GuideDetail::kExecution ? one_line(strip_directories(feedback.execution), 160)
                                             : "";
  }
  if (detail < GuideDetail::kProfile || !feedback.profile || feedback.profile->causes.empty()) {
    return "";
  }
  return describe_cause(feedback.profile->causes.front());
}

// The line about the profile is the first part that is removed from a prompt which is too long.
std::vector<FeedbackLine> feedback_lines(const GuideFeedback& feedback, GuideDetail detail) {
  std::vector<FeedbackLine> lines;
  const auto add = [&](std::string_view head, const std::string& text,
                       RemovalStage stage = RemovalStage::kNever) {
    const std::string line = one_line(strip_directories(text), kMaxLine);
    if (!line.empty()) lines.push_back({fmt::format("{}: {}\n", head, line), stage});
  };
  const auto add_all = [&](std::string_view head, const std::vector<std::string>& texts) {
    for (std::size_t i = 0; i < std::min(texts.size(), kMaxSentences); ++i) add(head, texts[i]);
  };
  if (detail >= GuideDetail::kExecution) {
    add("EXECUTION", feedback.execution);
    const std::size_t last = feedback.last_lines.size();
    for (std::size_t i = last - std::min(last, kMaxSentences); i < last; ++i) {
      add("OUTPUT", feedback.last_lines[i]);
    }
  }
  if (detail >= GuideDetail::kExplain) add_all("EXPLAIN", feedback.explain);
  if (detail >= GuideDetail::kSuggest) add_all("SUGGEST", feedback.suggest);
  if (detail >= GuideDetail::kProfile && feedback.profile) {
    const std::string words = strip_directories(profile_words(*feedback.profile));
    lines.push_back(
        {fmt::format("PROFILE: {}\n", one_line(words, 3 * kMaxLine)), RemovalStage::kProfile});
  }
  return lines;
}

// Uses the first sentence of each kind of feedback that `detail` allows.
std::string feedback_summary(const GuideFeedback& feedback, GuideDetail detail, std::size_t most) {
  std::string words;
  const auto add = [&](GuideDetail needs, const std::string& text) {
    if (detail < needs || text.empty()) return;
    words += (words.empty() ? "" : " ") + text;
  };
  add(GuideDetail::kExecution, feedback.execution);
  if (!feedback.last_lines.empty()) {
    add(GuideDetail::kExecution, fmt::format("It printed `{}`.", feedback.last_lines.back()));
  }
  if (!feedback.explain.empty()) add(GuideDetail::kExplain, feedback.explain.front());
  if (!feedback.suggest.empty()) add(GuideDetail::kSuggest, feedback.suggest.front());
  return one_line(strip_directories(words), most);
}

// The score of the best text so far is added to the result, so that the model can compare both.
void add_feedback(Prompt& prompt, const Evaluation& evaluation, const SearchRound& round,
                  GuideDetail detail) {
  std::string result = "RESULT: " + describe_result(evaluation, round.evaluator());
  const Step* best = round.history().best();
  if (best != nullptr) {
    result +=
        fmt::format("; the best so far: {}", format_score(best->evaluation, round.evaluator()));
  }
  prompt.add_user_text(result + "\n");
  for (FeedbackLine& line : feedback_lines(evaluation.feedback, detail)) {
    prompt.add_user_text(std::move(line.text), line.stage);
  }
}

void add_budget(Prompt& prompt, const SearchRound& round) {
  const std::size_t left = round.max_proposals();
  const Step* best = round.history().best();
  std::string text;
  if (left < SearchRound::kUnlimitedProposals) {
    text += fmt::format("BUDGET: {} more run{}. What is refused without a run does not count.\n",
                        left, left == 1 ? "" : "s");
  }
  if (best != nullptr) {
    text += fmt::format("BEST SO FAR: #{}, {}\n", best->number,
                        format_score(best->evaluation, round.evaluator()));
  }
  prompt.add_user_text(std::move(text));
}

// Lists the last kMaxStepsShown steps, the oldest first. The best step is marked.
void add_search_state(Prompt& prompt, const SearchRound& round, GuideDetail detail) {
  add_budget(prompt, round);
  const History& history = round.history();
  const std::vector<Step>& steps = history.recent();
  if (steps.empty()) return;
  prompt.add_heading("TRIED SO FAR (number, result, change, what took the time)\n",
                     RemovalStage::kHistory);
  const std::size_t first = steps.size() - std::min(steps.size(), kMaxStepsShown);
  for (std::size_t i = first; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const bool is_best = history.best() != nullptr && history.best()->number == step.number;
    std::string line =
        fmt::format("#{} {}{}", step.number, describe_result(step.evaluation, round.evaluator()),
                    is_best ? " (the best)" : "");
    for (const std::string& words : {one_line(strip_directories(step.proposal.why), 160),
                                     describe_main_cause(step.evaluation, detail)}) {
      if (!words.empty()) line += "; " + words;
    }
    prompt.add_user_text(line + "\n", RemovalStage::kHistory);
  }
}

// Shows the last proposals that failed, each with the reason and the differences from `current`, so
// that the model does not repeat them.
void add_failures(Prompt& prompt, const SearchRound& round, const Segments& current,
                  GuideDetail detail) {
  const std::vector<Step>& failures = round.history().failures();
  if (failures.empty()) return;
  prompt.add_heading("\nTRIED, NOT VALID (against the current text)\n", RemovalStage::kTried);
  for (std::size_t i = failures.size() - std::min(failures.size(), kMaxFailures);
       i < failures.size(); ++i) {
    const Step& step = failures[i];
    const std::string why =
        feedback_summary(step.evaluation.feedback, std::min(detail, GuideDetail::kExplain), 160);
    std::string text = fmt::format("#{} {}{}{}\n", step.number,
                                   describe_result(step.evaluation, round.evaluator()),
                                   why.empty() ? "" : ": ", why);
    const auto segments = segments_of(round.problem(), step.proposal.text);
    if (segments.ok())
      text += describe_segment_changes(*segments, current).substr(0, 2 * kMaxDifference);
    if (text.back() != '\n') text += "...\n";
    prompt.add_user_text(std::move(text), RemovalStage::kTried);
  }
}

}  // namespace groma::tuning
