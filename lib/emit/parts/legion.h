// ---- The mapper
#pragma once

#include <legion.h>
#include <mappers/default_mapper.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emit/parts/machine.h"
#include "emit/parts/statements.h"

namespace groma::emit {

// What Legion would meet with a silent abort or for ever.
[[noreturn]] inline void end(const std::string& why) {
  std::fprintf(stderr, "MAPPER_CLASS: %s\n", why.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}
// @if values

// Calls what may fail.
template <typename F>
auto or_end(const F& what) {
  try {
    return what();
  } catch (const Failure& failure) {
    end(failure.what());
  }
}
// @end

constexpr std::array kProcessorKinds = {Legion::Processor::LOC_PROC, Legion::Processor::TOC_PROC,
                                        Legion::Processor::OMP_PROC, Legion::Processor::IO_PROC,
                                        Legion::Processor::PY_PROC,  Legion::Processor::PROC_SET};
constexpr std::array kMemoryKinds = {Legion::Memory::SYSTEM_MEM, Legion::Memory::GPU_FB_MEM,
                                     Legion::Memory::Z_COPY_MEM, Legion::Memory::SOCKET_MEM,
                                     Legion::Memory::REGDMA_MEM};
inline Legion::Processor::Kind legion_kind(ProcKind kind) {
  return kProcessorKinds[static_cast<std::size_t>(kind)];
}

// Legion's machine as the mapping sees it: nodes are address spaces, processors are numbered in the
// order of their ids, memories without capacity left out. Made once for all mapper objects.
struct Site {
  Site() {
    const Legion::Machine legion = Legion::Machine::get_machine();
    machine.nodes.resize(legion.get_address_space_count());
    processors.resize(machine.nodes.size());
    read_memories(legion, read_processors(legion));
  }

  // Of a processor that the mapping has no word for (a utility processor): `otherwise`.
  Processor place_of(Legion::Processor processor, const Processor& otherwise) const {
    const auto found = places.find(processor);
    return found == places.end() ? otherwise : found->second;
  }
  Legion::Processor legion(const Processor& processor) const {
    return processors[static_cast<std::size_t>(processor.node)][static_cast<std::size_t>(
        processor.kind)][static_cast<std::size_t>(processor.index)];
  }
  // The memory of that kind that the processor reaches with the most bandwidth.
  Legion::Memory memory(Legion::Processor processor, MemKind kind) const {
    const auto found = reach.find({processor, kind});
    return found == reach.end() ? Legion::Memory::NO_MEMORY : found->second.first;
  }

  Machine machine;
  std::vector<std::array<std::vector<Legion::Processor>, 6>> processors;  // [node][kind][index]
  std::map<Legion::Processor, Processor> places;
  std::map<std::pair<Legion::Processor, MemKind>, std::pair<Legion::Memory, unsigned>> reach;

 private:
  std::vector<Legion::Processor> read_processors(const Legion::Machine& legion) {
    Legion::Machine::ProcessorQuery query(legion);
    std::vector<Legion::Processor> all(query.begin(), query.end());
    std::sort(all.begin(), all.end());
    for (const Legion::Processor p : all) {
      const auto kind = std::find(kProcessorKinds.begin(), kProcessorKinds.end(), p.kind());
      if (kind == kProcessorKinds.end()) continue;
      const auto index = static_cast<std::size_t>(kind - kProcessorKinds.begin());
      std::int64_t& count = machine.nodes[p.address_space()].processors[index];
      places[p] = {static_cast<ProcKind>(index), p.address_space(), count++};
      processors[p.address_space()][index].push_back(p);
    }
    return all;
  }
  void read_memories(const Legion::Machine& legion, const std::vector<Legion::Processor>& all) {
    Legion::Machine::MemoryQuery query(legion);
    std::vector<Legion::Memory> memories(query.begin(), query.end());
    std::sort(memories.begin(), memories.end());
    for (const Legion::Memory memory : memories) {
      const auto kind = std::find(kMemoryKinds.begin(), kMemoryKinds.end(), memory.kind());
      if (kind == kMemoryKinds.end() || memory.capacity() == 0) continue;
      const auto index = static_cast<std::size_t>(kind - kMemoryKinds.begin());
      for (const Legion::Processor p : all) {
        Legion::Machine::AffinityDetails details;
        if (p.address_space() != memory.address_space() || places.count(p) == 0 ||
            !legion.has_affinity(p, memory, &details)) {
          continue;
        }
        auto& best = reach[{p, static_cast<MemKind>(index)}];
        if (best.first.exists() && details.bandwidth <= best.second) continue;
        best = {memory, details.bandwidth};
        const Processor& place = places[p];
        machine.nodes[p.address_space()].reaches[static_cast<std::size_t>(place.kind)][index] =
            true;
      }
    }
  }
};
// @if functions

inline Tuple tuple_of(const Legion::DomainPoint& point) {
  Tuple tuple;
  for (int d = 0; d < point.get_dim(); ++d) tuple.add(point[static_cast<unsigned>(d)]);
  return tuple;
}
// @end
// @if index_function

// A point of a launch, for a function.
inline Task point_of(std::string_view name, const Legion::Domain& launch,
                     const Legion::DomainPoint& point) {
  Task task;
  task.name = name;
  task.ilo = tuple_of(launch.lo());
  task.ispace = tuple_of(launch.hi() - launch.lo()) + 1;
  task.ipoint = tuple_of(point - launch.lo());
  return task;
}

// What of a launch one processor gets.
struct Box {
  Legion::DomainPoint lower, upper;
  Processor processor;
};

// Cuts a launch into boxes of one processor each: runs of the last dimension, joined with those of
// the row before where these are the same, and so on.
template <typename PlaceOf>
std::vector<Box> boxes_of(const Legion::Domain& domain, Legion::DomainPoint point, int d,
                          const PlaceOf& processor_of) {
  if (d == domain.get_dim()) return {{point, point, processor_of(point)}};
  std::vector<Box> done, open;
  const auto at = static_cast<unsigned>(d);
  const auto goes_on = [at](const Box& before, const Box& box) {
    for (unsigned i = at + 1; i < static_cast<unsigned>(box.lower.get_dim()); ++i) {
      if (before.lower[i] != box.lower[i] || before.upper[i] != box.upper[i]) return false;
    }
    return before.processor == box.processor;
  };
  for (point[at] = domain.lo()[at]; point[at] <= domain.hi()[at]; ++point[at]) {
    std::vector<Box> now = boxes_of(domain, point, d + 1, processor_of);
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (i < now.size() && goes_on(open[i], now[i])) {
        now[i].lower[at] = open[i].lower[at];
      } else {
        done.push_back(open[i]);
      }
    }
    open = std::move(now);
  }
  done.insert(done.end(), open.begin(), open.end());
  return done;
}

// Whose a point is, of the shards of a replicated task: the shard's that is on its processor; else,
// of those on its node, the one that its index falls to; else, of all, the one that its node falls
// to.
class Sharding final : public Legion::ShardingFunctor {
 public:
  Sharding(const Mapping* mapping, Mapping::Function function, std::string task,
           std::vector<Processor> shards)
      : mapping_(mapping),
        function_(function),
        task_(std::move(task)),
        shards_(std::move(shards)) {}

