// ModelAsker: sends the questions of a proposer to a language model, and turns the replies into
// proposals of mappings. The file also has the parts of prompts that all proposers with a model
// share.
#include "model/asking.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"
#include "groma/explain.h"
#include "groma/program.h"
#include "groma/segments.h"
#include "model/problem_words.h"
#include "model/reply_text.h"

namespace groma::tuning {
namespace {

// Limits on the remarks in a prompt, and on the questions that are sent to the model at once.
constexpr std::size_t kMaxRemarks = 4, kMaxAtOnce = 8;
// Limit on how often prompts that are too long are shortened and sent again.
constexpr int kMaxShorter = 3;

// Returns true if the model did reply, but the reply has no text that could be read. Where a
// proposal was expected, this counts like a reply that cannot be read.
bool is_useless_reply(llm::ChatError::Code code) {
  using Code = llm::ChatError::Code;
  return code == Code::kNoText || code == Code::kRefusal || code == Code::kTooLarge;
}

// Returns the step of the search in which a text with this normal form was tried, or null if the
// history no longer has the step.
const Step* find_step(const SearchRound& round, const std::string& canonical) {
  const History& history = round.history();
  for (const std::vector<Step>* steps :
       {&history.best_first(), &history.recent(), &history.failures()}) {
    for (const Step& step : *steps) {
      if (round.evaluator().canonical(step.proposal.text) == canonical) return &step;
    }
  }
  return nullptr;
}

// Returns a valid step of the search whose mapping makes the same decisions as this text, or null.
// Only the steps that the history still has are compared.
const Step* step_with_same_decisions(const SearchRound& round, const std::string& text) {
  for (const Step& step : round.history().best_first()) {
    if (round.evaluator().acts_alike(text, step.proposal.text)) return &step;
  }
  return nullptr;
}

}  // namespace

// If replies are bare programs, they are constrained by a grammar that allows only the names of the
// application's tasks and regions.
ModelAsker::ModelAsker(const SearchProblem& problem, std::uint64_t seed, const AskOptions& options)
    : is_mapping_(problem.is_mapping()),
      seed_(seed),
      options_(options),
      prompt_bytes_(options.prompt_bytes) {
  if (!replies_with_program() || problem.inputs.empty()) return;
  ApplicationGrammar narrow = application_grammar(problem.inputs.front(), *problem.machine);
  grammar_.gbnf = std::move(narrow.gbnf);
  grammar_.lark = std::move(narrow.lark);
}

// Builds the request to the model for a question. `sample` is the number of the question among
// those of this step of the search. The seed of the request depends only on the seed of the search,
// the step and `sample`, so that a resumed search sends the same requests.
llm::ChatRequest ModelAsker::make_request(const ModelQuestion& question,
                                          std::uint64_t sample) const {
  llm::ChatRequest request;
  request.messages = question.prompt.messages(prompt_bytes_);
  // The seed has 31 bits, which every server accepts.
  request.seed = static_cast<std::int64_t>(random_at(random_at(seed_, step_), sample) >> 33);
  request.max_tokens = options_.max_tokens;
  if (options_.constrain && question.expects_program && is_mapping_) {
    request.constraint = grammar_;
  } else if (options_.constrain) {
    request.constraint.json_schema = question.json_schema;
  }
  return request;
}

// Reduces the limit on the bytes of a prompt after a prompt was too long. If the server states the
// size of its context window, at most a third of it is reserved for the reply, and a token counts
// as 2.5 bytes. If this does not reduce the limit, it falls by a third. Returns false if the limit
// cannot fall further.
bool ModelAsker::reduce_prompt_limit(const llm::ChatError& error) {
  const std::size_t before = prompt_bytes_;
  if (error.context_tokens > 0) {
    options_.max_tokens = static_cast<int>(std::min<std::int64_t>(
        options_.max_tokens, std::max<std::int64_t>(64, error.context_tokens / 3)));
    const std::int64_t tokens = error.context_tokens - options_.max_tokens;
    const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(tokens, 0)) * 5 / 2;
    prompt_bytes_ = std::min(prompt_bytes_, bytes);
  }
  if (prompt_bytes_ == before) prompt_bytes_ = before * 2 / 3;
  prompt_bytes_ = std::max(prompt_bytes_, AskOptions::kMinPromptBytes);
  return prompt_bytes_ < before;
}

