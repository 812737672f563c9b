// write_mapping(): asks a language model for a mapping, checks its reply, and asks for repairs.
#include "groma/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "edit/mapping.h"
#include "explain/words.h"
#include "groma/harmless.h"
#include "groma/search.h"
#include "groma/syntax.h"
#include "llm/text.h"
#include "model/answer.h"
#include "model/problem_words.h"
#include "model/prompt.h"
#include "model/reply_text.h"
#include "syntax/lexer.h"
#include "syntax/parser.h"

namespace groma::tuning {
namespace {

// Limit on the bytes of the diagnostics that one question shows to the model.
constexpr std::size_t kMaxDiagnosticsBytes = 4'000;
// Limit on the statements without effect that one question lists.
constexpr std::size_t kMaxIdleStatements = 12;
// Limit on the bytes of a reply without a mapping that the next question repeats.
constexpr std::size_t kMaxRepeatedReplyBytes = 2'000;
// Limit on how often a prompt that is too long for the model is shortened.
constexpr int kMaxShorterPrompts = 3;

// Returns true if the text is a program without syntax errors that has at least one statement.
bool is_program(const std::string& text) {
  Diagnostics diags(Source("reply", text));
  syntax::parse(diags.source(), diags);
  return !diags.has_errors() && !edit::EditableMapping(text).items().empty();
}

// Returns true if the text begins with a comment or with a word that is reserved in the language,
// so that it is meant as a program and not as prose.
bool begins_like_program(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('#')) return true;
  return syntax::find_reserved_word(text.substr(0, text.find_first_of(" \t\n=("))) != nullptr;
}

// Returns the mapping in a model's reply. A program that stands in one fenced block, or alone, is
// taken as it is, so that its diagnostics name the model's own lines. Every other form (JSON,
// labelled blocks, statements in prose) is read by read_answer(). Returns nullopt and sets `why` if
// there is no mapping.
std::optional<std::string> mapping_in_reply(const llm::ChatReply& reply, std::string* why) {
  const std::optional<std::string> text = text_without_reasoning(reply, why);
  if (!text) return std::nullopt;
  const std::vector<FencedBlock> blocks = fenced_blocks(*text);
  const bool ends_open = blocks.empty() || !blocks.back().closed;
  if (reply.finish == llm::ChatReply::Finish::kLength && ends_open) {
    *why = "it was cut off at the limit of tokens; a mapping has some ten lines";
    return std::nullopt;
  }
  std::string whole = blocks.empty() ? *text : "";
  for (const FencedBlock& block : blocks) whole += block.body;
  if (whole.size() > kMaxSegmentBytes) {
    *why = fmt::format("its mapping has {} bytes; a kilobyte or two is enough", whole.size());
    return std::nullopt;
  }
  if (blocks.size() <= 1 && is_program(whole)) return whole;
  const ModelAnswer answer = read_answer(reply, Segments::of_mapping(Source("reply", "")),
                                         {.is_mapping = true, .is_whole = true});
  if (answer.segments && answer.notes.empty() && is_program(answer.segments->text())) {
    return answer.segments->text();
  }
  // The mapping has a mistake. Its diagnostics say more than the notes of the reader.
  const bool is_object = trimmed(whole).starts_with('{');
  const bool is_meant = blocks.empty() ? begins_like_program(whole) : !trimmed(whole).empty();
  if (is_meant && !is_object) return whole;
  *why = answer.refusal_reason;
  for (const std::string& note : answer.notes) *why += (why->empty() ? "" : "; ") + note;
  if (why->empty()) *why = "there is no mapping in it";
  return std::nullopt;
}

// Returns the sentence as comment lines, broken at spaces.
std::string as_comment(std::string_view sentence) {
  constexpr std::size_t kMaxLineBytes = 98;
  std::string comment;
  const std::string harmless_sentence = harmless_lines(trimmed(sentence));
  std::string_view rest = harmless_sentence;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.size() > kMaxLineBytes) {
      const std::size_t space = line.rfind(' ', kMaxLineBytes);
      line = line.substr(0, space == line.npos || space == 0 ? line.find(' ') : space);
    }
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    line = trimmed(line);
    comment += line.empty() ? "#\n" : fmt::format("# {}\n", line);
  }
  return comment;
}

