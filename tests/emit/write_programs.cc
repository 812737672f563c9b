// Writes programs as C++ by `emit`, with what makes each an Emitted (emitted.h):
//   write_programs OUTPUT dsl                  the programs of dsl/
//   write_programs OUTPUT drawn FROM COUNT     of the search spaces of the nine benchmarks
//   write_programs OUTPUT generated FROM COUNT of all statements and operations
// and says how many were refused; or writes mappers for Legion, as `groma emit` does, and a
// function that uses the one of a text (tests/legion/map_by.h):
//   write_programs OUTPUT mappers FILE...
//   write_programs OUTPUT drawn_mappers COUNT  of tests/legion/drawn_mappings.h, from 1 on
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "groma/benchmarks.h"
#include "groma/dsl_files.h"
#include "groma/emit.h"
#include "groma/search_space.h"
#include "groma/system.h"
#include "legion/drawn_mappings.h"
#include "support/program_generator.h"

namespace groma::testing {
namespace {

// Name patterns and `when` blocks.
constexpr const char* kSelectors = R"(
m = Machine(GPU);
def first(Task task) { return m[task.ipoint[0] % m.size[0], 0]; }
def last(Task task) { return m[m.size[0] - 1, task.ipoint[0] % m.size[1]]; }
Task * CPU;
Task calc_* GPU, CPU;
Task calc_new_* OMP;
Task c*w_charges IO;
Task calc_new_charge CPU;
Region * * GPU FBMEM;
Region calc_* gh*t GPU ZCMEM;
Region calc_* ghost GPU SYSMEM;
Region c* 1 * RDMEM;
Layout * ns::* * AOS;
Layout calc_* * FBMEM C_order;
IndexTaskMap calc_* first;
IndexTaskMap GPU last;
InstanceLimit calc_* GPU 4;
when m.volume > 4 {
  Task calc_new_* GPU;
  Task * OMP;
  Region * * GPU ZCMEM, FBMEM;
  Region * late_* * SOCKMEM;
  Layout * * * F_order Compact;
  InstanceLimit calc_* 3 Machine;
  IndexTaskMap calc_* last;
  ControlReplicate main, calc_*;
  CollectMemory * gh*;
  TaskSteal calc_* GPU ANY_NODE;
}
when m.size[0] == 2 || m.volume == 0 {
  Task * IO;
  Region * * GPU SYSMEM;
  SingleTaskMap init_* where;
  TaskSteal * GPU SAME_NODE;
}
def where(Task task) { return Machine(CPU)[0, 0]; }
)";

// Statements that select tasks by those above them and by the form of the launch.
constexpr const char* kPaths = R"(
m = Machine(GPU);
def first(Task task) { return m[task.ipoint[0] % m.size[0], 0]; }
def last(Task task) { return m[m.size[0] - 1, task.ipoint[0] % m.size[1]]; }
Task * CPU;
Task main > update GPU;
Task update OMP;
Task main > step > update IO;
Task st* > update, upd*[dim=2] GPU, CPU;
Task update[dim=0] CPU;
Task main > * OMP, CPU;
Task "a b" > c.d[dim=1] GPU;
Region * * GPU FBMEM;
Region step > update * GPU ZCMEM;
Region update[dim=1] 1 GPU SYSMEM;
Region update ghost * RDMEM;
Layout main > upd* gh* FBMEM AOS;
IndexTaskMap update first;
IndexTaskMap main > update last;
IndexTaskMap *[dim=3] last;
InstanceLimit step > update GPU 4;
ControlReplicate main > step;
CollectMemory * > update ghost;
TaskSteal update[dim=2] GPU ANY_NODE;
when m.volume > 4 { Task main > update OMP; }
)";

struct Writer {
  std::string text = "#include \"emit/emitted.h\"\n\n";
  std::string list;
  int written = 0, refused = 0;

  void write(const std::string& name, const std::string& program_text);
};

// What the decisions of the text have in common with an Emitted. Machine, Function and so on are
// those of the text.
std::string glue(const std::string& decisions, const std::string& space) {
  const auto has = [&](std::string_view what) { return decisions.find(what) != std::string::npos; };
  std::string made = "\nnamespace " + space + " {\nnamespace given = ::groma;\n";
  made += has("struct LaunchedTask") ? R"(
LaunchedTask words_of(const given::LaunchedTask& task) {
  LaunchedTask words{task.name};
  words.parents.assign(task.parents.begin(), task.parents.end());
  words.dimensions = task.dimensions;
  return words;
}
)"
                                     : R"(
