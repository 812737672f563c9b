// Builds the string-matching automaton of Aho and Corasick (1975) as a table, and runs the
// automaton over several parts of a text at the same time.
#include "guide/literal_finder.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace groma::guide {
namespace {

// The class of the bytes that occur in no literal. Such a byte, like a line end, leads to the
// automaton's start state.
constexpr std::uint8_t kOther = 0;
// The class of spaces and tabs, which do not change the automaton's state.
constexpr std::uint8_t kSpace = 1;
// The text is scanned in several parts. A part begins after a line end if there is one within
// kFarLineEnd bytes. Otherwise the scan of the part begins kOverlap bytes early.
constexpr std::size_t kFarLineEnd = 4096;
constexpr std::size_t kOverlap = 512;

// A prefix tree (trie) of the literals: each state stands for a prefix of at least one literal.
struct Trie {
  unsigned shift = 0;
  // The child of each state for each byte class, at (state << shift) | class. 0 means no child.
  std::vector<std::uint16_t> next;
  std::vector<std::vector<std::uint32_t>> rules;
  // All states of the tree in breadth-first order, the root first.
  std::vector<std::uint16_t> order;

  std::size_t size() const { return rules.size(); }
  std::uint16_t& at(std::size_t state, std::size_t c) { return next[(state << shift) | c]; }
  void add_state() {
    next.resize(next.size() + (std::size_t{1} << shift));
    rules.emplace_back();
  }
};

// Turns the prefix tree into an automaton by filling in the missing transitions. A state without a
// child for a byte class goes where the state of its longest proper suffix goes. Each state also
// gets the rules of its suffix state.
void close(Trie* trie, std::size_t classes) {
  std::vector<std::uint16_t> suffix(trie->size(), 0);
  trie->order.push_back(0);
  for (std::size_t done = 0; done < trie->order.size(); ++done) {
    const std::uint16_t state = trie->order[done];
    for (std::size_t c = kSpace + 1; c < classes; ++c) {
      std::uint16_t& to = trie->at(state, c);
      const std::uint16_t otherwise = state == 0 ? 0 : trie->at(suffix[state], c);
      if (to == 0) {
        to = otherwise;
        continue;
      }
      suffix[to] = otherwise;
      std::vector<std::uint32_t>& rules = trie->rules[to];
      const std::vector<std::uint32_t>& more = trie->rules[otherwise];
      rules.insert(rules.end(), more.begin(), more.end());
      std::sort(rules.begin(), rules.end());
      rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
      trie->order.push_back(to);
    }
    trie->at(state, kSpace) = state;
  }
}

}  // namespace

// Assigns a class to each byte of the literals (upper and lower case of a letter share a class),
// builds the trie and turns it into the tables of the automaton.
bool LiteralFinder::build(std::span<const std::pair<std::string, std::uint32_t>> literals) {
  classes_.fill(kOther);
  classes_[' '] = classes_['\t'] = kSpace;
  std::size_t classes = kSpace + 1;
  for (const auto& [literal, rule] : literals) {
    for (const char c : literal) {
      const auto byte = static_cast<unsigned char>(c);
      if (classes_[byte] != kOther) continue;
      classes_[byte] = static_cast<std::uint8_t>(classes++);
      if (std::islower(byte) != 0) {
        classes_[static_cast<std::size_t>(std::toupper(byte))] = classes_[byte];
      }
    }
  }
  // The number of byte classes is rounded up to a power of two, so that the table row of a state is
  // found by a shift.
  Trie trie;
  while ((std::size_t{1} << trie.shift) < classes) ++trie.shift;
  trie.add_state();
  for (const auto& [literal, rule] : literals) {
    std::size_t state = 0;
    for (const char c : literal) {
      const std::uint8_t of = classes_[static_cast<unsigned char>(c)];
      if (trie.at(state, of) == 0) {
        if (trie.size() >= kMaxStates) return false;
        const auto made = static_cast<std::uint16_t>(trie.size());
        trie.add_state();
        trie.at(state, of) = made;
      }
      state = trie.at(state, of);
    }
    trie.rules[state].push_back(rule);
  }
  close(&trie, classes);

  // Renumbers the states of the automaton. States that end a literal come last, so that one
  // comparison recognises them. The other states are ordered by their distance from the root, so
  // that frequently used table rows are close in memory.
  std::stable_partition(trie.order.begin(), trie.order.end(),
                        [&](std::uint16_t state) { return trie.rules[state].empty(); });
  std::vector<std::uint16_t> number(trie.size());
  for (std::size_t i = 0; i < trie.order.size(); ++i) {
    number[trie.order[i]] = static_cast<std::uint16_t>(i);
  }
  shift_ = trie.shift;
  next_.resize(trie.next.size());
  first_output_ = 0;
  for (std::size_t i = 0; i < trie.order.size(); ++i) {
    const std::uint16_t state = trie.order[i];
    for (std::size_t c = 0; c < (std::size_t{1} << shift_); ++c) {
      next_[(i << shift_) | c] = number[trie.at(state, c)];
    }
    if (trie.rules[state].empty()) {
      first_output_ = static_cast<std::uint32_t>(i + 1);
    } else {
      output_begin_.push_back(static_cast<std::uint32_t>(output_rules_.size()));
      output_rules_.insert(output_rules_.end(), trie.rules[state].begin(), trie.rules[state].end());
    }
  }
  output_begin_.push_back(static_cast<std::uint32_t>(output_rules_.size()));
  return true;
}

