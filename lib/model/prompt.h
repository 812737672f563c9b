// Prompts: the parts from which a prompt is built, and how a prompt that is too long is shortened.
// A prompt says what is searched for and what earlier proposals gave. It has no paths, no budget
// and no time of day, and no mappings except those that were tried in this search.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/search.h"
#include "groma/segments.h"

namespace groma::tuning {

// Limit on the bytes of a prompt: about 3,000 tokens, so that a context window of 4,096 tokens has
// room for a reply.
inline constexpr std::size_t kPromptBytes = 12'000;
inline constexpr std::size_t kWholeTextsPromptBytes =
    2 * kPromptBytes;  // of a prompt with whole mappings

// The stage at which a part is removed from a prompt that is too long. Parts of stage kProfile are
// removed first; those of kNever stay. Parts of the same stage are removed in the order in which
// they were added.
enum class RemovalStage : std::uint8_t { kProfile, kHistory, kTried, kApp, kCard, kNever };

// A prompt: a system message, then a user message. The parts that are equal in every prompt come
// first, because servers can cache a common beginning.
class Prompt {
 public:
  void system(std::string text, RemovalStage stage = RemovalStage::kNever) {
    parts_.push_back({std::move(text), stage, true, false});
  }
  void user(std::string text, RemovalStage stage = RemovalStage::kNever) {
    parts_.push_back({std::move(text), stage, false, false});
  }
  // Adds a heading. It is removed when no part of the same stage is left below it.
  void heading(std::string text, RemovalStage stage) {
    parts_.push_back({std::move(text), stage, false, true});
  }

  // Returns the messages in valid UTF-8. Removes parts until the messages have at most `most_bytes`
  // bytes, or only parts of kNever are left.
  std::vector<llm::ChatMessage> messages(std::size_t most_bytes = kPromptBytes) const;

 private:
  struct PromptPart {
    std::string text;
    RemovalStage stage;
    bool system, heading;
  };
  std::vector<PromptPart> parts_;
};

// A piece of the card, which describes the mapping language to a model that never saw the language.
// The lines that begin with four spaces, of all pieces together, form one valid program.
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
// Adds the text around the segments of a marked text, which a model cannot change. If there is too
// much text, the lines nearest to the segments are kept.
void add_surroundings(Prompt& prompt, const Problem& problem);
// Returns the segments of a text. Those of a mapping follow from its statements. Any other text
// needs marks, and the function fails as Segments::of_marked() does.
Result<Segments> segments_of(const Problem& problem, const std::string& text);
// Returns each segment as a fenced block that is labelled with its name. An empty segment is
// written as NONE. If the mark of a segment has a description, it stands above the block.
std::string fenced_segments(const Segments& segments);
// Returns the text as a fenced block. The fence has more backticks than any run of backticks in the
// text.
std::string fenced(std::string_view text, std::string_view label = "");

// Returns one line for each segment in which `text` differs from `base`, with added and removed
// lines: "region: + ...; - ...". Returns an empty text if there is no difference.
std::string difference(const Segments& text, const Segments& base);

// Returns a score in the evaluator's unit, "0.0331 s", with only the digits that exceed the noise.
std::string score_words(const Evaluation& evaluation, const Evaluator& evaluator);
// Returns how an evaluation ended: "valid, 0.0331 s", "refused before it ran", "failed" or that it
// was stopped.
std::string result_words(const Evaluation& evaluation, const Evaluator& evaluator);
// Returns the value of each input: " (small 0.1 s, large 2.4 s)". Returns an empty text if there is
// only one input.
std::string values_words(const Evaluation& evaluation, const Evaluator& evaluator);
// One line of the feedback about a step: "EXECUTION: ...", "EXPLAIN: ...", "SUGGEST: ..." or
// "PROFILE: ...".
struct FeedbackLine {
  std::string text;
  RemovalStage stage = RemovalStage::kNever;
};
// Returns the feedback at this level of detail. Long lines are cut.
std::vector<FeedbackLine> feedback_lines(const Feedback& feedback, GuideDetail detail);
// Returns the feedback as one line of at most `most` bytes, for a list.
std::string feedback_summary(const Feedback& feedback, GuideDetail detail, std::size_t most);
// Adds the result of an evaluation and its feedback to a prompt.
void add_feedback(Prompt& prompt, const Evaluation& evaluation, const Round& round,
                  GuideDetail detail);
// Adds the last failures of different kinds, each as a difference from the text `current`.
void add_failures(Prompt& prompt, const Round& round, const Segments& current, GuideDetail detail);

// Returns an untrusted text in which every path is reduced to its file name.
std::string without_paths(std::string_view text);

}  // namespace groma::tuning
