// Budget: counts the tokens and the money that a client has spent, and refuses requests that may
// exceed a limit.
#include "llm/budget.h"

#include <fmt/format.h>

namespace groma::llm {

// Returns the cost of the tokens in `usage`; nullopt if no price is known. A price is for a million
// tokens.
std::optional<double> Budget::money_of(const ChatUsage& usage) const {
  if (!price_) return std::nullopt;
  return (static_cast<double>(usage.input_tokens) * price_->input +
          static_cast<double>(usage.output_tokens) * price_->output) /
         1e6;
}

// Refuses a request that exceeds a limit by itself. If it exceeds a limit only together with what
// other requests have reserved, returns kLater.
Budget::ReserveResult Budget::reserve(const ChatUsage& reserved, ChatError* why) {
  const std::lock_guard lock(mutex_);
  ChatUsage alone;
  alone.input_tokens = spent_.input_tokens + reserved.input_tokens;
  alone.output_tokens = spent_.output_tokens + reserved.output_tokens;
  if (exceeds_limit(alone, why)) return ReserveResult::kRefused;
  ChatUsage all = alone;
  all.input_tokens += reserved_.input_tokens;
  all.output_tokens += reserved_.output_tokens;
  if (exceeds_limit(all, why)) return ReserveResult::kLater;
  reserved_.input_tokens += reserved.input_tokens;
  reserved_.output_tokens += reserved.output_tokens;
  return ReserveResult::kDone;
}

// Returns true and sets `*why` if this usage exceeds the limit on tokens or on money.
bool Budget::exceeds_limit(const ChatUsage& all, ChatError* why) const {
  why->code = ChatError::Code::kCeiling;
  const std::int64_t tokens = other_tokens_ + all.input_tokens + all.output_tokens;
  if (max_tokens_ > 0 && tokens > max_tokens_) {
    why->message = fmt::format("this request may bring the tokens to {}, the ceiling is {}", tokens,
                               max_tokens_);
    return true;
  }
  const double money = other_money_ + money_of(all).value_or(0);
  if (max_money_ > 0 && money > max_money_) {
    why->of_money = true;
    why->message = fmt::format("this request may bring the cost to {:.6g}, the ceiling is {:.6g}",
                               money, max_money_);
    return true;
  }
  return false;
}

// Replaces the reservation of a request by its real cost, so that other requests may use the rest.
void Budget::replace_reservation(const ChatUsage& reserved, const ChatUsage& cost) {
  const std::lock_guard lock(mutex_);
  reserved_.input_tokens -= reserved.input_tokens;
  reserved_.output_tokens -= reserved.output_tokens;
  ++spent_.requests;
  spent_.input_tokens += cost.input_tokens;
  spent_.output_tokens += cost.output_tokens;
  spent_.money += money_of(cost).value_or(0);
  spent_.estimated = spent_.estimated || cost.estimated;
}

void Budget::add_earlier_spending(std::int64_t tokens, double money) {
  const std::lock_guard lock(mutex_);
  other_tokens_ += tokens;
  other_money_ += money;
}

ChatSpending Budget::spent() const {
  const std::lock_guard lock(mutex_);
  return spent_;
}

}  // namespace groma::llm
