// Sorts records by a merge sort whose tasks launch themselves:
//
//   sort_tree [-keys 64000] [-depth 5] [LEGION'S FLAGS]
//
// A record is a key and a payload. The task msort cuts its segment of the records into two halves,
// launches itself for each half, and then merges the halves. `depth` levels below the root, it
// sorts its segment instead. Records with the same key keep their order.
#include <algorithm>
#include <bit>
#include <cstdio>

#include "program.h"

namespace {

using namespace Legion;
using Regions = std::vector<PhysicalRegion>;

enum Tasks : TaskID { kMain = 1, kGenerate, kSort, kSortLeaf, kMergeHalves, kCopyBack };
enum Fields : FieldID { kKey = 1, kPayload, kKey2, kPayload2 };

// Records are made in this many pieces.
constexpr coord_t kChunks = 64;

// The parameters of the command line.
struct Config {
  std::int64_t keys = 64'000, depth = 5;
} config;

// The payload of a record is its place before the sort.
struct Record {
  std::int64_t key, payload;
};

// Returns the record at a place before the sort. Its key is one of 4096, so several records have
// the same key.
Record make_record(std::int64_t place) {
  auto mixed = static_cast<std::uint64_t>(place) * 0x9E3779B97F4A7C15U;
  mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9U;
  return {static_cast<std::int64_t>(mixed >> 52), place};
}

bool is_before(const Record& a, const Record& b) { return a.key < b.key; }

// A node of the tree. Node 0 is the root, and the halves of node k are 2 k + 1 and 2 k + 2. `depth`
// is the number of levels below the node.
struct Node {
  std::int64_t k, depth;

  // Returns the left half if `half` is 0, and the right half if it is 1.
  Node child(coord_t half) const { return {2 * k + 1 + half, depth - 1}; }
  // Returns the places of the node's records: its level is cut into 1, 2, 4, ... segments.
  Rect<1> segment() const {
    const auto width = static_cast<coord_t>(std::bit_floor(static_cast<std::uint64_t>(k + 1)));
    return program::block(config.keys, width, k + 1 - width);
  }
};

// ---- the tasks

template <PrivilegeMode mode>
using Values =
    FieldAccessor<mode, std::int64_t, 1, coord_t, Realm::AffineAccessor<std::int64_t, 1, coord_t>>;

Rect<1> bounds_of(const PhysicalRegion& region) { return region.get_bounds<1, coord_t>().bounds; }

// Returns the records of a piece, in the order of their places.
template <PrivilegeMode mode>
std::vector<Record> read(const PhysicalRegion& region, FieldID key, FieldID payload) {
  const Values<mode> keys(region, key), payloads(region, payload);
  std::vector<Record> records;
  for (PointInRectIterator<1> at(bounds_of(region)); at(); at++) {
    records.push_back({keys[*at], payloads[*at]});
  }
  return records;
}

// Writes the records to a piece of the same size.
template <PrivilegeMode mode>
void write(const std::vector<Record>& records, const PhysicalRegion& region, FieldID key,
           FieldID payload) {
  const Values<mode> keys(region, key), payloads(region, payload);
  auto record = records.begin();
  for (PointInRectIterator<1> at(bounds_of(region)); at(); at++, ++record) {
    keys[*at] = record->key;
    payloads[*at] = record->payload;
  }
}

// Launches the task msort for a node. `whole` is the data that `segments` cuts, and `i` is the
// number of the node's segment.
void launch_msort(Context context, Runtime* runtime, LogicalRegion whole, LogicalPartition segments,
                  coord_t i, const Node& node) {
  TaskLauncher launcher = program::single(kSort, UntypedBuffer(&node, sizeof node));
  RegionRequirement requirement = program::needs(
      runtime->get_logical_subregion_by_color(context, segments, DomainPoint(Point<1>(i))),
      LEGION_READ_WRITE, {kKey, kPayload, kKey2, kPayload2});
  requirement.parent = whole;
  launcher.add_region_requirement(requirement);
  runtime->execute_task(context, launcher);
}

void generate(const Task*, const Regions& regions, Context, Runtime*) {
  std::vector<Record> records;
  for (PointInRectIterator<1> at(bounds_of(regions[0])); at(); at++) {
    records.push_back(make_record(at[0]));
  }
  write<LEGION_WRITE_DISCARD>(records, regions[0], kKey, kPayload);
}

// Sorts the segment of the node that is the task's argument: launches the tasks that do so.
void msort(const Task* task, const Regions&, Context context, Runtime* runtime) {
  const Node node = *static_cast<const Node*>(task->args);
  const LogicalRegion segment = task->regions[0].region;
  // Launches a task that reads two fields of the whole segment and writes two others.
  const auto launch = [&](TaskID id, const UntypedBuffer& argument,
                          const std::vector<FieldID>& read, const std::vector<FieldID>& written) {
    TaskLauncher launcher = program::single(id, argument);
    launcher.add_region_requirement(program::needs(segment, LEGION_READ_ONLY, read));
    launcher.add_region_requirement(program::needs(segment, LEGION_WRITE_DISCARD, written));
    runtime->execute_task(context, launcher);
  };
  if (node.depth == 0) {
    TaskLauncher leaf = program::single(kSortLeaf);
    leaf.add_region_requirement(program::needs(segment, LEGION_READ_WRITE, {kKey, kPayload}));
    runtime->execute_task(context, leaf);
    return;
  }
  const LogicalPartition halves =
      program::cut(context, runtime, segment, 2, "segment",
                   [&](coord_t half) { return node.child(half).segment(); });
  for (coord_t half = 0; half < 2; ++half) {
    launch_msort(context, runtime, segment, halves, half, node.child(half));
  }
  const auto size = static_cast<coord_t>(node.child(0).segment().volume());
  launch(kMergeHalves, UntypedBuffer(&size, sizeof size), {kKey, kPayload}, {kKey2, kPayload2});
  launch(kCopyBack, {}, {kKey2, kPayload2}, {kKey, kPayload});
}

void sort_leaf(const Task*, const Regions& regions, Context, Runtime*) {
  std::vector<Record> records = read<LEGION_READ_WRITE>(regions[0], kKey, kPayload);
  std::stable_sort(records.begin(), records.end(), is_before);
  write<LEGION_READ_WRITE>(records, regions[0], kKey, kPayload);
}

// Merges the two sorted halves of a segment. The task's argument is the size of the first half.
void merge_halves(const Task* task, const Regions& regions, Context, Runtime*) {
  const std::vector<Record> records = read<LEGION_READ_ONLY>(regions[0], kKey, kPayload);
  const auto middle = records.begin() + *static_cast<const coord_t*>(task->args);
  std::vector<Record> merged(records.size());
  std::merge(records.begin(), middle, middle, records.end(), merged.begin(), is_before);
  write<LEGION_WRITE_DISCARD>(merged, regions[1], kKey2, kPayload2);
}

void copy_back(const Task*, const Regions& regions, Context, Runtime*) {
  write<LEGION_WRITE_DISCARD>(read<LEGION_READ_ONLY>(regions[0], kKey2, kPayload2), regions[1],
                              kKey, kPayload);
}

// ---- the top level

// Returns how many places do not have the record that a serial sort puts there. Prints a digest of
// all records, so that the results of two runs can be compared.
std::int64_t count_wrong(Context context, Runtime* runtime, LogicalRegion records) {
  std::vector<Record> expected;
  for (std::int64_t place = 0; place < config.keys; ++place) {
    expected.push_back(make_record(place));
  }
  std::stable_sort(expected.begin(), expected.end(), is_before);
  const PhysicalRegion mapped = runtime->map_region(
      context, InlineLauncher(program::needs(records, LEGION_READ_ONLY, {kKey, kPayload})));
  const std::vector<Record> sorted = read<LEGION_READ_ONLY>(mapped, kKey, kPayload);
  runtime->unmap_region(context, mapped);
  std::int64_t wrong = 0;
  std::uint64_t digest = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i].key != expected[i].key || sorted[i].payload != expected[i].payload) ++wrong;
    digest = (digest ^ static_cast<std::uint64_t>(sorted[i].payload)) * 0x100000001B3U;
  }
  char text[100];
  std::snprintf(text, sizeof text, "digest %016llx\n", static_cast<unsigned long long>(digest));
  runtime->print_once(context, stdout, text);
  return wrong;
}