// Returns the errors and warnings as a person would see them, as many as fit. A warning that the
// check is incomplete is left out, because no other mapping cures it.
std::string diagnostics_words(const Diagnostics& diags) {
  std::string words;
  for (const Severity severity : {Severity::kError, Severity::kWarning}) {
    for (const Diagnostic& diagnostic : diags.sorted()) {
      if (diagnostic.severity != severity || diagnostic.id == DiagId::kCheckIncomplete) continue;
      const std::string text = render(diags.source(), diagnostic);
      if (words.size() + text.size() > kMaxDiagnosticsBytes && !words.empty()) {
        return words + "There are more of them.\n";
      }
      words += text.substr(0, kMaxDiagnosticsBytes);
    }
  }
  return words;
}

// Returns how many errors there are, and the first one: "2 errors: unknown ...".
std::string error_words(const Diagnostics& diags) {
  const std::vector<Diagnostic> all = diags.sorted();
  const auto is_error = [](const Diagnostic& each) { return each.severity == Severity::kError; };
  const auto first = std::find_if(all.begin(), all.end(), is_error);
  if (first == all.end()) return "no errors";
  return fmt::format("{}: {}", count_with_noun(std::count_if(first, all.end(), is_error), "error"),
                     first->message);
}

// Returns a line for each statement that decides nothing for the application.
std::vector<std::string> idle_statement_lines(const Explanation& explanation,
                                              const Program& program) {
  std::vector<std::string> lines;
  for (const DecisionOrigin origin : explanation.unmatched) {
    lines.push_back(
        fmt::format("{} (no task, region or launch matches it)", statement_line(program, origin)));
  }
  for (const DecisionOrigin origin : explanation.never_decide) {
    lines.push_back(
        fmt::format("{} (other statements always decide)", statement_line(program, origin)));
  }
  for (const DecisionOrigin origin : explanation.inactive) {
    lines.push_back(fmt::format("{} (not on this machine)", statement_line(program, origin)));
  }
  if (lines.size() > kMaxIdleStatements) {
    const std::size_t more = lines.size() - kMaxIdleStatements;
    lines.resize(kMaxIdleStatements);
    lines.push_back(fmt::format("and {} more", more));
  }
  return lines;
}

// Asks the model for a mapping, round by round.
class MappingWriter {
 public:
  // All arguments must outlive the object.
  MappingWriter(llm::ChatClient& client, const WritingProblem& problem,
                const WritingOptions& options, const llm::ChatClient::ReplyWatcher& watch)
      : client_(client),
        problem_(problem),
        options_(options),
        watch_(watch),
        prompt_bytes_(AskOptions().prompt_bytes) {}

  WrittenMapping write() {
    bool told_of_idle_statements = false;
    for (int round = 0; round <= options_.repairs; ++round) {
      const std::optional<llm::ChatReply> reply = ask();
      if (!reply) break;
      WrittenMapping draft = examine_reply(*reply);
      // A repair of a mapping without errors counts only if it has no errors either.
      if (best_.ok() && !draft.ok()) break;
      if (draft.text.empty()) {
        best_.refusal = draft.refusal;
        const std::string reason = "the reply could not be used: " + draft.refusal;
        ask_again(reason, std::string_view(reply->text).substr(0, kMaxRepeatedReplyBytes),
                  fmt::format("Your reply could not be used: {}.\n", draft.refusal));
        continue;
      }
      best_ = std::move(draft);
      if (!best_.ok()) {
        ask_again("the mapping has " + error_words(best_.diags), as_fenced_block(best_.text),
                  "Your mapping has mistakes:\n" + diagnostics_words(best_.diags));
        continue;
      }
      const std::string remarks = remarks_about_valid_mapping();
      if (remarks.empty() || std::exchange(told_of_idle_statements, true)) break;
      ask_again("the mapping has warnings, or statements that decide nothing",
                as_fenced_block(best_.text),
                remarks +
                    "Correct the mapping if this is not what the sentence means. Otherwise "
                    "reply with the same mapping.\n");
    }
    return finish();
  }

