// Writes the table of productions as EBNF for people, and as GBNF and Lark for decoders. Entry
// point: groma::grammar.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "groma/syntax.h"
#include "syntax/grammar.h"

namespace groma {
namespace {

using syntax::CharRange;
using syntax::GrammarItem;
using syntax::Production;
using Kind = GrammarItem::Kind;

// The largest number of columns of a choice on one line. A longer choice is broken into several
// lines.
constexpr std::size_t kColumns = 100;

// How tightly the parts of the right side of a production bind, in rising order. A part that binds
// more loosely than the part around it needs parentheses.
enum Binding { kChoice, kSequence, kAtom };

// Writes a grammar in one of the three notations.
class Writer {
 public:
  explicit Writer(GrammarFormat format) : format_(format) {}

  // Returns the whole grammar with its headings as comments.
  std::string grammar(const GrammarNames& names) {
    const std::vector<Production> table = syntax::grammar_productions(names);
    for (const Production& production : table) {
      if (production.is_terminal) tokens_.insert(production.name);
    }
    start_ = table[0].name;
    std::string all = comment("The mapping language, as `groma format` writes it.");
    if (ebnf()) all += comment("In quotes, \\n is a line's end and \\\\ a backslash.");
    for (const Production& production : table) {
      if (!production.heading.empty()) all += "\n" + comment(production.heading + ".");
      all += definition(production);
    }
    return all;
  }

 private:
  bool ebnf() const { return format_ == GrammarFormat::kEbnf; }
  bool gbnf() const { return format_ == GrammarFormat::kGbnf; }
  bool lark() const { return format_ == GrammarFormat::kLark; }

  // Returns a line with `text` as a comment in the notation of the grammar.
  std::string comment(const std::string& text) const {
    if (ebnf()) return "(* " + text + " *)\n";
    return (gbnf() ? "# " : "// ") + text + "\n";
  }

  // Returns one production as text. A choice longer than kColumns is broken into lines, each with
  // as many alternatives as fit. Lark needs the `|` at the beginning of the next line, GBNF at the
  // end of the line before.
  std::string definition(const Production& production) const {
    const std::string head = name(production.name) + (gbnf() ? " ::= " : lark() ? ": " : " = ");
    const std::string tail = ebnf() ? " ;\n" : "\n";
    const std::string line = head + write(production.item, kChoice);
    if (line.size() <= kColumns || production.item.kind != Kind::kChoice) return line + tail;
    std::string text, last = head;
    for (const GrammarItem& item : production.item.items) {
      const bool first = &item == &production.item.items.front();
      const std::string way = write(item, kSequence);
      if (!first && last.size() + way.size() + 5 > kColumns) {
        text += last + (lark() ? "\n" : " |\n");
        last = lark() ? "    | " : "    ";
      } else if (!first) {
        last += " | ";
      }
      last += way;
    }
    return text + last + tail;
  }

  // Returns an item, in parentheses if it binds more loosely than `outer`.
  std::string write(const GrammarItem& item, Binding outer) const {
    switch (item.kind) {
      case Kind::kText:
        return quote(item.text);
      case Kind::kChars:
        return one_of(item.chars);
      case Kind::kRule:
        return name(item.text);
      case Kind::kSequence:
        return joined(item, ebnf() ? ", " : " ", kSequence, outer);
      case Kind::kChoice:
        return joined(item, " | ", kChoice, outer);
      default:
        return ebnf() ? bracketed(item, outer) : repeated(item);
    }
  }

  // Returns the parts of a sequence or a choice with `separator` between them.
  std::string joined(const GrammarItem& item, std::string_view separator, Binding own,
                     Binding outer) const {
    std::string text;
    for (const GrammarItem& part : item.items) {
      if (!text.empty()) text += separator;
      text += write(part, own == kChoice ? kSequence : kAtom);
    }
    return outer > own ? "(" + text + ")" : text;
  }

