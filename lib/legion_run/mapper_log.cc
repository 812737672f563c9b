// MapperLogReader: turns the lines of a mapper log into decisions. Blocks of several threads may be
// interleaved, so each thread has its own position in a block.
#include <algorithm>
#include <charconv>
#include <deque>
#include <iterator>
#include <set>
#include <unordered_map>

#include "groma/explain_log.h"

namespace groma {
namespace {

// Legion's names, in the order of ProcKind and MemKind.
constexpr std::string_view kProcessors[] = {"LOC_PROC", "TOC_PROC", "OMP_PROC",
                                            "IO_PROC",  "PY_PROC",  "PROC_SET"};
constexpr std::string_view kMemories[] = {"SYSTEM_MEM", "GPU_FB_MEM", "Z_COPY_MEM", "SOCKET_MEM",
                                          "REGDMA_MEM"};
constexpr std::size_t kMostThings = 1 << 16;  // limit of processors and memories
constexpr std::size_t kMostOfName = 4096;     // bytes of the name of a task or region
constexpr std::size_t kMostDigits = 20;       // digits of a number in `<>`

template <typename Kind, std::size_t kCount>
std::optional<Kind> kind_named(const std::string_view (&names)[kCount], std::string_view name) {
  const auto* const found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Kind>(found - std::begin(names));
}

bool take(std::string_view& text, std::string_view begin) {
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  return true;
}

// Removes and returns the text before `mark`, and removes the mark. Returns nullopt if there is no
// mark.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == text.npos) return std::nullopt;
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at + mark.size());
  return before;
}

template <typename Number>
std::optional<Number> number(std::string_view text, int base = 10) {
  Number value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> id(std::string_view text) { return number<std::uint64_t>(text, 16); }

// Reads a point: "0,1".
std::optional<Point> point(std::string_view text) {
  std::vector<std::int64_t> coordinates;
  for (std::size_t begin = 0;;) {
    const std::size_t comma = text.find(',', begin);
    std::string_view one = text.substr(begin, comma - begin);
    while (one.starts_with(' ')) one.remove_prefix(1);
    const auto value = number<std::int64_t>(one);
    if (!value || coordinates.size() == kMaxDimensions) return std::nullopt;
    coordinates.push_back(*value);
    if (comma == text.npos) return Point(coordinates);
    begin = comma + 1;
  }
}

// Returns the box from the first point to the last; nullopt if this is not a box or is too large.
std::optional<Rect> box(const Point& first, const Point& last) {
  Point extents = last;
  for (int d = 0; d < extents.dimensions(); ++d) {
    if (__builtin_sub_overflow(last[d], first[d], &extents[d]) ||
        __builtin_add_overflow(extents[d], 1, &extents[d])) {
      return std::nullopt;
    }
  }
  auto made = Rect::make(first, extents);
  return made ? std::optional<Rect>(*made) : std::nullopt;
}

// Reads a domain: "<0,0>..<3,3>".
std::optional<Rect> domain(std::string_view text) {
  if (!take(text, "<")) return std::nullopt;
  const auto lower = take_until(text, ">..<"), upper = take_until(text, ">");
  if (!lower || !upper || !text.empty()) return std::nullopt;
  const auto from = point(*lower), to = point(*upper);
  if (!from || !to || from->dimensions() != to->dimensions()) return std::nullopt;
  return box(*from, *to);
}

// A task of a line: "write(index_point=(0))<20> @ provenance".
struct Named {
  std::string name;
  std::optional<Point> point;
  std::uint64_t uid = 0;
  std::string_view rest;
  std::string words() const {
    std::string text = name;
    if (point) {
      text += " (";
      for (int d = 0; d < point->dimensions(); ++d) {
        text += (d == 0 ? "" : ",") + std::to_string((*point)[d]);
      }
      text += ")";
    }
    return text + " <" + std::to_string(uid) + ">";
  }
};

// Reads the name, the point and the number of a task; nullopt if the text names no task.
std::optional<Named> named(std::string_view text) {
  for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    const std::string_view inside = text.substr(at + 1, kMostDigits + 1);
    const std::size_t digits = inside.find('>');
    if (digits == inside.npos) continue;
    const auto uid = number<std::uint64_t>(inside.substr(0, digits));
    const std::string_view rest = text.substr(at + 1 + digits + 1);
    const bool ends = rest.empty() || rest.starts_with(" @ ") || rest.starts_with(":");
    if (!uid || !ends) continue;
    Named made;
    made.uid = *uid;
    made.rest = rest;
    std::string_view name = text.substr(0, at);
    constexpr std::string_view kPoint = "(index_point=(";
    const std::size_t of = name.rfind(kPoint);
    if (of != name.npos && name.ends_with("))")) {
      made.point = point(name.substr(of + kPoint.size(), name.size() - of - kPoint.size() - 2));
      if (!made.point) return std::nullopt;
      name = name.substr(0, of);
    }
    if (name.size() > kMostOfName) return std::nullopt;
    made.name = name;
    return made;
  }
  return std::nullopt;
}

}  // namespace

