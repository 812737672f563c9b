#include "support/grammar_sentences.h"

#include <algorithm>

#include "support/grammar_recogniser.h"

namespace groma::testing {
namespace {

using syntax::CharRange;
using syntax::GrammarItem;
using syntax::Production;
using Kind = GrammarItem::Kind;

constexpr std::size_t kLength = 400;
constexpr int kDepth = 60;
constexpr int kUnknown = 1'000'000;

}  // namespace

SentenceGenerator::SentenceGenerator(std::vector<Production> table, std::uint64_t seed)
    : table_(std::move(table)), random_(seed) {
  for (const Production& production : table_) by_name_[production.name] = &production;
  find_heights();
}

std::string SentenceGenerator::sentence() {
  text_.clear();
  used_.insert(table_[0].name);
  write(table_[0].item, 0);
  return encode_utf8(text_);
}

bool SentenceGenerator::hurry(int depth) const { return text_.size() > kLength || depth > kDepth; }

void SentenceGenerator::write(const GrammarItem& item, int depth) {
  switch (item.kind) {
    case Kind::kText:
      text_ += decode_utf8(item.text);
      break;
    case Kind::kChars: {
      const CharRange range = item.chars[below(item.chars.size())];
      text_ += range.first + static_cast<char32_t>(below(range.last - range.first + 1));
      break;
    }
    case Kind::kRule:
      used_.insert(item.text);
      write(by_name_.at(item.text)->item, depth + 1);
      break;
    case Kind::kSequence:
      for (const GrammarItem& part : item.items) write(part, depth);
      break;
    case Kind::kChoice:
      write(choose(item, depth), depth);
      break;
    default:
      write_repeated(item, depth);
  }
}

// Lists are short, so that not all is spent on the first expression; a program has several lines.
void SentenceGenerator::write_repeated(const GrammarItem& item, int depth) {
  if (item.kind == Kind::kSome) write(item.items[0], depth);
  if (item.kind == Kind::kOptional) {
    if (!hurry(depth) && below(2) == 0) write(item.items[0], depth);
    return;
  }
  const int most = item.kind == Kind::kUpTo ? item.max_count : kUnknown;
  for (int i = 0; i < most && !hurry(depth); ++i) {
    const bool stop = depth == 0 ? below(6) == 0 : below(4) != 0;
    if (stop) break;
    write(item.items[0], depth);
  }
}

const GrammarItem& SentenceGenerator::choose(const GrammarItem& choice, int depth) {
  if (!hurry(depth)) return choice.items[below(choice.items.size())];
  return *std::min_element(
      choice.items.begin(), choice.items.end(),
      [this](const GrammarItem& a, const GrammarItem& b) { return height(a) < height(b); });
}

int SentenceGenerator::height(const GrammarItem& item) const {
  int most = 0, least = kUnknown;
  for (const GrammarItem& part : item.items) {
    most = std::max(most, height(part));
    least = std::min(least, height(part));
  }
  switch (item.kind) {
    case Kind::kRule: {
      const auto found = heights_.find(item.text);
      return found == heights_.end() ? kUnknown : found->second + 1;
    }
    case Kind::kSequence:
    case Kind::kSome:
      return most;
    case Kind::kChoice:
      return least;
    default:
      return 0;
  }
}

void SentenceGenerator::find_heights() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Production& production : table_) {
      const int found = height(production.item);
      const auto [at, fresh] = heights_.try_emplace(production.name, kUnknown);
      if (found >= at->second) continue;
      at->second = found;
      changed = true;
    }
  }
}

}  // namespace groma::testing
