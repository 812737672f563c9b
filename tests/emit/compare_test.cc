// Emitted programs, compiled, against the library: every point of many launches on many machines
// against the reference evaluation, every decision against the Program's own answers.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "emit/emitted.h"
#include "program/data.h"

namespace groma::testing {
namespace {

Program compiled(const EmittedProgram& emitted) {
  Diagnostics diags(Source(std::string(emitted.name) + ".mapper", std::string(emitted.text)));
  Program program = compile(diags.source(), diags);
  EXPECT_FALSE(diags.has_errors()) << render(diags);
  return program;
}

// A name, or names that a pattern matches.
void add_names(const NameTable& table, NameId id, std::set<std::string>* names) {
  for (const std::string_view filling : {"", "x", "new_charge"}) {
    std::string name;
    for (const char c : table.text(id)) {
      c == '*' && table.is_pattern(id) ? name += filling : name += c;
    }
    names->insert(name);
  }
}

// Those that the program names, and one that it does not.
std::vector<std::string> task_names(const Program& program) {
  std::set<std::string> names = {"nobody"};
  const NameTable& table = program.data().names;
  for (const program::StatementRow& row : program.data().rows) {
    if (row.key.task == kStarName) continue;
    const TaskSelector* const selector = table.selector(row.key.task);
    add_names(table, selector == nullptr ? row.key.task : selector->path.back(), &names);
  }
  return {names.begin(), names.end()};
}

// The tasks of a program as its selectors may see them: below tasks that they name and below
// others, in launches of each form.
struct Launched {
  std::string name;
  std::vector<std::string_view> parents;
  int dimensions = -1;
  operator LaunchedTask() const { return {name, parents, dimensions}; }
};
std::vector<Launched> launched_tasks(const Program& program, const std::vector<int>& forms) {
  std::vector<Launched> all;
  for (const std::string& name : task_names(program)) {
    if (!program.has_selectors()) {
      all.push_back({name, {}, -1});
      continue;
    }
    const std::vector<std::vector<std::string_view>> paths = {
        {},      {"main"},         {"step"},          {"step", "main"},         {"start", "main"},
        {"a b"}, {"main", "main"}, {"other", "main"}, {"step", "other", "main"}};
    for (const auto& parents : paths) {
      for (const int form : forms) all.push_back({name, parents, form});
    }
  }
  return all;
}
std::vector<std::string> region_names(const Program& program) {
  std::set<std::string> names = {"nothing"};
  for (const program::StatementRow& row : program.data().rows) {
    const bool named = (row.key.region & 0x80000000U) == 0 && row.key.region != kStarName;
    if (named) add_names(program.data().names, row.key.region, &names);
  }
  return {names.begin(), names.end()};
}

template <std::size_t kCount>
std::vector<std::size_t> numbers() {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < kCount; ++i) all.push_back(i);
  return all;
}

struct Tally {
  int programs = 0, unbound = 0;
  long points = 0, errors = 0, decisions = 0;
  long other_errors = 0;  // another mistake of the same statement: C++ leaves the order open
};

void compare_regions(const Program& program, const Emitted& emitted, const LaunchedTask& task,
                     const RegionNames& region, Tally* tally) {
  EXPECT_EQ(emitted.collects(task, region), program.collect_memory(task, region).has_value());
  for (std::size_t k : numbers<kProcKindCount>()) {
    const auto kind = static_cast<ProcKind>(k);
    std::vector<MemKind> memories;
    for (const MemoryCandidate& one : program.memories(task, region, kind)) {
      memories.push_back(one.memory);
    }
    EXPECT_EQ(emitted.memories(task, region, kind), memories);
    for (std::size_t m : numbers<kMemKindCount>()) {
      const auto memory = static_cast<MemKind>(m);
      const auto layout = program.layout(task, region, kind, memory);
      const auto found = emitted.layout(task, region, kind, memory);
      EXPECT_EQ(found,
                layout ? std::optional(StatedLayout{layout->layout, layout->named}) : std::nullopt);
      ++tally->decisions;
    }
  }
}

void compare_decisions(const Program& program, const Emitted& emitted, Tally* tally) {
  const std::vector<std::string> regions = region_names(program);
  for (const Launched& each : launched_tasks(program, {-1, 0, 1, 2, 3})) {
    const LaunchedTask task = each;
    SCOPED_TRACE(fmt::format("{} below {} in {}", each.name, fmt::join(each.parents, " below "),
                             each.dimensions));
    const auto kinds = program.task(task);
    EXPECT_EQ(emitted.kinds(task), kinds ? kinds->kinds : std::vector<ProcKind>());
    EXPECT_EQ(emitted.replicates(task), program.control_replicate(task).has_value());
    for (std::size_t k : numbers<kProcKindCount>()) {
      const auto kind = static_cast<ProcKind>(k);
      const auto limit = program.instance_limit(task, kind);
      EXPECT_EQ(emitted.limit(task, kind), limit ? limit->limit : 0);
      EXPECT_EQ(emitted.limit_scope(task, kind), limit ? limit->scope : LimitScope::kProcessor);
      const auto steal = program.task_steal(task, kind);
      EXPECT_EQ(emitted.steal(task, kind), steal ? std::optional(steal->scope) : std::nullopt);
    }
    for (std::int64_t position : {0, 1, 2, 3, 7}) {
      for (std::size_t a = 0; a < regions.size(); ++a) {
        // Two names in either order, and one alone.
        const std::size_t b = (a + 1 + static_cast<std::size_t>(position)) % regions.size();
        const std::array<std::string_view, 2> aliases = {regions[a], regions[b]};
        SCOPED_TRACE(fmt::format("region {} {} {}", position, aliases[0], aliases[1]));
        compare_regions(program, emitted, task, {position, aliases}, tally);
        compare_regions(program, emitted, task, {position, std::span(aliases).first(1)}, tally);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// The id at the end of a message: "[overflow]".
std::string id_in(const std::string& message) {
  const std::size_t at = message.rfind('[');
  return at == std::string::npos ? message : message.substr(at + 1, message.rfind(']') - at - 1);
}

// "a.mapper:3:2:", the statement of a function in which a mistake is; "" outside of them.
std::string statement_of(const Program& program, const Range& mistake) {
  for (const program::ExecutableStatement& action : program.data().actions) {
    const bool inside = action.range.begin <= mistake.begin && mistake.begin < action.range.end;
    if (!inside) continue;
    const Position at = program.source().position(action.range.begin);
    return fmt::format("{}:{}:{}:", program.source().name(), at.line, at.column);
  }
  return "";
}

class Points {
 public:
  Points(const BoundProgram& bound, const Emitted& emitted, Tally* tally)
      : bound_(bound), emitted_(emitted), tally_(tally), evaluator_(bound) {}

  void compare(bool index, const LaunchedTask& name, ProcKind kind, TaskPoint task) {
    task.name = name.name;
    const Program& program = bound_.program();
    const auto decision =
        index ? program.index_function(name, kind) : program.single_function(name, kind);
    const Emitted::Answer answer = emitted_.place(index, name, kind, task);
    EXPECT_EQ(answer.mapped, decision.has_value());
    if (!decision) return;
    ++tally_->points;
    Diagnostics diags(program.source());
    const auto placed = evaluator_.place(decision->function, task, std::nullopt, diags);
    if (placed) {
      EXPECT_EQ(answer.error, "");
      EXPECT_EQ(answer.processors, placed->processors);
      return;
    }
    ++tally_->errors;
    for (const Diagnostic& diagnostic : diags.all()) {
      if (diagnostic.severity != Severity::kError) continue;
      EXPECT_NE(answer.error, "") << render(diags);
      if (id_in(answer.error) != name_of(diagnostic.id)) ++tally_->other_errors;
      const std::string at = statement_of(program, *diagnostic.range);
      EXPECT_EQ(answer.error.substr(0, at.size()), at) << answer.error << render(diags);
      return;
    }
    ADD_FAILURE() << "no error";
  }

  void launch(const LaunchedTask& name, ProcKind kind, const Rect& domain) {
    TaskPoint task;
    task.domain = domain;
    task.point = domain.lower;
    do {
      compare(true, name, kind, task);
      if (::testing::Test::HasFailure()) return;
    } while (next_point(domain, &task.point));
  }

 private:
  const BoundProgram& bound_;
  const Emitted& emitted_;
  Tally* tally_;
  FunctionEvaluator evaluator_;
};

const std::vector<Rect> kLaunches = {
    {Point{0}, Point{1}},
    {Point{3}, Point{17}},
    {Point{0, 0}, Point{4, 4}},
    {Point{-1, 2}, Point{3, 7}},
    {Point{0, 0, 0}, Point{2, 3, 4}},
};

void compare_points(const BoundProgram& bound, const Emitted& emitted, Tally* tally) {
  Points points(bound, emitted, tally);
  const Program& program = bound.program();
  for (Launched& each : launched_tasks(program, {-1})) {
    for (const ProcKind kind : {ProcKind::kGpu, ProcKind::kCpu, ProcKind::kOmp}) {
      for (const Rect& launch : kLaunches) {
        SCOPED_TRACE(
            fmt::format("{} on {}, {} dimensions", each.name, name_of(kind), launch.dimensions()));
        each.dimensions = launch.dimensions();
        points.launch(each, kind, launch);
        if (::testing::Test::HasFailure()) return;
      }
      TaskPoint single;
      single.processor = Processor{kind, 0, 0};
      for (std::int64_t node = 0; node < bound.machine().node_count(); ++node) {
        single.parent = Processor{ProcKind::kGpu, node, node % 2};
        single.parent_name = "parent";
        each.dimensions = 0;
        points.compare(false, each, kind, single);
      }
    }
  }
}

TEST(Emitted, DecidesAsTheLibrary) {
  Tally tally;
  for (const EmittedProgram& each : emitted_programs()) {
    SCOPED_TRACE(each.name);
    const Program program = compiled(each);
    const auto emitted = each.make();
    ++tally.programs;
    if (!program.has_conditions()) compare_decisions(program, *emitted, &tally);
    for (const char* spec :
         {"nodes=1,gpu=1,cpu=2,omp=1", "nodes=1,gpu=4,cpu=3,omp=2", "nodes=2,gpu=2,cpu=1,omp=1",
          "nodes=3,gpu=2,cpu=4,omp=2", "nodes=4,gpu=3,cpu=2,omp=1", "nodes=4,gpu=4,cpu=4,omp=2",
          "nodes=2,gpu=0,cpu=4,omp=0"}) {
      SCOPED_TRACE(spec);
      const Machine machine = make_machine(spec).value();
      Diagnostics diags(program.source());
      const auto bound = groma::bind(program, machine, diags);
      const std::string error = emitted->bind(machine);
      EXPECT_EQ(error.empty(), bound.has_value()) << error << render(diags);
      if (!bound) ++tally.unbound;
      if (bound && error.empty()) {
        if (program.has_conditions()) compare_decisions(bound->program(), *emitted, &tally);
        compare_points(*bound, *emitted, &tally);
      }
      if (HasFailure()) return;
    }
  }
  std::printf(
      "%d programs, %ld decisions, %ld points, %ld of them errors (%ld of another mistake), %d not "
      "bound\n",
      tally.programs, tally.decisions, tally.points, tally.errors, tally.other_errors,
      tally.unbound);
  EXPECT_LE(tally.other_errors * 10, tally.errors);
  EXPECT_GT(tally.programs, 0);
  EXPECT_GT(tally.points, 0);
}

}  // namespace
}  // namespace groma::testing
