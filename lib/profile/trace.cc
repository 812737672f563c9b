// Writes the profile of a run in the trace event format, which Perfetto and the trace viewer of
// Chrome can read.
#include <fmt/format.h>

#include <iterator>
#include <unordered_map>

#include "base/append_format.h"
#include "profile/json_text.h"
#include "profile/timeline.h"
#include "profile/words.h"

namespace groma {
namespace {

using namespace profile;

// Limit on the points in time at which the trace shows the bytes in one memory.
constexpr std::size_t kLevels = 2000;
// When the trace has this many points with the bytes in a memory, the remaining memories are left
// out. The last memory that is written may exceed this limit.
constexpr std::size_t kAllLevels = 200000;
// The process number that stands for the critical path in the trace. Node n has the process number
// n + 1.
constexpr std::int64_t kPathProcess = 0;

// Formats a time in microseconds, the unit of the trace event format. Six decimals show the
// picoseconds.
std::string micros(RunTime time) { return fmt::format("{}.{:06}", time / 1000000, time % 1000000); }

// Writes the trace of one run. In a trace, nodes are processes and rows of the timeline are
// threads.
class TraceWriter {
 public:
  TraceWriter(const Profile& profile, const ProfileWords& words)
      : profile_(profile), record_(*profile.record), words_(words) {
    // The names are escaped once in advance, because each of them is written many times.
    for (const std::string& name : record_.tasks) tasks_.push_back(json_quoted(name));
    for (const std::string& name : record_.regions) regions_.push_back(json_quoted(name));
    for (const std::string& point : record_.points) points_.push_back(json_quoted(point));
    for (const auto& memory : record_.memories) {
      memories_.push_back(json_quoted(profile::name_of(memory)));
    }
  }

  // Returns the whole trace: the names of processes and threads, the spans, the critical path, and
  // the bytes in memories.
  std::string write() {
    const Timeline lanes = make_timeline(profile_, kMaxTraceEvents);
    text_ = fmt::format(
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"title\":{},\"left_out\":\"{}\"}},"
        "\"traceEvents\":[\n",
        json_quoted(words_.title),
        lanes.left_out == 0
            ? std::string("nothing")
            : fmt::format("{} of {} tasks and copies, none longer than {}", lanes.left_out,
                          record_.events.size(), format_time(lanes.longest_left_out)));
    name_process(kPathProcess, "critical path");
    name_thread(kPathProcess, 0, "critical path");
    std::int64_t last_node = -1;
    // The number of a thread is the number of its row in the timeline, from 1.
    for (std::size_t i = 0; i < lanes.lanes.size(); ++i) {
      const TimelineLane& lane = lanes.lanes[i];
      // Lanes are sorted by node, so each node is named once.
      if (lane.node != last_node) name_process(lane.node + 1, fmt::format("node {}", lane.node));
      last_node = lane.node;
      name_thread(lane.node + 1, i + 1, lane.name);
    }
    for (std::size_t i = 0; i < lanes.lanes.size(); ++i) {
      const TimelineLane& lane = lanes.lanes[i];
      for (const EventSpan& span : lane.spans) add(lane, i + 1, span);
    }
    path();
    memories();
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  // Appends one event to the trace, formatted as JSON.
  template <typename... Values>
  void event(fmt::format_string<Values...> format, Values&&... values) {
    if (!first_) text_ += ",\n";
    first_ = false;
    append_format(&text_, format, std::forward<Values>(values)...);
  }

  // Writes the name of a process to the trace, and sorts the processes by their numbers.
  void name_process(std::int64_t process, const std::string& name) {
    event(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process,
          json_quoted(name));
    event(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})",
          process, process);
  }
  // Writes the name of a thread of a process to the trace, and sorts the threads by their numbers.
  void name_thread(std::int64_t process, std::size_t thread, const std::string& name) {
    event(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", process,
          thread, json_quoted(name));
    event(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
          process, thread, thread);
  }

