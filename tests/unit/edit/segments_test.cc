// Segments: mapping programs are the same program afterwards, broken ones lose nothing, marked
// texts come back byte for byte.
#include "groma/segments.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "groma/benchmarks.h"
#include "groma/dsl_files.h"
#include "groma/program.h"
#include "groma/search_space.h"
#include "groma/syntax.h"
#include "program/data.h"
#include "support/program_generator.h"

namespace groma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Source source_of(std::string text) { return {"a.mapper", std::move(text)}; }

Segments split(const std::string& text) { return Segments::of_mapping(source_of(text)); }

std::string text_of(const Segments& segments, std::string_view name) {
  const Segment* segment = segments.find(name);
  EXPECT_NE(segment, nullptr) << name;
  return segment == nullptr ? "" : segment->text;
}

// Every row of the compiled tables in words, the globals in their order, and all statements as
// they are formatted, each line, comments too: functions by their text.
std::vector<std::string> decisions_of(const std::string& text) {
  Diagnostics diags(source_of(text));
  const Program program = compile(diags.source(), diags);
  const program::ProgramData& data = program.data();
  EXPECT_FALSE(diags.has_errors()) << render(diags) << text;
  std::vector<std::string> found;
  const auto add_rows = [&](const std::vector<program::StatementRow>& rows, std::string_view how) {
    for (const program::StatementRow& row : rows) {
      const auto name = [&](std::uint32_t id) {
        return (id & 0x80000000U) != 0 || id == kStarName ? std::to_string(id)
                                                          : std::string(data.names.text(id));
      };
      std::string value = std::to_string(row.value);
      if (row.key.table == program::TableId::kIndexMap ||
          row.key.table == program::TableId::kSingleMap) {
        value = program.function_name(static_cast<FunctionId>(row.value));
      } else if (row.key.table == program::TableId::kLayout) {
        const LayoutSpec& layout = data.layouts[static_cast<std::size_t>(row.value)].layout;
        value = fmt::format("{} {} {} {} {} {}", static_cast<int>(layout.dimensions),
                            static_cast<int>(layout.fields), static_cast<int>(layout.align_op),
                            layout.align_bytes, layout.compact, layout.exact);
      }
      found.push_back(fmt::format("{} {} {} {} {} {} {} {}", how, static_cast<int>(row.key.table),
                                  row.key.place, name(row.key.task), name(row.key.region),
                                  fmt::join(row.kinds, ","), row.kind_count, value));
    }
  };
  add_rows(data.rows, "row");
  add_rows(data.shadowed_rows, "shadowed");
  Diagnostics again(source_of(text));
  const std::string formatted = format(again.source(), again).value();
  for (std::size_t at = 0; at < formatted.size();) {
    const std::size_t end = formatted.find('\n', at);
    if (end > at) found.push_back(formatted.substr(at, end - at));
    at = end + 1;
  }
  std::sort(found.begin(), found.end());
  std::string globals = "globals";
  for (const program::GlobalVariable& global : data.globals) {
    globals += fmt::format(" {}", data.names.text(global.name));
  }
  found.push_back(globals);
  return found;
}

// What is in it beside white space and a byte order mark.
std::map<char, std::size_t> characters_of(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::map<char, std::size_t> counts;
  for (char c : text) {
    if (std::string_view(" \t\r\n\a").find(c) == std::string_view::npos) ++counts[c];
  }
  return counts;
}

void expect_same(const std::string& text) {
  const Segments segments = split(text);
  const std::string joined = segments.text();
  EXPECT_EQ(decisions_of(joined), decisions_of(text)) << text;
  const Segments again = split(joined);
  EXPECT_EQ(again.text(), joined) << text;
  for (std::size_t i = 0; i < segments.all().size(); ++i) {
    EXPECT_EQ(again.all()[i].text, segments.all()[i].text) << text;
  }
}

TEST(Segments, ThatComeWithGromaDecideTheSame) {
  for (const auto files : {strategies(), mappers()}) {
    for (const DslFile& file : files) expect_same(std::string(file.text));
  }
}

TEST(Segments, OfDrawnMappingsDecideTheSame) {
  const Machine machine = make_machine("p100x4:nodes=2").value();
  std::uint64_t seed = 0;
  while (seed < 200) {
    for (const Benchmark& benchmark : benchmarks()) {
      const Workload workload = Workload::make(benchmark.make()).value();
      const tuning::SearchGranularity grain = seed % 2 == 0 ? tuning::SearchGranularity::kRegions
                                                            : tuning::SearchGranularity::kArguments;
      expect_same(tuning::SearchSpace(machine, workload, grain).sample_text(seed++));
    }
  }
}

TEST(Segments, OfGeneratedProgramsDecideTheSame) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = testing::generate_program(seed).text;
    expect_same(text);
    std::string windows;
    for (char c : text) windows += c == '\n' ? "\r\n" : std::string(1, c);
    expect_same(windows);
  }
}

