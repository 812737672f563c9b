// Kinds of processors and memories, in the order of the words of the mapping language.
#pragma once

#include <cstdint>
#include <string_view>

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
// @if instances || print
constexpr std::string_view name_of(MemKind kind) {
  constexpr std::string_view kNames[] = {"SYSMEM", "FBMEM",      "ZCMEM",  "SOCKMEM",
                                         "RDMEM",  "REGSOCKMEM", "VIRTUAL"};
  return kNames[static_cast<std::size_t>(kind)];
}
// @end
// @if print || functions
constexpr std::string_view name_of(ProcKind kind) {
  constexpr std::string_view kNames[] = {"CPU", "GPU", "OMP", "IO", "PY", "PROC"};
  return kNames[static_cast<std::size_t>(kind)];
}
// @end

}  // namespace groma::emit