  // Returns the name with this number as a JSON string, or "?" if the number is not in the list.
  static std::string_view name_in(const std::vector<std::string>& names, std::int32_t number) {
    if (number < 0 || static_cast<std::size_t>(number) >= names.size()) return "\"?\"";
    return names[static_cast<std::size_t>(number)];
  }

  // Returns the description of a mapping statement as a JSON string, which is built only once for
  // each statement.
  const std::string& statement(std::int32_t number) {
    const auto [found, is_new] = statements_.try_emplace(number);
    if (is_new) found->second = json_quoted(describe_statement(words_, number));
    return found->second;
  }

  // Appends the span of one event to the trace: a task, the mapping of a task, a copy or a
  // reduction.
  void add(const TimelineLane& lane, std::size_t thread, const EventSpan& span) {
    const RunRecord::Event& one = record_.events[static_cast<std::size_t>(span.event)];
    const bool task = one.kind == RunRecord::Event::Kind::kTask;
    const std::string begin = micros(span.begin), length = micros(span.end - span.begin);
    if (task) {
      event(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},)"
            R"("args":{{"event":{}{}}}}})",
            lane.kind == TimelineLane::Kind::kRuntime ? "mapping" : "task",
            name_in(tasks_, one.name), lane.node + 1, thread, begin, length, span.event,
            one.point < 0 ? "" : fmt::format(R"(,"point":{})", name_in(points_, one.point)));
      return;
    }
    event(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},)"
          R"("args":{{"event":{},"bytes":{},"from":{},"to":{},"for":{},"by":{}}}}})",
          one.kind == RunRecord::Event::Kind::kCopy ? "copy" : "reduction",
          name_in(regions_, one.region), lane.node + 1, thread, begin, length, span.event,
          one.bytes, name_in(memories_, one.from), name_in(memories_, one.where),
          name_in(tasks_, one.name), statement(one.statement));
  }

  // Appends the longest kMaxTraceEvents segments of the critical path to the trace, as a separate
  // process.
  void path() {
    for (std::size_t i : longest_path_segments(profile_, kMaxTraceEvents)) {
      const Profile::Segment& segment = profile_.path[i];
      const std::int32_t name =
          segment.event < 0 ? -1 : record_.events[static_cast<std::size_t>(segment.event)].name;
      event(R"({{"ph":"X","cat":"path","name":"{}","pid":{},"tid":0,"ts":{},"dur":{},)"
            R"("args":{{"event":{},"task":{},"reason":"{}"}}}})",
            name_of(segment.doing), kPathProcess, micros(segment.begin),
            micros(segment.end - segment.begin), segment.event, name_in(tasks_, name),
            name_of(segment.reason));
    }
  }

  // Appends the allocated bytes in each memory over time to the trace, as counters. When kAllLevels
  // points have been written, the remaining memories are left out.
  void memories() {
    const auto levels = allocated_bytes_over_time(profile_, kLevels);
    std::size_t shown = 0;
    for (std::size_t m = 0; m < levels.size() && shown < kAllLevels; ++m) {
      const RunRecord::Memory& memory = record_.memories[m];
      const std::string& name = memories_[m];
      shown += levels[m].size();
      for (const AllocatedBytesAtTime& level : levels[m]) {
        event(R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{"bytes":{}}}}})", name,
              memory.node + 1, micros(level.time), level.bytes);
      }
    }
  }

  const Profile& profile_;
  const RunRecord& record_;
  const ProfileWords& words_;
  // The names of tasks, regions, points of index launches, and memories, each as a JSON string.
  std::vector<std::string> tasks_, regions_, points_, memories_;
  std::unordered_map<std::int32_t, std::string> statements_;
  std::string text_;
  bool first_ = true;
};

}  // namespace

std::string to_trace(const Profile& profile, const ProfileWords& words) {
  return TraceWriter(profile, words).write();
}

}  // namespace groma