TEST(Segments, OfBrokenProgramsLoseNothing) {
  std::size_t stable = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    const std::string text = testing::generate_broken_program(seed);
    const std::string joined = split(text).text();
    EXPECT_EQ(characters_of(joined), characters_of(text)) << text;
    stable += split(joined).text() == joined;
  }
  // Where a bracket lost its other half, what follows belongs to it wherever it stands.
  EXPECT_GT(stable, 1'900U);
}

TEST(Segments, HaveStatementsByTheirFirstWord) {
  const Segments segments = split(R"(# Written by hand.
Task * GPU; Region * * GPU FBMEM; m = Machine(GPU)
print("{}", m);
# Where points go,
# one by one.
def f(Task task) {
  # all on one
  return m[0, 0];
}
SingleTaskMap a f  # as above
IndexTaskMap b f;
TaskSteal a GPU ANY_NODE

CollectMemory * *;
Layout * * * SOA
  C_order;
InstanceLimit a 3;
ControlReplicate *;
# The end.)");
  std::vector<std::string> names;
  for (const Segment& segment : segments.all()) {
    names.push_back(segment.name);
    EXPECT_TRUE(segment.about.ends_with('.'));
  }
  EXPECT_THAT(names, ElementsAre("task", "region", "layout", "limit", "functions", "index",
                                 "single", "other"));
  EXPECT_EQ(segments.text(), R"(# Written by hand.
Task * GPU;

Region * * GPU FBMEM;

CollectMemory * *;

Layout * * * SOA
  C_order;

InstanceLimit a 3;

m = Machine(GPU)
# Where points go,
# one by one.
def f(Task task) {
  # all on one
  return m[0, 0];
}

IndexTaskMap b f;

SingleTaskMap a f  # as above

print("{}", m);
TaskSteal a GPU ANY_NODE
ControlReplicate *;
# The end.
)");
}

TEST(Segments, HaveTheBrokenStatementsToo) {
  const Segments segments = split(R"(```mapper
Task * GPU;
Region * * GPUS FBMEM;
  it is the default
Layout * * * SOA
def f(Task task) {
  return m[0, 0;
}
InstanceLimit a GPU many
Sure!)");
  EXPECT_EQ(text_of(segments, "task"), "```mapper\nTask * GPU;\n");
  EXPECT_EQ(text_of(segments, "region"), "Region * * GPUS FBMEM;\n  it is the default\n");
  EXPECT_EQ(text_of(segments, "layout"), "Layout * * * SOA\n");
  EXPECT_EQ(text_of(segments, "functions"), "def f(Task task) {\n  return m[0, 0;\n}\n");
  EXPECT_EQ(text_of(segments, "limit"), "InstanceLimit a GPU many\nSure!\n");
  EXPECT_EQ(text_of(segments, "other"), "");
}

TEST(Segments, OfNothingAreEmpty) {
  EXPECT_EQ(split("").text(), "");
  EXPECT_EQ(split("\n \r\n\t").text(), "");
  EXPECT_EQ(split("# alone").text(), "# alone\n");
  EXPECT_EQ(text_of(split("words alone\n# and a comment"), "task"), "words alone\n");
  EXPECT_EQ(text_of(split("words alone\n# and a comment"), "other"), "# and a comment\n");
  EXPECT_EQ(split("\xEF\xBB\xBFRegion * * GPU FBMEM").text(), "Region * * GPU FBMEM\n");
}

TEST(Segments, AreSetOneByOne) {
  Segments segments = split("Task * GPU;\nRegion * * GPU FBMEM;\n");
  const Segments before = segments;
  EXPECT_FALSE(segments.set("region", "\n\nRegion * * GPU ZCMEM;"));
  EXPECT_FALSE(segments.set("limit", "InstanceLimit * 4;\n\n"));
  EXPECT_EQ(segments.text(), "Task * GPU;\n\nRegion * * GPU ZCMEM;\n\nInstanceLimit * 4;\n");
  EXPECT_FALSE(segments.set("region", "  \n"));
  EXPECT_EQ(segments.text(), "Task * GPU;\n\nInstanceLimit * 4;\n");
  EXPECT_EQ(before.text(), "Task * GPU;\n\nRegion * * GPU FBMEM;\n");
  const auto error = segments.set("regions", "");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, Error::Code::kUnknown);
  EXPECT_EQ(error->message, "no segment is named `regions`");
}

// Linear in the text, and bounded by what the parser bounds.
TEST(Segments, OfHostileProgramsEnd) {
  const auto repeated = [](std::string_view text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
  };
  const std::vector<std::string> texts = {
      repeated("Task a GPU;", 200'000),  repeated("#\n", 1'000'000),  repeated("\n", 2'000'000),
      repeated("(", 1'000'000),          repeated("def f(", 100'000), repeated("Task\n", 200'000),
      repeated("x = 1\n# c\n", 100'000), std::string(1'000'000, '\0')};
  for (const std::string& text : texts) {
    EXPECT_EQ(characters_of(split(text).text()), characters_of(text)) << text.substr(0, 20);
  }
  const std::string large(kMaxSourceBytes + 1, 'x');
  EXPECT_EQ(text_of(split(large), "other").size(), large.size() + 1);
}

// --------------------------------------------------------------------------------- marked texts

Result<Segments> marked(std::string text) {
  return Segments::of_marked(Source("kernel.cc", std::move(text)));
}

std::string error_of(std::string text) {
  const auto made = marked(std::move(text));
  return made.ok() ? "none" : made.error().message;
}

TEST(MarkedText, ComesBackByteForByte) {
  for (const std::string& text :
       {std::string("int a;\n// groma: begin tiles  how large, in rows */ \nint t = 4;\n"
                    "// groma: end\nint b;\n"),
        std::string("# groma: begin a\r\nx\r\n# groma: end\r\n\r\n# groma: begin b\r\n"
                    "# groma: end\r\nlast"),
        std::string("<!-- groma: begin a what it does -->\n\0\xFF\n\n <!-- groma: end -->", 61)}) {
    const auto made = marked(text);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(made->text(), text);
  }
}

TEST(MarkedText, HasNamesAndWhatTheyAreAbout) {
  const auto made = marked(
      "/* groma: begin tiles  how large, in rows */\nint t = 4;\n  x\n/* groma: end */\n"
      "// groma: begin loop.order-2\n// groma: end\n");
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->all().size(), 2U);
  EXPECT_EQ(made->all()[0].name, "tiles");
  EXPECT_EQ(made->all()[0].about, "how large, in rows");
  EXPECT_EQ(made->all()[0].text, "int t = 4;\n  x\n");
  EXPECT_EQ(made->all()[1].name, "loop.order-2");
  EXPECT_EQ(made->all()[1].about, "");
  EXPECT_EQ(made->all()[1].text, "");
}

TEST(MarkedText, IsSetInItsPlace) {
  Segments segments =
      marked("a\n# groma: begin x\n1\n# groma: end\nb\n# groma: begin y\n# groma: end").value();
  EXPECT_FALSE(segments.set("y", "2"));
  EXPECT_FALSE(segments.set("x", ""));
  EXPECT_EQ(segments.text(),
            "a\n# groma: begin x\n# groma: end\nb\n# groma: begin y\n2\n# groma: end");
  for (const char* text : {"# groma: end", "3\n# groma: begin z\n", "groma: begin"}) {
    const auto error = segments.set("x", text);
    ASSERT_TRUE(error.has_value()) << text;
    EXPECT_EQ(error->code, Error::Code::kMalformed);
    EXPECT_THAT(error->message, HasSubstr("`x` has a mark in it"));
  }
  EXPECT_FALSE(segments.set("x", "// groma: ending, groma: beginner\n"));
  EXPECT_EQ(segments.set("z", "")->code, Error::Code::kUnknown);
}

TEST(MarkedText, SaysWhichLineIsWrong) {
  EXPECT_EQ(error_of("int a;\n"), "`kernel.cc` has no marked segments");
  EXPECT_EQ(error_of(""), "`kernel.cc` has no marked segments");
  EXPECT_EQ(error_of("x\n# groma: begin a\n"), "kernel.cc:2: `a` has no `groma: end`");
  EXPECT_EQ(error_of("x\n# groma: end\n"),
            "kernel.cc:2: no segment begins before this `groma: end`");
  EXPECT_EQ(error_of("# groma: begin a\n# groma: begin b\n# groma: end\n"),
            "kernel.cc:2: `b` begins within `a`, which line 1 begins");
  EXPECT_EQ(error_of("# groma: begin\n# groma: end\n"),
            "kernel.cc:1: a segment needs a name: `groma: begin NAME`");
  EXPECT_EQ(error_of("# groma: begin a\n# groma: end\n# groma: begin a\n# groma: end\n"),
            "kernel.cc:3: there is another segment named `a`");
  EXPECT_EQ(error_of("# groma: begin a groma: end\n"),
            "kernel.cc:1: a segment cannot begin and end on one line");
}

TEST(MarkedText, OfHostileSizeIsRefused) {
  std::string text;
  for (std::size_t i = 0; i < kMaxSegments; ++i) {
    text += fmt::format("# groma: begin s{}\n{}\n# groma: end\n", i, i);
  }
  const auto most = marked(text);
  ASSERT_TRUE(most.ok());
  EXPECT_EQ(most->text(), text);
  const auto more = marked(text + "# groma: begin more\n# groma: end\n");
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, Error::Code::kTooLarge);
  EXPECT_EQ(more.error().message, "kernel.cc:193: there are more than 64 segments");
  const auto large = marked(std::string(kMaxSourceBytes + 1, '\n'));
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, Error::Code::kTooLarge);
}

}  // namespace
}  // namespace groma