 private:
  // Builds the first question. Its messages begin every later question, too.
  Prompt first_prompt() const {
    Prompt prompt;
    prompt.add_system_text(
        "You write mappings for task-based parallel programs. A person says in a sentence what the "
        "mapping shall do, and you write the mapping program that does it. It says which "
        "processors run each task, which memory holds each region, how the data lies there, and "
        "where the points of index launches go. Decide what the sentence says and nothing else: "
        "what no statement decides, the default mapper does.\n\n");
    add_card_and_facts(prompt, problem_.machine, problem_.app);
    if (problem_.app == nullptr) {
      prompt.add_user_text(
          "APPLICATION: not known. Take the names of tasks and regions from the sentence.\n\n");
    }
    if (!problem_.start.empty()) {
      prompt.add_user_text("CURRENT MAPPING\n" + as_fenced_block(problem_.start) +
                           "Change this mapping so that it does what the sentence says. Keep what "
                           "the sentence does not speak of.\n\n");
    }
    prompt.add_user_text(fmt::format("SENTENCE\n{}\n\n", trimmed(problem_.sentence)));
    return prompt;
  }
  std::string_view reply_instructions() const {
    return options_.constrain ? "Reply with the whole program and nothing else.\n"
                              : "Reply with the whole program in one fenced block.\n";
  }

  // Returns the question as a request. A repair repeats the first question and shows only the last
  // reply, so that the question does not grow from round to round.
  llm::ChatRequest make_request() const {
    using Role = llm::ChatMessage::Role;
    llm::ChatRequest request;
    request.messages = first_prompt().messages(prompt_bytes_);
    std::string& question = request.messages.back().text;
    question += reply_instructions();
    if (!remark_.empty() && trimmed(last_reply_).empty()) {
      question += "\n" + remark_;
    } else if (!remark_.empty()) {
      request.messages.push_back({Role::kAssistant, last_reply_});
      request.messages.push_back({Role::kUser, remark_ + std::string(reply_instructions())});
    }
    request.temperature = options_.temperature;
    request.max_tokens = options_.reply_tokens;
    if (!options_.constrain) return request;
    const GrammarNames names = grammar_names(problem_.app, problem_.machine.get());
    request.constraint.gbnf = grammar(GrammarFormat::kGbnf, names);
    request.constraint.lark = grammar(GrammarFormat::kLark, names);
    return request;
  }

  // Asks the model once. A prompt that is too long for the model is shortened and sent again.
  // Returns nullopt and notes the error if there is no reply.
  std::optional<llm::ChatReply> ask() {
    for (int shorter = 0;; ++shorter) {
      auto reply = client_.ask(make_request(), watch_);
      if (reply) {
        note_cost(*reply);
        return std::move(*reply);
      }
      const bool too_long = reply.error().code == llm::ChatError::Code::kContextTooLong;
      if (!too_long || shorter == kMaxShorterPrompts) {
        error_ = reply.error();
        return std::nullopt;
      }
      prompt_bytes_ = prompt_bytes_ * 2 / 3;
    }
  }

  void note_cost(const llm::ChatReply& reply) {
    ++rounds_;
    usage_.input_tokens += reply.usage.input_tokens;
    usage_.output_tokens += reply.usage.output_tokens;
    usage_.cached_tokens += reply.usage.cached_tokens;
    usage_.reasoning_tokens += reply.usage.reasoning_tokens;
    usage_.estimated |= reply.usage.estimated;
    if (reply.money) money_ = money_.value_or(0) + *reply.money;
  }

  // Sets what the next question adds to the first one: the model's last reply, and what is said
  // about it. Tells the log the reason.
  void ask_again(std::string_view reason, std::string_view last_reply, std::string_view remark) {
    last_reply_ = llm::valid_utf8(last_reply);
    remark_ = llm::valid_utf8(remark);
    if (options_.log == nullptr || rounds_ > options_.repairs) return;
    options_.log->log(LogLevel::kInfo,
                      fmt::format("round {} of at most {}, because {}", rounds_ + 1,
                                  options_.repairs + 1, harmless(reason, 300)));
  }

