// MapperLogReader: turns the lines of a mapper log into decisions. A block consists of a line and
// the indented lines after it. Blocks of several threads may be interleaved, so the reader keeps
// the current block of each thread.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "groma/explain_log.h"
#include "legion_run/log_limits.h"
#include "legion_run/log_lines.h"
#include "legion_run/logged_launches.h"
#include "legion_run/logged_machine.h"

namespace groma {

using inspect::LoggedLaunches;
using inspect::LoggedTask;
using inspect::read_domain;
using inspect::read_id;
using inspect::read_launched_domain;
using inspect::read_number;
using inspect::read_task;
using inspect::take;
using inspect::take_until;

struct MapperLogReader::State {
  // The kinds of blocks in a mapper log that are read.
  enum class In : std::uint8_t { kOther, kMemories, kProcessors, kMapTask, kSlice, kSelect };
  // The current block of one thread of the logged program, and what was read of it.
  struct Thread {
    In in = In::kOther;
    LoggedTask task;
    // The first target processor of the task that the current block maps.
    std::optional<Processor> processor;
    std::optional<ProcKind> kind;
    bool has_target = false;
    // The region requirement to which the instances in the following lines belong.
    MapperLog::Data data;
    bool has_requirement = false;
    // The index launch whose slices the current block lists.
    LoggedLaunches::Launch* launch = nullptr;
    // The domain of the index launch to which the task of the current block belongs, if the log
    // states the domain.
    std::optional<MapperLog::LaunchedDomain> domain;
  };
  using TaskKey = std::tuple<std::string, std::size_t, bool>;
  using DataKey = std::tuple<std::string, std::size_t, std::int64_t, std::vector<std::string>,
                             std::size_t, std::string>;

  MapperLog log;
  inspect::LogLimits limits;
  // The beginning of a line whose rest has not been read yet.
  std::string line;
  bool too_long = false;
  // The number of program runs in the log that have begun and not ended.
  std::int64_t open_runs = 0;
  // The number of program runs in the log that have begun.
  std::int64_t begun_runs = 0;
  std::map<std::string, Thread, std::less<>> threads;
  inspect::LoggedMachine machine;
  LoggedLaunches launches;
  // The index in log.tasks of each group of equal tasks.
  std::map<TaskKey, std::size_t> tasks;
  // The index in log.data of each group of equal entries. An entry is the data of one region
  // requirement of a mapped task.
  std::map<DataKey, std::size_t> data;
  // True if launches were divided among shards before they were sliced.
  bool sharded = false;
  // The indices in log.points of those points whose launch domain is known only from slices.
  std::vector<std::size_t> guessed;
  // For each pair of a task's name and a processor's id: the number of times that a task with the
  // name was moved to the processor.
  std::map<std::pair<std::string, std::uint64_t>, std::int64_t> moves;

