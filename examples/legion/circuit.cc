// Simulates an electric circuit, a random graph of nodes and wires that is cut into pieces:
//
//   circuit [-nodes 1] [-gpus 4] [-superpiece 10] [-npp 500] [-wpp 2000] [-steps 10] [-loops 20]
//           [LEGION'S FLAGS]
//
// A launch has `gpus` points for each node of the machine. A point has `superpiece` pieces, each
// with npp circuit nodes and wpp wires. Nodes at which wires of another point end are shared. A
// point accesses the shared nodes of its neighbours as ghosts.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "circuit_graph.h"
#include "program.h"

#ifdef GROMA_CUDA
#include "gpu_arrays.h"
#endif

namespace {

using namespace Legion;
using circuit::kSegments;
using circuit::kStep;
using circuit::Node;
using circuit::Pointer;
using circuit::Where;
using circuit::Wire;
using Regions = std::vector<PhysicalRegion>;

enum Tasks : TaskID {
  kTopLevel = 1,
  kParseInput,
  kInitPiece,
  kInitNodes,
  kInitWires,
  kInitPointers,
  kCreateGhosts,
  kCurrents,
  kCharge,
  kVoltages,
  kGetElapsed,
  kPrintSummary,
};
// The warm-up and the timed loops are separate Legion traces.
enum Traces : TraceID { kWarmUp = 1, kTimed };

// The fields of three field spaces: those of the nodes, those of the wires, and the single field
// kRange of the ghost ranges. Fields of different spaces may have the same number.
enum Fields : FieldID {
  kCap = 1,
  kLeakage,
  kChargeOf,
  kVoltage,
  kInPointer = 1,
  kOutPointer,
  kInductance,
  kResistance,
  kWireCap,
  // The current of the first segment of a wire. It is the first of kSegments fields, one for each
  // segment.
  kCurrent,
  // The voltage between the first two segments of a wire. It is the first of kSegments - 1 fields,
  // one for each pair of neighbouring segments.
  kInnerVoltage = kCurrent + kSegments,
  kWireEnd = kInnerVoltage + kSegments - 1,
  kRange = 1,
};
const std::vector<FieldID> kNode = {kCap, kLeakage, kChargeOf, kVoltage};
const std::vector<FieldID> kPointers = {kInPointer, kOutPointer};

// Returns all fields of the wires from `first` on.
std::vector<FieldID> wire_fields(FieldID first) {
  std::vector<FieldID> fields;
  for (FieldID field = first; field < kWireEnd; ++field) fields.push_back(field);
  return fields;
}

circuit::Config config;

// ---- the tasks

// Accessors that assume that the instance is an affine array, which makes the access fast.
template <PrivilegeMode mode, typename T>
using Values = FieldAccessor<mode, T, 1, coord_t, Realm::AffineAccessor<T, 1, coord_t>>;
template <PrivilegeMode mode>
using Floats = Values<mode, float>;
using Charges = ReductionAccessor<SumReduction<float>, /*EXCLUSIVE=*/false, 1, coord_t,
                                  Realm::AffineAccessor<float, 1, coord_t>>;

// Returns the range of nodes or wires that the region contains.
Rect<1> bounds_of(const PhysicalRegion& region) { return region.get_bounds<1, coord_t>().bounds; }

// Initialises the data of one point: launches tasks for its nodes, wires and pointers.
void init_piece(const Task* task, const Regions&, Context context, Runtime* runtime) {
  const coord_t point = task->index_point[0];
  const LogicalRegion ranges = task->regions[0].region;
  const circuit::Range ghosts = config.ghosts(point);
  runtime->fill_field<Rect<1>>(context, ranges, ranges, kRange,
                               Rect<1>(ghosts.first, ghosts.end - 1));
  for (const bool shared : {false, true}) {
    TaskLauncher nodes(kInitNodes, UntypedBuffer(&shared, sizeof shared));
    nodes.add_region_requirement(
        program::needs(task->regions[shared ? 2 : 1].region, LEGION_READ_WRITE, kNode));
    runtime->execute_task(context, nodes);
  }
  TaskLauncher wires = program::single(kInitWires);
  wires.add_region_requirement(
      program::needs(task->regions[4].region, LEGION_READ_WRITE, wire_fields(kInPointer)));
  runtime->execute_task(context, wires);
}

// Initialises the private or, if the argument is true, the shared nodes of one point.
void init_nodes(const Task* task, const Regions& regions, Context, Runtime*) {
  const bool shared = *static_cast<const bool*>(task->args);
  const Floats<LEGION_READ_WRITE> cap(regions[0], kCap), leakage(regions[0], kLeakage),
      charge(regions[0], kChargeOf), voltage(regions[0], kVoltage);
  for (PointInRectIterator<1> at(bounds_of(regions[0])); at(); at++) {
    const Node node = circuit::make_node(at[0], shared);
    cap[*at] = node.cap;
    leakage[*at] = node.leakage;
    charge[*at] = node.charge;
    voltage[*at] = node.voltage;
  }
}

// Initialises all fields of the wires except the pointers.
void init_wires(const Task*, const Regions& regions, Context, Runtime*) {
  const Floats<LEGION_READ_WRITE> inductance(regions[0], kInductance),
      resistance(regions[0], kResistance), cap(regions[0], kWireCap);
  for (PointInRectIterator<1> at(bounds_of(regions[0])); at(); at++) {
    const Wire wire = circuit::make_wire(at[0]);
    inductance[*at] = wire.inductance;
    resistance[*at] = wire.resistance;
    cap[*at] = wire.cap;
  }
  for (const FieldID field : wire_fields(kCurrent)) {
    const Floats<LEGION_READ_WRITE> values(regions[0], field);
    for (PointInRectIterator<1> at(bounds_of(regions[0])); at(); at++) values[*at] = 0;
  }
}

// Finds the two ends of each wire. This runs after the ghosts of the points are known.
void init_pointers(const Task*, const Regions& regions, Context, Runtime*) {
  const Values<LEGION_READ_WRITE, Pointer> in(regions[3], kInPointer), out(regions[3], kOutPointer);
  for (PointInRectIterator<1> at(bounds_of(regions[3])); at(); at++) {
    in[*at] = circuit::in_end(config, at[0]);
    out[*at] = circuit::out_end(config, at[0]);
  }
}

// Makes the partition of the shared nodes that gives each point its ghosts. The field kRange holds
// the range of ghosts of each point, and Legion computes the image of these ranges.
LogicalPartition create_ghost_partition(const Task* task, const Regions&, Context context,
                                        Runtime* runtime) {
  const LogicalRegion shared = task->regions[0].region, ranges = task->regions[1].region;
  const LogicalPartition pieces = program::cut_equal(context, runtime, ranges, config.total(), "");
  return runtime->get_logical_partition(
      context, shared,
      runtime->create_partition_by_image_range(
          context, shared.get_index_space(), pieces, ranges, kRange,
          runtime->get_index_partition_color_space_name(context, pieces.get_index_partition())));
}

// Returns accessors of `count` consecutive fields, one for each segment of a wire.
template <PrivilegeMode mode, std::size_t count>
std::array<Floats<mode>, count> all_of(const PhysicalRegion& region, FieldID first) {
  std::array<Floats<mode>, count> values;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = Floats<mode>(region, first + static_cast<FieldID>(i));
  }
  return values;
}