struct MapperLogReader::State {
  // A launch that was sliced; its points may follow.
  struct Launch {
    std::uint64_t uid = 0;
    Rect domain;              // bounding box of the slices, or the logged domain
    bool whole = false;       // the log states the domain
    std::int64_t mapped = 0;  // points mapped so far
  };
  enum class In : std::uint8_t { kOther, kMemories, kProcessors, kMapTask, kSlice, kSelect };
  struct Thread {
    In in = In::kOther;
    Named task;
    std::optional<Processor> processor;  // first target processor
    std::optional<ProcKind> kind;
    bool has_target = false;
    MapperLog::Data data;  // requirement of the instances that follow
    bool has_requirement = false;
    Launch* launch = nullptr;    // launch being sliced
    std::optional<Rect> domain;  // domain of the point's launch, if the log states it
  };

  MapperLog log;
  std::string line;  // current incomplete line
  bool too_long = false;
  std::int64_t open_runs = 0;   // runs begun and not ended
  std::int64_t begun_runs = 0;  // runs in the logs
  std::map<std::string, Thread, std::less<>> threads;
  std::map<std::uint64_t, std::optional<ProcKind>> processors;
  std::map<std::uint64_t, std::pair<std::optional<MemKind>, std::int64_t>> memories;
  std::map<std::uint64_t, Processor> places;  // places of processors, once all are known
  std::map<std::tuple<std::string, std::size_t, bool>, std::size_t> tasks;
  std::map<std::tuple<std::string, std::size_t, std::int64_t, std::vector<std::string>, std::size_t,
                      std::string>,
           std::size_t>
      data;
  std::map<std::string, std::deque<Launch>, std::less<>> launches;  // by task name
  std::size_t launch_count = 0;
  // Index in log.launches of each domain, by its lower bounds and extents.
  std::map<std::vector<std::int64_t>, std::size_t> domains;
  bool sharded = false;              // launches were cut by shard before they were sliced
  std::vector<std::size_t> guessed;  // points whose launch is known only from slices
  // Number of moves, by task and processor.
  std::map<std::pair<std::string, std::uint64_t>, std::int64_t> moves;

  void add(std::string_view text);
  void begin_block(Thread& thread, std::string_view text);
  bool in_block(Thread& thread, std::string_view text);
  bool machine_line(In in, std::string_view text);
  bool map_line(Thread& thread, std::string_view text);
  bool slice_line(Thread& thread, std::string_view text);
  void target(Thread& thread, std::uint64_t processor);
  bool instance(Thread& thread, std::string_view text);
  bool select_line(std::string_view text);
  const Launch* launch_of(const Named& task);
  std::optional<std::size_t> number_of(const Rect& domain);
  void number_processors();
  void make_machine();
  // Returns true if there is room for more names; otherwise counts them as left out.
  bool has_room(std::size_t bytes);
  std::size_t kept_bytes = 0;  // bytes of names
};

bool MapperLogReader::State::has_room(std::size_t bytes) {
  if (kept_bytes + bytes > kMaxLogNames) {
    ++log.left_out;
    return false;
  }
  kept_bytes += bytes;
  return true;
}

// Numbers the processors of each node and kind in the order of their ids.
void MapperLogReader::State::number_processors() {
  std::map<std::pair<std::int64_t, ProcKind>, std::int64_t> counts;
  places.clear();
  for (const auto& [known, kind] : processors) {
    if (!kind) continue;
    const auto node = static_cast<std::int64_t>(known >> 40 & 0xFFFF);
    places[known] = {*kind, node, counts[{node, *kind}]++};
  }
}

