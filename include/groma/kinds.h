// The fixed vocabularies of the field: kinds of processors and memories, layouts and privileges.
// Every other header uses these types.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace groma {

// Processor kinds, in the words of the language (Legion: LOC, TOC, OMP, IO, PY, PROC_SET).
enum class ProcKind : std::uint8_t { kCpu, kGpu, kOmp, kIo, kPy, kProc };
inline constexpr std::size_t kProcKindCount = 6;
inline constexpr std::array<std::string_view, kProcKindCount> kProcKindNames = {
    "CPU", "GPU", "OMP", "IO", "PY", "PROC"};

// Memory kinds (Legion: SYSTEM_MEM, GPU_FB_MEM, Z_COPY_MEM, SOCKET_MEM, REGDMA_MEM, and the socket
// memory registered with the network). kVirtual means a virtual instance, which has no memory.
enum class MemKind : std::uint8_t {
  kSysmem,
  kFbmem,
  kZcmem,
  kSockmem,
  kRdmem,
  kRegsockmem,
  kVirtual,
};
inline constexpr std::size_t kMemKindCount = 7;
inline constexpr std::array<std::string_view, kMemKindCount> kMemKindNames = {
    "SYSMEM", "FBMEM", "ZCMEM", "SOCKMEM", "RDMEM", "REGSOCKMEM", "VIRTUAL"};

// Returns the name of a kind, or "?" for an invalid value.
constexpr std::string_view name_of(ProcKind kind) {
  const auto at = static_cast<std::size_t>(kind);
  return at < kProcKindCount ? kProcKindNames[at] : "?";
}
constexpr std::string_view name_of(MemKind kind) {
  const auto at = static_cast<std::size_t>(kind);
  return at < kMemKindCount ? kMemKindNames[at] : "?";
}

// Returns the kind with this name, which is in capitals as in the language.
std::optional<ProcKind> find_proc_kind(std::string_view name);
std::optional<MemKind> find_mem_kind(std::string_view name);

// The order of a layout's dimensions, and the arrangement of its fields (Legion:
// OrderingConstraint).
enum class DimensionOrder : std::uint8_t { kFortran, kC };
enum class FieldOrder : std::uint8_t { kSoa, kAos };
// The operators of Legion's AlignmentConstraint. kNone leaves the alignment to the runtime.
enum class AlignOp : std::uint8_t { kNone, kEq, kNe, kLt, kLe, kGt, kGe };

// A layout of data. The default is SOA F_order, unaligned.
struct LayoutSpec {
  DimensionOrder dimensions = DimensionOrder::kFortran;
  FieldOrder fields = FieldOrder::kSoa;
  bool compact = false;
  bool exact = false;
  AlignOp align_op = AlignOp::kNone;
  std::int64_t align_bytes = 0;
  friend bool operator==(const LayoutSpec&, const LayoutSpec&) = default;
};

// The parts of a layout that a Layout statement names. The default-constructed value names no part.
struct LayoutAspects {
  // True if the statement names C_order or F_order.
  bool dimensions = false;
  // True if the statement names SOA or AOS.
  bool fields = false;
  bool exact = false;
  bool alignment = false;
  friend bool operator==(const LayoutAspects&, const LayoutAspects&) = default;
};

// The content of one Layout statement. `layout` has the default order where the statement names
// none.
struct StatedLayout {
  LayoutSpec layout;
  LayoutAspects named;
  friend bool operator==(const StatedLayout&, const StatedLayout&) = default;
};

// The source of a layout demand: the registration of the variant, or the program's own mapper,
// which asked for instances of that layout when the program was recorded.
enum class DemandSource : std::uint8_t { kVariant, kMapper };

// A task's demand on the data of one requirement. It is the part of a variant's constraints that a
// mapping can contradict (Legion: TaskLayoutConstraintSet), or a request of the program's own
// mapper.
struct LayoutDemand {
  // The position of the requirement among the requirements of the task.
  std::uint32_t requirement = 0;
  std::optional<DimensionOrder> dimensions;
  std::optional<FieldOrder> fields;
  std::optional<MemKind> memory;
  bool exact = false;
  // True if the program's own mapper asked for an instance that may hold more than the region. Only
  // for DemandSource::kMapper.
  bool not_exact = false;
  AlignOp align_op = AlignOp::kNone;
  std::int64_t align_bytes = 0;
  DemandSource source = DemandSource::kVariant;
  friend bool operator==(const LayoutDemand&, const LayoutDemand&) = default;
};

// The access of a task to a region (Legion: READ_ONLY, READ_WRITE, WRITE_DISCARD, REDUCE,
// NO_ACCESS).
enum class Privilege : std::uint8_t { kNoAccess, kReadOnly, kReadWrite, kWriteDiscard, kReduce };
inline constexpr std::size_t kPrivilegeCount = 5;
inline constexpr std::array<std::string_view, kPrivilegeCount> kPrivilegeNames = {
    "no-access", "read-only", "read-write", "write-discard", "reduce"};
constexpr std::string_view name_of(Privilege privilege) {
  return kPrivilegeNames[static_cast<std::size_t>(privilege)];
}

// The way in which concurrent tasks share a region (Legion: CoherenceProperty).
enum class Coherence : std::uint8_t { kExclusive, kAtomic, kSimultaneous, kRelaxed };

// The idle processors that may steal a ready task (TaskSteal).
enum class StealScope : std::uint8_t { kSameNode, kAnyNode };

// The processors over which the instances of a task are counted (InstanceLimit): one
// processor, all processors of a node (SAME_NODE), or all processors of the machine (Machine).
enum class LimitScope : std::uint8_t { kProcessor, kNode, kMachine };

}  // namespace groma