// Advances the currents and voltages of the wires of one point. The voltages of nodes are read from
// the private, shared or ghost region in which the end of a wire lies.
void calculate_new_currents(const Task*, const Regions& regions, Context, Runtime*) {
  program::set_time(regions[5], program::kStart);
  const std::array<Floats<LEGION_READ_ONLY>, 3> voltage = {
      Floats<LEGION_READ_ONLY>(regions[0], kVoltage),
      Floats<LEGION_READ_ONLY>(regions[1], kVoltage),
      Floats<LEGION_READ_ONLY>(regions[2], kVoltage)};
  const auto voltage_at = [&](const Pointer& end) {
    return voltage[static_cast<std::size_t>(end.where)][Point<1>(end.node)];
  };
  const Values<LEGION_READ_ONLY, Pointer> in(regions[3], kInPointer), out(regions[3], kOutPointer);
  const Floats<LEGION_READ_ONLY> inductance(regions[3], kInductance),
      resistance(regions[3], kResistance), cap(regions[3], kWireCap);
  const auto currents = all_of<LEGION_READ_WRITE, kSegments>(regions[4], kCurrent);
  const auto voltages = all_of<LEGION_READ_WRITE, kSegments - 1>(regions[4], kInnerVoltage);
  for (PointInRectIterator<1> at(bounds_of(regions[3])); at(); at++) {
    Wire wire = {inductance[*at], resistance[*at], cap[*at]};
    for (std::size_t i = 0; i < kSegments; ++i) wire.current[i] = currents[i][*at];
    for (std::size_t i = 0; i + 1 < kSegments; ++i) wire.voltage[i] = voltages[i][*at];
    circuit::solve(config.steps, voltage_at(in[*at]), voltage_at(out[*at]), &wire);
    for (std::size_t i = 0; i < kSegments; ++i) currents[i][*at] = wire.current[i];
    for (std::size_t i = 0; i + 1 < kSegments; ++i) voltages[i][*at] = wire.voltage[i];
  }
}

