// LiteralFinder: finds many literals in a text in one pass (Aho and Corasick 1975), to tell which
// rules may match a line. The search ignores the case of letters and all spaces, because some of
// Legion's messages lack spaces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace groma::guide {

// Finds a fixed set of literals in texts. build() must be called once, before all other functions.
class LiteralFinder {
 public:
  // A position in the text at which at least one literal ends, and the automaton's state there.
  struct LiteralMatch {
    // The offset of the byte behind the last byte of the literal.
    std::uint32_t end;
    std::uint32_t state;
  };
  // The number of parts of a text that are scanned at the same time. Each step of the automaton
  // depends on the step before it, so several independent parts keep the processor busy.
  static constexpr std::size_t kLanes = 4;
  static constexpr std::size_t kMaxStates = 65535;

  // Takes pairs of a literal (folded, not empty) and the number of a rule that needs the literal.
  // Returns false if the automaton would have more than kMaxStates states.
  bool build(std::span<const std::pair<std::string, std::uint32_t>> literals);

  // Stores in `hits` every position of `text` at which a literal ends, in ascending order. Removes
  // earlier content of `hits`. A literal never matches across a line end.
  void scan(std::string_view text, std::vector<LiteralMatch>* hits) const;
  // Returns the numbers of the rules that need a literal which ends at this position.
  std::span<const std::uint32_t> rules_needing_literal(const LiteralMatch& hit) const;

 private:
  // Returns the automaton's state after it has read the character `c` in `state`.
  std::uint32_t next_state(std::uint32_t state, char c) const {
    return next_[(state << shift_) | classes_[static_cast<unsigned char>(c)]];
  }
  // Runs the automaton over the bytes of `text` from `from` to `to`, beginning in `state`. Appends
  // the positions at which literals end to `hits`.
  void scan_part(std::string_view text, std::size_t from, std::size_t to, std::uint32_t state,
                 std::vector<LiteralMatch>* hits) const;

  // The class of each byte. Bytes that no literal distinguishes share a class, which keeps the
  // table small.
  std::array<std::uint8_t, 256> classes_{};
  unsigned shift_ = 0;
  std::vector<std::uint16_t> next_;
  // The number of the first state that ends a literal. All later states end a literal, too.
  std::uint32_t first_output_ = 0;
  // For each state that ends a literal, the index of its first rule in output_rules_. One more
  // entry stands for the end of output_rules_. The index of a state is its number minus
  // first_output_.
  std::vector<std::uint32_t> output_begin_;
  std::vector<std::uint32_t> output_rules_;
};

}  // namespace groma::guide