  // Returns an optional or repeated item in the notation of EBNF.
  std::string bracketed(const GrammarItem& item, Binding outer) const {
    const std::string inner = write(item.items[0], kChoice);
    if (item.kind == Kind::kOptional) return "[ " + inner + " ]";
    if (item.kind == Kind::kMany) return "{ " + inner + " }";
    if (item.kind == Kind::kUpTo) return fmt::format("{} * [ {} ]", item.max_count, inner);
    const std::string some = fmt::format("{}, {{ {} }}", write(item.items[0], kAtom), inner);
    return outer > kSequence ? "(" + some + ")" : some;
  }

  // Returns an optional or repeated item in the notation of GBNF and Lark.
  std::string repeated(const GrammarItem& item) const {
    const std::string inner = write(item.items[0], kAtom);
    if (item.kind == Kind::kOptional) return inner + "?";
    if (item.kind == Kind::kMany) return inner + "*";
    if (item.kind == Kind::kSome) return inner + "+";
    const std::string count = fmt::format("{{0,{}}}", item.max_count);
    if (gbnf()) return inner + count;
    // The count is written inside the regular expression. Lark's own form, `~0..17`, is not
    // understood by every tool that reads Lark grammars.
    return inner.substr(0, inner.size() - 1) + count + "/";
  }

  // Returns the name of a production as the notation requires:
  //
  // * GBNF begins at `root` and allows no `_`.
  // * Lark begins at `start`, allows no `-`, and writes terminals in capitals.
  std::string name(const std::string& name) const {
    if (ebnf()) return name;
    if (gbnf()) return name == start_ ? "root" : name;
    if (name == start_) return "start";
    const bool token = tokens_.contains(name);
    std::string text;
    for (const char c : name) {
      text += c == '-' ? '_' : token ? static_cast<char>(std::toupper(c)) : c;
    }
    return text;
  }

  // Returns a fixed text in quotes. EBNF cannot escape a quote, so a text with both kinds of quotes
  // is written in pieces.
  std::string quote(const std::string& text) const {
    if (ebnf() && text.find('"') != text.npos && text.find('\'') != text.npos) {
      std::string pieces;
      for (std::size_t at = 0; at < text.size();) {
        const char other =
            text[std::min(text.find_first_of("\"'", at), text.size() - 1)] == '"' ? '\'' : '"';
        const std::size_t end = std::min(text.find(other, at), text.size());
        pieces += (pieces.empty() ? "" : ", ") + quote(text.substr(at, end - at));
        at = end;
      }
      return "(" + pieces + ")";
    }
    const bool single = ebnf() && text.find('"') != std::string::npos;
    std::string quoted;
    for (const char c : text) {
      if (c == '\\' || (c == '"' && !single)) quoted += '\\';
      quoted += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return single ? "'" + quoted + "'" : "\"" + quoted + "\"";
  }

  // Returns a bracket expression. EBNF has no such form, so there it is a special sequence, `? ...
  // ?`.
  std::string one_of(const std::vector<CharRange>& ranges) const {
    std::string text;
    for (const CharRange& range : ranges) {
      text += character(range.first);
      if (range.last == range.first) continue;
      if (range.last != range.first + 1) text += '-';
      text += character(range.last);
    }
    return ebnf() ? "? [" + text + "] ?" : gbnf() ? "[" + text + "]" : "/[" + text + "]/";
  }

  // Returns a character for use in a bracket expression. Only escapes that GBNF, Python and Rust
  // all know are used.
  static std::string character(char32_t c) {
    const auto code = static_cast<unsigned>(c);
    if (code > 0xFFFF) return fmt::format("\\U{:08X}", code);
    if (code > 0x7E) return fmt::format("\\u{:04X}", code);
    if (c == '[' || c == ']' || c == '\\') return fmt::format("\\{}", static_cast<char>(c));
    if (c == '^' || c == '-' || c == '/') return fmt::format("\\x{:02X}", code);
    return std::string(1, static_cast<char>(c));
  }

  GrammarFormat format_;
  // The names of the productions that are terminals.
  std::set<std::string> tokens_;
  std::string start_;
};

}  // namespace

std::string grammar(GrammarFormat format, const GrammarNames& names) {
  return Writer(format).grammar(names);
}

}  // namespace groma