// Adds the charge that flowed through each wire to the nodes at its two ends.
void distribute_charge(const Task*, const Regions& regions, Context, Runtime*) {
  const Floats<LEGION_READ_WRITE> own(regions[0], kChargeOf);
  const Charges shared(regions[1], kChargeOf, LEGION_REDOP_SUM_FLOAT32);
  const Charges ghost(regions[2], kChargeOf, LEGION_REDOP_SUM_FLOAT32);
  // Several points may add to the same shared node, so those charges are reductions.
  const auto add = [&](const Pointer& end, float charge) {
    const Point<1> node(end.node);
    if (end.where == Where::kPrivate) {
      own[node] += charge;
    } else {
      (end.where == Where::kShared ? shared : ghost)[node] <<= charge;
    }
  };
  const Values<LEGION_READ_ONLY, Pointer> in(regions[3], kInPointer), out(regions[3], kOutPointer);
  const Floats<LEGION_READ_ONLY> first(regions[3], kCurrent),
      last(regions[3], kCurrent + kSegments - 1);
  for (PointInRectIterator<1> at(bounds_of(regions[3])); at(); at++) {
    add(in[*at], kStep * first[*at]);
    add(out[*at], -kStep * last[*at]);
  }
}

// Updates the voltages of the private and shared nodes of one point from their charges.
void update_voltages(const Task*, const Regions& regions, Context, Runtime*) {
  // Requirements 0 and 1 are the private nodes, 2 and 3 are the shared nodes.
  for (const std::size_t nodes : {0U, 2U}) {
    const Floats<LEGION_READ_ONLY> cap(regions[nodes], kCap), leakage(regions[nodes], kLeakage);
    const Floats<LEGION_READ_WRITE> charge(regions[nodes + 1], kChargeOf),
        voltage(regions[nodes + 1], kVoltage);
    for (PointInRectIterator<1> at(bounds_of(regions[nodes])); at(); at++) {
      circuit::update(cap[*at], leakage[*at], &charge[*at], &voltage[*at]);
    }
  }
  program::set_time(regions[4], program::kStop);
}

#ifdef GROMA_CUDA
template <PrivilegeMode mode>
gpu::Floats floats_on_gpu(const PhysicalRegion& region, FieldID field) {
  return gpu::array<float>(Floats<mode>(region, field), bounds_of(region).lo[0]);
}

