// What runtimes refuse, crash on or hang on. Each check says in a comment what Legion does without
// it.
#include "groma/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "base/one_diagnostic.h"
#include "base/point_text.h"
#include "evaluate/processors.h"
#include "groma/program_mapper.h"
#include "mapper/default_policy.h"
#include "mapper/variant_layouts.h"

namespace groma {
namespace {

using mapper::text_of;

// Why data cannot be in a memory. An empty text: it can.
struct Reason {
  std::string text;
  std::optional<DiagCause> cause = {};
};

// Collects the refusals of one answer about the task of that name.
class Checker {
 public:
  Checker(std::string_view name, const Machine& machine) : name_(name), machine_(machine) {}

  void refuse(Diagnostic diagnostic, Origin origin) {
    refusals_.push_back({std::move(diagnostic), origin});
  }
  template <typename... Args>
  Diagnostic& refuse(DiagId id, Origin origin, const Args&... args) {
    refusals_.push_back({one_diagnostic(id, args...), origin});
    return refusals_.back().diagnostic;
  }
  // Says why the last refusal was made.
  void set_cause(RefusalCause cause) { refusals_.back().cause = cause; }

  // Legion: crash without a word.
  bool processor(std::string_view hook, const Processor& p, Origin origin) {
    if (mapper::exists(machine_, p)) return true;
    const bool node = p.node >= 0 && p.node < machine_.node_count();
    refuse(DiagId::kBadProcessor, origin, hook, name_, text_of(p))
        .note(node ? fmt::format("node {} has {} {}", p.node,
                                 machine_.processor_count(p.node, p.kind), name_of(p.kind))
                   : fmt::format("there are {} nodes", machine_.node_count()));
    return false;
  }

  // Legion: crash, or an instance said not to be visible.
  bool same_node_and_kind(const std::vector<Processor>& processors, Origin origin) {
    for (const Processor& p : processors) {
      const Processor& first = processors.front();
      if (p.kind == first.kind && p.node == first.node) continue;
      refuse(DiagId::kMixedProcessors, origin, "map_task", name_, text_of(first), text_of(p));
      return false;
    }
    return true;
  }

  bool none_twice(std::string_view hook, std::vector<Processor> processors, Origin origin) {
    const auto place = [](const Processor& p) { return std::tuple(p.node, p.kind, p.index); };
    std::sort(processors.begin(), processors.end(),
              [&](const Processor& a, const Processor& b) { return place(a) < place(b); });
    const auto twice = std::adjacent_find(processors.begin(), processors.end());
    if (twice == processors.end()) return true;
    std::int64_t there = 0;
    for (std::int64_t node = 0; node < machine_.node_count(); ++node) {
      there += machine_.processor_count(node, twice->kind);
    }
    refuse(DiagId::kRepeatedProcessor, origin, hook, name_, text_of(*twice))
        .note(fmt::format("{} at once, and `{}` has {} {}", processors.size(), machine_.name(),
                          there, name_of(twice->kind)));
    return false;
  }

  void no_memory(std::size_t i, const RequirementWish& wish, const std::vector<Reason>& reasons) {
    const Origin origin =
        wish.candidate_count > 0 ? wish.candidates().front().memory_origin : Origin{};
    std::string text;
    for (std::size_t k = 0; k < reasons.size(); ++k) {
      text += fmt::format("{}{} ({})", k == 0 ? "" : ", ", name_of(wish.candidates()[k].memory),
                          reasons[k].text);
    }
    Diagnostic& diagnostic = refuse(DiagId::kNoMemory, origin, i, name_,
                                    reasons.empty() ? "the answer names no memory" : text);
    for (const Reason& reason : reasons) {
      if (reason.cause) diagnostic.causes.push_back(*reason.cause);
    }
    if (!reasons.empty() && wish.candidates().front().memory == MemKind::kVirtual) {
      diagnostic.causes.push_back(DiagCause::kVirtualFirst);
    }
  }