  Legion::ShardID shard(const Legion::DomainPoint& point, const Legion::Domain& launch,
                        std::size_t) override {
    try {
      const Processors placed = mapping_->place(function_, point_of(task_, launch, point));
      return shard_of(*placed.begin());
    } catch (const Failure&) {
      return 0;  // slice_task will tell
    }
  }

 private:
  Legion::ShardID shard_of(const Processor& processor) const {
    std::vector<std::size_t> near;
    for (std::size_t s = 0; s < shards_.size(); ++s) {
      if (shards_[s].node == processor.node) near.push_back(s);
    }
    std::size_t shard = static_cast<std::size_t>(processor.node) % shards_.size();
    if (!near.empty()) shard = near[static_cast<std::size_t>(processor.index) % near.size()];
    const auto itself = std::find(shards_.begin(), shards_.end(), processor);
    if (near.size() == 1)
      shard = near[0];
    else if (itself != shards_.end())
      shard = static_cast<std::size_t>(itself - shards_.begin());
    return static_cast<Legion::ShardID>(shard);
  }

  const Mapping* mapping_;
  Mapping::Function function_;
  std::string task_;
  std::vector<Processor> shards_;
};

// A functor for each function, task and table of shards, under ids that are the same on every node.
class Shardings {
 public:
  Legion::ShardingID id_of(Legion::Runtime* runtime, const Mapping& mapping,
                           Mapping::Function function, const std::string& task,
                           const std::vector<Processor>& shards) {
    std::string name = "MAPPER_CLASS " + std::to_string(static_cast<int>(function)) + " " + task;
    for (const Processor& p : shards) {
      name += " " + std::to_string(static_cast<int>(p.kind)) + "." + std::to_string(p.node) + "." +
              std::to_string(p.index);
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = ids_.find(name);
      if (found != ids_.end()) return found->second;
    }
    // Asks another node, perhaps, so it is done without the lock.
    const Legion::ShardingID id = runtime->generate_library_sharding_ids(name.c_str(), 1);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (ids_.emplace(name, id).second) {  // Legion deletes what it is given
      runtime->register_sharding_functor(id, new Sharding(&mapping, function, task, shards), true);
    }
    return id;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Legion::ShardingID> ids_;
};
// @end

// What all mapper objects share.
struct Shared {
  Site site;
  // @if values
  Mapping mapping = or_end([this] { return Mapping(site.machine); });
  // @end
  // @if index_function
  Legion::Runtime* runtime = nullptr;
  Shardings shardings;
  // @end
};

class MAPPER_CLASS : public Legion::Mapping::DefaultMapper {
 public:
  using Context = Legion::Mapping::MapperContext;