  void add(std::string_view text);
  void begin_block(Thread& thread, std::string_view text);
  void begin_task(Thread& thread, In in, std::string_view text);
  void options_line(std::string_view text);
  void run_line(bool begins);
  bool in_block(Thread& thread, std::string_view text);
  bool map_line(Thread& thread, std::string_view text);
  bool requirement(Thread& thread, std::string_view text);
  bool slice_line(Thread& thread, std::string_view text);
  void target(Thread& thread, std::uint64_t processor);
  std::optional<std::size_t> launch_of(const Thread& thread);
  bool instance(Thread& thread, std::string_view text);
  bool select_line(std::string_view text);
};

// Reads a log line without its line end. The beginning of a line of Legion's logger tells which
// thread wrote it.
void MapperLogReader::State::add(std::string_view text) {
  ++log.lines;
  if (text.ends_with('\r')) text.remove_suffix(1);
  std::string_view key;
  // The line is one of Legion's logger: "[0 - 7f54ac01c000]    0.703446 {2}{mapper}: ".
  if (text.starts_with('[')) {
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
      limits.leave_out();
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

// Reads the first line of a log block, which is not indented. This line ends the previous block of
// the thread.
void MapperLogReader::State::begin_block(Thread& thread, std::string_view text) {
  thread = Thread();
  if (text.starts_with("Memories on rank ")) {
    thread.in = In::kMemories;
  } else if (text.starts_with("Processors on rank ")) {
    thread.in = In::kProcessors;
  } else if (take(text, "MAP_TASK for ")) {
    begin_task(thread, In::kMapTask, text);
  } else if (take(text, "SLICE_TASK for ")) {
    begin_task(thread, In::kSlice, text);
  } else if (take(text, "SELECT_TASK_OPTIONS for ")) {
    options_line(text);
  } else if (text.starts_with("MAP_REPLICATE_TASK for ") ||
             text.starts_with("SELECT_SHARDING_FUNCTOR for ")) {
    sharded = true;
  } else if (text == "SELECT_TASKS_TO_MAP") {
    thread.in = In::kSelect;
  } else if (text == "RUN begins" || text == "RUN ends") {
    run_line(text == "RUN begins");
  }
}

// Begins a log block about the task that the text names. If the task cannot be parsed, its whole
// block is ignored.
void MapperLogReader::State::begin_task(Thread& thread, In in, std::string_view text) {
  auto task = read_task(text);
  if (!task) {
    ++log.unreadable;
    return;
  }
  thread.in = in;
  thread.task = *std::move(task);
}

// Reads the options of a task: "write<20>: ... replicate=true".
void MapperLogReader::State::options_line(std::string_view text) {
  const auto task = read_task(text);
  if (!task) {
    ++log.unreadable;
    return;
  }
  const bool has_room = log.options.contains(task->name) ||
                        (log.options.size() < kMaxLogEntries && limits.has_room(task->name.size()));
  if (!has_room) return;
  MapperLog::Options& options = log.options[task->name];
  ++options.count;
  const auto says = [&](std::string_view what) { return task->rest.find(what) != task->rest.npos; };
  if (says(" replicate=true")) ++options.replicated;
  if (says(" replicable=false")) ++options.not_replicable;
}

// Counts a program run that begins or ends in the log. Logs of several processes may be
// concatenated.
void MapperLogReader::State::run_line(bool begins) {
  log.by_groma = true;
  begun_runs += begins ? 1 : 0;
  open_runs = std::max<std::int64_t>(open_runs + (begins ? 1 : -1), 0);
  log.broken_off = open_runs > 0;
}

// Reads an indented line of the current log block. Returns false if the line is malformed. A line
// that the reader does not need is well-formed.
bool MapperLogReader::State::in_block(Thread& thread, std::string_view text) {
  switch (thread.in) {
    case In::kMemories:
      return machine.read_memory(text, limits);
    case In::kProcessors:
      return machine.read_processor(text, limits);
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

// Reads a line of a SLICE_TASK block: the launch's domain or a slice. Returns false if the line is
// malformed.
bool MapperLogReader::State::slice_line(Thread& thread, std::string_view text) {
  text.remove_prefix(2);
  const bool whole = take(text, "LAUNCH ");
  const auto words = whole ? std::optional(text) : take_until(text, " -> ");
  const auto slice = words ? read_domain(*words) : std::nullopt;
  if (!slice) return false;
  if (thread.launch != nullptr) return LoggedLaunches::extend(*thread.launch, *slice);
  thread.launch = launches.add(thread.task, *slice, whole, limits);
  return true;
}

// Reads a line of a SELECT_TASKS_TO_MAP block, and counts a move of a task to another processor.
// Example of a line: " RELOCATE write(index_point=(0))<20> -> 1d00000000000002"
bool MapperLogReader::State::select_line(std::string_view text) {
  text.remove_prefix(2);
  if (!take(text, "RELOCATE ")) return true;
  const std::size_t arrow = text.rfind(" -> ");
  if (arrow == text.npos) return false;
  const auto task = read_task(text.substr(0, arrow));
  const auto to = read_id(text.substr(arrow + 4));
  if (!task || !to) return false;
  const std::pair key{task->name, *to};
  if (!moves.contains(key) &&
      (moves.size() >= kMaxLogEntries || !limits.has_room(task->name.size()))) {
    limits.leave_out();
    return true;
  }
  ++moves[key];
  return true;
}

// Records the first target processor of a task and counts the task as mapped. For a point task with
// a known processor, records the point and its launch, too.
void MapperLogReader::State::target(Thread& thread, std::uint64_t processor) {
  thread.processor = machine.processor(processor);
  if (thread.processor) thread.kind = thread.processor->kind;
  thread.has_target = true;
  ++log.mapped;
  const LoggedTask& task = thread.task;
  const bool is_index = task.point.has_value();
  const std::size_t kind = thread.kind ? static_cast<std::size_t>(*thread.kind) : kProcKindCount;
  const std::tuple key{task.name, kind, is_index};
  auto known = tasks.find(key);
  if (known == tasks.end()) {
    if (log.tasks.size() >= kMaxLogEntries) {
      limits.leave_out();
      return;
    }
    if (!limits.has_room(3 * task.name.size())) return;
    known = tasks.emplace(key, log.tasks.size()).first;
    log.tasks.push_back({task.name, thread.kind, is_index, 0, task.words()});
  }
  ++log.tasks[known->second].count;
  if (!is_index || !thread.processor) return;
  if (log.points.size() >= kMaxLogPoints) {
    limits.leave_out();
    return;
  }
  log.points.push_back({known->second, launch_of(thread), *task.point, *thread.processor});
}

// Returns the index of the launch domain of the point task in the current block, or nullopt if its
// launch is unknown. If the domain is known only from slices, the index that the point will have in
// log.points is added to `guessed`. So call this function before the point is added.
std::optional<std::size_t> MapperLogReader::State::launch_of(const Thread& thread) {
  if (thread.domain) return launches.domain_index(*thread.domain, limits);
  const LoggedLaunches::Launch* const launch = launches.launch_of_point(thread.task);
  if (launch == nullptr) return std::nullopt;
  if (!launch->is_domain_stated) guessed.push_back(log.points.size());
  return launches.domain_index({launch->domain, {}, 0, !launch->is_domain_stated}, limits);
}

// Reads a line of a MAP_TASK block: the launch, target processors, a requirement, its names or an
// instance. Returns false if the line is malformed.
bool MapperLogReader::State::map_line(Thread& thread, std::string_view text) {
  text.remove_prefix(2);
  if (take(text, "LAUNCH ")) {
    thread.domain = read_launched_domain(text);
    return thread.domain.has_value();
  }
  if (take(text, "TARGET PROCS: ")) {
    const auto processor = read_id(text.substr(0, text.find(' ')));
    if (!processor) return false;
    if (!thread.has_target) target(thread, *processor);
    return true;
  }
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (take(text, "Requirement[")) return requirement(thread, text);
  if (take(text, "NAMES")) {
    thread.data.has_names = true;
    while (take(text, " \"") && thread.data.names.size() < 16) {
      const auto name = take_until(text, "\"");
      if (!name || name->size() > inspect::kMaxLoggedName) return false;
      thread.data.names.emplace_back(*name);
    }
    return true;
  }
  if (take(text, "Instance")) return thread.has_requirement && instance(thread, text);
  return true;
}

// Reads a line about a region requirement, whose instances are in the lines that follow. Example of
// a line: "0](region=(27,*,26),...,fields=10)"
bool MapperLogReader::State::requirement(Thread& thread, std::string_view text) {
  thread.has_requirement = false;
  const auto position = take_until(text, "]");
  const std::int64_t value = position ? read_number<std::int64_t>(*position).value_or(-1) : -1;
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

// Reads a line about an instance and counts it for its group of equal data. A virtual instance has
// no memory. Example of a line:
// "[4000000000000000](region=(27,*,26),memory=1e00000000000000,domain=<0>..<9>,fields=10,layout=SoA:X)"
bool MapperLogReader::State::instance(Thread& thread, std::string_view text) {
  MapperLog::Data made = thread.data;
  if (text.find("VIRTUAL") != text.npos && text.find("memory=") == text.npos) {
    made.memory = MemKind::kVirtual;
  } else {
    if (!take_until(text, "memory=")) return false;
    const auto memory = read_id(text.substr(0, text.find(',')));
    if (!memory) return false;
    made.memory = machine.memory_kind(*memory);
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
    if (log.data.size() >= kMaxLogEntries) {
      limits.leave_out();
      return true;
    }
    std::size_t bytes = 3 * made.task.size();
    for (const std::string& name : made.names) bytes += 2 * name.size();
    if (!limits.has_room(bytes)) return true;
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

// Reads bytes of a log and splits them into lines. A line that is longer than kMaxLogLine is cut
// and counted as unreadable. The last line may continue in the next call.
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

// Returns the number of processes of the run whose logs were not read. Each node of the machine has
// one process. Only a log by Groma says when a run begins, so the result is 0 for other logs.
std::int64_t MapperLogReader::missing_processes() const {
  if (!state_->log.by_groma) return 0;
  return std::max<std::int64_t>(0, state_->machine.node_count() - state_->begun_runs);
}

// Returns the decisions that the log showed. Fails if no task was mapped or if the log does not
// list the processors. If launches were divided among shards, slices cover only a part of a launch,
// so launches that are known only from slices are removed.
Result<MapperLog> MapperLogReader::finish() {
  if (!state_->line.empty()) read("\n");
  MapperLog& log = state_->log;
  if (log.mapped == 0 && log.broken_off) {
    return Error{Error::Code::kMalformed, "the run broke off before a task was mapped",
                 "what the run said last tells why"};
  }
  if (log.mapped == 0) {
    return Error{Error::Code::kMalformed,
                 log.lines == 0 ? "the log is empty" : "the log has no task that a mapper mapped",
                 "write one: `groma run --map FILE --log LOG -- PROGRAM`, or have Legion's "
                 "LoggingWrapper around the mapper and -level mapper=2"};
  }
  if (!state_->machine.has_processors()) {
    return Error{Error::Code::kMalformed, "the log does not list the machine's processors",
                 "give all of it: the lists come first, on every rank"};
  }
  log.machine = state_->machine.machine();
  log.launches = state_->launches.domains();
  log.left_out = state_->limits.left_out();
  // If launches were divided among shards, slices cover only a part of a launch.
  if (state_->sharded) {
    for (const std::size_t point : state_->guessed) log.points[point].launch.reset();
  }
  for (const auto& [of, count] : state_->moves) {
    if (const auto to = state_->machine.processor(of.second)) {
      log.moves.push_back({of.first, *to, count});
    }
  }
  return std::move(log);
}

}  // namespace groma
