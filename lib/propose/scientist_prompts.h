// The prompts of the proposer `scientist`: to its selector, its designer, its writer, and to the
// writer once more if a text failed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "groma/segments.h"
#include "model/prompt.h"
#include "propose/experiments.h"
#include "propose/population.h"

namespace groma::tuning {

// What the prompts of one round of the scientist have in common.
struct ScientistRound {
  const SearchRound& round;
  BaseAndReference pair;
  // The segments of the base.
  const Segments& base;
  // The findings that prompts show, the oldest first, each with its line end.
  const std::vector<std::string>& findings;
  // The limit on the bytes of a prompt.
  std::size_t prompt_bytes = 0;
  // How much prompts may say about runs.
  GuideDetail detail = GuideDetail::kNone;
  // True if the model replies with a bare mapping program (ModelAsker::replies_with_program()).
  bool bare_replies = false;
};

// A text that carried out an experiment and failed.
struct BrokenText {
  std::int64_t id = 0;
  std::string text;
  Evaluation evaluation;
  Experiment experiment;
};

// Returns the word for what the evaluator measures, such as "time".
std::string measured_word(const Evaluator& evaluator);

// Returns in a few words in which step the text failed: "its run failed".
std::string_view why_it_failed(const Evaluation& evaluation);
// Returns the reason why a run failed, in lines of text: the error, lines of the output, and what
// they mean. At most `most_lines` lines of the output. Contains no more than `detail` allows, and
// no folders.
std::vector<std::string> failure_lines(const GuideFeedback& feedback, GuideDetail detail,
                                       std::size_t most_lines);

// Builds the prompt that asks for a base and a reference. It lists the last members of the
// population and the best ones.
void build_selector(Prompt& prompt, const SearchRound& round, const Population& population);
// Builds the prompt that asks for avenues and experiments. `remarks` are those about the last
// reply.
void build_designer(Prompt& prompt, const ScientistRound& now, const std::string& remarks);
// Builds the prompt that asks for the text of one experiment. `remarks` are those about the last
// replies to other experiments.
void build_writer(Prompt& prompt, const ScientistRound& now, const Experiment& experiment,
                  const std::string& remarks);
// Builds the prompt that asks to repair a text that failed. now.base has the segments of that text,
// and now.pair its base and reference.
void build_repair(Prompt& prompt, const ScientistRound& now, const BrokenText& broken);

}  // namespace groma::tuning