  MAPPER_CLASS(Legion::Mapping::MapperRuntime* rt, Legion::Machine legion, Legion::Processor local,
               std::shared_ptr<Shared> shared)
      : DefaultMapper(rt, legion, local, "MAPPER_CLASS"),
        rt_(rt),
        shared_(std::move(shared)),
        site_(shared_->site),
        local_(site_.place_of(local, {})) {}
  // @if options

  void select_task_options(Context context, const Legion::Task& task,
                           TaskOptions& output) override {
    DefaultMapper::select_task_options(context, task, output);
    // @if map_task
    output.valid_instances = false;
    // @end
    // @if single_function
    if (!task.is_index_space) {
      const Processor here = site_.place_of(task.current_proc, local_);
      const Processors placed = place_single(context, task, here);
      if (placed.count() > 0) output.initial_proc = site_.legion(*placed.begin());
    }
    // @end
    // @if replicates
    output.replicate = Mapping::replicates(task.get_task_name()) && can_replicate(context, task);
    if (output.replicate) output.map_locally = false;
    // @end
  }
  // @end
  // @if kinds

  // Task: the first of its kinds that the machine has and the task has a variant for.
  void default_policy_rank_processor_kinds(Context context, const Legion::Task& task,
                                           std::vector<Legion::Processor::Kind>& ranking) override {
    const std::string name = task.get_task_name();
    const std::vector<ProcKind> kinds = Mapping::kinds_of(name);
    if (kinds.empty()) {
      return DefaultMapper::default_policy_rank_processor_kinds(context, task, ranking);
    }
    for (const ProcKind kind : kinds) {
      if (site_.machine.has(kind) && best_variant(context, task, kind) != 0) {
        ranking.push_back(legion_kind(kind));
      }
    }
    if (ranking.empty()) {
      end("`" + name + "` has no variant for its kinds of processors that are here [no-variant]");
    }
  }
  // @end
  // @if replicates

  // A shard on each node; on one node, on each processor of the task's kind.
  void replicate_task(Context context, const Legion::Task& task, const ReplicateTaskInput& input,
                      ReplicateTaskOutput& output) override {
    const Legion::Processor at = task.target_proc.exists() ? task.target_proc : task.current_proc;
    const Processor here = site_.place_of(at, local_);
    output.chosen_variant = best_variant(context, task, here.kind, true);
    if (output.chosen_variant == 0) {
      return DefaultMapper::replicate_task(context, task, input, output);
    }
    const auto nodes = static_cast<std::int64_t>(site_.machine.nodes.size());
    const std::int64_t shards = nodes > 1 ? nodes : site_.machine.count(0, here.kind);
    for (std::int64_t s = 0; s < shards; ++s) {
      Processor shard{here.kind, nodes > 1 ? s : 0, nodes > 1 ? 0 : s};
      if (site_.machine.count(shard.node, here.kind) == 0) continue;
      if (nodes > 1 && s == here.node) shard = here;
      output.target_processors.push_back(site_.legion(shard));
    }
  }
  // @end
  // @if index_function

  // IndexTaskMap: points are sharded as they are placed.
  void select_sharding_functor(Context context, const Legion::Task& task,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) override {
    output.chosen_functor = 0;
    if (!task.is_index_space) return;
    const Mapping::Function function = function_of(context, task);
    if (function == Mapping::Function::none) return;
    std::vector<Processor> shards;
    for (const Legion::Processor p : input.shard_mapping) {
      shards.push_back(site_.place_of(p, local_));
    }
    output.chosen_functor = shared_->shardings.id_of(shared_->runtime, shared_->mapping, function,
                                                     task.get_task_name(), shards);
  }
  using DefaultMapper::select_sharding_functor;
  // @end
  // @if index_function || limits

