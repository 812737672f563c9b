// Finds any of many literals in a text, a byte a step (Aho and Corasick 1975): which rules a line
// may match at all. Ignores the case of letters and all spaces, since Legion forgets some of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace groma::guide {

// Immutable once made.
class Prefilter {
 public:
  struct Hit {
    std::uint32_t end;  // offset after the literal's last byte
    std::uint32_t state;
  };
  // Parts of a text that are gone through side by side, since each step waits for the one before.
  static constexpr std::size_t kLanes = 4;
  static constexpr std::size_t kMaxStates = 65535;

  // Literals (folded, not empty) and the rules that want them. False when they are too many.
  bool build(std::span<const std::pair<std::string, std::uint32_t>> literals);

  // All places in `text` where a literal ends, in order; `hits` is emptied first. Literals do not
  // reach over line ends.
  void scan(std::string_view text, std::vector<Hit>* hits) const;
  // The rules that want what was found.
  std::span<const std::uint32_t> rules(const Hit& hit) const;

 private:
  std::uint32_t step(std::uint32_t state, char c) const {
    return next_[(state << shift_) | classes_[static_cast<unsigned char>(c)]];
  }
  void walk(std::string_view text, std::size_t from, std::size_t to, std::uint32_t state,
            std::vector<Hit>* hits) const;

  std::array<std::uint8_t, 256> classes_{};
  unsigned shift_ = 0;
  std::vector<std::uint16_t> next_;
  std::uint32_t first_output_ = 0;           // states from here on have found something
  std::vector<std::uint32_t> output_begin_;  // of state - first_output_, and one more
  std::vector<std::uint32_t> output_rules_;
};

}  // namespace groma::guide
