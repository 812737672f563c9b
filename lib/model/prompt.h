// Prompts: the blocks of a prompt, and how a prompt is shortened. A prompt says what the search
// looks for and how earlier proposals performed. It holds no paths, no budget, no time of day, and
// no mappings except the ones tried in this search.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/search.h"
#include "groma/segments.h"

namespace groma::tuning {

// About 3,000 tokens, so that a context window of 4,096 tokens has room for a reply.
inline constexpr std::size_t kPromptBytes = 12'000;
inline constexpr std::size_t kWholeTextsPromptBytes =
    2 * kPromptBytes;  // of a prompt with whole mappings

// When a block is removed from a prompt that is too long. The first stage is kProfile; kNever
// blocks are kept. Blocks of the same stage are removed in the order in which they were added.
enum class RemovalStage : std::uint8_t { kProfile, kHistory, kTried, kApp, kCard, kNever };

// A prompt: a system message, then a user message. Parts that are the same in every prompt come
// first.
class Prompt {
 public:
  void system(std::string text, RemovalStage stage = RemovalStage::kNever) {
    parts_.push_back({std::move(text), stage, true, false});
  }
  void user(std::string text, RemovalStage stage = RemovalStage::kNever) {
    parts_.push_back({std::move(text), stage, false, false});
  }
  // Adds a heading. It is removed together with the last part of the same stage that follows it.
  void heading(std::string text, RemovalStage stage) {
    parts_.push_back({std::move(text), stage, false, true});
  }

  // Returns the messages in valid UTF-8, with at most `most_bytes` bytes if removing blocks
  // achieves that.
  std::vector<llm::ChatMessage> messages(std::size_t most_bytes = kPromptBytes) const;

 private:
  struct Part {
    std::string text;
    RemovalStage stage;
    bool system, heading;
  };
  std::vector<Part> parts_;
};

// One piece of the description of the mapping language for a model that never saw the language. All
// lines that begin with four spaces, of all pieces together, form one program.
struct CardPiece {
  std::string text;
  RemovalStage stage = RemovalStage::kNever;
};
// Returns the description of the mapping language.
std::span<const CardPiece> language_card();

// Describes the goal: "The result is measured in s. Make it as low as possible".
std::string goal_words(const Evaluator& evaluator);
// Adds a description of the machine and the application, or of the text's subject.
void add_problem(Prompt& prompt, const Problem& problem);
// Adds the parts of a marked text outside its segments, which a model cannot change. If space is
// short, the lines nearest to the segments are kept.
void add_surroundings(Prompt& prompt, const Problem& problem);
// Returns the segments of a text: of a mapping, or the marked ones. Fails like
// Segments::of_marked().
Result<Segments> segments_of(const Problem& problem, const std::string& text);
// Returns each segment as a fenced block with its name; an empty segment is written as NONE. The
// description that a segment's mark gives stands above its block.
std::string fenced_segments(const Segments& segments);
// Returns the text as a fenced block. The fence is long enough that it does not occur in the text.
std::string fenced(std::string_view text, std::string_view label = "");

// Returns one line for each segment in which `text` differs from `base`: "region: + ...; - ...".
// Returns "" if there is no difference.
std::string difference(const Segments& text, const Segments& base);

// Returns a score in the evaluator's unit, "0.0331 s", with only the digits that exceed the noise.
std::string score_words(const Evaluation& evaluation, const Evaluator& evaluator);
// Returns the outcome: "valid, 0.0331 s", "refused", "failed" or "timed out".
std::string result_words(const Evaluation& evaluation, const Evaluator& evaluator);
// Returns the value of each input, " (small 0.1 s, large 2.4 s)"; "" if there is only one input.
std::string values_words(const Evaluation& evaluation, const Evaluator& evaluator);
// One line of a step's feedback: "EXECUTION: ...", "EXPLAIN: ...", "SUGGEST: ..." or "PROFILE:
// ...".
struct FeedbackLine {
  std::string text;
  RemovalStage stage = RemovalStage::kNever;
};
// Returns the feedback at this level of detail; long lines are cut.
std::vector<FeedbackLine> feedback_lines(const Feedback& feedback, GuideDetail detail);
// Returns the feedback as one line of at most `most` bytes, for a list.
std::string feedback_summary(const Feedback& feedback, GuideDetail detail, std::size_t most);
// Adds the RESULT block: the outcome of an evaluation and its feedback.
void add_feedback(Prompt& prompt, const Evaluation& evaluation, const Round& round,
                  GuideDetail detail);
// Adds the last failure of each kind, as a difference from `current`.
void add_failures(Prompt& prompt, const Round& round, const Segments& current, GuideDetail detail);

// Returns an untrusted text in which every path is reduced to its file name.
std::string without_paths(std::string_view text);

}  // namespace groma::tuning