// Builds the machine from the lists of processors and memories. Does nothing if the list of a node
// is missing.
void MapperLogReader::State::make_machine() {
  std::map<std::int64_t, NodeType> nodes;
  const auto add = [](auto& groups, const auto& one) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.kind == one.kind; });
    if (same == groups.end()) {
      groups.push_back(one);
    } else {
      ++same->count;
    }
  };
  for (const auto& [known, place] : places) {
    add(nodes[place.node].processors, ProcessorGroup{place.kind, 1});
  }
  for (const auto& [known, memory] : memories) {
    const auto& [kind, capacity] = memory;
    if (!kind || capacity <= 0) continue;
    add(nodes[static_cast<std::int64_t>(known >> 40 & 0xFFFF)].memories,
        MemoryGroup{*kind, 1, capacity});
  }
  std::vector<NodeType> types;
  std::vector<std::uint32_t> order;
  for (auto& [node, type] : nodes) {
    if (static_cast<std::size_t>(node) != order.size()) return;  // the list of a node is missing
    order.push_back(static_cast<std::uint32_t>(types.size()));
    types.push_back(std::move(type));
  }
  auto made = Machine::make("legion", "the machine of a mapper log", std::move(types), order);
  if (made) log.machine = std::move(made).value();
}

void MapperLogReader::State::add(std::string_view text) {
  ++log.lines;
  if (text.ends_with('\r')) text.remove_suffix(1);
  std::string_view key;
  if (text.starts_with('[')) {  // "[0 - 7f54ac01c000]    0.703446 {2}{mapper}: "
    std::string_view rest = text.substr(1);
    const auto thread = take_until(rest, "]");
    if (thread && take_until(rest, "}: ")) {
      key = *thread;
      text = rest;
    }
  }
  auto found = threads.find(key);
  if (found == threads.end()) {
    if (threads.size() >= kMaxLogThreads) {
      ++log.left_out;
      return;
    }
    found = threads.emplace(std::string(key), Thread()).first;
  }
  Thread& thread = found->second;
  if (!text.starts_with("  ")) {
    begin_block(thread, text);
  } else if (!in_block(thread, text)) {
    ++log.unreadable;
  }
}

void MapperLogReader::State::begin_block(Thread& thread, std::string_view text) {
  thread = Thread();
  if (text.starts_with("Memories on rank ")) {
    thread.in = In::kMemories;
  } else if (text.starts_with("Processors on rank ")) {
    thread.in = In::kProcessors;
  } else if (take(text, "MAP_TASK for ")) {
    auto task = named(text);
    if (!task) {
      ++log.unreadable;
      return;
    }
    thread.in = In::kMapTask;
    thread.task = *std::move(task);
  } else if (take(text, "SLICE_TASK for ")) {
    auto task = named(text);
    if (!task) {
      ++log.unreadable;
      return;
    }
    thread.in = In::kSlice;
    thread.task = *std::move(task);
  } else if (take(text, "SELECT_TASK_OPTIONS for ")) {
    const auto task = named(text);
    if (!task) {
      ++log.unreadable;
    } else if (log.options.contains(task->name) ||
               (log.options.size() < kMaxLogKinds && has_room(task->name.size()))) {
      MapperLog::Options& options = log.options[task->name];
      ++options.count;
      const auto says = [&](std::string_view what) {
        return task->rest.find(what) != task->rest.npos;
      };
      if (says(" replicate=true")) ++options.replicated;
      if (says(" replicable=false")) ++options.not_replicable;
    }
  } else if (text.starts_with("MAP_REPLICATE_TASK for ") ||
             text.starts_with("SELECT_SHARDING_FUNCTOR for ")) {
    sharded = true;
  } else if (text == "SELECT_TASKS_TO_MAP") {
    thread.in = In::kSelect;
  } else if (text == "RUN begins" || text == "RUN ends") {
    log.by_groma = true;
    // Logs of several processes may be concatenated.
    begun_runs += text == "RUN begins" ? 1 : 0;
    open_runs += text == "RUN begins" ? 1 : -1;
    open_runs = std::max<std::int64_t>(open_runs, 0);
    log.broken_off = open_runs > 0;
  }
}

