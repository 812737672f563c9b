// Puts together the answer for the word at the cursor: help about the word itself, then what its
// statement decides in the application.
#include "language_server/hover.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "evaluate/binding.h"
#include "evaluate/value.h"
#include "explain/words.h"
#include "groma/harmless.h"
#include "groma/inspect.h"
#include "language_server/statement_decisions.h"
#include "language_server/word_help.h"
#include "syntax/lexer.h"

namespace groma::language_server {
namespace {

// How long the points of a picture are computed. Diagnostics wait in the meantime.
constexpr std::chrono::milliseconds kMaxPictureTime{50};

// Returns the token that contains `offset`, or nullopt. A comment has no token.
std::optional<syntax::Token> token_at(const Source& source, std::size_t offset) {
  // A line of text is enough: no token extends over lines.
  const Range line = source.line_at(static_cast<std::uint32_t>(offset));
  const Source part("", std::string(source.text(line)));
  Diagnostics ignored(part);
  std::vector<syntax::SourceComment> comments;
  syntax::Lexer lexer(part, ignored, &comments);
  for (syntax::Token token = lexer.next_token(); token.kind != syntax::TokenKind::kEnd;
       token = lexer.next_token()) {
    token.range.begin += line.begin;
    token.range.end += line.begin;
    if (token.range.begin <= offset && offset < token.range.end) return token;
  }
  return std::nullopt;
}

// Returns the first lines of a text, with a line that counts the others.
std::string first_lines(std::string_view text, std::size_t most) {
  std::size_t end = 0, lines = 0;
  while (end < text.size() && lines < most) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
    ++lines;
  }
  std::string first(text.substr(0, end));
  const auto rest = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  if (rest > 0) first += fmt::format("... and {} more lines\n", rest);
  return first;
}

class HoverWriter {
 public:
  HoverWriter(const HoverKnowledge& knowledge, std::size_t offset)
      : known_(knowledge), offset_(offset) {}

  std::optional<Hover> write() {
    const auto token = token_at(known_.source, offset_);
    if (!token) return std::nullopt;
    Hover hover;
    hover.range = token->range;
    const Occurrence* occurrence = known_.symbols.at(offset_);
    if (occurrence != nullptr && occurrence->range.begin <= offset_ &&
        offset_ < occurrence->range.end) {
      hover.range = occurrence->range;
      write_symbol(known_.symbols.symbols[occurrence->symbol]);
    } else {
      write_word(*token);
    }
    write_statement();
    if (text_.empty()) return std::nullopt;
    hover.markdown = std::move(text_);
    return hover;
  }

 private:
  // Adds a paragraph.
  void add(std::string_view paragraph) {
    if (paragraph.empty()) return;
    if (!text_.empty()) text_ += "\n\n";
    text_ += paragraph;
  }

  void write_word(const syntax::Token& token) {
    const std::string_view word = known_.source.text(token.range);
    if (const syntax::ReservedWord* reserved = syntax::find_reserved_word(word)) {
      const auto help = help_for_reserved(*reserved);
      if (help) add(fmt::format("`{}`\n\n{}", help->form, help->description));
    } else if (begins_block(token.range)) {
      const WordHelp help = help_for_when();
      add(fmt::format("`{}`\n\n{}", help.form, help.description));
    } else if (token.kind == syntax::TokenKind::kName && token.range.begin > 0 &&
               known_.source.text()[token.range.begin - 1] == '.') {
      const MemberHelp* help = find_member_help(word);
      if (help != nullptr) add(fmt::format("`.{}`\n\n{}", help->form, help->description));
    }
  }

  // Returns true if a `when` block begins with the word in this range.
  bool begins_block(Range word) const {
    const program::ProgramData& data = known_.program.data();
    return std::any_of(data.conditions.begin(), data.conditions.end(), [&](const auto& when) {
      return data.statement_ranges[when.first - 1].begin == word.begin;
    });
  }

  void write_symbol(const Symbol& symbol) {
    switch (symbol.kind) {
      case SymbolKind::kFunction:
        write_function(symbol);
        break;
      case SymbolKind::kGlobal:
        write_global(symbol);
        break;
      case SymbolKind::kParameter:
        add(fmt::format("parameter `{} {}`", spelling_of(symbol.type), symbol.name));
        break;
      case SymbolKind::kLocal:
        add(fmt::format("variable `{}` of the function", symbol.name));
        break;
      case SymbolKind::kTask:
        write_task(symbol.name);
        break;
      case SymbolKind::kRegion:
        write_region(symbol.name);
        break;
    }
  }

