// Prompts for the language model that proposes mappings: the parts of a prompt, and how a prompt
// that is too long is shortened. A prompt describes the goal and the results of earlier proposals.
// It contains no paths, no time of day, and no mappings except those tried in this search.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/machine.h"
#include "groma/search.h"
#include "groma/segments.h"
#include "groma/workload.h"

namespace groma::tuning {

// The stage at which a part is removed from a prompt that is too long. Parts of stage kKnowledge
// are removed first, and parts of stage kNever are never removed. Parts of the same stage are
// removed in the order in which they were added.
enum class RemovalStage : std::uint8_t {
  // Quotations from the user's documents.
  kKnowledge,
  // The profile of the last run.
  kProfile,
  // Texts that ran earlier in the search.
  kHistory,
  // Texts that did not run, and the decisions of the mapping.
  kTried,
  // Details of the tasks of the application. Their names always stay.
  kApp,
  // Parts of the reference card of the language.
  kCard,
  // What earlier experiments found.
  kFindings,
  // A text that is not a mapping. It becomes an excerpt.
  kText,
  kNever
};

// A prompt for a language model: a system message, then a user message. The parts that are equal in
// every prompt come first, because servers can cache a common beginning.
class Prompt {
 public:
  void add_system_text(std::string text, RemovalStage stage = RemovalStage::kNever) {
    parts_.push_back({std::move(text), stage, true, false});
  }
  // `shorter` takes the place of the text when it is removed.
  void add_user_text(std::string text, RemovalStage stage = RemovalStage::kNever,
                     std::string shorter = "") {
    parts_.push_back({std::move(text), stage, false, false, std::move(shorter)});
  }
  // Adds a heading to the user message. The heading is removed when no part of the same stage is
  // left below it.
  void add_heading(std::string text, RemovalStage stage) {
    parts_.push_back({std::move(text), stage, false, true});
  }

  // Returns the messages of the prompt in valid UTF-8. Leaves out parts, stage by stage, until the
  // messages have at most `most_bytes` bytes or only parts of stage kNever are left. The user
  // message then begins with a line that says what is left out.
  std::vector<llm::ChatMessage> messages(std::size_t most_bytes) const;

 private:
  struct PromptPart {
    std::string text;
    RemovalStage stage;
    bool system, heading;
    std::string shorter = {};
  };
  std::vector<PromptPart> parts_;
};

// A part of the reference card, which describes the mapping language to a language model that never
// saw it. The lines of all parts that begin with four spaces form one valid program.
struct LanguageCardPart {
  std::string text;
  RemovalStage stage = RemovalStage::kNever;
};
// Returns the reference card, which describes the mapping language, in parts.
std::span<const LanguageCardPart> language_card();

// Describes the goal of the search: "The result is measured in s. Make it as low as possible".
std::string describe_goal(const Evaluator& evaluator);
// Adds a description of the problem to a prompt. For a mapping, these are the machine and the
// application, and the examples. For any other text, see add_about_text() in text_words.h.
void add_problem(Prompt& prompt, const SearchProblem& problem);
// Adds the reference card of the language to the system message, and describes the machine and the
// application in the user message. Both may be null; an application needs a machine.
void add_card_and_facts(Prompt& prompt, const std::shared_ptr<const Machine>& machine,
                        const Workload* app);
// Divides a text into segments. The segments of a mapping follow from its statements, those of any
// other text from its marks or files (Segments::of_text()), of which the only file is named as
// SearchProblem::file. Fails if the marks are not valid.
Result<Segments> segments_of(const SearchProblem& problem, const std::string& text);
// Writes each segment as a fenced block that is labelled with the name of the segment. An empty
// segment is written as NONE. The description of a marked segment, if there is one, stands above
// the block.
std::string fenced_segments(const Segments& segments);
// Returns the text as a fenced block as in Markdown. The fence has more backticks than any run of
// backticks in the text.
std::string as_fenced_block(std::string_view text, std::string_view label = "");

// Describes how `text` differs from `base`: for each segment that differs, its name, the removed
// lines ("- ...") and the added lines ("+ ..."). Returns an empty text if there is no difference.
std::string describe_segment_changes(const Segments& text, const Segments& base);

// Formats the score of an evaluation in the evaluator's unit, "0.0331 s". A noisy score has fewer
// digits.
std::string format_score(const Evaluation& evaluation, const Evaluator& evaluator);
// Describes how the evaluation of a text ended: "valid, 0.0331 s", "refused before it ran",
// "failed", or that it was stopped because it was far slower than the best.
std::string describe_result(const Evaluation& evaluation, const Evaluator& evaluator);
// Describes the largest cause of a run's time, or of its failure, in a few words. Returns an empty
// text if `detail` allows none.
std::string describe_main_cause(const Evaluation& evaluation, GuideDetail detail);
// Lists the measured value for each input of the application: " (small 0.1, large 2.4)". Returns an
// empty text if there is only one input.
std::string format_input_values(const Evaluation& evaluation, const Evaluator& evaluator);
// One line of a prompt with feedback about a tried text: "EXECUTION: ...", "OUTPUT: ...", "EXPLAIN:
// ...", "SUGGEST: ..." or "PROFILE: ...".
struct FeedbackLine {
  std::string text;
  RemovalStage stage = RemovalStage::kNever;
};
// Returns the lines of a prompt with the feedback at this level of detail. Long lines are cut.
std::vector<FeedbackLine> feedback_lines(const GuideFeedback& feedback, GuideDetail detail);
// Summarises the feedback in one line of at most `most` bytes, for a list of proposals.
std::string feedback_summary(const GuideFeedback& feedback, GuideDetail detail, std::size_t most);
// Adds the result of an evaluation and the feedback about it to a prompt.
void add_feedback(Prompt& prompt, const Evaluation& evaluation, const SearchRound& round,
                  GuideDetail detail);
// Adds how many runs are left, and the best result so far.
void add_budget(Prompt& prompt, const SearchRound& round);
// Adds what a model without memory must know about the search so far: how many runs are left, and
// one line for each earlier step with its result, its change and what took the time.
void add_search_state(Prompt& prompt, const SearchRound& round, GuideDetail detail);
// Adds the last proposals that failed, each with another error message, to a prompt. Each is
// written as a difference from the text `current`.
void add_failures(Prompt& prompt, const SearchRound& round, const Segments& current,
                  GuideDetail detail);

// Returns a copy of the text in which every file path is reduced to the file name.
std::string strip_directories(std::string_view text);

}  // namespace groma::tuning
