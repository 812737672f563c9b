// A toy runtime that uses Groma: it reads a mapping, launches the tasks of application.h, and
// prints where they run and where their data is.
//   groma_embed FILE.mapper
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "application.h"
#include "groma/program_mapper.h"
#include "groma/validate.h"

using namespace groma;

namespace {

// One processor with its mapper object and the tasks that wait there to be mapped.
struct Station {
  Processor processor;
  std::unique_ptr<Mapper> mapper;
  std::vector<TaskView> ready;
};

// A toy runtime. It has one mapper object for each processor of the machine, as Legion has. The
// objects share the compiled mapping.
class ToyRuntime : public MapperRuntime {
 public:
  ToyRuntime(const BoundProgram& program, LogSink* log) : machine_(program.shared_machine()) {
    const auto shared = ProgramMapper::share(program, log);
    for (const Processor& processor : machine_->processors()) {
      const MapperSite site{machine_, processor, {}, log};
      stations_.push_back({processor, std::make_unique<ProgramMapper>(shared, site), {}});
    }
  }

  // Returns what this runtime supports. If a mapping needs more, a message in the log says so.
  Capabilities capabilities() const override {
    Capabilities can;
    can.events = can.messages = can.replication = can.stealing = false;
    return can;
  }

  // Runs a task, or all points of an index launch. Returns false if the mapping cannot be used.
  bool launch(TaskView task) {
    // All launches of this program start on the first processor, so its mapper object answers the
    // questions about them.
    Mapper& mapper = *stations_.front().mapper;
    TaskOptions options;
    mapper.select_task_options(*this, task, options);
    if (refused(mapper, validate(options, task, *machine_))) return false;
    task.current = options.initial;
    // A mapper cuts an index launch into slices. Each point of a slice is mapped on the slice's
    // processor. A single task is treated as one slice.
    SliceTaskOutput answer;
    if (task.is_index) mapper.slice_task(*this, task, task.domain, answer);
    if (!task.is_index) answer.slices = {{task.domain, options.initial}};
    if (refused(mapper, validate(answer, task, task.domain, *machine_))) return false;
    for (const TaskSlice& slice : answer.slices) {
      task.current = slice.processor;
      task.point = slice.box.lower;
      // Each point becomes a task that waits on the processor of its slice.
      do {
        const auto here = [&](const Station& s) { return s.processor == task.current; };
        std::find_if(stations_.begin(), stations_.end(), here)->ready.push_back(task);
      } while (next_point(slice.box, &task.point));
    }
    return map_all();
  }

 private:
  // Maps all waiting tasks. A mapper may delay some of them. Here every task ends at once.
  bool map_all() {
    for (auto& [processor, mapper, ready] : stations_) {
      while (!ready.empty()) {
        SelectMappingOutput answer;
        mapper->select_tasks_to_map(*this, ready, answer);
        if (refused(*mapper, validate(answer, ready, *machine_))) return false;
        // Tasks that the mapper did not choose stay in the list for the next round.
        std::vector<TaskView> later;
        for (std::uint32_t i = 0; i < ready.size(); ++i) {
          const bool now = std::count(answer.map.begin(), answer.map.end(), i) > 0;
          if (!now) later.push_back(ready[i]);
          if (now && !map(*mapper, ready[i])) return false;
        }
        ready = std::move(later);
      }
    }
    return true;
  }

  // Maps one task and prints its processor and the memories of its data. Returns false if the
  // answer cannot be used.
  bool map(Mapper& mapper, const TaskView& task) {
    MapTaskOutput choice;
    mapper.map_task(*this, task, {}, choice);
    if (refused(mapper, validate(choice, task, *machine_))) return false;
    const Processor& p = choice.processors.front();
    std::cout << task.name;
    if (task.is_index) std::cout << " point " << task.point[0];
    std::cout << ": " << name_of(p.kind) << " " << p.index << " of node " << p.node;
    for (std::size_t i = 0; i < choice.requirements.size(); ++i) {
      std::cout << ", " << task.requirements[i].aliases.front() << " in "
                << memory_for(choice.requirements[i], p);
    }
    std::cout << "\n";
    return true;
  }

  // Returns the first memory that the processor can address. Here every memory has enough room.
  std::string_view memory_for(const InstanceChoice& choice, const Processor& p) const {
    for (const InstanceCandidate& candidate : choice.candidates()) {
      if (choice.is_virtual || candidate.memory == MemKind::kVirtual) break;
      if (machine_->can_address(p.node, p.kind, candidate.memory)) return name_of(candidate.memory);
    }
    return "no memory of its own";
  }

  // Prints what is wrong with a mapper's answer, and the statement that decided it. Returns true if
  // there was something to print.
  static bool refused(const Mapper& mapper, const std::vector<Refusal>& refusals) {
    for (const Refusal& refusal : refusals) std::cout << render(refusal, mapper);
    return !refusals.empty();
  }

  std::shared_ptr<const Machine> machine_;
  std::vector<Station> stations_;
};

// Prints what the mapping's `print` statements write, and messages about the runtime's
// capabilities.
struct Log : LogSink {
  void log(LogLevel, std::string_view line) override { std::cout << line << "\n"; }
};

}  // namespace

// Reads, compiles and binds the mapping, then launches the tasks in their order.
int main(int argc, char** argv) {
  const auto source = Source::read(argc == 2 ? argv[1] : "");
  if (!source) {
    std::cerr << source.error().message << "\nusage: groma_embed FILE.mapper\n";
    return 2;
  }
  Log log;
  Diagnostics diags(*source);
  const Program program = compile(*source, diags);
  // A real runtime describes its own machine here.
  const auto bound = bind(program, *make_machine("nodes=2,gpu=2,cpu=2"), diags, &log);
  std::cerr << render(diags);
  if (!bound) return 1;
  ToyRuntime runtime(*bound, &log);
  const Application application;
  const bool well = std::all_of(application.launches.begin(), application.launches.end(),
                                [&](const TaskView& task) { return runtime.launch(task); });
  return well ? 0 : 1;
}