[[maybe_unused]] std::string_view words_of(const given::LaunchedTask& task) { return task.name; }
)";
  made += R"(
class Bound final : public given::testing::Emitted {
 public:
  std::string bind(const given::Machine& on) override {
    machine_ = {};
    for (std::int64_t n = 0; n < on.node_count(); ++n) {
      Machine::Node& node = machine_.nodes.emplace_back();
      for (std::size_t k = 0; k < given::kProcKindCount; ++k) {
        const auto kind = static_cast<given::ProcKind>(k);
        node.processors[k] = on.processor_count(n, kind);
)";
  made += has("reaches{}") ? R"(
        for (std::size_t m = 0; m < node.reaches[k].size(); ++m) {
          node.reaches[k][m] = on.can_address(n, kind, static_cast<given::MemKind>(m));
        }
)"
                           : "";
  made += "      }\n    }\n";
  made += has("explicit Mapping") ? R"(
    try {
      mapping_ = std::make_unique<Mapping>(machine_);
    } catch (const Failure& failure) {
      return failure.what();
    }
)"
                                  : "";
  made += "    return {};\n  }\n";
  made +=
      "  Answer place(bool index, const given::LaunchedTask& task, given::ProcKind kind,\n"
      "               const given::TaskPoint& point) const override {\n"
      "    [[maybe_unused]] const auto on = static_cast<ProcKind>(kind);\n"
      "    Answer answer;\n    (void)index, (void)task, (void)point;\n";
  if (has("enum class Function")) {
    made += "    Mapping::Function function = Mapping::Function::none;\n";
    if (has("Function index_function(")) {
      made += "    if (index) function = Mapping::index_function(words_of(task), on);\n";
    }
    if (has("Function single_function(")) {
      made += "    if (!index) function = Mapping::single_function(words_of(task), on);\n";
    }
    made += R"(
    if (function == Mapping::Function::none) return answer;
    answer.mapped = true;
    Task given_task;
    given_task.name = point.name;
    for (int d = 0; d < point.point.dimensions(); ++d) {
      given_task.ipoint.add(point.point[d] - point.domain.lower[d]);
      given_task.ispace.add(point.domain.extents[d]);
      given_task.ilo.add(point.domain.lower[d]);
    }
)";
    if (has("Int irank")) {
      made +=
          "    given_task.irank = point.launch_domain().rank(point.point);\n"
          "    given_task.ivolume = point.launch_domain().count();\n";
    }
    made += R"(
    const auto to_ours = [](const given::Processor& p) {
      return Processor{static_cast<ProcKind>(p.kind), p.node, p.index};
    };
    if (point.processor) given_task.processor = to_ours(*point.processor);
    if (point.parent) given_task.parent = {point.parent_name, to_ours(*point.parent)};
    try {
      for (const Processor& p : mapping_->place(function, given_task)) {
        answer.processors.push_back({static_cast<given::ProcKind>(p.kind), p.node, p.index});
      }
    } catch (const Failure& failure) {
      answer.error = failure.what();
    }
)";
  }
  made += "    return answer;\n  }\n";
  const auto question = [&](std::string_view head, std::string_view word, std::string_view body,
                            std::string_view otherwise) {
    made += fmt::format("  {} const override {{\n{}  }}\n", head,
                        has(fmt::format(" {}(", word)) ? body : otherwise);
  };
  question("std::vector<given::ProcKind> kinds([[maybe_unused]] const given::LaunchedTask& task)",
           "kinds_of",
           "    std::vector<given::ProcKind> all;\n"
           "    for (const ProcKind kind : Mapping::kinds_of(words_of(task))) {\n"
           "      all.push_back(static_cast<given::ProcKind>(kind));\n    }\n    return all;\n",
           "    return {};\n");
  if (has("struct Region")) {
    made += R"(
  static Region of(const given::RegionNames& names) {
    Region region;
    region.position = names.position;
    region.names.assign(names.aliases.begin(), names.aliases.end());
    return region;
  }
)";
  }
  question(
      "std::vector<given::MemKind> memories([[maybe_unused]] const given::LaunchedTask& task,\n"
      "      [[maybe_unused]] const given::RegionNames& region,\n"
      "      [[maybe_unused]] given::ProcKind kind)",
      "memories_of",
      "    std::vector<given::MemKind> all;\n"
      "    for (const MemKind memory :\n"
      "         Mapping::memories_of(words_of(task), of(region), static_cast<ProcKind>(kind))) {\n"
      "      all.push_back(static_cast<given::MemKind>(memory));\n    }\n    return all;\n",
      "    return {};\n");
  question(
      "std::optional<given::StatedLayout> layout([[maybe_unused]] const given::LaunchedTask& "
      "task,\n"
      "      [[maybe_unused]] const given::RegionNames& region,\n"
      "      [[maybe_unused]] given::ProcKind kind,\n"
      "      [[maybe_unused]] given::MemKind memory)",
      "layout_of",
      "    const auto said = Mapping::layout_of(words_of(task), of(region), "
      "static_cast<ProcKind>(kind),\n"
      "                                         static_cast<MemKind>(memory));\n"
      "    if (!said) return std::nullopt;\n"
      "    const LayoutSpec& layout = said->layout;\n"
      "    return given::StatedLayout{\n"
      "        {static_cast<given::DimensionOrder>(layout.dimensions),\n"
      "         static_cast<given::FieldOrder>(layout.fields), layout.compact, layout.exact,\n"
      "         static_cast<given::AlignOp>(layout.align_op), layout.align_bytes},\n"
      "        {said->named.dimensions, said->named.fields, said->named.exact, "
      "said->named.alignment}};\n",
      "    return std::nullopt;\n");
  question(
      "bool collects([[maybe_unused]] const given::LaunchedTask& task,\n"
      "      [[maybe_unused]] const given::RegionNames& region)",
      "collects", "    return Mapping::collects(words_of(task), of(region));\n",
      "    return false;\n");
  question(
      "std::int64_t limit([[maybe_unused]] const given::LaunchedTask& task,\n"
      "      [[maybe_unused]] given::ProcKind kind)",
      "limit_of", "    return Mapping::limit_of(words_of(task), static_cast<ProcKind>(kind));\n",
      "    return 0;\n");
  question(
      "given::LimitScope limit_scope([[maybe_unused]] const given::LaunchedTask& task,\n"
      "      [[maybe_unused]] given::ProcKind kind)",
      "limit_scope_of",
      "    const LimitScope scope = Mapping::limit_scope_of(words_of(task), "
      "static_cast<ProcKind>(kind));\n"
      "    return static_cast<given::LimitScope>(scope);\n",
      "    return given::LimitScope::kProcessor;\n");
  question("bool replicates([[maybe_unused]] const given::LaunchedTask& task)", "replicates",
           "    return Mapping::replicates(words_of(task));\n", "    return false;\n");
  question(
      "std::optional<given::StealScope> steal([[maybe_unused]] const given::LaunchedTask& task,\n"
      "      [[maybe_unused]] given::ProcKind kind)",
      "steal_of",
      "    const auto steal = Mapping::steal_of(words_of(task), static_cast<ProcKind>(kind));\n"
      "    if (!steal) return std::nullopt;\n"
      "    return static_cast<given::StealScope>(*steal);\n",
      "    return std::nullopt;\n");
  made += "\n private:\n  Machine machine_;\n";
  if (has("explicit Mapping")) made += "  std::unique_ptr<Mapping> mapping_;\n";
  // What depends on the machine is decided by an object.
  if (has("bool when_1 = ")) {
    for (const std::string_view from : {"= Mapping::", " Mapping::", "(Mapping::"}) {
      for (auto at = made.find(from); at != std::string::npos; at = made.find(from, at + 1)) {
        const std::string_view rest = std::string_view(made).substr(at + from.size());
        if (rest.starts_with("Function")) continue;
        made.replace(at + from.size() - 9, 9, "mapping_->");
      }
    }
  }
  return made + "};\n\n}  // namespace " + space + "\n\n";
}