// Sends at most kMaxAtOnce questions to the model at once. Prompts that were too long are shortened
// and sent again, at most kMaxShorter times.
std::vector<std::optional<llm::ChatReply>> ModelAsker::ask(SearchRound& round,
                                                           std::span<const ModelQuestion> questions,
                                                           double temperature) {
  std::vector<std::optional<llm::ChatReply>> replies(questions.size());
  std::vector<std::size_t> open(questions.size());
  for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
  for (int again = 0; !open.empty(); ++again) {
    std::vector<std::size_t> too_long;
    std::optional<llm::ChatError> error;
    // The index `i` of a question is its sample number, which stays the same when the question is
    // sent again.
    for (std::size_t first = 0; first < open.size(); first += kMaxAtOnce) {
      const std::span<const std::size_t> part =
          std::span(open).subspan(first, std::min(kMaxAtOnce, open.size() - first));
      std::vector<llm::ChatRequest> requests;
      for (const std::size_t i : part) {
        requests.push_back(make_request(questions[i], i));
        requests.back().temperature = options_.temperature.value_or(temperature);
      }
      auto answers = round.ask(requests);
      for (std::size_t a = 0; a < std::min(part.size(), answers.size()); ++a) {
        if (answers[a]) {
          replies[part[a]] = std::move(*answers[a]);
          continue;
        }
        const llm::ChatError& failure = answers[a].error();
        if (questions[part[a]].expects_program && is_useless_reply(failure.code)) {
          refuse_proposal(round, fmt::format("no reply: {}", one_line(failure.message, 300)));
          continue;
        }
        error = failure;
        if (error->code == llm::ChatError::Code::kContextTooLong) too_long.push_back(part[a]);
      }
    }
    if (!too_long.empty() && again < kMaxShorter && !round.stop() && reduce_prompt_limit(*error)) {
      open = std::move(too_long);
      continue;
    }
    if (error) round.reject(fmt::format("no reply: {}", one_line(error->message, 300)));
    break;
  }
  // The next call of ask() uses other seeds.
  ++step_;
  return replies;
}

void ModelAsker::add_remark(std::string text) {
  if (remarks_.size() < kMaxRemarks) remarks_.push_back(std::move(text));
}

void ModelAsker::add_unusable_reply_remark(const std::string& why) {
  add_remark(fmt::format("YOUR LAST REPLY could not be used: {}.", why));
}

void ModelAsker::report_unusable_reply(SearchRound& round, const std::string& why) {
  add_unusable_reply_remark(why);
  round.reject(why);
}

std::nullopt_t ModelAsker::refuse_proposal(SearchRound& round, const std::string& why) {
  add_unusable_reply_remark(why);
  round.reject_proposal(why);
  return std::nullopt;
}

// Refuses a text whose normal form was proposed before, and tells the model the result of the
// earlier proposal.
std::optional<Proposal> ModelAsker::make_proposal(SearchRound& round, const ModelAnswer& answer,
                                                  std::string_view otherwise) {
  if (!answer.segments) return refuse_proposal(round, answer.refusal_reason);
  for (const std::string& text : answer.notes) {
    add_remark(fmt::format("OF YOUR LAST REPLY not all could be used: {}.", text));
  }
  // The first call marks the recent texts of the search as proposed.
  if (!std::exchange(has_marked_history_, true)) {
    for (const Step& step : round.history().recent()) {
      mark_proposed(round, step.proposal.text);
    }
  }
  Proposal proposal;
  proposal.text = answer.segments->text();
  const std::string canonical = round.evaluator().canonical(proposal.text);
  if (!proposed_.add(hash_of(canonical), {})) {
    const Step* step = find_step(round, canonical);
    return refuse_proposal(
        round, step == nullptr ? std::string("it was proposed before")
                               : fmt::format("the same text was tried before: #{} {}", step->number,
                                             describe_result(step->evaluation, round.evaluator())));
  }
  if (const Step* same = step_with_same_decisions(round, proposal.text)) {
    return refuse_proposal(
        round, fmt::format("it makes the same decisions as #{} ({}), so its result would be the "
                           "same: what it changes decides nothing here",
                           same->number, describe_result(same->evaluation, round.evaluator())));
  }
  add_remarks_about_names(round.problem(), proposal.text);
  proposal.why = answer.plan.empty() ? std::string(otherwise) : answer.plan;
  return proposal;
}

