// Prefilter: finds many literals in a text in one pass (Aho and Corasick 1975), to tell which rules
// may match a line. It ignores the case of letters and all spaces, because some of Legion's
// messages lack spaces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace groma::guide {

// Finds literals in texts. build() must be called once, before all other functions.
class Prefilter {
 public:
  // A place in the text where at least one literal ends.
  struct Hit {
    std::uint32_t end;  // offset just behind the literal's last byte
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
  void scan(std::string_view text, std::vector<Hit>* hits) const;
  // Returns the numbers of the rules that need a literal which ends at this position.
  std::span<const std::uint32_t> rules(const Hit& hit) const;

 private:
  // Returns the state after a character.
  std::uint32_t step(std::uint32_t state, char c) const {
    return next_[(state << shift_) | classes_[static_cast<unsigned char>(c)]];
  }
  // Continues from `state` over the text from `from` to `to`, and appends the hits.
  void walk(std::string_view text, std::size_t from, std::size_t to, std::uint32_t state,
            std::vector<Hit>* hits) const;

  // The class of each byte. Bytes that no literal distinguishes share a class, which keeps the
  // table small.
  std::array<std::uint8_t, 256> classes_{};
  unsigned shift_ = 0;
  std::vector<std::uint16_t> next_;
  std::uint32_t first_output_ = 0;  // states from here on end a literal
  // For each state that ends a literal, the index of its first rule in output_rules_, and one entry
  // for the end. The index of a state is its number minus first_output_.
  std::vector<std::uint32_t> output_begin_;
  std::vector<std::uint32_t> output_rules_;
};

}  // namespace groma::guide