  const Machine& machine() const { return machine_; }
  std::string_view name() const { return name_; }
  std::vector<Refusal> take() { return std::move(refusals_); }

 private:
  std::string_view name_;
  const Machine& machine_;
  std::vector<Refusal> refusals_;
};

const VariantView* find_variant(const TaskView& task, VariantId id) {
  const auto found = std::find_if(task.variants.begin(), task.variants.end(),
                                  [id](const VariantView& variant) { return variant.id == id; });
  return found == task.variants.end() ? nullptr : &*found;
}

// Legion: an assertion or "invalid variant".
const VariantView* check_variant(Checker& check, std::string_view hook, const TaskView& task,
                                 VariantId id, ProcKind kind, Origin origin) {
  const VariantView* variant = find_variant(task, id);
  if (variant == nullptr) {
    check.refuse(DiagId::kBadVariant, origin, hook, task.name, id, "which the task does not have");
  } else if (variant->kind != kind) {
    check.refuse(DiagId::kBadVariant, origin, hook, task.name, id,
                 fmt::format("which is for {}, on {}", name_of(variant->kind), name_of(kind)));
    return nullptr;
  }
  return variant;
}

// ---- Requirements of a wish

Reason why_not(const Machine& machine, const Processor& processor, MemKind memory) {
  const MemoryGroup* group = machine.node(processor.node).find(memory);
  if (group == nullptr || group->capacity_bytes == 0) {
    return {fmt::format("node {} has none", processor.node), DiagCause::kMemoryAbsent};
  }
  Reason reason{fmt::format("{} cannot address it", name_of(processor.kind))};
  if (processor.kind == ProcKind::kGpu) reason.cause = DiagCause::kGpuCannotAddress;
  return reason;
}

// What the variant refuses, or another one by which the task may run.
std::vector<mapper::RefusedLayout> refused_by_any(const TaskView& task, std::size_t i,
                                                  const VariantView& variant,
                                                  const InstanceWish& wish) {
  std::vector<mapper::RefusedLayout> refused = mapper::refused_layouts(task, i, variant, wish);
  if (!wish.layout_origin) return refused;
  const mapper::OtherVariants others = mapper::other_variants(task, variant);
  for (const VariantView* other : others.variants) {
    if (refused.empty() == !others.all_run) break;  // one accepts it, or one that runs refuses it
    auto more = mapper::refused_layouts(task, i, *other, wish, true);
    if (others.all_run || more.empty()) refused = std::move(more);
  }
  return refused;
}

RefusalCause cause_of(mapper::LayoutPart part) {
  if (part == mapper::LayoutPart::kOrder) return RefusalCause::kLayoutOrder;
  if (part == mapper::LayoutPart::kAlignment) return RefusalCause::kLayoutAlignment;
  return RefusalCause::kOther;
}

void check_layout(Checker& check, const TaskView& task, std::size_t i, const VariantView& variant,
                  const InstanceWish& wish) {
  for (const mapper::RefusedLayout& one : refused_by_any(task, i, variant, wish)) {
    const bool by_mapper = one.by == DemandSource::kMapper;
    const bool opposite = !by_mapper && one.is_of_dimensions &&
                          mapper::variants_demand_opposite_orders(task, i, variant.kind, true);
    Diagnostic& diagnostic = check.refuse(
        by_mapper ? DiagId::kLayoutDemanded : DiagId::kLayoutRefused, wish.layout_origin, i,
        task.name, opposite ? one.wants + mapper::kAndTheOpposite : one.wants, one.says);
    if (by_mapper) mapper::add_cure(diagnostic);
    if (opposite) mapper::add_opposite_orders_cure(diagnostic);
    check.set_cause(cause_of(one.part));
  }
}

// Legion: "mixed composite and concrete instances"; an output has its instance from the task.
void check_named(Checker& check, std::size_t i, const RequirementView& requirement,
                 const RequirementWish& wish) {
  if (!wish.is_virtual && !requirement.output) return;
  check.refuse(DiagId::kBadInstance, wish.instance_origin, i, check.name(), wish.instance,
               wish.is_virtual ? "it is virtual at the same time" : "the task makes it itself");
}

// Legion: a silent abort where there is no instance, a crash where one cannot be virtual.
void check_requirement(Checker& check, const TaskView& task, std::size_t i, const TaskWish& answer,
                       const VariantView* variant) {
  const RequirementView& requirement = task.requirements[i];
  const RequirementWish& wish = answer.requirements[i];
  if (requirement.empty()) return;
  if (wish.instance != 0) {  // the runtime knows it
    return check_named(check, i, requirement, wish);
  }
  if (wish.is_virtual) {
    const char* why = why_not_virtual(requirement, variant);
    if (why != nullptr) check.refuse(DiagId::kBadVirtual, wish.virtual_origin, i, task.name, why);
    return;
  }
  if (wish.candidate_count > wish.candidates_in_order.size()) {
    check.refuse(DiagId::kNoMemory, Origin{}, i, task.name,
                 fmt::format("the answer counts {} candidates, of {} at most", wish.candidate_count,
                             wish.candidates_in_order.size()));
    return;
  }
  const char* not_virtual = why_not_virtual(requirement, variant);
  const auto usable = [&](const InstanceWish& candidate) {
    // The last resort, which never lacks room.
    if (candidate.memory == MemKind::kVirtual) return not_virtual == nullptr;
    return std::all_of(answer.processors.begin(), answer.processors.end(), [&](const Processor& p) {
      return check.machine().can_address(p.node, p.kind, candidate.memory);
    });
  };
  bool any = false;
  for (const InstanceWish& candidate : wish.candidates()) {
    if (!usable(candidate)) continue;
    any = true;
    if (variant != nullptr && candidate.memory != MemKind::kVirtual) {
      check_layout(check, task, i, *variant, candidate);
    }
  }
  if (any) return;
  std::vector<Reason> reasons;
  for (const InstanceWish& candidate : wish.candidates()) {
    const MemKind memory = candidate.memory;
    reasons.push_back(memory == MemKind::kVirtual
                          ? Reason{not_virtual}
                          : why_not(check.machine(), answer.processors.front(), memory));
  }
  check.no_memory(i, wish, reasons);
}

// Why an operation that is no task cannot have its data in that memory; empty when it can.
Reason why_not(const Machine& machine, const TaskView& operation,
               const RequirementView& requirement, MemKind memory) {
  const Processor& near =
      operation.parent == nullptr ? operation.current : operation.parent->current;
  if (memory == MemKind::kVirtual) {  // a copy may read data where it lies
    const bool reads = operation.operation == OperationKind::kCopy &&
                       requirement.privilege == Privilege::kReadOnly;
    return {reads ? "" : "only what a task hands on, or a copy reads, is virtual"};
  }
  const MemoryGroup* group = machine.node(near.node).find(memory);
  const bool near_only = operation.operation == OperationKind::kInline;
  if (group == nullptr || group->capacity_bytes == 0 ||
      (near_only && !machine.can_address(near.node, near.kind, memory))) {
    return why_not(machine, near, memory);
  }
  const bool host_only = operation.operation == OperationKind::kPartition;
  return {host_only && memory == MemKind::kFbmem ? "partitions are made from host memory" : ""};
}

// Legion: an error for some, a silent abort for others.
void check_operand(Checker& check, const TaskView& operation, std::size_t i,
                   const RequirementWish& wish) {
  const RequirementView& requirement = operation.requirements[i];
  if (requirement.empty()) return;
  if (wish.instance != 0) {
    return check_named(check, i, requirement, wish);
  }
  const auto refusal = [&](MemKind memory) {
    return why_not(check.machine(), operation, requirement, memory);
  };
  if (wish.is_virtual) {
    const Reason why = refusal(MemKind::kVirtual);
    if (!why.text.empty()) {
      check.refuse(DiagId::kBadVirtual, wish.virtual_origin, i, check.name(), why.text);
    }
    return;
  }
  std::vector<Reason> reasons;
  for (const InstanceWish& candidate : wish.candidates()) {
    Reason why = refusal(candidate.memory);
    if (why.text.empty()) return;
    reasons.push_back(std::move(why));
  }
  check.no_memory(i, wish, reasons);
}

// ---- Slices

// Whether boxes hold every point of a domain equally often is seen by a measure: each coordinate of
// each dimension weighs something, a point the product, so a box weighs the product of its sides,
// however many points it has. Two families of boxes that weigh the same hold the same points as
// often, but for a chance of 2^-57 (9 dimensions, weights at random modulo a prime: Schwartz,
// Zippel).
class Measure {
 public:
  void add(const Rect& box) {
    std::uint64_t weight = 1;
    for (int d = 0; d < box.dimensions(); ++d) {
      Side& side = sides_[static_cast<std::size_t>(d)];
      const std::int64_t begin = box.lower[d], end = box.lower[d] + box.extents[d];
      if (!side.known || begin != side.begin || end != side.end) {
        // Slices mostly follow each other.
        const bool follows = side.known && begin == side.end;
        const std::uint64_t below = follows ? side.below_end : weight_below(d, begin);
        const std::uint64_t below_end = weight_below(d, end);
        side = {true, begin, end, below_end, below_end + kPrime - below};
      }
      weight = reduce(static_cast<Wide>(weight) * side.weight);
    }
    sum_ = reduce(static_cast<Wide>(sum_) + weight);
  }
  friend bool operator==(const Measure& a, const Measure& b) { return a.sum_ == b.sum_; }