void Writer::write(const std::string& name, const std::string& program_text) {
  Diagnostics diags(Source(name + ".mapper", program_text));
  const Program program = compile(diags.source(), diags);
  diags.clear();
  const std::string mapper = fmt::format("Program{}", written + refused);
  const auto made = emit(program, {mapper, false}, diags);
  if (!made) {
    ++refused;
    std::printf("%s", render(diags).c_str());
    return;
  }
  ++written;
  std::string space = mapper;
  space[0] = 'p';
  text += *made + glue(*made, space);
  list += fmt::format(
      "    {{\"{}\", R\"groma({})groma\",\n     []() -> std::unique_ptr<Emitted> {{ "
      "return std::make_unique<{}::Bound>(); }}}},\n",
      name, program_text, space);
}

// Their texts with their names.
int write_mappers(const char* output, const std::vector<std::pair<std::string, std::string>>& all) {
  std::string text, list;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Diagnostics diags(Source(all[i].first, all[i].second));
    const Program program = compile(diags.source(), diags);
    const std::string name = fmt::format("Emitted{}", i);
    const auto made = diags.has_errors() ? std::nullopt : emit(program, {name}, diags);
    if (!made) {
      std::fputs(render(diags).c_str(), stderr);
      return 1;
    }
    text += *made + '\n';
    list += fmt::format("  if (text == R\"groma({})groma\") return use_emitted{}(id), true;\n",
                        all[i].second, i);
  }
  text += "inline bool use_emitted(std::string_view text, unsigned id) {\n" + list +
          "  return false;\n}\n";
  return write_file(output, text) ? 1 : 0;
}

