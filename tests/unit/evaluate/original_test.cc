// What the original implementation did with 115 programs, and what this one does. Where the
// original decided, the decision is the same, but for the deviations of docs/language.md; where it
// refused or crashed, the table below says what comes instead.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "groma/evaluate.h"
#include "groma/inspect.h"
#include "groma/log.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "support/files.h"

namespace groma {
namespace {

using nlohmann::json;

// ------------------------------------------------------------------------------- what comes
// instead

// `result`: "!" and the ids of all errors, or what the probe's question answers, as the original
// writes it. `deviation`: why it differs where the original decided.
struct Instead {
  std::string_view deviation;
  std::string_view result;
};

const std::map<std::string_view, Instead>& table() {
  static const std::map<std::string_view, Instead> entries = {
      // The original decides otherwise.
      {"def_dup_first_wins", {"D13", "!duplicate-name"}},
      {"expr:2147483647+1", {"D2", "2147483648\nOK\n"}},
      {"expr:(1,2,3)[1:0]", {"D3", "\nOK\n"}},
      {"slice_neg", {"D4", "!bad-slice"}},
      {"param_reassign_ignored", {"D12", "!unknown-member"}},
      {"return_literal_tuple", {"D16", "!not-a-processor"}},
      {"oob_alias_within", {"D5", "!slice-index-out-of-bound"}},
      {"helper_recursion", {"D1", "!recursion"}},
      // It refuses, this language has a meaning for it.
      {"missing_semicolon", {"", "OK\n"}},
      {"no_align", {"", "OK\n"}},
      {"layout_index_region", {"", "OK\n"}},
      {"param_untyped", {"", "OK\n"}},
      {"expr:(1,2,3)[0:3]", {"", "1,2,3\nOK\n"}},
      {"expr:True || (5/0 == 1)", {"", "true\nOK\n"}},
      {"assign_proc", {"", "OK\n"}},
      {"m[:2]", {"", "2,4\nOK\n"}},
      {"bal19", {"", "2,19,1\nOK\n"}},
      {"index_tuple_value", {"", "0 -> 0 1\n"}},
      {"comp_self_ref", {"", "0 -> 1 1\n"}},
      {"comp_tuple_pass_ipoint", {"", "0 -> 0 0\n"}},
      {"helper_task_arg", {"", "0 -> 0 0\n1 -> 1 0\n"}},
      {"helper_returns_machine", {"", "0 -> 0 0\n1 -> 0 0\n"}},
      {"kwexpr", {"", "0 -> 0 0\n"}},
      // Both refuse.
      {"region_bad_proc_ident", {"", "!unknown-processor"}},
      {"task_list_star", {"", "!expected-token"}},
      {"task_space_list", {"", "!expected-token"}},
      {"unterminated", {"", "!unterminated-string"}},
      {"banner", {"", "!unknown-statement"}},
      {"index_bad_sig", {"", "!mapping-signature"}},
      {"index_old_dialect", {"", "!expected-token"}},
      {"global_dup", {"", "!duplicate-name"}},
      {"undefined_var", {"", "!unknown-name"}},
      {"expr:1<2<3", {"", "!type-mismatch"}},
      {"expr:True + True", {"", "!type-mismatch"}},
      {"expr:5%0", {"", "!division-by-zero"}},
      {"expr:(1,2)+(1,2,3)", {"", "!length-mismatch"}},
      {"expr:(1,2,3)[3]", {"", "!index-out-of-range"}},
      {"expr:(5)[0]", {"", "!type-mismatch"}},
      {"expr:(1,2)[0,1]", {"", "!wrong-index-count"}},
      {"assign_func", {"", "!type-mismatch"}},
      {"Machine_var", {"", "!type-mismatch"}},
      {"merge_same", {"", "!same-dimension"}},
      {"swap_oob", {"", "!bad-dimension"}},
      {"split0", {"", "!bad-split-argument"}},
      {"slice_oob", {"", "!bad-slice"}},
      {"has2", {"", "!type-mismatch"}},
      {"split_noargs", {"", "!wrong-argument-count"}},
      {"ipoint_on_m", {"", "!unknown-member"}},
      {"return_machine", {"", "!not-a-processor"}},
      {"result_arith_loses_kind", {"", "!not-a-processor"}},
      {"neg2", {"", "!slice-index-out-of-bound"}},
      {"proc_oob", {"", "!slice-index-out-of-bound"}},
      {"print_missing_arg", {"", "!print-arguments"}},
      {"comp_range_paren_single", {"", "!type-mismatch"}},
      {"call_var", {"", "!not-callable"}},
      {"task_name", {"", "!type-mismatch"}},
      {"single_slice_below", {"", "!slice-index-out-of-bound"}},
      {"single_wrong_kind", {"", "!processor-kind-mismatch"}},
      {"missing_file", {"", "!unreadable-file"}},
  };
  return entries;
}

// ------------------------------------------------------------------------------------- the probes

struct Probe {
  std::string name;
  bool has_text = true;
  std::string text;
  std::string machine;
  std::vector<std::string> args;
  bool decided = false;
  std::string output;
};

std::vector<Probe> read_probes() {
  std::vector<Probe> probes;
  for (const json& entry :
       json::parse(testing::read_text(testing::in_tree("tests/data/original_probes.json")))) {
    Probe probe;
    probe.name = entry["name"];
    probe.has_text = entry["dsl"].is_string();
    if (probe.has_text) probe.text = entry["dsl"];
    const json& m = entry["machine"];
    probe.machine = fmt::format("nodes={},gpu={},cpu={},omp={}", m["nodes"].get<int>(),
                                m["gpus"].get<int>(), m["cpus"].get<int>(), m["omps"].get<int>());
    for (const json& arg : entry["args"]) probe.args.push_back(arg);
    probe.decided = entry["rc"] == 0;
    probe.output = entry["stdout"];
    probes.push_back(std::move(probe));
  }
  return probes;
}

// The original writes bools and kinds by their node's name and an empty line, and warns of a split
// into one dimension, which then works.
std::string translated(const std::string& output) {
  std::istringstream lines(output);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("Unsupported Balanced Split")) continue;
    for (const std::string_view node : {"BoolValNode: ", "ProcNode: "}) {
      for (std::size_t at = line.find(node); at != std::string::npos; at = line.find(node)) {
        line.erase(at, node.size());
      }
    }
    text += line + "\n";
  }
  return text;
}

