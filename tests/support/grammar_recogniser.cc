#include "support/grammar_recogniser.h"

#include <algorithm>
#include <functional>
#include <set>

namespace groma::testing {

using syntax::CharRange;
using syntax::GrammarItem;
using syntax::Production;
using Kind = GrammarItem::Kind;

std::u32string decode_utf8(std::string_view text) {
  std::u32string decoded;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    char32_t code = length == 1 ? byte : byte & (0x7FU >> length);
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k) {
      code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3FU);
    }
    decoded += code;
    i += length;
  }
  return decoded;
}

std::string encode_utf8(std::u32string_view text) {
  std::string encoded;
  for (const char32_t c : text) {
    const auto tail = [&](unsigned shift) {
      encoded += static_cast<char>(0x80U | ((c >> shift) & 0x3FU));
    };
    if (c < 0x80) {
      encoded += static_cast<char>(c);
    } else if (c < 0x800) {
      encoded += static_cast<char>(0xC0U | c >> 6);
      tail(0);
    } else if (c < 0x10000) {
      encoded += static_cast<char>(0xE0U | c >> 12);
      tail(6), tail(0);
    } else {
      encoded += static_cast<char>(0xF0U | c >> 18);
      tail(12), tail(6), tail(0);
    }
  }
  return encoded;
}

Recogniser::Recogniser(std::vector<Production> table) : table_(std::move(table)) {
  for (std::size_t i = 0; i < table_.size(); ++i) index_[table_[i].name] = i;
}

bool Recogniser::accepts(std::string_view text, std::string_view start) {
  text_ = decode_utf8(text);
  furthest_ = 0;
  known_.assign(table_.size() * (text_.size() + 1), std::nullopt);
  const auto found = start.empty() ? index_.find(table_[0].name) : index_.find(start);
  const Ends all = rule_ends(found->second, 0);
  return !all.empty() && all.back() == text_.size();
}

std::string Recogniser::understood() const { return encode_utf8({text_.data(), furthest_}); }

Recogniser::Ends Recogniser::rule_ends(std::size_t production, std::size_t at) {
  const std::size_t slot = production * (text_.size() + 1) + at;
  if (!known_[slot]) known_[slot] = ends(table_[production].item, at);
  return *known_[slot];
}

Recogniser::Ends Recogniser::character_ends(bool matches, std::size_t at) {
  furthest_ = std::max(furthest_, at);
  return matches ? Ends{at + 1} : Ends{};
}

Recogniser::Ends Recogniser::ends(const GrammarItem& item, std::size_t at) {
  switch (item.kind) {
    case Kind::kText: {
      std::size_t here = at;
      for (const char32_t c : decode_utf8(item.text)) {
        if (character_ends(here < text_.size() && text_[here] == c, here).empty()) return {};
        ++here;
      }
      return {here};
    }
    case Kind::kChars: {
      const bool matches =
          at < text_.size() && std::any_of(item.chars.begin(), item.chars.end(), [&](CharRange r) {
            return r.first <= text_[at] && text_[at] <= r.last;
          });
      return character_ends(matches, at);
    }
    case Kind::kRule:
      return rule_ends(index_.find(item.text)->second, at);
    case Kind::kSequence:
      return sequence_ends(item, at);
    case Kind::kChoice: {
      std::set<std::size_t> all;
      for (const GrammarItem& way : item.items) {
        const Ends of_way = ends(way, at);
        all.insert(of_way.begin(), of_way.end());
      }
      return {all.begin(), all.end()};
    }
    case Kind::kOptional:
      return repeated_ends(item, at, 0, 1);
    case Kind::kMany:
      return repeated_ends(item, at, 0, -1);
    case Kind::kSome:
      return repeated_ends(item, at, 1, -1);
    case Kind::kUpTo:
      return repeated_ends(item, at, 0, item.max_count);
  }
  return {};
}

