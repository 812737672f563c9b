// Prompts: their blocks, and how they are made to fit. They say what is searched for and what came
// of what was tried; no path, no budget, no time of day, and no mapping but those tried here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/segments.h"
#include "groma/tune.h"

namespace groma::tuning {

// 3,000 tokens, so that a window of 4,096 has room for a reply.
inline constexpr std::size_t kPromptBytes = 12'000;

// What leaves a prompt that is too long, the first of these first; of one kind, what was added
// first.
enum class Leaves : std::uint8_t { kProfile, kHistory, kTried, kApp, kCard, kNever };

// A system message, then the user's. Begins with what stays the same from prompt to prompt.
class Prompt {
 public:
  void system(std::string text, Leaves leaves = Leaves::kNever) {
    parts_.push_back({std::move(text), leaves, true, false});
  }
  void user(std::string text, Leaves leaves = Leaves::kNever) {
    parts_.push_back({std::move(text), leaves, false, false});
  }
  // Goes with the last of the parts of its kind that follow it.
  void heading(std::string text, Leaves leaves) {
    parts_.push_back({std::move(text), leaves, false, true});
  }

  // At most so many bytes, as far as leaving out helps; valid UTF-8.
  std::vector<ChatMessage> messages(std::size_t most_bytes = kPromptBytes) const;

 private:
  struct Part {
    std::string text;
    Leaves leaves;
    bool system, heading;
  };
  std::vector<Part> parts_;
};

// What the language is, for a model that never saw it: pieces, each with how it leaves. Lines that
// begin with four spaces are, all together, a program.
struct CardPiece {
  std::string text;
  Leaves leaves = Leaves::kNever;
};
std::span<const CardPiece> language_card();

// "smaller is better, in s: the geometric mean over ..."
std::string goal_words(const Evaluator& evaluator);
// The machine and the application, or what the text is about.
void add_problem(Prompt& prompt, const Problem& problem);
// Of a marked text what stands outside of its segments, which stays as it is: nearest to them what
// there is room for.
void add_surroundings(Prompt& prompt, const Problem& problem);
// As it can be: mapping segments, or the marked ones. Fails as Segments::of_marked does.
Result<Segments> segments_of(const Problem& problem, const std::string& text);
// Each in a fenced block with its name, empty ones as NONE; before one that is marked what its mark
// says of it.
std::string show(const Segments& segments);
// A text in a fence that it does not hold.
std::string fenced(std::string_view text, std::string_view label = "");

// How `text` differs from `base`: a line for each segment, "region: + ...; - ..."; empty: not.
std::string difference(const Segments& text, const Segments& base);

// "0.0331 s", of the evaluator's unit whichever way is better, to what can be told from noise.
std::string score_words(const Evaluation& evaluation, const Evaluator& evaluator);
// "valid, 0.0331 s", "refused", "failed", "timed out"
std::string result_words(const Evaluation& evaluation, const Evaluator& evaluator);
// " (small 0.1 s, large 2.4 s)" of several inputs; else empty.
std::string values_words(const Evaluation& evaluation, const Evaluator& evaluator);
// What is said of a step's feedback, cut, at this level: lines "EXECUTION: ...", "EXPLAIN: ...",
// "SUGGEST: ...", "PROFILE: ...".
struct FeedbackLine {
  std::string text;
  Leaves leaves = Leaves::kNever;
};
std::vector<FeedbackLine> feedback_lines(const Feedback& feedback, GuideDetail detail);
// One line of it, for a list.
std::string feedback_summary(const Feedback& feedback, GuideDetail detail, std::size_t most);
// RESULT and its feedback.
void add_feedback(Prompt& prompt, const Evaluation& evaluation, const Round& round,
                  GuideDetail detail);
// The last failure of each kind, against the text that is edited.
void add_failures(Prompt& prompt, const Round& round, const Segments& current, GuideDetail detail);

// Foreign text without the folders of the paths in it.
std::string without_paths(std::string_view text);

}  // namespace groma::tuning