// Returns true if the line could be read or can be ignored.
bool MapperLogReader::State::in_block(Thread& thread, std::string_view text) {
  switch (thread.in) {
    case In::kMemories:
    case In::kProcessors:
      return machine_line(thread.in, text);
    case In::kMapTask:
      return map_line(thread, text);
    case In::kSlice:
      return slice_line(thread, text);
    case In::kSelect:
      return select_line(text);
    case In::kOther:
      break;
  }
  return true;
}

// Reads a line such as "  1e00000000000000 (SYSTEM_MEM): 536870912 bytes" or "  1d00000000000001
// (LOC_PROC) can see ...".
bool MapperLogReader::State::machine_line(In in, std::string_view text) {
  text.remove_prefix(2);
  const auto own = take_until(text, " (");
  const auto kind = take_until(text, ")");
  const auto known = own ? id(*own) : std::nullopt;
  if (!known || !kind) return false;
  if (processors.size() + memories.size() >= kMostThings) {
    ++log.left_out;
    return true;
  }
  if (in == In::kProcessors) {
    if (processors.emplace(*known, kind_named<ProcKind>(kProcessors, *kind)).second) places.clear();
    return true;
  }
  const auto bytes = take(text, ": ") ? take_until(text, " bytes") : std::nullopt;
  const auto capacity = bytes ? number<std::int64_t>(*bytes) : std::nullopt;
  if (!capacity) return false;
  memories.emplace(*known, std::pair(kind_named<MemKind>(kMemories, *kind), *capacity));
  return true;
}

// Reads a line of a SLICE_TASK block. Extends the launch's bounding box unless the log states its
// domain. Returns false if the line is malformed.
bool MapperLogReader::State::slice_line(Thread& thread, std::string_view text) {
  text.remove_prefix(2);
  const bool whole = take(text, "LAUNCH ");
  const auto words = whole ? std::optional(text) : take_until(text, " -> ");
  const auto slice = words ? domain(*words) : std::nullopt;
  if (!slice) return false;
  if (thread.launch == nullptr) {
    if (launch_count >= kMaxLogLaunches) {
      ++log.left_out;
      return true;
    }
    const std::string& name = thread.task.name;
    if (!launches.contains(name) && !has_room(name.size())) return true;
    std::deque<Launch>& known = launches[name];
    // A slice may be sliced again, with the launch's number.
    if (!known.empty() && known.back().uid == thread.task.uid) return true;
    ++launch_count;
    thread.launch = &known.emplace_back(Launch{thread.task.uid, *slice, whole, 0});
    return true;
  }
  if (thread.launch->whole) return true;
  Rect& all = thread.launch->domain;  // bounding box of the slices
  if (all.dimensions() != slice->dimensions()) return false;
  Point first = all.lower, last = all.lower;
  for (int d = 0; d < all.dimensions(); ++d) {
    first[d] = std::min(first[d], slice->lower[d]);
    last[d] =
        std::max(all.lower[d] + (all.extents[d] - 1), slice->lower[d] + (slice->extents[d] - 1));
  }
  const auto around = box(first, last);
  if (around) all = *around;
  return around.has_value();
}

// "  RELOCATE write(index_point=(0))<20> -> 1d00000000000002"
bool MapperLogReader::State::select_line(std::string_view text) {
  text.remove_prefix(2);
  if (!take(text, "RELOCATE ")) return true;
  const std::size_t arrow = text.rfind(" -> ");
  if (arrow == text.npos) return false;
  const auto task = named(text.substr(0, arrow));
  const auto to = id(text.substr(arrow + 4));
  if (!task || !to) return false;
  const std::pair key{task->name, *to};
  if (!moves.contains(key) && (moves.size() >= kMaxLogKinds || !has_room(task->name.size()))) {
    ++log.left_out;
    return true;
  }
  ++moves[key];
  return true;
}

// Returns the launch of a point if the log does not state it: an earlier launch that still lacks
// points. Returns null if the possible launches have different domains. The points of launches come
// in any order, so the point is counted for the oldest.
const MapperLogReader::State::Launch* MapperLogReader::State::launch_of(const Named& task) {
  constexpr int kLookedAt = 64;
  const auto found = launches.find(task.name);
  if (found == launches.end()) return nullptr;
  int looked_at = 0;
  Launch* oldest = nullptr;
  bool alike = true;
  for (auto one = found->second.rbegin(); one != found->second.rend(); ++one) {
    if (++looked_at > kLookedAt) break;
    const bool may_be = one->uid < task.uid && one->domain.contains(*task.point) &&
                        one->mapped < one->domain.volume();
    if (!may_be) continue;
    alike = alike && (oldest == nullptr || (oldest->domain.lower == one->domain.lower &&
                                            oldest->domain.extents == one->domain.extents));
    oldest = &*one;
  }
  if (oldest == nullptr) return nullptr;
  ++oldest->mapped;
  return alike ? oldest : nullptr;
}

