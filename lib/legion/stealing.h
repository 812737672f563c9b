// What one mapper object knows of work that waits, for idle processors to take.
//
// Legion asks a processor whether it would steal only while ready tasks of its own wait there, so
// an idle one is never asked. Adapters tell each other by messages: who has something stealable
// that waits offers it, who is idle requests it, and gets it by relocation or hears that there is
// nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "groma/machine.h"
#include "mapper/instance_limits.h"

namespace groma::legion {

// Above the kinds of messages that mappers send themselves.
enum class StealMessage : std::uint32_t { kOffer = 0xFFFFFF00, kRequest, kNothing };
// Returns true if adapters send such messages to each other: one of these, or one of limits.
inline bool is_of_adapters(std::uint32_t kind) {
  using Limit = mapper::LimitMessage::Kind;
  const auto in = [kind](auto first, auto last) {
    return kind >= static_cast<std::uint32_t>(first) && kind <= static_cast<std::uint32_t>(last);
  };
  return in(StealMessage::kOffer, StealMessage::kNothing) || in(Limit::kAsk, Limit::kReturn);
}

struct Stealing {
  // Offers that are out at once: a machine may have very many processors.
  static constexpr std::size_t kMaxOffers = 64;

  // ---- As a thief
  std::vector<Processor> offers;  // who has something
  std::size_t asked = 0;          // requests without an answer
  std::int64_t mapped = 0;        // tasks that were mapped here and have not ended
  bool has_ready = false;         // tasks wait here

  // ---- As a victim
  std::vector<Processor> offered;   // who was told
  std::vector<Processor> requests;  // who wants something
  bool has_stealable = false;       // of the tasks that wait here

  bool idle() const { return mapped == 0 && !has_ready; }
};

}  // namespace groma::legion
