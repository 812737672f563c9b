// What runtimes refuse, crash on or hang on. Each check says in a comment what Legion does without
// it.
#include "groma/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "mapper/processors.h"

namespace groma {
namespace {

std::string text_of(const Processor& p) {
  return fmt::format("{} ({}, {})", name_of(p.kind), p.node, p.index);
}

std::string text_of(const Point& point) {
  return fmt::format("({})", fmt::join(point.coordinates(), ", "));
}

// "GPU (0, 1)" or, where that is what is wrong, the kind alone.
class Checker {
 public:
  Checker(std::string_view name, const Machine& machine) : name_(name), machine_(machine) {}

  template <typename... Args>
  Diagnostic& refuse(DiagId id, Origin origin, const Args&... args) {
    Diagnostics diags{Source()};
    diags.report(id, std::nullopt, args...);
    refusals_.push_back({diags.all().front(), origin});
    return refusals_.back().diagnostic;
  }

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
  void same_node_and_kind(const std::vector<Processor>& processors, Origin origin) {
    for (const Processor& p : processors) {
      const Processor& first = processors.front();
      if (p.kind == first.kind && p.node == first.node) continue;
      refuse(DiagId::kMixedProcessors, origin, "map_task", name_, text_of(first), text_of(p));
      return;
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

std::string why_not(const Machine& machine, const Processor& processor, MemKind memory) {
  const MemoryGroup* group = machine.node(processor.node).find(memory);
  if (group == nullptr || group->capacity_bytes == 0) return "the machine has none";
  return fmt::format("{} cannot address it", name_of(processor.kind));
}

const char* why_not_virtual(const RequirementView& requirement) {
  if (requirement.privilege == Privilege::kReduce) return "it is reduced to";
  if (requirement.coherence != Coherence::kExclusive) return "it is shared while in use";
  return nullptr;
}

void check_layout(Checker& check, const TaskView& task, std::size_t i, const VariantView& variant,
                  const InstanceWish& wish) {
  const auto refuse = [&](std::string_view wants, std::string_view says) {
    check.refuse(DiagId::kLayoutRefused, wish.layout_origin, i, task.name, wants, says);
  };
  for (const LayoutDemand& demand : variant.demands) {
    if (demand.requirement != i) continue;
    const LayoutSpec& layout = wish.layout;
    const auto order = [](DimensionOrder d) {
      return d == DimensionOrder::kC ? "C_order" : "F_order";
    };
    const auto fields = [](FieldOrder f) { return f == FieldOrder::kAos ? "AOS" : "SOA"; };
    if (demand.dimensions && *demand.dimensions != layout.dimensions &&
        task.requirements[i].region_dimensions > 1) {
      refuse(order(*demand.dimensions), order(layout.dimensions));
    }
    if (demand.fields && *demand.fields != layout.fields &&
        task.requirements[i].fields.size() > 1) {
      refuse(fields(*demand.fields), fields(layout.fields));
    }
    if (demand.memory && *demand.memory != wish.memory) {
      refuse(name_of(*demand.memory), name_of(wish.memory));
    }
    const bool exactly = demand.align_op == AlignOp::kEq && layout.align_op == AlignOp::kEq;
    if (exactly && demand.align_bytes != layout.align_bytes) {
      refuse(fmt::format("Align=={}", demand.align_bytes),
             fmt::format("Align=={}", layout.align_bytes));
    }
  }
}

// Legion: a silent abort where there is no instance, a crash where one cannot be virtual.
void check_requirement(Checker& check, const TaskView& task, std::size_t i, const TaskWish& answer,
                       const VariantView* variant) {
  const RequirementView& requirement = task.requirements[i];
  const RequirementWish& wish = answer.requirements[i];
  if (requirement.empty()) return;
  if (wish.is_virtual) {
    const char* why = why_not_virtual(requirement);
    if (why != nullptr) check.refuse(DiagId::kBadVirtual, wish.virtual_origin, i, task.name, why);
    return;
  }
  std::string reasons;
  bool usable = false;
  for (const InstanceWish& candidate : wish.candidates()) {
    if (candidate.memory == MemKind::kVirtual) {  // the last resort, which never lacks room
      usable = why_not_virtual(requirement) == nullptr;
      reasons += usable ? "" : " VIRTUAL (it needs an instance)";
      continue;
    }
    const auto reaches = [&](const Processor& p) {
      return check.machine().can_address(p.node, p.kind, candidate.memory);
    };
    if (std::all_of(answer.processors.begin(), answer.processors.end(), reaches)) {
      if (!usable && variant != nullptr) check_layout(check, task, i, *variant, candidate);
      usable = true;
      continue;
    }
    reasons += fmt::format("{}{} ({})", reasons.empty() ? "" : ", ", name_of(candidate.memory),
                           why_not(check.machine(), answer.processors.front(), candidate.memory));
  }
  if (usable) return;
  const Origin origin =
      wish.candidate_count > 0 ? wish.candidates().front().memory_origin : Origin{};
  check.refuse(DiagId::kNoMemory, origin, i, task.name,
               reasons.empty() ? "the answer names no memory" : reasons);
}

// ---- Slices

// Points that a bitmap of the launch is made for; 2^24 points take 2 MB.
constexpr std::int64_t kMaxMarked = std::int64_t{1} << 24;

// Whether two boxes of equal dimensions share a point.
bool overlap(const Rect& a, const Rect& b) {
  for (int d = 0; d < a.dimensions(); ++d) {
    if (a.lower[d] >= b.lower[d] + b.extents[d] || b.lower[d] >= a.lower[d] + a.extents[d]) {
      return false;
    }
  }
  return true;
}

// The first two slices that share a point: by sorting along the first coordinate.
bool any_overlap(std::vector<TaskSlice> slices) {
  std::sort(slices.begin(), slices.end(),
            [](const TaskSlice& a, const TaskSlice& b) { return a.box.lower[0] < b.box.lower[0]; });
  std::vector<const Rect*> open;
  for (const TaskSlice& slice : slices) {
    std::erase_if(open, [&](const Rect* box) {
      return box->lower[0] + box->extents[0] <= slice.box.lower[0];
    });
    for (const Rect* box : open) {
      if (overlap(*box, slice.box)) return true;
    }
    open.push_back(&slice.box);
  }
  return false;
}

class Marks {
 public:
  explicit Marks(const Rect& domain)
      : domain_(domain), marked_(static_cast<std::size_t>(domain.volume())) {}

  // False when a point was marked before.
  bool mark(const Rect& box) {
    Rect rows = box;  // all but the last coordinate
    const int last = box.dimensions() - 1;
    rows.extents[last] = 1;
    Point at = rows.lower;
    do {
      const auto begin = marked_.begin() + static_cast<std::ptrdiff_t>(index(at));
      const auto end = begin + static_cast<std::ptrdiff_t>(box.extents[last]);
      if (std::find(begin, end, true) != end) return false;
      std::fill(begin, end, true);
    } while (next_point(rows, &at));
    return true;
  }

 private:
  std::int64_t index(const Point& at) const {
    std::int64_t index = 0;
    for (int d = 0; d < domain_.dimensions(); ++d) {
      index = index * domain_.extents[d] + (at[d] - domain_.lower[d]);
    }
    return index;
  }
  const Rect& domain_;
  std::vector<bool> marked_;
};

bool overlapping(const Rect& domain, const std::vector<TaskSlice>& slices) {
  if (domain.dimensions() == 0) return slices.size() > 1;
  if (domain.volume() > kMaxMarked) return any_overlap(slices);
  Marks marks(domain);
  return std::any_of(slices.begin(), slices.end(),
                     [&](const TaskSlice& slice) { return !marks.mark(slice.box); });
}

bool inside(const Rect& box, const Rect& domain) {
  if (box.dimensions() != domain.dimensions()) return false;
  for (int d = 0; d < box.dimensions(); ++d) {
    if (box.extents[d] <= 0 || box.lower[d] < domain.lower[d] ||
        box.lower[d] - domain.lower[d] > domain.extents[d] - box.extents[d]) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<Refusal> validate(const TaskOptions& answer, const TaskView& task,
                              const Machine& machine) {
  Checker check(task.name, machine);
  check.processor("select_task_options", answer.initial, answer.processor_origin);
  if (answer.replicate && answer.map_locally) {
    check.refuse(DiagId::kBadReplication, answer.replicate_origin, task.name,
                 "a task that is mapped locally cannot be replicated");
  }
  return check.take();
}

std::vector<Refusal> validate(const SliceAnswer& answer, const TaskView& task, const Rect& part,
                              const Machine& machine) {
  Checker check(task.name, machine);
  const auto refuse = [&](const std::string& what) {
    check.refuse(DiagId::kBadSlices, answer.origin, task.name, what);
    return check.take();
  };
  std::int64_t points = 0;
  for (const TaskSlice& slice : answer.slices) {
    if (!check.processor("slice_task", slice.processor, answer.origin)) return check.take();
    if (!inside(slice.box, part)) {  // Legion: an error in debug builds only
      return refuse(fmt::format("the slice at {} is empty or leaves what was to be cut",
                                text_of(slice.box.lower)));
    }
    points += slice.box.volume();
    if (points > part.volume()) break;
  }
  if (points < part.volume()) {  // Legion: waits for the missing points for ever
    return refuse(
        fmt::format("{} of {} points are in no slice", part.volume() - points, part.volume()));
  }
  if (points > part.volume() || overlapping(part, answer.slices)) {
    return refuse("two slices hold the same point");
  }
  return check.take();
}

std::vector<Refusal> validate(const TaskWish& answer, const TaskView& task,
                              const Machine& machine) {
  Checker check(task.name, machine);
  if (answer.abort_mapping) return {};
  if (answer.processors.empty()) {
    check.refuse(DiagId::kBadProcessor, answer.processor_origin, "map_task", task.name,
                 "no processor");
    return check.take();
  }
  for (const Processor& p : answer.processors) {
    if (!check.processor("map_task", p, answer.processor_origin)) return check.take();
  }
  check.same_node_and_kind(answer.processors, answer.processor_origin);
  const VariantView* variant = check_variant(check, "map_task", task, answer.variant,
                                             answer.processors.front().kind, answer.kind_origin);
  if (answer.requirements.size() != task.requirements.size()) {  // Legion: a silent abort
    check.refuse(DiagId::kMissingWish, {}, task.name, answer.requirements.size(),
                 task.requirements.size());
    return check.take();
  }
  for (std::size_t i = 0; i < task.requirements.size(); ++i) {
    check_requirement(check, task, i, answer, variant);
  }
  return check.take();
}

std::vector<Refusal> validate(const ReplicateAnswer& answer, const TaskView& task,
                              const Machine& machine) {
  Checker check(task.name, machine);
  const auto refuse = [&](std::string_view what) {
    check.refuse(DiagId::kBadReplication, answer.origin, task.name, what);
  };
  if (answer.processors.empty()) refuse("it names no processor");
  for (std::size_t i = 0; i < answer.processors.size(); ++i) {
    const Processor& p = answer.processors[i];
    if (!check.processor("replicate_task", p, answer.origin)) return check.take();
    const auto begin = answer.processors.begin();
    if (std::find(begin, begin + static_cast<std::ptrdiff_t>(i), p) !=
        begin + static_cast<std::ptrdiff_t>(i)) {
      check.refuse(DiagId::kRepeatedProcessor, answer.origin, "replicate_task", task.name,
                   text_of(p));
      return check.take();
    }
  }
  if (answer.processors.empty()) return check.take();
  const VariantView* variant = check_variant(check, "replicate_task", task, answer.variant,
                                             answer.processors.front().kind, answer.origin);
  if (variant != nullptr && !variant->replicable) refuse("its variant is not replicable");
  const auto reduces = [](const RequirementView& r) { return r.privilege == Privilege::kReduce; };
  if (std::any_of(task.requirements.begin(), task.requirements.end(), reduces)) {
    refuse("a task that reduces to a region runs once");
  }
  const auto here = [&](const Processor& p) { return p.node == task.current.node; };
  if (std::none_of(answer.processors.begin(), answer.processors.end(), here)) {
    refuse("no shard is on the node that maps the task");
  }
  return check.take();
}

std::vector<Refusal> validate(const ScheduleAnswer& answer, std::span<const TaskView> ready,
                              const Machine& machine) {
  Checker check("", machine);
  const auto refuse = [&](std::string_view what) {
    check.refuse(DiagId::kBadSchedule, {}, what);
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
    if (!take(move.task)) return refuse("a task is both mapped and relocated");  // Legion: hangs
    if (!mapper::exists(machine, move.processor)) {                              // Legion: crash
      check.refuse(DiagId::kBadProcessor, {}, "select_tasks_to_map", ready[move.task].name,
                   text_of(move.processor));
      return check.take();
    }
  }
  if (!ready.empty() && answer.map.empty() && answer.relocate.empty() && answer.deferral == 0) {
    return refuse("it maps nothing and names no event to wait for");
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
  std::vector<Processor> seen;
  for (const Processor& p : answer.processors) {
    if (!check.processor("map_must_epoch", p, {})) return check.take();
    if (std::find(seen.begin(), seen.end(), p) != seen.end()) {
      check.refuse(DiagId::kRepeatedProcessor, {}, "map_must_epoch", check.name(), text_of(p));
      return check.take();
    }
    seen.push_back(p);
  }
  return check.take();
}

std::vector<Refusal> validate(ShardId answer, const Point& point, const TaskView& operation,
                              ShardTable shards) {
  if (answer < shards.size()) return {};
  Diagnostics diags{Source()};
  diags.report(DiagId::kBadShard, std::nullopt, operation.name, text_of(point), answer,
               shards.size());
  return {{diags.all().front(), {}}};
}

}  // namespace groma