gpu::Wires wires_on_gpu(const PhysicalRegion& region) {
  using Pointers = Values<LEGION_READ_ONLY, Pointer>;
  const Rect<1> wires = bounds_of(region);
  const coord_t first = wires.lo[0];
  return {first, wires.hi[0] - first + 1, gpu::array<Pointer>(Pointers(region, kInPointer), first),
          gpu::array<Pointer>(Pointers(region, kOutPointer), first)};
}

// The GPU variants of the three tasks pass the addresses of the same fields to gpu.cu.
void new_currents_on_gpu(const Task*, const Regions& regions, Context, Runtime*) {
  program::set_time_on_gpu(regions[5], program::kStart);
  const auto constant = [&](FieldID field) {
    return floats_on_gpu<LEGION_READ_ONLY>(regions[3], field);
  };
  gpu::Nodes voltage;
  for (std::size_t i = 0; i < 3; ++i) {
    voltage.values[i] = floats_on_gpu<LEGION_READ_ONLY>(regions[i], kVoltage);
  }
  gpu::Segments segments = {constant(kInductance), constant(kResistance), constant(kWireCap)};
  FieldID field = kCurrent;
  for (gpu::Floats& current : segments.current) {
    current = floats_on_gpu<LEGION_READ_WRITE>(regions[4], field++);
  }
  for (gpu::Floats& inner : segments.voltage) {
    inner = floats_on_gpu<LEGION_READ_WRITE>(regions[4], field++);
  }
  gpu::solve(config.steps, wires_on_gpu(regions[3]), voltage, segments);
}

// Several GPUs may add to the same shared node, so the fields of requirements 1 and 2 are
// reductions.
void charge_on_gpu(const Task*, const Regions& regions, Context, Runtime*) {
  gpu::Nodes charge = {floats_on_gpu<LEGION_READ_WRITE>(regions[0], kChargeOf)};
  for (const std::size_t i : {1U, 2U}) {
    charge.values[i] = gpu::array<float>(Charges(regions[i], kChargeOf, LEGION_REDOP_SUM_FLOAT32),
                                         bounds_of(regions[i]).lo[0]);
  }
  gpu::distribute(wires_on_gpu(regions[3]), floats_on_gpu<LEGION_READ_ONLY>(regions[3], kCurrent),
                  floats_on_gpu<LEGION_READ_ONLY>(regions[3], kCurrent + kSegments - 1), charge);
}

// Updates the private nodes, then the shared ones. Each kind has a requirement for constants and
// one for the state.
void voltages_on_gpu(const Task*, const Regions& regions, Context, Runtime*) {
  for (const std::size_t i : {0U, 2U}) {
    const Rect<1> nodes = bounds_of(regions[i]);
    gpu::update(nodes.lo[0], nodes.hi[0] - nodes.lo[0] + 1,
                floats_on_gpu<LEGION_READ_ONLY>(regions[i], kCap),
                floats_on_gpu<LEGION_READ_ONLY>(regions[i], kLeakage),
                floats_on_gpu<LEGION_READ_WRITE>(regions[i + 1], kChargeOf),
                floats_on_gpu<LEGION_READ_WRITE>(regions[i + 1], kVoltage));
  }
  program::set_time_on_gpu(regions[4], program::kStop);
}

void add_gpu_tasks() {
  program::add_gpu_task<new_currents_on_gpu>(kCurrents, "calculate_new_currents");
  program::add_gpu_task<charge_on_gpu>(kCharge, "distribute_charge");
  program::add_gpu_task<voltages_on_gpu>(kVoltages, "update_voltages");
}
#else
void add_gpu_tasks() {}
#endif

// ---- the top level