// Makes the records, sorts them, and checks the result.
void top_level(const Task*, const Regions&, Context context, Runtime* runtime) {
  const LogicalRegion records = program::make_region(
      context, runtime, Rect<1>(0, config.keys - 1), "records",
      {{kKey, "key", 8}, {kPayload, "payload", 8}, {kKey2, "key2", 8}, {kPayload2, "payload2", 8}});
  const LogicalPartition chunks =
      program::cut(context, runtime, records, kChunks, "chunk",
                   [](coord_t i) { return program::block(config.keys, kChunks, i); });
  IndexTaskLauncher generate = program::over(kGenerate, Rect<1>(0, kChunks - 1));
  generate.add_region_requirement(
      program::needs(chunks, records, LEGION_WRITE_DISCARD, {kKey, kPayload}));
  runtime->execute_index_space(context, generate);

  // The root's segment is all records. It belongs to a partition with the name of all segments, so
  // that a mapping can name the segments of all levels.
  const Node root = {0, config.depth};
  const LogicalPartition whole = program::cut(context, runtime, records, 1, "segment",
                                              [&](coord_t) { return root.segment(); });
  const long long elapsed = program::timed(
      context, runtime, [&] { launch_msort(context, runtime, records, whole, 0, root); });
  program::report(context, runtime, elapsed, count_wrong(context, runtime, records));
}

}  // namespace

// Reads the parameters, registers the tasks, and starts Legion.
int main(int argc, char** argv) {
  using program::Kind;
  if (!program::read_parameters(
          argc, argv,
          {{"keys", &config.keys, kChunks, 1LL << 40}, {"depth", &config.depth, 1, 6}})) {
    return 2;
  }
  program::add_task<top_level>(kMain, "main", Kind::kPlain);
  Runtime::set_top_level_task_id(kMain);
  program::add_task<generate>(kGenerate, "generate");
  program::add_task<msort>(kSort, "msort", Kind::kInner);
  program::add_task<sort_leaf>(kSortLeaf, "sort_leaf");
  program::add_task<merge_halves>(kMergeHalves, "merge_halves");
  program::add_task<copy_back>(kCopyBack, "copy_back");
  return Runtime::start(argc, argv);
}