  // Writes the head of a function, and where it puts the points of a launch.
  void write_function(const Symbol& symbol) {
    if (symbol.definition) {
      std::string_view head = known_.source.text(known_.source.line_at(symbol.definition->begin));
      head = head.substr(0, head.find('{'));
      add(code_block(harmless(head, 200), "groma"));
    }
    write_picture([&](const ExplainedLaunch& launch) { return launch.function == symbol.name; });
  }

  // Writes the value of a global on the machine.
  void write_global(const Symbol& symbol) {
    const BoundProgram* bound = bound_program();
    add(fmt::format("global `{}`", symbol.name));
    if (bound == nullptr) return;
    constexpr std::int64_t kMaxShownBytes = 1000;
    const program::ProgramData& data = bound->program().data();
    for (std::size_t i = 0; i < data.globals.size(); ++i) {
      if (data.names.text(data.globals[i].name) != symbol.name) continue;
      const mapper::ProgramValue& value = bound->binding().globals[i];
      if (type_of(value) == program::Type::kAny || printed_bytes(value) > kMaxShownBytes) return;
      add(code_block(fmt::format("{} = {}", symbol.name, harmless(to_string(value, ""))), "groma"));
      add(fmt::format("on {}", harmless(bound->machine().name())));
      return;
    }
  }

  // Writes all decisions about a task, as `groma explain --task` does.
  void write_task(const std::string& name) {
    add(fmt::format("task `{}`", harmless(name)));
    if (explanation() == nullptr) return;
    Explanation one = header();
    for (const ExplainedTask& task : explanation()->tasks) {
      if (task.name == name) one.tasks.push_back(task);
    }
    write_explanation(one, fmt::format("{} has no such task", harmless(one.application)));
  }

  // Writes the decisions about a region for all tasks that use it.
  void write_region(const std::string& name) {
    add(fmt::format("region `{}`", harmless(name)));
    if (explanation() == nullptr) return;
    Explanation one = header();
    for (const ExplainedTask& task : explanation()->tasks) {
      ExplainedTask part;
      part.name = task.name;
      part.kind = task.kind;
      for (const ExplainedRequirement& requirement : task.requirements) {
        const auto& names = requirement.names;
        if (std::find(names.begin(), names.end(), name) != names.end()) {
          part.requirements.push_back(requirement);
        }
      }
      if (!part.requirements.empty()) one.tasks.push_back(std::move(part));
    }
    write_explanation(one,
                      fmt::format("no task of {} has such a region", harmless(one.application)));
  }

  Explanation header() const {
    Explanation one;
    one.application = explanation()->application;
    one.machine = explanation()->machine;
    return one;
  }
  void write_explanation(const Explanation& one, const std::string& nothing) {
    if (one.tasks.empty()) return add(nothing);
    add(code_block(first_lines(draw(one, program_of_result()), kMaxHoverLines)));
  }

  // Writes what the statement at the cursor decides. Functions and assignments decide nothing
  // themselves.
  void write_statement() {
    const DecisionOrigin origin = statement_at_cursor();
    if (!origin || explanation() == nullptr) return;
    const std::string where = fmt::format("{} on {}", harmless(explanation()->application),
                                          harmless(explanation()->machine));
    const StatementDecisions decisions = decisions_of(*explanation(), program_of_result(), origin);
    write_lines(fmt::format("**Decides** in {}:", where), decisions.decides);
    if (is_index_map(origin)) {
      write_picture([&](const ExplainedLaunch& launch) { return launch.by == origin; });
    }
    write_lines(decisions.decides.empty()
                    ? fmt::format("**Never decides** in {}, since others do:", where)
                    : std::string("**Elsewhere** others decide:"),
                decisions.overruled);
    const auto& inactive = explanation()->inactive;
    if (std::find(inactive.begin(), inactive.end(), origin) != inactive.end()) {
      const Program& program = program_of_result();
      const Range condition = program.condition_range(program.when_of(origin));
      add(fmt::format("**Does not act** on {}: `{}` does not hold there.",
                      harmless(explanation()->machine),
                      harmless(program.source().text(condition), 100)));
    }
    const auto& unmatched = explanation()->unmatched;
    if (std::find(unmatched.begin(), unmatched.end(), origin) != unmatched.end()) {
      add(fmt::format("**Matches nothing** in {}.", where));
    }
  }