// The regions of the circuit and their partitions. The region `times` has the start and stop time
// of each point, and `ranges` has the range of ghost nodes of each point.
struct Data {
  LogicalRegion privates, shared, wires, times, ranges;
  LogicalPartition p_private, p_shared, p_ghost, p_wires, p_times, p_ranges;
};

// Makes the regions with their fields, and all partitions except p_ghost.
Data make_data(Context context, Runtime* runtime) {
  const coord_t total = config.total();
  const auto make = [&](const char* name, coord_t each, const std::vector<program::Field>& fields) {
    return program::make_region(context, runtime, Rect<1>(0, total * each - 1), name, fields);
  };
  const std::vector<program::Field> node = {{kCap, "node_cap", 4},
                                            {kLeakage, "leakage", 4},
                                            {kChargeOf, "charge", 4},
                                            {kVoltage, "node_voltage", 4}};
  std::vector<program::Field> wire = {{kInPointer, "in_ptr", sizeof(Pointer)},
                                      {kOutPointer, "out_ptr", sizeof(Pointer)},
                                      {kInductance, "inductance", 4},
                                      {kResistance, "resistance", 4},
                                      {kWireCap, "wire_cap", 4}};
  // The wires have a field for the current of each segment, and a field for the voltage between
  // each segment and the next one.
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kSegments; ++i) names.push_back("current._" + std::to_string(i));
  for (std::size_t i = 0; i + 1 < kSegments; ++i) names.push_back("voltage._" + std::to_string(i));
  for (const FieldID field : wire_fields(kCurrent)) {
    wire.push_back({field, names[field - kCurrent].c_str(), 4});
  }
  Data data;
  data.privates = make("all_private", config.private_each(), node);
  data.shared = make("all_shared", config.shared_each(), node);
  data.wires = make("all_wires", config.wires_each(), wire);
  data.times = program::make_times(context, runtime, total, "all_times");
  data.ranges = make("ghost_ranges", 1, {{kRange, "rect", sizeof(Rect<1>)}});
  // All regions are cut into as many equal pieces as there are points, so that piece i belongs to
  // point i.
  const auto cut = [&](LogicalRegion region, const char* name) {
    return program::cut_equal(context, runtime, region, total, name);
  };
  data.p_private = cut(data.privates, "rp_private");
  data.p_shared = cut(data.shared, "rp_shared");
  data.p_wires = cut(data.wires, "rp_wires");
  data.p_times = cut(data.times, "rp_times");
  data.p_ranges = cut(data.ranges, "rp_ghost_ranges");
  return data;
}

// Returns how many nodes do not have the voltage that the serial program computes. A small
// difference is allowed, because sums are added in another order. With few steps the voltages grow
// in each loop.
std::int64_t count_wrong(Context context, Runtime* runtime, const Data& data) {
  const circuit::Voltages expected = circuit::serial(config);
  std::int64_t wrong = 0;
  bool diverges = false;
  const auto compare = [&](LogicalRegion region, const std::vector<float>& values) {
    const PhysicalRegion mapped = runtime->map_region(
        context, InlineLauncher(program::needs(region, LEGION_READ_ONLY, {kVoltage})));
    const Floats<LEGION_READ_ONLY> voltage(mapped, kVoltage);
    for (PointInRectIterator<1> at(bounds_of(mapped)); at(); at++) {
      const float value = values[static_cast<std::size_t>(at[0])];
      diverges = diverges || !std::isfinite(value);
      const float allowed = 1e-4F * std::max(1.0F, std::abs(value));
      if (!(std::abs(voltage[*at] - value) <= allowed)) ++wrong;
    }
    runtime->unmap_region(context, mapped);
  };
  compare(data.privates, expected.privates);
  compare(data.shared, expected.shared);
  if (diverges) std::fputs("the circuit diverges: take fewer loops or more steps\n", stderr);
  return wrong;
}