 private:
  __extension__ typedef unsigned __int128 Wide;
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

  // The side of the box that was added last, in one dimension.
  struct Side {
    bool known = false;
    std::int64_t begin = 0, end = 0;
    std::uint64_t below_end = 0;  // weight_below() of `end`
    std::uint64_t weight = 0;     // of all coordinates in it
  };

  // The remainder modulo the prime, which is one less than a power of two: its high part weighs as
  // much as its low part.
  static std::uint64_t reduce(Wide value) {
    const Wide once = (value & kPrime) + (value >> 61);
    const auto twice = static_cast<std::uint64_t>((once & kPrime) + (once >> 61));
    return twice >= kPrime ? twice - kPrime : twice;
  }
  // What all coordinates of dimension d below x weigh together: splitmix64.
  static std::uint64_t weight_below(int d, std::int64_t x) {
    std::uint64_t z = static_cast<std::uint64_t>(x) + 0x9E3779B97F4A7C15U;
    for (int round = 0; round < 2; ++round) {
      z += static_cast<std::uint64_t>(d + 1) * 0xD1342543DE82EF95U;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
      z ^= z >> 31;
    }
    return z % kPrime;
  }

  std::array<Side, kMaxDimensions> sides_;
  std::uint64_t sum_ = 0;
};

bool inside(const Rect& box, const Rect& domain) {
  if (box.dimensions() != domain.dimensions()) return false;
  for (int d = 0; d < box.dimensions(); ++d) {
    if (box.extents[d] <= 0 || box.extents[d] > domain.extents[d]) return false;
    const std::int64_t last = domain.lower[d] + (domain.extents[d] - box.extents[d]);
    if (box.lower[d] < domain.lower[d] || box.lower[d] > last) return false;
  }
  return true;
}

}  // namespace

// What is not a leaf may hand its reductions on. An application that says itself that a leaf's
// region is virtual (kTagVirtualMap) does not touch it.
const char* why_not_virtual(const RequirementView& requirement, const VariantView* variant) {
  const bool leaf = variant == nullptr || variant->leaf;
  if (requirement.output) return "the task makes it, so it has to lie somewhere";
  if (requirement.privilege == Privilege::kReduce && leaf) return "a leaf reduces to it";
  if (requirement.coherence != Coherence::kExclusive) return "it is shared while in use";
  const bool asked_for = (requirement.tag & kTagVirtualMap) != 0;
  if (leaf && !asked_for) return "the variant is a leaf, so nobody else maps it";
  return nullptr;
}

std::vector<Refusal> validate(const TaskOptions& answer, const TaskView& task,
                              const Machine& machine) {
  if (answer.failure) return {{*answer.failure, answer.kind_origin}};
  Checker check(task.name, machine);
  // Of an index launch slice_task decides again.
  if (check.processor("select_task_options", answer.initial, answer.processor_origin) &&
      !task.is_index && !task.variants.empty() &&
      mapper::best_variant(task, answer.initial.kind) == nullptr) {
    check.refuse(mapper::no_variant(task, machine, answer.initial.kind), answer.processor_origin);
  }
  for (std::uint32_t position : answer.collective) {  // Legion: passed over without a word
    if (position < task.requirements.size()) continue;
    check.refuse(DiagId::kBadCollective, {}, task.name, position, task.requirements.size());
    break;
  }
  if (!answer.replicate) return check.take();
  const char* why = answer.map_locally ? "a task that is mapped locally runs once"
                                       : mapper::why_not_replicated(task);
  if (why != nullptr)
    check.refuse(DiagId::kBadReplication, answer.replicate_origin, task.name, why);
  return check.take();
}

std::vector<Refusal> validate(const SliceAnswer& answer, const TaskView& task, const Rect& part,
                              const Machine& machine) {
  Checker check(task.name, machine);
  const auto refuse = [&](const std::string& what, RefusalCause cause = RefusalCause::kOther) {
    check.refuse(DiagId::kBadSlices, answer.origin, task.name, what);
    check.set_cause(cause);
    return check.take();
  };
  if (answer.failure) return {{*answer.failure, answer.origin}};
  const std::int64_t volume = part.volume();
  std::int64_t points = 0;
  Measure slices;
  std::vector<Processor> used;
  std::optional<ProcKind> known;  // a kind that the task has a variant for
  for (const TaskSlice& slice : answer.slices) {
    if (!check.processor("slice_task", slice.processor, answer.origin)) return check.take();
    if (!inside(slice.box, part)) {  // Legion: an error in debug builds only
      return refuse(fmt::format("the slice at {} is empty or leaves what was to be cut",
                                text_of(slice.box.lower)));
    }
    const std::int64_t here = slice.box.volume();
    if (here > volume - points) {
      return refuse("two slices hold the same point", RefusalCause::kSlicesOverlap);
    }
    if (slice.recurse && here == volume) {  // Legion: crash
      return refuse("a slice that is to be cut again is all that there was to cut");
    }
    const ProcKind kind = slice.processor.kind;
    if (known != kind && !task.variants.empty() && mapper::best_variant(task, kind) == nullptr) {
      return refuse(fmt::format("the slice at {} goes to {}, for which there is no variant",
                                text_of(slice.box.lower), name_of(kind)));
    }
    known = kind;
    // Legion: an error, or they wait for each other. Of must epochs map_must_epoch decides.
    if (task.concurrent && !task.must_epoch && !slice.recurse) {
      const bool shared = std::find(used.begin(), used.end(), slice.processor) != used.end();
      if (shared || here > 1) {
        return refuse(
            fmt::format("two points of a concurrent launch go to {}", text_of(slice.processor)));
      }
      used.push_back(slice.processor);
    }
    points += here;
    slices.add(slice.box);
  }
  if (points < volume) {  // Legion: waits for the missing points for ever
    return refuse(fmt::format("at least {} of {} points are in no slice", volume - points, volume));
  }
  Measure whole;
  if (volume > 0) whole.add(part);
  if (!(slices == whole)) {
    return refuse("two slices hold the same point, another is in none",
                  RefusalCause::kSlicesOverlap);
  }
  return check.take();
}

std::vector<Refusal> validate(const TaskWish& answer, const TaskView& task,
                              const Machine& machine) {
  if (answer.failure) return {{*answer.failure, answer.processor_origin}};
  if (answer.abort_mapping) return {};
  Checker check(task.name, machine);
  if (answer.processors.empty()) {
    check.refuse(DiagId::kBadProcessor, answer.processor_origin, "map_task", task.name,
                 "no processor");
    return check.take();
  }
  for (const Processor& p : answer.processors) {
    if (!check.processor("map_task", p, answer.processor_origin)) return check.take();
  }
  if (!check.same_node_and_kind(answer.processors, answer.processor_origin)) return check.take();
  if (task.shard_variant != 0 &&
      (answer.variant != task.shard_variant || answer.processors != std::vector{task.current})) {
    check.refuse(DiagId::kBadReplication, answer.processor_origin, task.name,
                 "a shard runs where replicate_task put it, by the variant that it chose");
    return check.take();
  }
  const VariantView* variant = check_variant(check, "map_task", task, answer.variant,
                                             answer.processors.front().kind, answer.kind_origin);
  if (answer.requirements.size() != task.requirements.size()) {  // Legion: a silent abort
    check.refuse(DiagId::kMissingWish, {}, "map_task", task.name, answer.requirements.size(),
                 task.requirements.size());
    return check.take();
  }
  for (std::size_t i = 0; i < task.requirements.size(); ++i) {
    check_requirement(check, task, i, answer, variant);
  }
  return check.take();
}

std::vector<Refusal> validate(const OperationWish& answer, const TaskView& operation,
                              const Machine& machine) {
  Checker check(name_of(operation.operation), machine);
  if (answer.requirements.size() != operation.requirements.size()) {  // Legion: a silent abort
    check.refuse(DiagId::kMissingWish, {}, "map_operation", check.name(),
                 answer.requirements.size(), operation.requirements.size());
    return check.take();
  }
  for (std::size_t i = 0; i < operation.requirements.size(); ++i) {
    check_operand(check, operation, i, answer.requirements[i]);
  }
  return check.take();
}

std::vector<Refusal> validate(const ReplicateAnswer& answer, const TaskView& task,
                              const Machine& machine) {
  Checker check(task.name, machine);
  const auto refuse = [&](std::string_view what, RefusalCause cause = RefusalCause::kOther) {
    check.refuse(DiagId::kBadReplication, answer.origin, task.name, what);
    check.set_cause(cause);
  };
  if (answer.processors.empty()) refuse("it names no processor");
  for (const Processor& p : answer.processors) {
    if (!check.processor("replicate_task", p, answer.origin)) return check.take();
    if (p.kind == answer.processors.front().kind) continue;
    refuse(
        fmt::format("its shards are on {} and {}", text_of(answer.processors.front()), text_of(p)));
    return check.take();
  }
  if (answer.processors.empty() ||
      !check.none_twice("replicate_task", answer.processors, answer.origin)) {
    return check.take();
  }
  const VariantView* variant = check_variant(check, "replicate_task", task, answer.variant,
                                             answer.processors.front().kind, answer.origin);
  if (variant != nullptr && !variant->replicable) {
    refuse("its variant is not replicable", RefusalCause::kVariantNotReplicable);
  }
  const char* why = mapper::why_not_replicated(task);
  if (why != nullptr) refuse(why);
  const auto here = [&](const Processor& p) { return p.node == task.current.node; };
  if (std::none_of(answer.processors.begin(), answer.processors.end(), here)) {
    refuse("no shard is on the node that maps the task", RefusalCause::kNoLocalShard);
  }
  return check.take();
}

std::vector<Refusal> validate(const ScheduleAnswer& answer, std::span<const TaskView> ready,
                              const Machine& machine) {
  Checker check("", machine);
  const auto refuse = [&](std::string_view what, RefusalCause cause = RefusalCause::kOther) {
    check.refuse(DiagId::kBadSchedule, {}, what);
    check.set_cause(cause);
    return check.take();
  };
  std::vector<bool> taken(ready.size());
  const auto take = [&](std::uint32_t task) {
    const bool fine = task < taken.size() && !taken[task];
    if (fine) taken[task] = true;
    return fine;
  };
  for (std::uint32_t task : answer.map) {
    if (!take(task)) return refuse("a task is named twice or is not ready");  // Legion: hangs
  }
  for (const ScheduleAnswer::Relocation& move : answer.relocate) {
    if (!take(move.task)) {  // Legion: hangs
      return refuse("a task is mapped and moved, moved twice, or is not ready");
    }
    if (!mapper::exists(machine, move.processor)) {  // Legion: crash
      check.refuse(DiagId::kBadProcessor, {}, "select_tasks_to_map", ready[move.task].name,
                   text_of(move.processor));
      return check.take();
    }
  }
  if (!ready.empty() && answer.map.empty() && answer.relocate.empty() && answer.deferral == 0) {
    return refuse("it maps nothing and names no event to wait for",
                  RefusalCause::kNothingScheduled);
  }
  return check.take();
}

std::vector<Refusal> validate(const MustEpochAnswer& answer, std::span<const TaskView> tasks,
                              const Machine& machine) {
  Checker check(tasks.empty() ? std::string_view() : tasks.front().name, machine);
  if (answer.processors.size() < tasks.size()) {
    check.refuse(DiagId::kBadProcessor, {}, "map_must_epoch", check.name(), "no processor");
    return check.take();
  }
  for (const Processor& p : answer.processors) {
    if (!check.processor("map_must_epoch", p, {})) return check.take();
  }
  check.none_twice("map_must_epoch", answer.processors, {});
  for (std::size_t i = 0; i < answer.constraints.size(); ++i) {  // Legion: a silent abort
    const RequirementWish& wish = answer.constraints[i];
    if (wish.candidate_count > 0 || wish.is_virtual || wish.instance != 0) continue;
    check.refuse(DiagId::kNoMemory, {}, i, check.name(), "the answer names no memory");
  }
  return check.take();
}

std::vector<Refusal> validate_steal_targets(std::span<const Processor> answer,
                                            const Processor& thief, const Machine& machine) {
  const std::string name = text_of(thief);  // the checker refers to it
  Checker check(name, machine);
  for (const Processor& victim : answer) {
    if (!check.processor("select_steal_targets", victim, {})) return check.take();
    if (!(victim == thief)) continue;
    check.refuse(DiagId::kBadSteal, {}, "select_steal_targets", name + " would steal from itself");
    return check.take();
  }
  return check.take();
}

std::vector<Refusal> validate_stolen(std::span<const std::uint32_t> answer,
                                     std::span<const TaskView> stealable) {
  std::vector<bool> taken(stealable.size());
  for (std::uint32_t task : answer) {  // Legion: crash
    if (task < taken.size() && !taken[task]) {
      taken[task] = true;
      continue;
    }
    return {{one_diagnostic(DiagId::kBadSteal, "permit_steal_request",
                            "a task is named twice or is not stealable"),
             {}}};
  }
  return {};
}

std::vector<Refusal> validate_sharding(ShardingId answer, const TaskView& operation,
                                       std::size_t functors) {
  if (answer <= functors) return {};  // Legion: crash
  return {{one_diagnostic(DiagId::kBadSharding, operation.name, answer, functors), {}}};
}

std::string render(const Refusal& refusal, const Mapper& mapper, bool color) {
  Diagnostic shown = refusal.diagnostic;
  mapper::add_cure(shown);
  const auto* const of_program = dynamic_cast<const ProgramMapper*>(&mapper);
  if (of_program != nullptr && refusal.origin && !shown.range) {
    shown.range = of_program->program().range(refusal.origin);
  }
  if (const std::string who = mapper.describe(refusal.origin); !who.empty()) {
    shown.note("decided by " + who);
  }
  return render(mapper.source(), shown, color);
}

std::vector<Refusal> validate(ShardId answer, const Point& point, const TaskView& operation,
                              const ShardTable& shards) {
  if (answer < shards.size()) return {};
  return {{one_diagnostic(DiagId::kBadShard, operation.name, text_of(point), answer, shards.size()),
           {}}};
}

}  // namespace groma
