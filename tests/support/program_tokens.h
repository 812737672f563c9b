// Programs as tokens: what the generator makes, and what is broken. A layout, random too, makes
// text of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace groma::testing {

using Tokens = std::vector<std::string>;

// Stands where a statement ends: a `;`, a line's end, or both.
constexpr std::string_view kEnd = "\n;";

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15U + 1) {}

  // 0 to bound - 1.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }
  int between(int least, int most) {
    return least + static_cast<int>(below(static_cast<std::size_t>(most - least + 1)));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <typename T>
  const T& pick(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  std::string pick(std::initializer_list<std::string_view> all) {
    return std::string(all.begin()[below(all.size())]);
  }

 private:
  std::mt19937_64 engine_;  // the standard says what it gives
};

// The tokens as text: white space, line ends and comments wherever they may stand.
std::string lay_out(const Tokens& tokens, Random& random);

// Leaves out, doubles, exchanges, replaces or puts in a token or a few. `tokens` is never empty,
// before and after.
void break_tokens(Tokens& tokens, Random& random);

}  // namespace groma::testing