// ------------------------------------------------------------------------------ the same questions

// Lines of `print`; `(1, 2)` becomes the original's `1,2`.
class Lines final : public LogSink {
 public:
  void log(LogLevel, std::string_view line) override {
    std::string plain;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool last_comma = line[i] == ',' && i + 1 < line.size() && line[i + 1] == ')';
      if (line[i] != '(' && line[i] != ')' && line[i] != ' ' && !last_comma) plain += line[i];
    }
    text += plain + "\n";
  }
  std::string text;
};

std::string errors_of(const Diagnostics& diags) {
  std::string text = "!";
  for (const Diagnostic& diagnostic : diags.sorted()) {
    if (diagnostic.severity != Severity::kError) continue;
    text += (text.size() == 1 ? "" : " ") + std::string(name_of(diagnostic.id));
  }
  return text;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Legion's numbers of the memory kinds.
int memory_number(MemKind memory) {
  constexpr int kNumbers[] = {2, 6, 5, 4, 3, 9, 0};
  return kNumbers[static_cast<std::size_t>(memory)];
}

class Asker {
 public:
  explicit Asker(const Probe& probe)
      : probe_(probe), source_("probe.mapper", probe.text), diags_(source_) {}

  std::string answer() {
    const std::string& first = probe_.args.at(0);
    if (first == "--invert") return invert();
    const Program program = compile(source_, diags_);
    const auto bound = bind(program, make_machine(probe_.machine).value(), diags_, &lines_);
    if (!bound || diags_.has_errors()) return errors_of(diags_);
    if (first == "--load") return lines_.text + "OK\n";
    if (first == "--query") return query(program);
    if (first == "--dump") return dump(program);
    return placement(*bound, first == "--single" ? single() : launch());
  }

 private:
  // TASK POSITION-AND-NAMES: `--query TASK KIND POSITION NAME`.
  std::string query(const Program& program) const {
    const std::string_view alias[] = {probe_.args.at(4)};
    std::string text = "mem:";
    for (const MemoryCandidate& candidate :
         program.memories(probe_.args.at(1), {0, alias}, *find_proc_kind(probe_.args.at(2)))) {
      text += fmt::format(" {}", memory_number(candidate.memory));
    }
    return text + "\n";
  }

  // Asks for what each line of the original's dump is about, and writes the line anew.
  std::string dump(const Program& program) const {
    std::istringstream lines(probe_.output);
    std::string text;
    for (std::string line; std::getline(lines, line);)
      text += dump_line(program, words_of(line)) + "\n";
    return text;
  }

  static std::string dump_line(const Program& program, const std::vector<std::string>& words) {
    const bool position = !words.at(2).empty() && std::isdigit(words[2][0]) != 0;
    const std::string_view alias[] = {words[2]};
    const RegionNames region{position ? std::stoll(words[2]) : 0, alias};
    if (words[0] == "limit") {
      const auto limit = program.instance_limit(words[1], ProcKind::kGpu);
      return fmt::format("limit {} {}", words[1], limit ? limit->limit : -1);
    }
    if (words[0] == "region") {
      const std::string kind = words.at(3).substr(words[3].find('=') + 1);
      std::string text = fmt::format("region {} {} proc={} mem=", words[1], words[2], kind);
      for (const auto& candidate : program.memories(words[1], region, *find_proc_kind(kind))) {
        text += fmt::format("{} ", memory_number(candidate.memory));
      }
      return text;
    }
    const auto found = program.layout(words[1], region, ProcKind::kGpu, MemKind::kFbmem);
    if (words[0] != "layout" || !found) return "nothing";
    const LayoutSpec& layout = found->layout;
    const int aligned = layout.align_op != AlignOp::kNone ? 1 : 0;
    return fmt::format(
        "layout {} {} {} reverse={} aos={} compact={} exact={} align={} {} val={}", words[1],
        words[2], words[3], layout.dimensions == DimensionOrder::kC ? 1 : 0,
        layout.fields == FieldOrder::kAos ? 1 : 0, layout.compact ? 1 : 0, layout.exact ? 1 : 0,
        aligned, aligned == 1 ? "op" : words.at(9), layout.align_bytes);
  }

  // The processor at every index of every machine that the program assigns.
  std::string invert() {
    std::string text, names;
    for (const std::string& word : words_of(probe_.text)) {
      if (word.size() == 1 && std::isalpha(static_cast<unsigned char>(word[0])) != 0) names += word;
    }
    std::string program_text = probe_.text;
    for (const char name : names) {
      program_text += fmt::format(
          "print(\"{{}}\", {0}.size); def index_{0}(Task task) {{ return {0}[*task.ipoint]; }}",
          name);
    }
    const Source source("probe.mapper", program_text);
    Diagnostics diags(source);
    const Program program = compile(source, diags);
    const auto bound = bind(program, make_machine(probe_.machine).value(), diags, &lines_);
    if (!bound) return errors_of(diags);
    std::istringstream sizes(lines_.text);
    for (const char name : names) {
      std::string size;
      std::getline(sizes, size);
      text += fmt::format("{} [{}] :{}\n", name, size, all_of(*bound, name, size));
    }
    return text;
  }

  static std::string all_of(const BoundProgram& bound, char name, const std::string& size) {
    std::vector<std::int64_t> extents;
    std::istringstream in(size);
    for (std::string number; std::getline(in, number, ',');) extents.push_back(std::stoll(number));
    PlaceQuery query;
    query.function = fmt::format("index_{}", name);
    query.domain = *Rect::make(Point(extents));
    Diagnostics diags(bound.program().source());
    const auto placement = place(bound, query, diags);
    if (!placement) return errors_of(diags);
    std::string text;
    for (const Processor& p : placement->points) text += fmt::format(" {},{}", p.node, p.index);
    return text;
  }

  // TASK EXTENT.. [--kind=KIND]
  PlaceQuery launch() const {
    PlaceQuery query;
    std::vector<std::int64_t> extents;
    for (const std::string& arg : probe_.args) {
      if (arg.starts_with("--kind=")) {
        query.from = find_proc_kind(arg.substr(7));
      } else if (query.task.empty()) {
        query.task = arg;
      } else {
        extents.push_back(std::stoll(arg));
      }
    }
    query.domain = *Rect::make(Point(extents));
    return query;
  }

  // --single TASK NODE INDEX KIND, of the parent
  PlaceQuery single() const {
    PlaceQuery query;
    query.task = probe_.args.at(1);
    query.parent = {std::stoll(probe_.args.at(2)), std::stoll(probe_.args.at(3))};
    query.from = find_proc_kind(probe_.args.at(4));
    return query;
  }

  std::string placement(const BoundProgram& bound, const PlaceQuery& query) {
    const auto found = place(bound, query, diags_, &lines_);
    if (!found) return errors_of(diags_);
    std::string text = lines_.text;
    if (query.parent) {
      return text + fmt::format("{} {}\n", found->points[0].node, found->points[0].index);
    }
    Point point = query.domain.box.lower;
    for (std::size_t i = 0; i < found->points.size(); ++i) {
      for (std::int64_t coordinate : point.coordinates()) text += fmt::format("{} ", coordinate);
      text += "->";
      if (found->sets.empty()) {
        text += fmt::format(" {} {}", found->points[i].node, found->points[i].index);
      } else {
        for (const Processor& p : found->sets[i]) text += fmt::format(" {} {};", p.node, p.index);
      }
      text += "\n";
      next_point(query.domain.box, &point);
    }
    return text;
  }

  const Probe& probe_;
  Source source_;
  Diagnostics diags_;
  Lines lines_;
};

std::string answer(const Probe& probe) {
  if (probe.has_text) return Asker(probe).answer();
  const auto source = Source::read("no/such/file.mapper");
  return source ? "read" : "!unreadable-file";
}

class Original : public ::testing::TestWithParam<Probe> {};

TEST_P(Original, DecidesTheSame) {
  const Probe& probe = GetParam();
  const auto instead = table().find(probe.name);
  if (instead == table().end()) {
    ASSERT_TRUE(probe.decided)
        << "the original refuses, and the table does not say what comes here";
    EXPECT_EQ(answer(probe), translated(probe.output)) << probe.text;
    return;
  }
  EXPECT_EQ(instead->second.deviation.empty(), !probe.decided) << "a deviation has its id";
  EXPECT_EQ(answer(probe), instead->second.result) << probe.text;
}

std::string test_name(const ::testing::TestParamInfo<Probe>& info) {
  std::string name = fmt::format("{:03}_", info.index);
  for (const char c : info.param.name)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Probes, Original, ::testing::ValuesIn(read_probes()), test_name);

TEST(OriginalTable, NamesProbesAndDeviations) {
  std::map<std::string, bool> known;
  for (const Probe& probe : read_probes()) known[probe.name] = true;
  EXPECT_EQ(known.size(), 115u);
  for (const auto& [name, instead] : table()) {
    EXPECT_TRUE(known[std::string(name)]) << name;
    EXPECT_TRUE(instead.deviation.empty() || instead.deviation[0] == 'D') << instead.deviation;
  }
}

}  // namespace
}  // namespace groma