// Returns the index of a domain in log.launches and adds it if it is new; nullopt if the list is
// full.
std::optional<std::size_t> MapperLogReader::State::number_of(const Rect& domain) {
  std::vector<std::int64_t> numbers;
  for (const Point* point : {&domain.lower, &domain.extents}) {
    numbers.insert(numbers.end(), point->coordinates().begin(), point->coordinates().end());
  }
  const auto known = domains.find(numbers);
  if (known != domains.end()) return known->second;
  if (log.launches.size() >= kMaxLogLaunches) {
    ++log.left_out;
    return std::nullopt;
  }
  domains.emplace(std::move(numbers), log.launches.size());
  log.launches.push_back(domain);
  return log.launches.size() - 1;
}

// Records the first target processor of a task, and for a point also its launch.
void MapperLogReader::State::target(Thread& thread, std::uint64_t processor) {
  if (places.empty()) number_processors();
  const auto place = places.find(processor);
  if (place != places.end()) {
    thread.processor = place->second;
    thread.kind = place->second.kind;
  }
  thread.has_target = true;
  ++log.mapped;
  const Named& task = thread.task;
  const bool is_index = task.point.has_value();
  const std::size_t kind = thread.kind ? static_cast<std::size_t>(*thread.kind) : kProcKindCount;
  const std::tuple key{task.name, kind, is_index};
  auto known = tasks.find(key);
  if (known == tasks.end()) {
    if (log.tasks.size() >= kMaxLogKinds) {
      ++log.left_out;
      return;
    }
    if (!has_room(3 * task.name.size())) return;
    known = tasks.emplace(key, log.tasks.size()).first;
    log.tasks.push_back({task.name, thread.kind, is_index, 0, task.words()});
  }
  ++log.tasks[known->second].count;
  if (!is_index || !thread.processor) return;
  if (log.points.size() >= kMaxLogPoints) {
    ++log.left_out;
    return;
  }
  std::optional<std::size_t> launch;
  if (thread.domain) {
    launch = number_of(*thread.domain);
  } else if (const Launch* const of = launch_of(task)) {
    launch = number_of(of->domain);
    if (!of->whole) guessed.push_back(log.points.size());
  }
  log.points.push_back({known->second, launch, *task.point, *thread.processor});
}

// Reads a line of a MAP_TASK block: the launch, target processors, a requirement, its names or an
// instance. Returns false if the line is malformed.
bool MapperLogReader::State::map_line(Thread& thread, std::string_view text) {
  text.remove_prefix(2);
  if (take(text, "LAUNCH ")) {
    thread.domain = domain(text);
    return thread.domain.has_value();
  }
  if (take(text, "TARGET PROCS: ")) {
    const auto processor = id(text.substr(0, text.find(' ')));
    if (!processor) return false;
    if (!thread.has_target) target(thread, *processor);
    return true;
  }
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (take(text, "Requirement[")) {
    thread.has_requirement = false;
    const auto position = take_until(text, "]");
    const std::int64_t value = position ? number<std::int64_t>(*position).value_or(-1) : -1;
    const std::size_t fields = text.rfind(",fields=");
    if (value < 0 || !thread.has_target || fields == text.npos) return false;
    thread.data = MapperLog::Data();
    thread.data.task = thread.task.name;
    thread.data.kind = thread.kind;
    thread.data.position = value;
    thread.data.one_field = text.find('+', fields) == text.npos;
    thread.has_requirement = true;
    return true;
  }
  if (take(text, "NAMES")) {
    thread.data.has_names = true;
    while (take(text, " \"") && thread.data.names.size() < 16) {
      const auto name = take_until(text, "\"");
      if (!name || name->size() > kMostOfName) return false;
      thread.data.names.emplace_back(*name);
    }
    return true;
  }
  if (take(text, "Instance")) return thread.has_requirement && instance(thread, text);
  return true;
}

