// Texts and the trees that they are, as dumps. What is wrong in a text has its tests with the
// rendered messages; here everything is right.
#include "syntax/parser.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <span>
#include <string>

#include "syntax/limits.h"
#include "syntax/printer.h"

namespace groma::syntax {
namespace {

struct ParsedRow {
  const char* text;
  const char* dump;
};

// The dump of `text` without the last line's end, or the messages.
std::string dump_of(const std::string& text) {
  const Source source("test", text);
  Diagnostics diags(source);
  const Tree tree = parse(source, diags);
  if (diags.has_errors()) return render(diags);
  std::string dumped = dump_tree(tree);
  if (!dumped.empty()) dumped.pop_back();
  return dumped;
}

const ParsedRow kStatements[] = {
    {"Task foo GPU;", "(task (foo) (GPU))"},
    {R"(Task foo, h.init, ns::task, "my task" GPU, OMP, CPU;)",
     "(task (foo h.init ns::task my task) (GPU OMP CPU))"},
    {"Task * GPU,CPU", "(task (*) (GPU CPU))"},
    {"Task a.Task.GPU IO;", "(task (a.Task.GPU) (IO))"},
    {"Task GPU.x CPU; Task Task.f CPU;", "(task (GPU.x) (CPU))\n(task (Task.f) (CPU))"},
    {"Task a . b GPU;", "(task (a.b) (GPU))"},
    {R"(Task "a\"b\\c" PY;)", R"((task (a"b\c) (PY)))"},
    {"Region * * GPU FBMEM;", "(region (*) (*) GPU (FBMEM))"},
    {R"(Region f 0, ghost, "r 1", 12 * ZCMEM, SYSMEM;)",
     "(region (f) (#0 ghost r 1 #12) * (ZCMEM SYSMEM))"},
    {"Region f r CPU VIRTUAL;", "(region (f) (r) CPU (VIRTUAL))"},
    {"Region * *GPU FBMEM", "(region (*) (*) GPU (FBMEM))"},
    {"Region f,g a.b PROC REGSOCKMEM", "(region (f g) (a.b) PROC (REGSOCKMEM))"},
    {"Layout * * * SOA C_order;", "(layout (*) (*) * SOA C_order)"},
    {"Layout * * *", "(layout (*) (*) *)"},
    {"Layout f 1 FBMEM AOS F_order Compact Exact No_Align",
     "(layout (f) (#1) FBMEM AOS F_order Compact Exact No_Align)"},
    {"Layout f r GPU Align==64 Align!=1 Align<2 Align<=4 Align>8 Align>=16;",
     "(layout (f) (r) GPU Align/1/64 Align/2/1 Align/3/2 Align/4/4 Align/5/8 Align/6/16)"},
    {"Layout * * * SOA\n  C_order\n  Align == 128", "(layout (*) (*) * SOA C_order Align/1/128)"},
    {"InstanceLimit f 4;", "(limit (f) * 4)"},
    {"InstanceLimit f, g GPU 0", "(limit (f g) GPU 0)"},
    {"InstanceLimit f, g GPU 3 SAME_NODE", "(limit (f g) GPU 3 SAME_NODE)"},
    {"InstanceLimit f 4 Machine", "(limit (f) * 4 Machine)"},
    {"InstanceLimit f 4\nMachine;", "(limit (f) * 4 Machine)"},
    {"InstanceLimit * 9223372036854775807", "(limit (*) * 9223372036854775807)"},
    {"CollectMemory f *;", "(collect (f) (*))"},
    {"CollectMemory f, g 0, r", "(collect (f g) (#0 r))"},
    {"IndexTaskMap f cyclic;", "(index-map (f) cyclic)"},
    {"IndexTaskMap * f", "(index-map (*) f)"},
    {"IndexTaskMap GPU f", "(index-map GPU f)"},
    {"IndexTaskMap GPU.x, a f", "(index-map (GPU.x a) f)"},
    {R"(SingleTaskMap f, "g h" same_point)", "(single-map (f g h) same_point)"},
    {"SingleTaskMap CPU f", "(single-map CPU f)"},
    {"ControlReplicate *;", "(replicate (*))"},
    {"ControlReplicate a, b.c", "(replicate (a b.c))"},
    {"TaskSteal f GPU SAME_NODE;", "(steal (f) GPU 0)"},
    {"TaskSteal * CPU ANY_NODE", "(steal (*) CPU 1)"},
};

const ParsedRow kFunctions[] = {
    {"x = 1", "(= x 1)"},
    {R"(print("hello"))", R"((print "hello"))"},
    {R"(print("{} {}", 1 + 2, m.size);)", R"((print "{} {}" (+ 1 2) (. m size)))"},
    {"def f() { return 1; }", "(def f () (return 1))"},
    {"def f(Task task, int a, bool b, IPoint c, ISpace d, MSpace e, g) { return task; }",
     "(def f ( (Task task) (int a) (bool b) (IPoint c) (ISpace d) (MSpace e) ( g)) (return task))"},
    {R"(def f(Task t) { a = 1; print("x"); return a })",
     R"((def f ( (Task t)) (= a 1) (print "x") (return a)))"},
    {"def f(Task t) {\n  a = 1\n  return a\n}", "(def f ( (Task t)) (= a 1) (return a))"},
    {"def f(Task t): a = 1; return a; x = 2", "(def f ( (Task t)) (= a 1) (return a))\n(= x 2)"},
    {"def f(Task t):\n  return t\nIndexTaskMap g f",
     "(def f ( (Task t)) (return t))\n(index-map (g) f)"},
    {"def f() {}", "(def f ())"},
    {R"(x = true; y = False; z = "s"; m = Machine(GPU); k = FBMEM)",
     "(= x true)\n(= y false)\n(= z \"s\")\n(= m (call Machine GPU))\n(= k FBMEM)"},
};

const ParsedRow kExpressions[] = {
    {"x = a + b * c - d / e % f", "(= x (- (+ a (* b c)) (% (/ d e) f)))"},
    {"x = a || b && c == d < e", "(= x (|| a (&& b (== c (< d e)))))"},
    {"x = a < b == c >= d != e > f <= g", "(= x (!= (== (< a b) (>= c d)) (<= (> e f) g)))"},
    {"x = -a * !b - --c", "(= x (- (* (- a) (! b)) (- (- c))))"},
    {"x = -a.b[c](d)", "(= x (- (call (index (. a b) c) d)))"},
    {"x = (a + b) * c", "(= x (* (+ a b) c))"},
    {"x = a ? b : c ? d : e", "(= x (? a b (? c d e)))"},
    {"x = a ? b ? c : d : e", "(= x (? a (? b c d) e))"},
    {"x = a || b ? c && d : e + f", "(= x (? (|| a b) (&& c d) (+ e f)))"},
    {"x = ()", "(= x (tuple))"},
    {"x = (a)", "(= x a)"},
    {"x = (a,)", "(= x (tuple a))"},
    {"x = (a, b, c,)", "(= x (tuple a b c))"},
    {"x = (*a)", "(= x (tuple (splice a)))"},
    {"x = (*a, 1, *b.c)", "(= x (tuple (splice a) 1 (splice (. b c))))"},
    {"x = (*a + b, c)", "(= x (tuple (splice (+ a b)) c))"},
    {"x = (*a ? b : c,)", "(= x (tuple (splice (? a b c))))"},
    {"x = m[1, *, *t, *]", "(= x (index m 1 * (splice t) *))"},
    {"x = m[*t.parent.processor(m)]",
     "(= x (index m (splice (call (. (. t parent) processor) m))))"},
    {"x = t[a:b]; y = t[:]; z = t[a:]; w = t[:-1]",
     "(= x (slice t a b))\n(= y (slice t - -))\n(= z (slice t a -))\n(= w (slice t - (- 1)))"},
    {"x = t[a ? b : c : d]", "(= x (slice t (? a b c) d))"},
    {"x = m.split(0, 2).merge(0, 1).size[0]",
     "(= x (index (. (call (. (call (. m split) 0 2) merge) 0 1) size) 0))"},
    {"x = m.decompose(0, t, halo=(1, 2))",
     "(= x (call (. m decompose) 0 t (option halo (tuple 1 2))))"},
    {"x = f(*t, 1)(2)", "(= x (call (call f (splice t) 1) 2))"},
    {"x = tuple(i * 2 for i in t)", "(= x (for i (* i 2) t))"},
    {"x = tuple(tuple(a for a in b) for b in c)", "(= x (for b (for a a b) c))"},
    {"x = tuple(1, 2)", "(= x (call tuple 1 2))"},
    {"tuple = 1\ny = tuple + 1", "(= tuple 1)\n(= y (+ tuple 1))"},
    {"x = tuple()", "(= x (call tuple))"},
    {"x = m[0, 0].has(FBMEM)", "(= x (call (. (index m 0 0) has) FBMEM))"},
    {"x = task.for + a.Task", "(= x (+ (. task for) (. a Task)))"},
};

const ParsedRow kLineEnds[] = {
    {"x = a\n  + b", "(= x (+ a b))"},
    {"x = a +\n  b", "(= x (+ a b))"},
    {"x = f\n  (a)", "(= x (call f a))"},
    {"x = a\n- b\ny = 1", "(= x (- a b))\n(= y 1)"},
    {"x = m\n  .split(0, 2)\n  .size", "(= x (. (call (. m split) 0 2) size))"},
    {"x =\n  1", "(= x 1)"},
    {"x = a\n  ? b\n  : c", "(= x (? a b c))"},
    {"Task a,\n  b\n  GPU,\n  CPU\nTask c GPU", "(task (a b) (GPU CPU))\n(task (c) (GPU))"},
    {"x = 1; y = 2; Task a GPU; def f() { return 1 } z = 3",
     "(= x 1)\n(= y 2)\n(task (a) (GPU))\n(def f () (return 1))\n(= z 3)"},
    {"x = 5 // c\ny = 6 # d", "(= x 5)\n(= y 6)"},
    {"x = 1.len", "(= x (. 1 len))"},
    {"x = t\n[0]", "(= x (index t 0))"},
    {"x = a == b == c", "(= x (== (== a b) c))"},
    {"x = 1 - 2 - 3", "(= x (- (- 1 2) 3))"},
    {"x = 8 / 4 / 2", "(= x (/ (/ 8 4) 2))"},
    {"x = (a ? b : c) ? d : e", "(= x (? (? a b c) d e))"},
    {"x = t[f(a)[0]:(b)]", "(= x (slice t (index (call f a) 0) b))"},
};

template <typename Check>
void for_each_row(const Check& check) {
  for (const std::span<const ParsedRow> rows : std::initializer_list<std::span<const ParsedRow>>{
           kStatements, kFunctions, kExpressions, kLineEnds}) {
    for (const ParsedRow& row : rows) {
      SCOPED_TRACE(row.text);
      check(row);
    }
  }
}

TEST(Parser, MakesTheTree) {
  for_each_row([](const ParsedRow& row) { EXPECT_EQ(dump_of(row.text), row.dump); });
}

TEST(Parser, MakesTheSameTreeOfTheFormattedText) {
  for_each_row([](const ParsedRow& row) {
    const Source source("test", row.text);
    Diagnostics diags(source);
    const std::string formatted = print_tree(parse(source, diags, true));
    EXPECT_EQ(dump_of(formatted), row.dump) << formatted;
  });
}

// A missing line's end, a carriage return before it and a byte order mark change nothing.
TEST(Parser, MakesTheSameTreeWhateverTheLinesEnds) {
  for_each_row([](const ParsedRow& row) {
    const std::string text = row.text;
    std::string crlf = "\xEF\xBB\xBF";
    for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
    EXPECT_EQ(dump_of(crlf + "\r\n"), row.dump);
    EXPECT_EQ(dump_of(text + "\n"), row.dump);
  });
}

std::string ids_of(const std::string& text) {
  const Source source("test", text);
  Diagnostics diags(source);
  parse(source, diags);
  std::string ids;
  for (const Diagnostic& diagnostic : diags.sorted()) {
    ids += std::string(ids.empty() ? "" : " ") + std::string(name_of(diagnostic.id));
  }
  return ids;
}

TEST(Parser, ColonBodyIsAWarningWithASureFixThatCuresIt) {
  const Source source("test", "def f(Task t):\n  a = 1\n  return a\nIndexTaskMap g f\n");
  Diagnostics diags(source);
  const std::string tree = dump_tree(parse(source, diags));
  ASSERT_EQ(diags.all().size(), 1U);
  const Diagnostic& diagnostic = diags.all()[0];
  EXPECT_EQ(diagnostic.id, DiagId::kColonBody);
  EXPECT_EQ(diagnostic.severity, Severity::kWarning);
  ASSERT_EQ(diagnostic.fixes.size(), 1U);
  EXPECT_TRUE(diagnostic.fixes[0].sure);
  std::size_t applied = 0;
  const std::string fixed = apply_fixes(source, diagnostic.fixes, &applied);
  EXPECT_EQ(applied, 1U);
  EXPECT_EQ(ids_of(fixed), "") << fixed;
  EXPECT_EQ(dump_of(fixed) + "\n", tree);
}

TEST(Parser, EmptyProgramsAreFineWithANote) {
  for (const char* text : {"", "\n\n", "# nothing", "// nothing\n", "\xEF\xBB\xBF", " \t\r\n"}) {
    EXPECT_EQ(ids_of(text), "empty-program") << text;
  }
}

TEST(Parser, KeepsCommentsOnlyWhereAsked) {
  const Source source("test", "# a\nTask a GPU; # b\n");
  Diagnostics diags(source);
  EXPECT_EQ(parse(source, diags, true).comments.size(), 2U);
  EXPECT_EQ(parse(source, diags).comments.size(), 0U);
}

TEST(Parser, RangesAreThoseOfTheText) {
  const std::string text = "x = a + f(b)[1]; Task t GPU;\n";
  const Source source("test", text);
  Diagnostics diags(source);
  const Tree tree = parse(source, diags);
  ASSERT_EQ(tree.statements.size(), 2U);
  EXPECT_EQ(source.text(tree.statements[0].range), "x = a + f(b)[1]");
  EXPECT_EQ(tree.statements[0].end, text.find(" Task"));
  EXPECT_EQ(source.text(tree.statements[1].range), "Task t GPU");
  std::string exprs;
  for (const Expr& expr : tree.exprs) exprs += std::string(source.text(expr.range)) + "|";
  EXPECT_EQ(exprs, "a|f|b|f(b)|1|f(b)[1]|a + f(b)[1]|");
}

TEST(Parser, OperandsStandBeforeTheirOperators) {
  const Source source("test", "x = tuple(-i > 0 ? f(*t, 1) : (i, m[*, 0]) for i in t[1:]);");
  Diagnostics diags(source);
  const Tree tree = parse(source, diags);
  ASSERT_FALSE(diags.has_errors()) << render(diags);
  for (ExprId id = 0; id < tree.exprs.size(); ++id) {
    const Expr& expr = tree.exprs[id];
    if (expr.kind != ExprKind::kBinary && expr.kind != ExprKind::kConditional) continue;
    EXPECT_LT(expr.a, id);
    EXPECT_LT(expr.b, id);
  }
}

TEST(Parser, NestsAsDeepAsTheLimitAndNoDeeper) {
  const auto nested = [](int levels) {
    const auto count = static_cast<std::size_t>(levels);
    return "x = " + std::string(count, '(') + "1" + std::string(count, ')') + ";";
  };
  EXPECT_EQ(ids_of(nested(100)), "");
  EXPECT_EQ(ids_of(nested(kMaxNesting + 1)), "nesting-too-deep");
  EXPECT_EQ(ids_of(nested(200'000)), "nesting-too-deep");
  EXPECT_EQ(ids_of("x = " + std::string(200'000, '-') + "1;"), "nesting-too-deep");
}

}  // namespace
}  // namespace groma::syntax