int run(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<std::pair<std::string, std::string>> texts;
  if (std::strcmp(argv[2], "mappers") == 0) {
    for (int i = 3; i < argc; ++i) {
      const Source source = Source::read(argv[i]).value();
      texts.emplace_back(source.name(), source.text());
    }
    return write_mappers(argv[1], texts);
  }
  if (std::strcmp(argv[2], "drawn_mappers") == 0) {
    for (int i = 1; i <= std::atoi(argv[3]); ++i) {
      texts.emplace_back(fmt::format("drawn{}.mapper", i),
                         legion_test::draw_mapping(static_cast<std::uint64_t>(i)));
    }
    return write_mappers(argv[1], texts);
  }
  Writer writer;
  const bool counted = argc == 5;
  const auto from = static_cast<std::uint64_t>(counted ? std::atoi(argv[3]) : 0);
  const auto count = static_cast<std::uint64_t>(counted ? std::atoi(argv[4]) : 0);
  if (std::strcmp(argv[2], "dsl") == 0) {
    for (const auto& files : {strategies(), mappers()}) {
      for (const DslFile& file : files)
        writer.write(std::string(file.name), std::string(file.text));
    }
  }
  if (std::strcmp(argv[2], "dsl") == 0) {
    writer.write("selectors", kSelectors);
    writer.write("paths", kPaths);
  }
  for (std::uint64_t seed = from; seed < from + count; ++seed) {
    if (std::strcmp(argv[2], "drawn") == 0) {
      const Benchmark& benchmark = benchmarks()[seed % benchmarks().size()];
      const tuning::SearchSpace space(make_machine("p100x4:nodes=2").value(),
                                      Workload::make(benchmark.make()).value());
      writer.write(fmt::format("{}_{}", benchmark.name, seed), space.sample_text(seed));
    } else {
      const GeneratedProgram program = generate_program(seed);
      std::string text = program.text;
      for (const GeneratedFunction& function : program.functions) {
        text +=
            fmt::format("\n{} task_of_{} {};", function.single ? "SingleTaskMap" : "IndexTaskMap",
                        function.name, function.name);
      }
      writer.write(fmt::format("generated_{}", seed), text + "\n");
    }
  }
  std::printf("%d written, %d refused\n", writer.written, writer.refused);
  writer.text +=
      "namespace groma::testing {\n\nstd::vector<EmittedProgram> emitted_programs() {\n"
      "  return {\n" +
      writer.list + "  };\n}\n\n}  // namespace groma::testing\n";
  return write_file(argv[1], writer.text) ? 1 : 0;
}

}  // namespace
}  // namespace groma::testing

int main(int argc, char** argv) { return groma::testing::run(argc, argv); }