// Launches the tasks that fill the regions, and the task that makes the partition of the ghosts. A
// requirement without access gives a task no data, but lets the task name the region.
void initialize(Context context, Runtime* runtime, Data* data) {
  using program::needs;
  IndexTaskLauncher pieces = program::over(kInitPiece, Rect<1>(0, config.total() - 1));
  pieces.add_region_requirement(needs(data->p_ranges, data->ranges, LEGION_READ_WRITE, {kRange}));
  pieces.add_region_requirement(needs(data->p_private, data->privates, LEGION_READ_WRITE, kNode));
  pieces.add_region_requirement(needs(data->p_shared, data->shared, LEGION_READ_WRITE, kNode));
  pieces.add_region_requirement(needs(data->shared, LEGION_NO_ACCESS, kNode));
  pieces.add_region_requirement(
      needs(data->p_wires, data->wires, LEGION_READ_WRITE, wire_fields(kInPointer)));
  runtime->execute_index_space(context, pieces);

  TaskLauncher ghosts = program::single(kCreateGhosts);
  ghosts.add_region_requirement(needs(data->shared, LEGION_NO_ACCESS, kNode));
  ghosts.add_region_requirement(needs(data->ranges, LEGION_READ_ONLY, {kRange}));
  data->p_ghost = runtime->execute_task(context, ghosts).get_result<LogicalPartition>();
  runtime->attach_name(data->p_ghost, "rp_ghost");

  IndexTaskLauncher pointers = program::over(kInitPointers, Rect<1>(0, config.total() - 1));
  pointers.add_region_requirement(needs(data->p_private, data->privates, LEGION_NO_ACCESS, kNode));
  pointers.add_region_requirement(needs(data->p_shared, data->shared, LEGION_NO_ACCESS, kNode));
  pointers.add_region_requirement(needs(data->p_ghost, data->shared, LEGION_NO_ACCESS, kNode));
  pointers.add_region_requirement(needs(data->p_wires, data->wires, LEGION_READ_WRITE, kPointers));
  runtime->execute_index_space(context, pointers);
}

// Returns the three launches of one time step.
std::array<IndexTaskLauncher, 3> make_step(const Data& data) {
  using program::needs;
  const Rect<1> points(0, config.total() - 1);
  const std::vector<FieldID> voltage = {kVoltage}, charge = {kChargeOf};
  const RegionRequirement times =
      needs(data.p_times, data.times, LEGION_READ_WRITE, {program::kStart, program::kStop});

  // The first launch reads the voltages of all nodes that the wires of a point touch.
  IndexTaskLauncher currents = program::over(kCurrents, points);
  currents.add_region_requirement(needs(data.p_private, data.privates, LEGION_READ_ONLY, voltage));
  currents.add_region_requirement(needs(data.p_shared, data.shared, LEGION_READ_ONLY, voltage));
  currents.add_region_requirement(needs(data.p_ghost, data.shared, LEGION_READ_ONLY, voltage));
  currents.add_region_requirement(
      needs(data.p_wires, data.wires, LEGION_READ_ONLY,
            {kInPointer, kOutPointer, kInductance, kResistance, kWireCap}));
  currents.add_region_requirement(
      needs(data.p_wires, data.wires, LEGION_READ_WRITE, wire_fields(kCurrent)));
  currents.add_region_requirement(times);

  // The second launch adds charge to these nodes. Shared nodes and ghosts are reductions, because
  // several points touch them.
  IndexTaskLauncher charges = program::over(kCharge, points);
  charges.add_region_requirement(needs(data.p_private, data.privates, LEGION_READ_WRITE, charge));
  for (const LogicalPartition nodes : {data.p_shared, data.p_ghost}) {
    charges.add_region_requirement(
        RegionRequirement(nodes, 0, LEGION_REDOP_SUM_FLOAT32, LEGION_EXCLUSIVE, data.shared)
            .add_field(kChargeOf));
  }
  charges.add_region_requirement(
      needs(data.p_wires, data.wires, LEGION_READ_ONLY,
            {kInPointer, kOutPointer, kCurrent, kCurrent + kSegments - 1}));

  // The third launch updates only the nodes that the point owns.
  IndexTaskLauncher voltages = program::over(kVoltages, points);
  const std::pair<LogicalPartition, LogicalRegion> both[] = {{data.p_private, data.privates},
                                                             {data.p_shared, data.shared}};
  for (const auto& [nodes, region] : both) {
    voltages.add_region_requirement(needs(nodes, region, LEGION_READ_ONLY, {kCap, kLeakage}));
    voltages.add_region_requirement(needs(nodes, region, LEGION_READ_WRITE, {kChargeOf, kVoltage}));
  }
  voltages.add_region_requirement(times);
  return {currents, charges, voltages};
}