  // In boxes of one processor each, by point where instances are counted.
  void slice_task(Context context, const Legion::Task& task, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    // @if index_function
    const Mapping::Function function = function_of(context, task);
    if (function != Mapping::Function::none) {
      const ProcKind kind = kind_of(context, task);
      const auto processor_of = [&](const Legion::DomainPoint& point) {
        return *place(function, point_of(task.get_task_name(), task.index_domain, point), kind)
                    .begin();
      };
      if (input.domain.dense()) {
        for (const Box& box : boxes_of(input.domain, input.domain.lo(), 0, processor_of)) {
          output.slices.emplace_back(Legion::Domain(box.lower, box.upper),
                                     site_.legion(box.processor), false, false);
        }
      } else {
        for (Legion::Domain::DomainPointIterator at(input.domain); at; at++) {
          output.slices.emplace_back(Legion::Domain(*at, *at), site_.legion(processor_of(*at)),
                                     false, false);
        }
      }
    } else {
      DefaultMapper::slice_task(context, task, input, output);
    }
    // @end
    // @if !index_function
    DefaultMapper::slice_task(context, task, input, output);
    // @end
    // @if limits
    if (limit_of(context, task) == 0) return;
    std::vector<TaskSlice> points;
    for (const TaskSlice& slice : output.slices) {
      for (Legion::Domain::DomainPointIterator at(slice.domain); at; at++) {
        points.emplace_back(Legion::Domain(*at, *at), slice.proc, false, slice.stealable);
      }
    }
    output.slices = std::move(points);
    // @end
  }
  // @end

  // All that are ready, where DefaultMapper takes a few at a time.
  void select_tasks_to_map(Context context, const SelectMappingInput& input,
                           SelectMappingOutput& output) override {
    // @if !limits
    (void)context;
    output.map_tasks.insert(input.ready_tasks.begin(), input.ready_tasks.end());
    // @end
    // @if limits
    for (const Legion::Task* task : input.ready_tasks) {
      const std::int64_t limit = limit_of(context, *task);
      if (limit > 0) {
        std::int64_t& in_flight = in_flight_[task->task_id];
        if (in_flight >= limit) continue;
        ++in_flight;
      }
      output.map_tasks.insert(task);
    }
    if (!output.map_tasks.empty() || input.ready_tasks.empty()) return;
    if (!deferred_.exists()) deferred_ = rt_->create_mapper_event(context);
    output.deferral_event = deferred_;
    // @end
  }
  // @if limits

  // One has ended, so another may begin.
  void report_profiling(Context context, const Legion::Task& task,
                        const TaskProfilingInfo& input) override {
    const auto found = in_flight_.find(task.task_id);
    if (!input.task_response || found == in_flight_.end()) return;
    found->second = std::max<std::int64_t>(found->second - 1, 0);
    if (!deferred_.exists()) return;
    const Legion::Mapping::MapperEvent event = deferred_;
    deferred_ = Legion::Mapping::MapperEvent();
    rt_->trigger_mapper_event(context, event);
  }
  using DefaultMapper::report_profiling;
  // @end
  // @if functions || limits

  // The processors on any of which the task may run.
  void default_policy_select_target_processors(Context context, const Legion::Task& task,
                                               std::vector<Legion::Processor>& targets) override {
    // @if limits
    if (limit_of(context, task) > 0) return targets.push_back(task.target_proc);
    // @end
    // @if functions
    const Processor here = site_.place_of(task.target_proc, local_);
    Processors placed;
    // @if index_function
    if (task.is_index_space) {
      const Mapping::Function function = function_of(context, task);
      if (function != Mapping::Function::none) {
        placed =
            place(function, point_of(task.get_task_name(), task.index_domain, task.index_point),
                  here.kind);
      }
    }
    // @end
    // @if single_function
    if (!task.is_index_space) {
      placed = place_single(context, task, here);
      const bool same = std::find(placed.begin(), placed.end(), here) != placed.end();
      if (placed.count() > 0 && !same) return targets.push_back(task.target_proc);
    }
    // @end
    for (const Processor& processor : placed) {  // the first decides the node
      if (processor.node == placed.begin()->node) targets.push_back(site_.legion(processor));
    }
    if (placed.count() > 0) return;
    // @end
    DefaultMapper::default_policy_select_target_processors(context, task, targets);
  }
  // @end
  // @if map_task