// "[4000000000000000](region=(27,*,26),memory=1e00000000000000,domain=<0>..<9>,fields=10,layout=SoA:X)"
bool MapperLogReader::State::instance(Thread& thread, std::string_view text) {
  MapperLog::Data made = thread.data;
  if (text.find("VIRTUAL") != text.npos && text.find("memory=") == text.npos) {
    made.memory = MemKind::kVirtual;
  } else {
    if (!take_until(text, "memory=")) return false;
    const auto memory = id(text.substr(0, text.find(',')));
    if (!memory) return false;
    const auto known = memories.find(*memory);
    if (known != memories.end()) made.memory = known->second.first;
    if (take_until(text, ",layout=")) made.layout = text.substr(0, text.find_first_of("),"));
    if (made.layout.size() > 32) return false;
  }
  const auto place = [](const auto& kind) {
    return kind ? static_cast<std::size_t>(*kind) : std::size_t{255};
  };
  const std::tuple key{made.task,  place(made.kind),   made.position,
                       made.names, place(made.memory), made.layout};
  auto known = data.find(key);
  if (known == data.end()) {
    if (log.data.size() >= kMaxLogKinds) {
      ++log.left_out;
      return true;
    }
    std::size_t bytes = 3 * made.task.size();
    for (const std::string& name : made.names) bytes += 2 * name.size();
    if (!has_room(bytes)) return true;
    known = data.emplace(key, log.data.size()).first;
    made.example = thread.task.words();
    log.data.push_back(std::move(made));
  }
  MapperLog::Data& one = log.data[known->second];
  one.one_field = one.one_field && thread.data.one_field;
  ++one.count;
  return true;
}

MapperLogReader::MapperLogReader() : state_(std::make_unique<State>()) {}
MapperLogReader::~MapperLogReader() = default;
MapperLogReader::MapperLogReader(MapperLogReader&&) noexcept = default;
MapperLogReader& MapperLogReader::operator=(MapperLogReader&&) noexcept = default;

// Splits the bytes into lines. A line longer than kMaxLogLine is cut and counted as unreadable.
void MapperLogReader::read(std::string_view bytes) {
  State& state = *state_;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    const std::size_t room = kMaxLogLine - state.line.size();
    state.too_long = state.too_long || part.size() > room;
    state.line += part.substr(0, room);
    if (end == bytes.npos) return;
    bytes.remove_prefix(end + 1);
    if (state.too_long) ++state.log.unreadable;
    state.add(state.line);
    state.line.clear();
    state.too_long = false;
  }
}

std::int64_t MapperLogReader::missing_processes() const {
  if (!state_->log.by_groma) return 0;
  std::set<std::uint64_t> processes;
  for (const auto& [known, kind] : state_->processors) processes.insert(known >> 40 & 0xFFFF);
  return std::max<std::int64_t>(0, std::ssize(processes) - state_->begun_runs);
}

// Fails if no task was mapped or the log lacks the list of processors.
Result<MapperLog> MapperLogReader::finish() {
  if (!state_->line.empty()) read("\n");
  if (state_->log.mapped == 0 && state_->log.broken_off) {
    return Error{Error::Code::kMalformed, "the run broke off before a task was mapped",
                 "what the run said last tells why"};
  }
  if (state_->log.mapped == 0) {
    return Error{
        Error::Code::kMalformed,
        state_->log.lines == 0 ? "the log is empty" : "the log has no task that a mapper mapped",
        "write one: `groma run --map FILE --log LOG -- PROGRAM`, or have Legion's "
        "LoggingWrapper around the mapper and -level mapper=2"};
  }
  if (state_->places.empty()) state_->number_processors();
  if (state_->places.empty()) {
    return Error{Error::Code::kMalformed, "the log does not list the machine's processors",
                 "give all of it: the lists come first, on every rank"};
  }
  state_->make_machine();
  MapperLog& log = state_->log;
  if (state_->sharded) {  // then slices cover only part of a launch
    for (const std::size_t point : state_->guessed) log.points[point].launch.reset();
  }
  for (const auto& [of, count] : state_->moves) {
    const auto to = state_->places.find(of.second);
    if (to != state_->places.end()) log.moves.push_back({of.first, to->second, count});
  }
  return std::move(log);
}

}  // namespace groma
