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

  // Sets the worst case aside; the reason why it may not be.
  std::optional<ChatError> reserve(const ChatUsage& worst);
  // What the exchange cost instead.
  void settle(const ChatUsage& worst, const ChatUsage& cost);

  ChatSpending spent() const;
  std::optional<double> money_of(const ChatUsage& usage) const;

 private:
  mutable std::mutex mutex_;
  std::int64_t max_tokens_;
  double max_money_;
  std::optional<ChatPrice> price_;
  ChatSpending spent_;
  ChatUsage reserved_;
};

}  // namespace groma::llm