  void write_lines(const std::string& heading, const std::vector<DecisionLine>& lines) {
    constexpr std::size_t kMaxLines = 12;
    if (lines.empty()) return;
    std::string text;
    for (std::size_t i = 0; i < std::min(lines.size(), kMaxLines); ++i) {
      text += text_of(lines[i]) + "\n";
    }
    if (lines.size() > kMaxLines)
      text += fmt::format("... and {} more\n", lines.size() - kMaxLines);
    add(heading + "\n\n" + code_block(text));
  }

  // Draws where the points of the first small launch go for which `wanted` is true.
  template <typename Wanted>
  void write_picture(const Wanted& wanted) {
    if (drawn_ || explanation() == nullptr || bound_program() == nullptr) return;
    for (const ExplainedTask& task : explanation()->tasks) {
      for (const ExplainedLaunch& launch : task.launches) {
        const bool is_small = launch.domain && launch.domain->count() > 0 &&
                              launch.domain->count() <= kMaxHoverPoints;
        if (!is_small || launch.function.empty() || !wanted(launch)) continue;
        PlaceQuery query;
        query.task = task.name;
        query.domain = *launch.domain;
        query.from = task.kind.kind;
        Diagnostics ignored(known_.result->source);
        const auto deadline = std::chrono::steady_clock::now() + kMaxPictureTime;
        const auto placement =
            place(*bound_program(), query, ignored, nullptr,
                  [deadline](auto, auto) { return std::chrono::steady_clock::now() < deadline; });
        if (!placement) continue;
        DrawOptions options;
        options.columns = 72;
        options.rows = 16;
        add(code_block(first_lines(draw(*placement, *bound_program(), options), kMaxHoverLines)));
        drawn_ = true;
        return;
      }
    }
  }

  // Returns the statement of the explained program that has the same text as the one at the cursor.
  // The explained text may be older than the one at the cursor.
  DecisionOrigin statement_at_cursor() const {
    if (known_.result == nullptr || !known_.result->bound) return {};
    const auto find = [](const Program& program, const auto& wanted) {
      const auto& ranges = program.data().statement_ranges;
      const auto found = std::find_if(ranges.begin(), ranges.end(), wanted);
      if (found == ranges.end()) return DecisionOrigin{};
      return DecisionOrigin{static_cast<std::uint32_t>(found - ranges.begin() + 1)};
    };
    // A statement in a `when` block comes behind that block, whose range has it too.
    const auto& ranges = known_.program.data().statement_ranges;
    DecisionOrigin here;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i].begin <= offset_ && offset_ < ranges[i].end) {
        here = DecisionOrigin{static_cast<std::uint32_t>(i + 1)};
      }
    }
    const Program& explained = program_of_result();
    if (!here || known_.source.text() == explained.source().text()) return here;
    const std::string_view text = known_.source.text(known_.program.range(here));
    return find(explained,
                [&](const Range& range) { return explained.source().text(range) == text; });
  }
  bool is_index_map(DecisionOrigin origin) const {
    const Program& program = program_of_result();
    const std::string_view text = program.source().text(program.range(origin));
    return text.starts_with(spelling_of(syntax::StatementKind::kIndexTaskMap));
  }

  const Explanation* explanation() const {
    const bool is_known = known_.result != nullptr && known_.result->explanation;
    return is_known ? &*known_.result->explanation : nullptr;
  }
  const BoundProgram* bound_program() const {
    const bool is_known = known_.result != nullptr && known_.result->bound;
    return is_known ? &*known_.result->bound : nullptr;
  }
  const Program& program_of_result() const { return known_.result->bound->program(); }

  const HoverKnowledge& known_;
  std::size_t offset_;
  std::string text_;
  bool drawn_ = false;
};

}  // namespace

std::optional<Hover> hover_at(const HoverKnowledge& knowledge, std::size_t offset) {
  if (offset >= knowledge.source.text().size()) return std::nullopt;
  return HoverWriter(knowledge, offset).write();
}

std::string code_block(std::string_view text, std::string_view language) {
  // The fence is longer than every run of backticks in the text.
  std::size_t longest = 2, run = 0;
  for (char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const std::string_view end = text.ends_with('\n') ? "" : "\n";
  return fmt::format("{}{}\n{}{}{}", fence, language, text, end, fence);
}

}  // namespace groma::language_server
