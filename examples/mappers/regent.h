// The decisions that the expert mappers of Regent's three benchmarks share: tasks run on GPUs, or
// else on CPUs, and data is in the memory of the processor.
#pragma once

#include "mappers/formula.h"

namespace groma::examples {

class RegentMapper : public FormulaMapper {
 protected:
  RegentMapper(MapperSite site, const Sentences& sentences, Formula on_gpus, Formula on_cpus)
      : FormulaMapper(std::move(site), sentences, {on_gpus, on_cpus}),
        on_gpus_(on_gpus),
        on_cpus_(on_cpus) {}

  std::span<const ProcKind> kinds(const TaskView&) const override { return kKinds; }
  Formula formula_of(const TaskView&, ProcKind kind) const override {
    return kind == ProcKind::kGpu ? on_gpus_ : on_cpus_;
  }
  std::span<const MemKind> memories(const RequirementView& requirement,
                                    ProcKind kind) const override {
    if (kind != ProcKind::kGpu) return kOnHost;
    return is_shared(requirement) ? std::span<const MemKind>(kShared) : kOnGpu;
  }
  // Returns true if several GPUs use the data. It is then in zero-copy memory.
  virtual bool is_shared(const RequirementView&) const { return false; }

 private:
  static constexpr ProcKind kKinds[] = {ProcKind::kGpu, ProcKind::kCpu};
  static constexpr MemKind kOnGpu[] = {MemKind::kFbmem};
  static constexpr MemKind kShared[] = {MemKind::kZcmem, MemKind::kFbmem};
  static constexpr MemKind kOnHost[] = {MemKind::kSysmem};

  Formula on_gpus_, on_cpus_;
};

// Places points in blocks: point i runs on GPU i of the machine, or on a CPU of that GPU's node.
std::optional<Processor> linear_owner(const Machine& machine, const Point& ip, const Point& space);

}  // namespace groma::examples
