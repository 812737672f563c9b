// Stealing: the facts that one mapper object keeps about waiting tasks that idle processors can
// take.
//
// Legion asks a processor whether it wants to steal only while ready tasks wait on that processor,
// so an idle processor is never asked. Adapters therefore exchange messages. A processor with
// waiting stealable tasks offers them to others. An idle processor requests work. It then gets
// tasks by relocation, or an answer that there are none.
#pragma once

#include <cstdint>
#include <vector>

#include "groma/machine.h"
#include "mapper/instance_limits.h"

namespace groma::legion {

// The kinds of messages between adapters. Their numbers are above the message kinds that mappers
// send themselves.
enum class StealMessage : std::uint32_t { kOffer = 0xFFFFFF00, kRequest, kNothing };
// Returns true if adapters send messages of this kind to each other: a steal message or a limit
// message.
inline bool is_of_adapters(std::uint32_t kind) {
  using Limit = mapper::LimitMessage::Kind;
  const auto in = [kind](auto first, auto last) {
    return kind >= static_cast<std::uint32_t>(first) && kind <= static_cast<std::uint32_t>(last);
  };
  return in(StealMessage::kOffer, StealMessage::kNothing) || in(Limit::kAsk, Limit::kReturn);
}

// The state of one processor, which may take tasks (thief) and give them away (victim).
struct Stealing {
  // Limit for open offers, because a machine may have very many processors.
  static constexpr std::size_t kMaxOffers = 64;

  // ---- As a thief
  std::vector<Processor> offers;  // Processors that have work to give.
  std::size_t asked = 0;          // The number of requests without an answer.
  std::int64_t mapped = 0;        // The number of tasks mapped here that have not ended.
  bool has_ready = false;         // True: ready tasks wait here.

  // ---- As a victim
  std::vector<Processor> offered;   // Processors that got an offer from here.
  std::vector<Processor> requests;  // Processors that requested work.
  bool has_stealable = false;       // True: some of the waiting tasks can be stolen.

  bool idle() const { return mapped == 0 && !has_ready; }
};

}  // namespace groma::legion
