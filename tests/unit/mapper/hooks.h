// What tests of the hooks call them with: a runtime that offers events and notes what it is told, a
// task that owns what its view points to, a program bound to a machine.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "groma/program_mapper.h"
#include "groma/validate.h"

namespace groma::test {

class FakeRuntime : public MapperRuntime {
 public:
  Capabilities can;
  MapperEvent events = 0;  // made so far
  std::vector<MapperEvent> triggered;

  Capabilities capabilities() const override { return can; }
  MapperEvent create_event() override { return ++events; }
  void trigger_event(MapperEvent event) override { triggered.push_back(event); }
};

class LineLog : public LogSink {
 public:
  void log(LogLevel, std::string_view line) override {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// A task with a variant for each kind, numbered from 1.
class FakeTask {
 public:
  std::vector<VariantView> variants;
  std::vector<RequirementView> requirements;
  TaskView base;  // what is neither name, variant nor requirement

  FakeTask(std::string name, const std::vector<ProcKind>& kinds, TaskId id = 1)
      : name_(std::move(name)) {
    base.id = id;
    for (ProcKind kind : kinds) {
      VariantView variant;
      variant.id = static_cast<VariantId>(variants.size() + 1);
      variant.kind = kind;
      variant.leaf = true;
      variants.push_back(variant);
    }
  }
  FakeTask(const FakeTask&) = delete;
  FakeTask& operator=(const FakeTask&) = delete;

  // A requirement of a region with these names; `key` as RequirementView::aliases_key.
  RequirementView& region(std::vector<std::string_view> aliases,
                          Privilege privilege = Privilege::kReadWrite, std::uint64_t key = 0) {
    RequirementView requirement;
    requirement.aliases = aliases_.emplace_back(std::move(aliases));
    requirement.aliases_key = key;
    requirement.privilege = privilege;
    requirement.reduction = privilege == Privilege::kReduce ? 7 : 0;
    requirement.fields = kFields;
    requirement.region_dimensions = 2;
    return requirements.emplace_back(requirement);
  }

  // An index launch of that domain.
  FakeTask& launch(const Rect& domain) {
    base.is_index = true;
    base.domain = domain;
    return *this;
  }

  TaskView view() const {
    TaskView view = base;
    view.name = name_;
    view.variants = variants;
    view.requirements = requirements;
    return view;
  }
  TaskView at(const Processor& processor) const {
    TaskView view = this->view();
    view.current = processor;
    return view;
  }

 private:
  static constexpr FieldView kFields[] = {{1, 8, "x"}, {2, 8, "y"}};
  std::string name_;
  std::deque<std::vector<std::string_view>> aliases_;
};

inline Rect rect(std::initializer_list<std::int64_t> extents) { return *Rect::make(extents); }

inline Processor gpu(std::int64_t node, std::int64_t index) {
  return {ProcKind::kGpu, node, index};
}
inline Processor cpu(std::int64_t node, std::int64_t index) {
  return {ProcKind::kCpu, node, index};
}

inline Machine machine_of(std::string_view spec) { return *make_machine(spec); }

// A node for each spec, which may differ.
inline Machine unequal(const std::vector<std::string_view>& specs) {
  std::vector<NodeType> types;
  std::vector<std::uint32_t> nodes;
  for (std::string_view spec : specs) {
    nodes.push_back(static_cast<std::uint32_t>(types.size()));
    types.push_back(machine_of(spec).node(0));
  }
  return *Machine::make("unequal", "", types, nodes);
}

inline BoundProgram bound_to(const std::string& text, Machine machine) {
  const Source source("test.mapper", text);
  Diagnostics diags(source);
  const Program program = compile(source, diags);
  auto bound = bind(program, std::move(machine), diags);
  EXPECT_TRUE(bound.has_value()) << render(diags);
  return *bound;
}

// A bound program and a mapper object of it for each processor asked for.
class Mapping {
 public:
  Mapping(const std::string& text, Machine machine, LogSink* log = nullptr)
      : Mapping(bound_to(text, std::move(machine)), log) {}
  explicit Mapping(BoundProgram program, LogSink* log = nullptr)
      : bound(std::move(program)), shared(ProgramMapper::share(bound, log)) {}

  ProgramMapper& on(const Processor& processor, DefaultSettings settings = {}) {
    const MapperSite site{bound.shared_machine(), processor, settings};
    return *mappers_.emplace_back(std::make_unique<ProgramMapper>(shared, site));
  }
  const Machine& machine() const { return bound.machine(); }

  BoundProgram bound;
  std::shared_ptr<ProgramMapper::Shared> shared;

 private:
  std::deque<std::unique_ptr<ProgramMapper>> mappers_;
};

// A function that is not specialised, with some 655,000 steps for each point: what a program from
// anyone may do. Points go to the two nodes in turn.
inline constexpr std::string_view kSlow = R"(
Task * GPU;
m = Machine(GPU);
def four(t) { return (*t, *t, *t, *t); }
big = four(four(four(four(four(four(four(four((1,)))))))));
ten = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
def slow(Task t) {
  zeros = tuple(big.volume - 1 for i in ten);
  node = t.ipoint[0] % 2;
  return m.split(0, node + 1)[node, 0, zeros[0]];
}
IndexTaskMap * slow;
)";

inline MapTaskOutput choice_of(Mapper& mapper, const TaskView& task, MapperRuntime& runtime) {
  MapTaskOutput choice;
  mapper.map_task(runtime, task, {}, choice);
  return choice;
}
inline MapTaskOutput choice_of(Mapper& mapper, const TaskView& task) {
  FakeRuntime runtime;
  return choice_of(mapper, task, runtime);
}
inline TaskOptions options_of(Mapper& mapper, const TaskView& task) {
  FakeRuntime runtime;
  TaskOptions options;
  mapper.select_task_options(runtime, task, options);
  return options;
}
inline SliceTaskOutput slices_of(Mapper& mapper, const TaskView& task, const Rect& part) {
  FakeRuntime runtime;
  SliceTaskOutput answer;
  mapper.slice_task(runtime, task, part, answer);
  return answer;
}

inline std::vector<TaskSlice> list_of(const TaskSlices& slices) {
  return {slices.begin(), slices.end()};
}

// The message of a diagnostic with its id, as a console shows it: "...: error: ... [id]" at no
// place.
inline std::string text_of(const Diagnostic& diagnostic) {
  return diagnostic.message + " [" + std::string(name_of(diagnostic.id)) + "]";
}
inline std::vector<std::string> text_of(const std::vector<Refusal>& refusals) {
  std::vector<std::string> lines;
  for (const Refusal& refusal : refusals) lines.push_back(text_of(refusal.diagnostic));
  return lines;
}

// "FBMEM ZCMEM", "virtual".
inline std::string memories_of(const InstanceChoice& choice) {
  if (choice.is_virtual) return "virtual";
  std::string text;
  for (const InstanceCandidate& candidate : choice.candidates()) {
    if (!text.empty()) text += " ";
    text += name_of(candidate.memory);
  }
  return text;
}

}  // namespace groma::test

namespace groma {
inline void PrintTo(const Processor& p, std::ostream* out) {
  *out << name_of(p.kind) << " (" << p.node << ", " << p.index << ")";
}
}  // namespace groma
