// StealingState: the state that one mapper object keeps about waiting tasks that idle processors
// can take.
//
// Legion asks a processor whether it wants to steal only while ready tasks wait on that processor,
// so an idle processor is never asked. Adapters therefore exchange messages. A processor with
// waiting stealable tasks offers them to others. An idle processor requests work, and gets tasks by
// relocation, or an answer that there are none.
#pragma once

#include <cstdint>
#include <vector>

#include "groma/machine.h"
#include "mapper/instance_limits.h"

namespace groma::legion {

// The kinds of messages about stealing between adapters. Their numbers are above the message kinds
// that mappers send themselves.
enum class StealMessage : std::uint32_t { kOffer = 0xFFFFFF00, kRequest, kNothing };
// Returns true if adapters send messages of this kind to each other: a steal message or a limit
// message.
inline bool is_adapter_message(std::uint32_t kind) {
  using Limit = mapper::LimitMessage::Kind;
  const auto in = [kind](auto first, auto last) {
    return kind >= static_cast<std::uint32_t>(first) && kind <= static_cast<std::uint32_t>(last);
  };
  return in(StealMessage::kOffer, StealMessage::kNothing) || in(Limit::kAsk, Limit::kReturn);
}

// The stealing state of one processor, which may take tasks (thief) and give them away (victim).
struct StealingState {
  // The largest number of offers that are open at the same time, because a machine may have very
  // many processors.
  static constexpr std::size_t kMaxOffers = 64;

  // ---- State of the processor as a thief
  std::vector<Processor> offering_processors;
  // The number of requests of this processor that have no answer yet.
  std::size_t unanswered_requests = 0;
  // The number of tasks that were mapped on this processor and have not ended.
  std::int64_t mapped = 0;
  // True if ready tasks wait on this processor.
  bool has_ready = false;

  // ---- State of the processor as a victim
  std::vector<Processor> processors_offered_to;
  // The processors that requested work from this one.
  std::vector<Processor> requests;
  // True if some of the tasks that wait on this processor can be stolen.
  bool has_stealable = false;

  bool idle() const { return mapped == 0 && !has_ready; }
};

}  // namespace groma::legion
