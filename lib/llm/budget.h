// What a client has spent, and what it may: nothing is sent whose worst case would pass a ceiling.
#pragma once

#include <mutex>
#include <optional>

#include "groma/llm.h"

namespace groma::llm {

class Budget {
 public:
  explicit Budget(const ChatOptions& options)
      : max_tokens_(options.max_tokens), max_money_(options.max_money), price_(options.price) {}

  enum class Reserve { kDone, kRefused, kLater };
  // Sets the worst case aside; refused, for the reason in `*why`, or to be asked again: others have
  // set aside what they may not need.
  Reserve reserve(const ChatUsage& worst, ChatError* why);
  // What the exchange cost instead.
  void settle(const ChatUsage& worst, const ChatUsage& cost);

  ChatSpending spent() const;
  // Spent elsewhere; only the ceilings know of it.
  void add(std::int64_t tokens, double money);
  std::optional<double> money_of(const ChatUsage& usage) const;

 private:
  bool passes(const ChatUsage& all, ChatError* why) const;

  mutable std::mutex mutex_;
  std::int64_t max_tokens_;
  double max_money_;
  std::optional<ChatPrice> price_;
  ChatSpending spent_;
  ChatUsage reserved_;
  std::int64_t other_tokens_ = 0;
  double other_money_ = 0;
};

}  // namespace groma::llm