// Makes and fills the data, runs the time steps, and prints the time. All steps use the same three
// launchers, so Legion can reuse its analysis.
void top_level(const Task*, const Regions&, Context context, Runtime* runtime) {
  // This task does nothing useful, because main() has already read the parameters. It exists only
  // because the original program has such a task.
  runtime->execute_task(context, program::single(kParseInput)).wait();
  Data data = make_data(context, runtime);
  initialize(context, runtime, &data);

  const std::array<IndexTaskLauncher, 3> launchers = make_step(data);
  const auto step = [&] {
    for (const IndexTaskLauncher& launcher : launchers) {
      runtime->execute_index_space(context, launcher);
    }
  };
  program::traced(context, runtime, kWarmUp, circuit::kWarmUps, step);
  const long long elapsed = program::timed(
      context, runtime, [&] { program::traced(context, runtime, kTimed, config.loops, step); });

  TaskLauncher last = program::single(kGetElapsed);
  last.add_region_requirement(
      program::needs(data.times, LEGION_READ_ONLY, {program::kStart, program::kStop}));
  runtime->execute_task(context, last).wait();
  runtime->execute_index_space(context,
                               program::over(kPrintSummary, Rect<1>(0, config.total() - 1)));
  program::report(context, runtime, elapsed, count_wrong(context, runtime, data));
}

}  // namespace

// Reads the parameters, registers the tasks under the names of the original program, and starts
// Legion.
int main(int argc, char** argv) {
  using program::Kind;
  if (!program::read_parameters(argc, argv,
                                {{"nodes", &config.nodes, 1, 1 << 16},
                                 {"gpus", &config.gpus, 1, 1 << 10},
                                 {"superpiece", &config.superpiece, 1, 1 << 10},
                                 {"npp", &config.npp, 100, 1 << 28},
                                 {"wpp", &config.wpp, 1, 1 << 28},
                                 {"steps", &config.steps, 1, 1 << 20},
                                 {"loops", &config.loops, 1, 1 << 20}})) {
    return 2;
  }
  program::add_task<top_level>(kTopLevel, "toplevel", Kind::kReplicable);
  Runtime::set_top_level_task_id(kTopLevel);
  program::add_task<program::nothing>(kParseInput, "parse_input");
  program::add_task<init_piece>(kInitPiece, "init_piece", Kind::kInner);
  program::add_task<init_nodes>(kInitNodes, "init_nodes");
  program::add_task<init_wires>(kInitWires, "init_wires");
  program::add_task<init_pointers>(kInitPointers, "init_pointers");
  program::add_task<create_ghost_partition>(kCreateGhosts, "create_ghost_partition", Kind::kPlain);
  program::add_task<calculate_new_currents>(kCurrents, "calculate_new_currents");
  program::add_task<distribute_charge>(kCharge, "distribute_charge");
  program::add_task<update_voltages>(kVoltages, "update_voltages");
  program::add_task<program::get_elapsed>(kGetElapsed, "get_elapsed");
  program::add_task<program::nothing>(kPrintSummary, "print_summary");
  add_gpu_tasks();
  return Runtime::start(argc, argv);
}
