// The closed vocabularies of the field: kinds of processors and memories, layouts, privileges.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace groma {

// Processor kinds, in the language's words (Legion: LOC, TOC, OMP, IO, PY, PROC_SET).
enum class ProcKind : std::uint8_t { kCpu, kGpu, kOmp, kIo, kPy, kProc };
inline constexpr std::size_t kProcKindCount = 6;
inline constexpr std::array<std::string_view, kProcKindCount> kProcKindNames = {
    "CPU", "GPU", "OMP", "IO", "PY", "PROC"};

// Memory kinds (Legion: SYSTEM_MEM, GPU_FB_MEM, Z_COPY_MEM, SOCKET_MEM, REGDMA_MEM, the socket
// memory registered with the network, and a virtual instance, which is no memory).
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

// "?" for what is none of them.
constexpr std::string_view name_of(ProcKind kind) {
  const auto at = static_cast<std::size_t>(kind);
  return at < kProcKindCount ? kProcKindNames[at] : "?";
}
constexpr std::string_view name_of(MemKind kind) {
  const auto at = static_cast<std::size_t>(kind);
  return at < kMemKindCount ? kMemKindNames[at] : "?";
}

// The kind of that name, in capitals as the language writes it.
std::optional<ProcKind> find_proc_kind(std::string_view name);
std::optional<MemKind> find_mem_kind(std::string_view name);

// Order of a layout's dimensions and place of its fields (Legion: OrderingConstraint).
enum class DimensionOrder : std::uint8_t { kFortran, kC };
enum class FieldOrder : std::uint8_t { kSoa, kAos };
// Legion: AlignmentConstraint's operators; kNone leaves alignment to the runtime.
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

// Which parts of a layout a Layout statement names. The default says nothing about the other parts.
struct LayoutAspects {
  bool dimensions = false;  // C_order or F_order
  bool fields = false;      // SOA or AOS
  bool exact = false;
  bool alignment = false;
  friend bool operator==(const LayoutAspects&, const LayoutAspects&) = default;
};

// What one Layout statement says. An order that it does not name is the default's in `layout`.
struct StatedLayout {
  LayoutSpec layout;
  LayoutAspects named;
  friend bool operator==(const StatedLayout&, const StatedLayout&) = default;
};

// Who demands a layout: the variant's registration, or the program's own mapper, which asked for
// instances of that layout when the program was recorded.
enum class DemandSource : std::uint8_t { kVariant, kMapper };

// What a task needs of the data behind a requirement: the part of a variant's constraints (Legion:
// TaskLayoutConstraintSet) that a mapping can contradict, or what the program's own mapper asked
// for.
struct LayoutDemand {
  std::uint32_t requirement = 0;  // its position
  std::optional<DimensionOrder> dimensions;
  std::optional<FieldOrder> fields;
  std::optional<MemKind> memory;
  bool exact = false;
  bool not_exact = false;  // kMapper only: it asked for an instance of more than the region
  AlignOp align_op = AlignOp::kNone;
  std::int64_t align_bytes = 0;
  DemandSource source = DemandSource::kVariant;
  friend bool operator==(const LayoutDemand&, const LayoutDemand&) = default;
};

// What a task does with a region (Legion: READ_ONLY, READ_WRITE, WRITE_DISCARD, REDUCE, NO_ACCESS).
enum class Privilege : std::uint8_t { kNoAccess, kReadOnly, kReadWrite, kWriteDiscard, kReduce };
inline constexpr std::size_t kPrivilegeCount = 5;
inline constexpr std::array<std::string_view, kPrivilegeCount> kPrivilegeNames = {
    "no-access", "read-only", "read-write", "write-discard", "reduce"};
constexpr std::string_view name_of(Privilege privilege) {
  return kPrivilegeNames[static_cast<std::size_t>(privilege)];
}

// How tasks that run at the same time share a region (Legion: CoherenceProperty).
enum class Coherence : std::uint8_t { kExclusive, kAtomic, kSimultaneous, kRelaxed };

// Which idle processors may take a ready instance (TaskSteal).
enum class StealScope : std::uint8_t { kSameNode, kAnyNode };

// Over which processors the instances of a task are counted together (InstanceLimit): over one,
// over all of a node (SAME_NODE), over all of the machine (Machine).
enum class LimitScope : std::uint8_t { kProcessor, kNode, kMachine };

}  // namespace groma