Recogniser::Ends Recogniser::sequence_ends(const GrammarItem& item, std::size_t at) {
  std::set<std::size_t> here = {at};
  for (const GrammarItem& part : item.items) {
    std::set<std::size_t> next;
    for (const std::size_t place : here) {
      for (const std::size_t end : ends(part, place)) next.insert(end);
    }
    here = std::move(next);
  }
  return {here.begin(), here.end()};
}

// Round by round, going on only from places that are new.
Recogniser::Ends Recogniser::repeated_ends(const GrammarItem& item, std::size_t at, int least,
                                           int most) {
  std::set<std::size_t> all, last = {at};
  if (least == 0) all.insert(at);
  for (int round = 1; !last.empty() && round != most + 1; ++round) {
    std::set<std::size_t> next;
    for (const std::size_t place : last) {
      for (const std::size_t end : ends(item.items[0], place)) {
        if (end > place && (round < least || all.insert(end).second)) next.insert(end);
      }
    }
    last = std::move(next);
  }
  return {all.begin(), all.end()};
}

namespace {

using Names = std::set<std::string>;

void for_each_rule(const GrammarItem& item, const std::function<void(const std::string&)>& visit) {
  if (item.kind == Kind::kRule) visit(item.text);
  for (const GrammarItem& part : item.items) for_each_rule(part, visit);
}

bool can_be_empty(const GrammarItem& item, const Names& empty) {
  const auto is_empty = [&](const GrammarItem& part) { return can_be_empty(part, empty); };
  switch (item.kind) {
    case Kind::kText:
      return item.text.empty();
    case Kind::kChars:
      return false;
    case Kind::kRule:
      return empty.contains(item.text);
    case Kind::kSequence:
      return std::all_of(item.items.begin(), item.items.end(), is_empty);
    case Kind::kChoice:
      return std::any_of(item.items.begin(), item.items.end(), is_empty);
    case Kind::kSome:
      return is_empty(item.items[0]);
    default:
      return true;
  }
}

// Names with which `item` can begin.
void add_firsts(const GrammarItem& item, const Names& empty, Names& firsts) {
  if (item.kind == Kind::kRule) firsts.insert(item.text);
  for (const GrammarItem& part : item.items) {
    add_firsts(part, empty, firsts);
    if (item.kind == Kind::kSequence && !can_be_empty(part, empty)) break;
  }
}

Names nullable_names(const std::vector<Production>& table) {
  Names empty;
  for (std::size_t before = 1; before != empty.size() + 1;) {
    before = empty.size() + 1;
    for (const Production& production : table) {
      if (can_be_empty(production.item, empty)) empty.insert(production.name);
    }
  }
  return empty;
}

}  // namespace

std::vector<std::string> nullable(const std::vector<Production>& table) {
  const Names empty = nullable_names(table);
  return {empty.begin(), empty.end()};
}

std::vector<std::string> undefined(const std::vector<Production>& table) {
  Names defined, bad;
  for (const Production& production : table) {
    if (!defined.insert(production.name).second) bad.insert(production.name);
  }
  for (const Production& production : table) {
    for_each_rule(production.item, [&](const std::string& name) {
      if (!defined.contains(name)) bad.insert(name);
    });
  }
  return {bad.begin(), bad.end()};
}

std::vector<std::string> left_recursive(const std::vector<Production>& table) {
  const Names empty = nullable_names(table);
  std::map<std::string, Names> firsts;
  for (const Production& production : table) {
    add_firsts(production.item, empty, firsts[production.name]);
  }
  std::vector<std::string> found;
  for (const Production& production : table) {
    Names reached;
    std::vector<std::string> todo = {production.name};
    while (!todo.empty()) {
      const std::string name = todo.back();
      todo.pop_back();
      for (const std::string& first : firsts[name]) {
        if (reached.insert(first).second) todo.push_back(first);
      }
    }
    if (reached.contains(production.name)) found.push_back(production.name);
  }
  return found;
}

}  // namespace groma::testing
