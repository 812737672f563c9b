// Budget: what a client has spent and may still spend. A request is not sent if the tokens that it
// reserves would exceed a limit.
#pragma once

#include <mutex>
#include <optional>

#include "groma/llm.h"

namespace groma::llm {

// The limits and the spending of one client. All functions may be called from several threads.
class Budget {
 public:
  explicit Budget(const ChatOptions& options)
      : max_tokens_(options.max_tokens), max_money_(options.max_money), price_(options.price) {}

  enum class ReserveResult { kDone, kRefused, kLater };
  // Reserves tokens for a request. kRefused: it would exceed a limit, and `*why` is set to the
  // reason. kLater: the caller should call reserve() again later, because other requests have
  // reserved amounts that they may not need.
  ReserveResult reserve(const ChatUsage& reserved, ChatError* why);
  // Replaces a reservation by the cost of the exchange.
  void replace_reservation(const ChatUsage& reserved, const ChatUsage& cost);

  ChatSpending spent() const;
  // Adds spending from before this client was made. It counts towards the limits, but spent() does
  // not contain it.
  void add_earlier_spending(std::int64_t tokens, double money);
  // Returns the cost of the usage; nullopt if the options have no price.
  std::optional<double> money_of(const ChatUsage& usage) const;

 private:
  bool exceeds_limit(const ChatUsage& all, ChatError* why) const;

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
