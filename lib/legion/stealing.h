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

namespace groma::legion {

// Above the kinds of messages that mappers send themselves.
enum class StealMessage : std::uint32_t { kOffer = 0xFFFFFF00, kRequest, kNothing };
// Whether adapters sent it to each other: one of these, or one of limits (LimitMessage), whose
// kinds lie above.
inline bool is_steal_message(std::uint32_t kind) {
  return kind >= static_cast<std::uint32_t>(StealMessage::kOffer);
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