// Every hit has a state from first_output_ on, because only these states end a literal and have
// rules.
std::span<const std::uint32_t> LiteralFinder::rules_needing_literal(const LiteralMatch& hit) const {
  const std::size_t output = hit.state - first_output_;
  return std::span(output_rules_)
      .subspan(output_begin_[output], output_begin_[output + 1] - output_begin_[output]);
}

void LiteralFinder::scan_part(std::string_view text, std::size_t from, std::size_t to,
                              std::uint32_t state, std::vector<LiteralMatch>* hits) const {
  for (std::size_t i = from; i < to; ++i) {
    state = next_state(state, text[i]);
    if (state >= first_output_) hits->push_back({static_cast<std::uint32_t>(i + 1), state});
  }
}

// Divides the text into kLanes parts, and scans all parts in one loop up to the length of the
// shortest part. Then scans the rest of each part alone.
void LiteralFinder::scan(std::string_view text, std::vector<LiteralMatch>* hits) const {
  hits->clear();
  // A part begins after a line end, where the automaton is in its start state. If no line end is
  // near, the scan of the part begins kOverlap bytes early, so that the automaton knows the
  // preceding text.
  std::array<std::size_t, kLanes + 1> cuts{}, starts{};
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    const std::size_t about = std::max(cuts[lane - 1], lane * text.size() / kLanes);
    const std::size_t end = text.substr(about, kFarLineEnd).find('\n');
    const bool found = end != std::string_view::npos;
    cuts[lane] = found ? about + end + 1 : about;
    starts[lane] = found ? cuts[lane] : about - std::min(about, kOverlap);
  }
  cuts[kLanes] = text.size();
  std::size_t together = text.size();
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    together = std::min(together, cuts[lane + 1] - starts[lane]);
  }
  std::array<std::vector<LiteralMatch>, kLanes> found;
  const char* const a = text.data() + starts[0];
  const char* const b = text.data() + starts[1];
  const char* const c = text.data() + starts[2];
  const char* const d = text.data() + starts[3];
  std::array<std::uint32_t, kLanes> states{};
  std::uint32_t sa = 0, sb = 0, sc = 0, sd = 0;
  const std::uint32_t first = first_output_;
  for (std::size_t i = 0; i < together; ++i) {
    sa = next_state(sa, a[i]);
    sb = next_state(sb, b[i]);
    sc = next_state(sc, c[i]);
    sd = next_state(sd, d[i]);
    if (sa >= first || sb >= first || sc >= first || sd >= first) [[unlikely]] {
      states = {sa, sb, sc, sd};
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if (states[lane] < first) continue;
        found[lane].push_back({static_cast<std::uint32_t>(starts[lane] + i + 1), states[lane]});
      }
    }
  }
  states = {sa, sb, sc, sd};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    scan_part(text, starts[lane] + together, cuts[lane + 1], states[lane], &found[lane]);
    for (const LiteralMatch& hit : found[lane]) {
      // A hit in the overlap was already found in the previous part.
      if (hit.end > cuts[lane]) hits->push_back(hit);
    }
  }
}

}  // namespace groma::guide