  WrittenMapping examine_reply(const llm::ChatReply& reply) const {
    WrittenMapping draft;
    const std::optional<std::string> text = mapping_in_reply(reply, &draft.refusal);
    if (!text) return draft;
    Diagnostics ignored(Source(options_.name, *text));
    return examine(format(ignored.source(), ignored).value_or(*text));
  }

  bool should_stop() const { return options_.check.stop && options_.check.stop(); }

  // Checks a mapping as `groma check` does, and finds its decisions.
  WrittenMapping examine(std::string text) const {
    WrittenMapping draft;
    draft.text = std::move(text);
    draft.diags = Diagnostics(Source(options_.name, draft.text));
    draft.bound = check(draft.diags.source(), problem_.machine.get(), problem_.app, draft.diags,
                        nullptr, options_.check);
    if (draft.diags.has_errors()) draft.bound.reset();
    if (draft.bound && problem_.app != nullptr && !should_stop()) {
      Diagnostics ignored(draft.diags.source());
      draft.explanation = explain(*draft.bound, *problem_.app, {}, ignored);
    }
    return draft;
  }

  // Returns what the model is told about the best mapping, which has no errors: the warnings, and
  // the statements that decide nothing. Returns an empty text if there is nothing to tell.
  std::string remarks_about_valid_mapping() const {
    std::string remarks = diagnostics_words(best_.diags);
    if (!remarks.empty()) remarks = "Your mapping is valid, but there are warnings:\n" + remarks;
    if (!best_.explanation) return remarks;
    const std::vector<std::string> idle =
        idle_statement_lines(*best_.explanation, best_.bound->program());
    if (idle.empty()) return remarks;
    remarks += "These statements of your mapping decide nothing for the application:\n";
    for (const std::string& line : idle) remarks += line + "\n";
    return remarks;
  }

  // Returns the best mapping with the sentence above it, and what all rounds together cost.
  WrittenMapping finish() {
    std::string refusal = std::move(best_.refusal);
    WrittenMapping result;
    if (!best_.text.empty()) {
      result = examine(as_comment(problem_.sentence) + "\n" + best_.text);
    }
    result.refusal = std::move(refusal);
    result.error = std::move(error_);
    result.rounds = rounds_;
    result.usage = usage_;
    result.money = money_;
    return result;
  }

  llm::ChatClient& client_;
  const WritingProblem& problem_;
  const WritingOptions& options_;
  const llm::ChatClient::ReplyWatcher& watch_;
  std::size_t prompt_bytes_;
  // The model's last reply, and what the next question says about it. Empty in the first round.
  std::string last_reply_, remark_;
  WrittenMapping best_;
  std::optional<llm::ChatError> error_;
  int rounds_ = 0;
  llm::ChatUsage usage_;
  std::optional<double> money_;
};

}  // namespace

WrittenMapping write_mapping(llm::ChatClient& client, const WritingProblem& problem,
                             const WritingOptions& options,
                             const llm::ChatClient::ReplyWatcher& watch) {
  GROMA_REQUIRE(problem.app == nullptr || problem.machine != nullptr,
                "an application needs a machine");
  GROMA_REQUIRE(!problem.sentence.empty() && problem.sentence.size() <= kMaxSentenceBytes,
                "the sentence has 1 to kMaxSentenceBytes bytes");
  return MappingWriter(client, problem, options, watch).write();
}

std::string draw(const WrittenMapping& written) {
  if (!written.explanation) {
    return "Only the text of this mapping was checked. Without an application it is not known what "
           "the mapping decides.\n";
  }
  const Explanation& explanation = *written.explanation;
  std::string text = fmt::format("This mapping decides for {} on {}:\n",
                                 harmless(explanation.application), harmless(explanation.machine)) +
                     draw_summary(explanation);
  const auto idle = idle_statement_lines(explanation, written.bound->program());
  if (!idle.empty()) text += "Statements that decide nothing here\n";
  for (const std::string& line : idle) text += fmt::format("  {}\n", line);
  return text;
}

}  // namespace groma::tuning