  void map_task(Context context, const Legion::Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override {
    const bool shard = input.shard_processor.exists();
    const Legion::Processor target = shard ? input.shard_processor : task.target_proc;
    const Processor here = site_.place_of(target, local_);
    output.chosen_variant = shard ? input.shard_variant : best_variant(context, task, here.kind);
    if (output.chosen_variant == 0) {
      end("`" + std::string(task.get_task_name()) +
          "` has no variant for where it is [no-variant]");
    }
    output.target_procs.clear();
    if (shard) {
      output.target_procs.push_back(target);
    } else {
      default_policy_select_target_processors(context, task, output.target_procs);
    }
    // @if limits
    if (limit_of(context, task) > 0) {
      output.task_prof_requests
          .add_measurement<Legion::Mapping::ProfilingMeasurements::OperationStatus>();
    }
    // @end
    for (std::size_t i = 0; i < task.regions.size(); ++i) map_region(context, task, i, output);
    for (std::size_t i = 0; i < task.output_regions.size(); ++i) {
      map_output(context, task, i, output);
    }
  }
  // @end

 private:
  // @if kinds || replicates || map_task
  // The variant with the highest number for that kind of processor; 0: none.
  Legion::VariantID best_variant(Context context, const Legion::Task& task, ProcKind kind,
                                 bool replicable = false) const {
    std::vector<Legion::VariantID> ids;
    rt_->find_valid_variants(context, task.task_id, ids, legion_kind(kind));
    Legion::VariantID best = 0;
    for (const Legion::VariantID id : ids) {
      if (replicable && !rt_->is_replicable_variant(context, task.task_id, id)) continue;
      best = std::max(best, id);
    }
    return best;
  }
  // @end
  // @if functions || limits || replicates

  // What the task runs on.
  ProcKind kind_of(Context context, const Legion::Task& task) {
    const auto kind = default_find_preferred_variant(task, context, false).proc_kind;
    const auto found = std::find(kProcessorKinds.begin(), kProcessorKinds.end(), kind);
    return static_cast<ProcKind>(found - kProcessorKinds.begin());
  }
  // @end
  // @if limits
  std::int64_t limit_of(Context context, const Legion::Task& task) {
    return Mapping::limit_of(task.get_task_name(), kind_of(context, task));
  }
  // @end
  // @if replicates

  // Legion refuses or ignores the replication of others.
  bool can_replicate(Context context, const Legion::Task& task) {
    for (const Legion::RegionRequirement& region : task.regions) {
      if ((region.privilege & LEGION_READ_WRITE) == LEGION_REDUCE) return false;
    }
    return task.output_regions.empty() && !task.concurrent_task && !task.must_epoch_task &&
           best_variant(context, task, kind_of(context, task), true) != 0;
  }
  // @end
  // @if functions

  // The function that maps the task, if any.
  Mapping::Function function_of(Context context, const Legion::Task& task) {
    const ProcKind kind = kind_of(context, task);
    const std::string name = task.get_task_name();
    // @if index_function
    if (task.is_index_space) return Mapping::index_function(name, kind);
    // @end
    // @if single_function
    if (!task.is_index_space) return Mapping::single_function(name, kind);
    // @end
    return Mapping::Function::none;
  }

  // What the function answers, which must be of the kind that the task runs on.
  Processors place(Mapping::Function function, const Task& task, ProcKind kind) const {
    return or_end([&] {
      Processors placed = shared_->mapping.place(function, task);
      if (placed.begin()->kind != kind) {
        fail("the function that maps `" + std::string(task.name) +
             "` returned a processor of another kind than it runs on [processor-kind-mismatch]");
      }
      return placed;
    });
  }
  // @end
  // @if single_function

  // SingleTaskMap; nothing where no function maps the task, which stands `here`.
  Processors place_single(Context context, const Legion::Task& task, const Processor& here) {
    const Mapping::Function function = function_of(context, task);
    if (function == Mapping::Function::none) return {};
    Task single;
    single.name = task.get_task_name();
    single.processor = single.parent.processor = here;
    if (const Legion::Task* parent = task.get_parent_task()) {
      single.parent.name = parent->get_task_name();
      single.parent.processor = site_.place_of(parent->current_proc, here);
    }
    return place(function, single, kind_of(context, task));
  }
  // @end
  // @if map_task

  struct Variant {
    bool leaf = false, inner = false;
    Layout layout;                    // that it demands
    Legion::MemoryConstraint memory;  // that it demands
  };
  Variant variant_of(Context context, const Legion::Task& task, Legion::VariantID id,
                     std::size_t region) const {
    Variant variant;
    variant.leaf = rt_->is_leaf_variant(context, task.task_id, id);
    variant.inner = rt_->is_inner_variant(context, task.task_id, id);
    const auto& layouts = rt_->find_task_layout_constraints(context, task.task_id, id).layouts;
    const auto range = layouts.equal_range(static_cast<unsigned>(region));
    for (auto at = range.first; at != range.second; ++at) {
      const Legion::LayoutConstraintSet& set = rt_->find_layout_constraints(context, at->second);
      variant.memory = set.memory_constraint;
      const auto& order = set.ordering_constraint.ordering;
      if (order.size() > 1) {
        variant.layout.aos = order.front() == LEGION_DIM_F;
        variant.layout.c_order = order[variant.layout.aos ? 1 : 0] != LEGION_DIM_X;
      }
      variant.layout.exact = variant.layout.exact || set.specialized_constraint.is_exact();
      for (const Legion::AlignmentConstraint& alignment : set.alignment_constraints) {
        variant.layout.align = align_of(alignment.eqk);
        variant.layout.bytes = static_cast<std::int64_t>(alignment.alignment);
      }
    }
    return variant;
  }

  // In the order of Align, without kNone.
  static constexpr std::array kEqualities = {LEGION_EQ_EK, LEGION_NE_EK, LEGION_LT_EK,
                                             LEGION_LE_EK, LEGION_GT_EK, LEGION_GE_EK};
  static Align align_of(Legion::EqualityKind kind) {
    const auto found = std::find(kEqualities.begin(), kEqualities.end(), kind);
    return static_cast<Align>(found - kEqualities.begin() + 1);
  }
  // @if regions || layouts || collects

  template <typename Handle>
  void add_name(Context context, Handle handle, Region& region) const {
    const void* text = nullptr;
    std::size_t size = 0;
    if (!rt_->retrieve_semantic_information(context, handle, LEGION_NAME_SEMANTIC_TAG, text, size,
                                            true)) {
      return;
    }
    std::string name(static_cast<const char*>(text), size);
    name = name.substr(0, name.find('\0'));
    auto& names = region.names;
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  // The names are on the handles that the program named: of a subregion, some way up.
  Region region_of(Context context, const Legion::RegionRequirement& requirement,
                   std::size_t position) const {
    Region region;
    region.position = static_cast<std::int64_t>(position);
    Legion::LogicalRegion at = requirement.region;
    while (at.exists()) {
      add_name(context, at, region);
      if (!rt_->has_parent_logical_partition(context, at)) break;
      const auto partition = rt_->get_parent_logical_partition(context, at);
      add_name(context, partition, region);
      at = rt_->get_parent_logical_region(context, partition);
    }
    if (requirement.parent.exists()) add_name(context, requirement.parent, region);
    return region;
  }
  // @end

  // Why nobody can do without an instance; nothing where one can.
  static const char* why_not_virtual(const Legion::RegionRequirement& requirement,
                                     const Variant& variant) {
    const bool reduces = (requirement.privilege & LEGION_READ_WRITE) == LEGION_REDUCE;
    if (reduces && variant.leaf) return "a leaf reduces to it";
    if ((requirement.prop & LEGION_RELAXED) != LEGION_EXCLUSIVE) return "it is shared while in use";
    if (variant.leaf && (requirement.tag & VIRTUAL_MAP) == 0) {
      return "the variant is a leaf, so nobody else maps it";
    }
    return nullptr;
  }

  // An instance for a region: in the first of its memories that the processor reaches and that has
  // room.
  void map_region(Context context, const Legion::Task& task, std::size_t position,
                  MapTaskOutput& output) {
    const Legion::RegionRequirement& requirement = task.regions[position];
    const auto mode = requirement.privilege & LEGION_READ_WRITE;
    if (requirement.is_no_access() || mode == LEGION_NO_ACCESS ||
        requirement.privilege_fields.empty()) {
      return;
    }
    const std::string name = task.get_task_name();
    const Variant variant = variant_of(context, task, output.chosen_variant, position);
    const Legion::Processor target = output.target_procs.front();
    // @if regions || layouts
    const Processor here = site_.place_of(target, local_);
    // @end
    // @if regions || layouts || collects
    const Region region = region_of(context, requirement, position);
    // @end
    const bool reduces = mode == LEGION_REDUCE;
    const bool inner = variant.inner && (requirement.prop & LEGION_RELAXED) == LEGION_EXCLUSIVE;
    bool is_virtual = inner || (reduces && !variant.leaf) || (requirement.tag & VIRTUAL_MAP) != 0;
    std::vector<MemKind> memories;
    // @if regions
    if (!inner || reduces) memories = Mapping::memories_of(name, region, here.kind);
    if (!memories.empty()) {
      const auto first = std::find_if(memories.begin(), memories.end(), [&](MemKind memory) {
        return memory == MemKind::kVirtual || site_.machine.reaches(here, memory);
      });
      is_virtual = first != memories.end() && *first == MemKind::kVirtual;
    }
    // @end
    int priority = reduces ? LEGION_GC_FIRST_PRIORITY : LEGION_GC_LAST_PRIORITY;
    // @if collects
    if (mode == LEGION_READ_PRIV && Mapping::collects(name, region)) {
      priority = LEGION_GC_FIRST_PRIORITY;
      output.untracked_valid_regions.insert(static_cast<unsigned>(position));
    }
    // @end
    const char* const not_virtual = why_not_virtual(requirement, variant);
    auto& chosen = output.chosen_instances[position];
    if (is_virtual && not_virtual == nullptr) {
      chosen.push_back(Legion::Mapping::PhysicalInstance::get_virtual_instance());
      return;
    }
    std::string reasons;
    const auto add_reason = [&](MemKind kind, const std::string& why) {
      constexpr std::array kWords = {"SYSMEM", "FBMEM",      "ZCMEM",  "SOCKMEM",
                                     "RDMEM",  "REGSOCKMEM", "VIRTUAL"};
      reasons += reasons.empty() ? ": " : ", ";
      reasons += kWords[static_cast<std::size_t>(kind)] + (" (" + why) + ")";
    };
    if (is_virtual) memories = {MemKind::kVirtual};
    Legion::Memory only = Legion::Memory::NO_MEMORY;  // where no statement says which
    if (memories.empty()) {
      only = default_policy_select_target_memory(context, target, requirement, variant.memory);
      const auto kind = std::find(kMemoryKinds.begin(), kMemoryKinds.end(), only.kind());
      memories = {static_cast<MemKind>(kind - kMemoryKinds.begin())};
    }
    for (const MemKind kind : memories) {
      if (kind == MemKind::kVirtual) {
        if (not_virtual != nullptr) {
          add_reason(kind, not_virtual);
          continue;
        }
        chosen.push_back(Legion::Mapping::PhysicalInstance::get_virtual_instance());
        return;
      }
      const Legion::Memory memory = only.exists() ? only : site_.memory(target, kind);
      if (!memory.exists()) {
        add_reason(kind, "the processor reaches none");
        continue;
      }
      Layout layout = variant.layout;
      // @if layouts
      if (const auto said = Mapping::layout_of(name, region, here.kind, kind)) layout = *said;
      // @end
      Legion::Mapping::PhysicalInstance instance;
      std::size_t bytes = 0;
      if (make(context, requirement, layout, memory, priority, instance, &bytes)) {
        chosen.push_back(instance);
        auto& targets = output.target_procs;
        targets.erase(
            std::remove_if(targets.begin(), targets.end(),
                           [&](Legion::Processor p) { return !machine.has_affinity(p, memory); }),
            targets.end());
        return;
      }
      add_reason(kind, "no room for " + std::to_string(bytes) + " bytes");
    }
    end("region " + std::to_string(position) + " of `" + name + "` can go nowhere" + reasons +
        " [no-memory]");
  }

  static Legion::OrderingConstraint ordering(const Layout& layout, int dimensions) {
    std::vector<Legion::DimensionKind> order;
    for (int d = 0; d < dimensions; ++d) {
      order.push_back(static_cast<Legion::DimensionKind>(LEGION_DIM_X + d));
    }
    if (layout.c_order) std::reverse(order.begin(), order.end());
    order.insert(layout.aos ? order.begin() : order.end(), LEGION_DIM_F);
    return {order, false};
  }

  bool make(Context context, const Legion::RegionRequirement& requirement, const Layout& layout,
            Legion::Memory memory, int priority, Legion::Mapping::PhysicalInstance& instance,
            std::size_t* bytes) {
    const bool reduces = (requirement.privilege & LEGION_READ_WRITE) == LEGION_REDUCE;
    std::vector<Legion::FieldID> fields(requirement.privilege_fields.begin(),
                                        requirement.privilege_fields.end());
    if (!reduces) {  // all of them, so that others can use the instance
      fields.clear();
      rt_->get_field_space_fields(context, requirement.region.get_field_space(), fields);
    }
    Legion::LayoutConstraintSet set;
    if (reduces) {
      set.add_constraint(Legion::SpecializedConstraint(LEGION_AFFINE_REDUCTION_SPECIALIZE,
                                                       requirement.redop, false, layout.exact));
    } else {
      set.add_constraint(Legion::SpecializedConstraint(
          layout.compact ? LEGION_COMPACT_SPECIALIZE : LEGION_AFFINE_SPECIALIZE, 0, false,
          layout.exact));
    }
    set.add_constraint(Legion::MemoryConstraint(memory.kind()));
    set.add_constraint(Legion::FieldConstraint(fields, false, false));
    set.add_constraint(ordering(layout, requirement.region.get_dim()));
    for (const Legion::FieldID field : fields) {
      if (layout.align == Align::kNone) break;
      set.add_constraint(Legion::AlignmentConstraint(
          field, kEqualities[static_cast<std::size_t>(layout.align) - 1],
          static_cast<std::size_t>(layout.bytes)));
    }
    const std::vector<Legion::LogicalRegion> regions = {
        layout.exact || reduces ? requirement.region
                                : default_policy_select_instance_region(
                                      context, memory, requirement, set, false, true)};
    bool created = false;
    return rt_->find_or_create_physical_instance(context, memory, set, regions, instance, created,
                                                 true, priority, layout.exact, bytes);
  }

  // An output region gets its instance when the task returns its data.
  void map_output(Context context, const Legion::Task& task, std::size_t position,
                  MapTaskOutput& output) {
    const Legion::OutputRequirement& requirement = task.output_regions[position];
    if (requirement.privilege_fields.empty()) return;
    const std::size_t number = task.regions.size() + position;
    const Legion::Processor target = output.target_procs.front();
    Layout layout = variant_of(context, task, output.chosen_variant, number).layout;
    Legion::Memory memory = default_policy_select_output_target(context, target);
    // @if regions || layouts
    const Processor here = site_.place_of(target, local_);
    const std::string name = task.get_task_name();
    const Region region = region_of(context, requirement, number);
    // @end
    // @if regions
    const auto memories = Mapping::memories_of(name, region, here.kind);
    if (!memories.empty()) {
      memory = Legion::Memory::NO_MEMORY;
      for (const MemKind kind : memories) {
        if (!memory.exists()) memory = site_.memory(target, kind);
      }
      if (!memory.exists()) {
        end("region " + std::to_string(number) + " of `" + name + "` can go nowhere [no-memory]");
      }
    }
    // @end
    // @if layouts
    const auto kind = std::find(kMemoryKinds.begin(), kMemoryKinds.end(), memory.kind());
    const auto said = Mapping::layout_of(name, region, here.kind,
                                         static_cast<MemKind>(kind - kMemoryKinds.begin()));
    if (said) layout = *said;
    // @end
    output.output_targets[position] = memory;
    output.output_constraints[position].add_constraint(
        ordering(layout, requirement.region.get_dim()));
  }
  // @end

  Legion::Mapping::MapperRuntime* rt_;
  std::shared_ptr<Shared> shared_;
  const Site& site_;
  Processor local_;
  // @if limits
  // Limited tasks that were let through and have not ended; what waits for one to end.
  std::map<Legion::TaskID, std::int64_t> in_flight_;
  Legion::Mapping::MapperEvent deferred_;
  // @end
};

inline void make_mappers(const Legion::RegistrationCallbackArgs& args) {
  const auto id = *static_cast<const Legion::MapperID*>(args.buffer.get_ptr());
  auto shared = std::make_shared<Shared>();
  // @if index_function
  shared->runtime = args.runtime;
  // @end
  for (const Legion::Processor p : args.local_procs) {
    if (shared->site.places.count(p) == 0) continue;
    auto* mapper = new MAPPER_CLASS(args.runtime->get_mapper_runtime(), args.machine, p, shared);
    if (id == 0) {
      args.runtime->replace_default_mapper(mapper, p);
    } else {
      args.runtime->add_mapper(id, mapper, p);
    }
  }
}

}  // namespace groma::emit
