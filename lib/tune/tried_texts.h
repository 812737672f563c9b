// TriedTexts: the results of the texts that a search tried most recently.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/names.h"
#include "groma/search.h"
#include "search/recent.h"

namespace groma::tuning {

// The results of the texts that were tried most recently, by the normal form of the text. A text
// that is proposed again gets its known result.
class TriedTexts {
 public:
  // What is known of a text that was tried: the members of Evaluation without the feedback, which
  // would take most of the memory.
  struct ResultWithoutFeedback {
    std::int64_t number = 0;
    Evaluation::Status status = Evaluation::Status::kRefused;
    std::vector<double> values;
    double score = 0, noise = 0;

    // Returns the result as an evaluation without feedback.
    Evaluation evaluation() const {
      Evaluation made;
      made.status = status;
      made.values = values;
      made.score = score;
      made.noise = noise;
      return made;
    }
  };

  const ResultWithoutFeedback* find(const std::string& canonical) const {
    return known_.find(key_of(canonical));
  }
  void add(const std::string& canonical, const Step& step) {
    const Evaluation& evaluation = step.evaluation;
    known_.add(key_of(canonical), {step.number, evaluation.status, evaluation.values,
                                   evaluation.score, evaluation.noise});
  }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.first; }
  };
  // Returns a hash of 128 bits as the cache key. With 64 bits, two different texts could share a
  // result by chance.
  static Key key_of(const std::string& text) {
    std::uint64_t a = text.size(), b = ~a;
    for (std::size_t at = 0; at < text.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, std::min<std::size_t>(8, text.size() - at));
      a = mix_bits(a ^ word);
      b = mix_bits(b + word * 0x9E3779B97F4A7C15U);
    }
    return {a, b};
  }

  RecentMap<ResultWithoutFeedback, Key, Hash> known_;
};

}  // namespace groma::tuning
