// Kinds of processors and memories, in the order of the mapping language's words.
#pragma once

#include <cstdint>

namespace groma::emit {

enum class ProcKind : std::uint8_t { kCpu, kGpu, kOmp, kIo, kPy, kProc };
enum class MemKind : std::uint8_t {
  kSysmem,
  kFbmem,
  kZcmem,
  kSockmem,
  kRdmem,
  kRegsockmem,
  kVirtual,
};

}  // namespace groma::emit