// Remarks on names that the application does not have, and on statements that therefore decide
// nothing. At most two, because the list of remarks is short.
void ModelAsker::add_remarks_about_names(const SearchProblem& problem, const std::string& text) {
  if (!problem.is_mapping() || problem.inputs.empty()) return;
  Diagnostics diags(Source("reply", text));
  const Program program = compile(diags.source(), diags);
  if (diags.has_errors()) return;
  diags.clear();
  check_names(program, problem.inputs.front(), diags);
  constexpr std::size_t kMaxNames = 2;
  for (std::size_t i = 0; i < std::min(diags.all().size(), kMaxNames); ++i) {
    const Diagnostic& diagnostic = diags.all()[i];
    add_remark(fmt::format("OF YOUR LAST REPLY: {}{}.", diagnostic.message,
                           diagnostic.helps.empty() ? "" : "; " + diagnostic.helps.front()));
  }
}

// Each remark about an earlier reply is added to one prompt only.
std::string ModelAsker::take_remarks() {
  std::string text;
  for (const std::string& remark : remarks_) text += remark + "\n";
  remarks_.clear();
  return text;
}

// Writes what the model is asked to do, and how the result is measured.
std::string system_introduction(const SearchProblem& problem, const Evaluator& evaluator) {
  if (!problem.is_mapping()) {
    std::string what =
        "You improve marked parts of a text, called segments. The text outside of them stays as it "
        "is.";
    const Result<Segments> segments = segments_of(problem, problem.start);
    if (segments.ok() && segments->are_files()) {
      what = "You improve a text: ";
      for (const Segment& segment : segments->all()) {
        what += (&segment == segments->all().data() ? "the file " : ", the file ") + segment.name;
      }
      what += ". Each file is a segment.";
    }
    return fmt::format(
        "{} {}. A text that does not build, fails or gives wrong results is worth nothing.\n", what,
        describe_goal(evaluator));
  }
  return fmt::format(
      "You tune the placement of a task-based parallel program on a machine. You write a small "
      "mapping program. It says which processors run each task, which memory holds each region, "
      "how the data lies there, and where the points of index launches go. {}. A mapping that "
      "cannot run is worth nothing.\n",
      describe_goal(evaluator));
}

// The segments of a mapping have fixed names, which the instructions list. The names of the
// segments of a marked text are shown with its blocks.
std::string segment_reply_instructions(const SearchProblem& problem, std::string_view plan) {
  const std::string first = fmt::format("First write one line, PLAN: {}. Then ", plan);
  constexpr std::string_view kBlocks =
      ". A block replaces that whole segment. Leave out the segments that stay. To empty a "
      "segment write NONE in its block. Nothing but the segment's text stands in a block.\n";
  if (problem.is_mapping()) {
    return fmt::format(
        "{}write one fenced block for each segment that you change, labelled with its name: task, "
        "region, layout, limit, functions, index, single, other{}",
        first, kBlocks);
  }
  constexpr std::string_view kEdits =
      "<<<<<<< SEARCH\n<whole lines of the text, letter for letter>\n=======\n<the lines "
      "instead>\n>>>>>>> REPLACE\nWrite as many edits as you need, one after the other, without "
      "fences. Each searches the text as the edits before it left it. Its lines must occur there "
      "once: take enough of them, such as the head of the function.\n";
  // A block that was made from parts of a long text would delete the others.
  if (problem.start.size() > kLongFileBytes) {
    return fmt::format("{}write edits, each in exactly this form:\n{}", first, kEdits);
  }
  return fmt::format(
      "{}give the changes in one of two forms.\nEdits, if most lines stay as they are, each in "
      "exactly this form:\n{}Or one fenced block for each segment that you change, labelled with "
      "its name{}",
      first, kEdits, kBlocks);
}

// If a grammar constrains the reply, the server allows nothing but the program, so no fences are
// requested.
std::string whole_reply_instructions(const SearchProblem& problem, bool bare) {
  if (bare) return "Reply with the whole program and nothing else.\n";
  return problem.is_mapping()
             ? "Reply with one line, PLAN: what you try, then the whole program in one fenced "
               "block.\n"
             : "Reply with one line, PLAN: what you try, then a fenced block for each segment, "
               "labelled with its name, with all of the segment.\n";
}

// Parts of the language description with a RemovalStage other than kNever may be removed from a
// prompt that is too long.
void add_language_card(Prompt& prompt, const SearchProblem& problem) {
  if (!problem.is_mapping()) return;
  prompt.add_system_text("\n");
  for (const LanguageCardPart& piece : language_card()) {
    prompt.add_system_text(piece.text, piece.stage);
  }
}

const std::string& text_of(const Step* step, const SearchProblem& problem) {
  return step == nullptr ? problem.start : step->proposal.text;
}

}  // namespace groma::tuning
