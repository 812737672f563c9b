#include "unit/inspect/hostile_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/names.h"

namespace groma::testing {
namespace {

constexpr std::size_t kLine = 10'000'000;

std::string times(std::size_t count, std::string_view piece) {
  std::string text;
  text.reserve(count * piece.size());
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

// `piece` until the line is 10 MB long.
std::string line_of(std::string_view piece) { return times(kLine / piece.size(), piece); }

// One text of `count` pieces, each made from its number.
template <typename Piece>
std::string numbered(std::size_t count, const Piece& piece) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += piece(i);
  return text;
}

std::string list_of(std::size_t count, std::string_view prefix) {
  std::string text =
      numbered(count, [&](std::size_t i) { return fmt::format("{}{},", prefix, i); });
  text.pop_back();
  return text;
}

void add_long_lines(std::vector<HostileCase>& cases) {
  const auto line = [&](std::string name, std::string expected, std::string before,
                        std::string piece, std::string after) {
    cases.push_back({"line_" + std::move(name), std::move(expected),
                     [=] { return before + line_of(piece) + after; }});
  };
  line("spaces", "", "", " ", "");
  line("tabs", "", "", "\t", "");
  line("returns", "", "", "\r", "");
  line("line_ends", "", "", "\n", "");
  line("name", "unknown-statement", "", "x", "");
  line("name_in_task", "", "Task ", "x", " GPU;");
  line("name_unknown", "unknown-name", "print(\"{}\", ", "x", ");");
  line("path", "", "Task a", ".a", " GPU;");
  line("digits", "unknown-statement", "", "1", "");
  line("literal", "integer-too-large", "a = ", "1", ";");
  line("zeros", "", "a = ", "0", ";");
  line("digits_and_letters", "not-an-integer", "a = ", "1x", ";");
  line("string", "", "Task \"", "s", "\" GPU;");
  line("string_value", "", "a = \"", "s", "\";");
  line("string_open", "unterminated-string", "a = \"", "s", "");
  line("escapes", "", "Task \"", "\\\\", "\" GPU;");
  line("quotes", "unknown-statement", "", "\"", "");
  line("comment", "", "# ", "c", "");
  line("slashes", "", "", "/", "");
  line("hashes_after", "", "Task * GPU; ", "#", "");
  line("comments", "", "", "#\n", "");
  line("sum", "nesting-too-deep", "a = 1", "+1", ";");
  line("sum_in_function", "nesting-too-deep", "def f(Task t) { return 1", "+1", "; }");
  line("tuple", "program-too-large", "a = (1", ",1", ");");
  line("nested_tuples", "program-too-large", "a = (1", ",(1,1)", ");");
  line("index_list", "program-too-large", "a = 1[1", ",1", "];");
  line("arguments", "program-too-large", "def g(x) { return x; } a = g(1", ",1", ");");
  line("parameters", "program-too-large", "def g(a", ",a", ") { return a; }");
  line("print_arguments", "program-too-large", "print(\"\"", ",1", ");");
  line("print_holes", "print-arguments", "print(\"", "{}", "\");");
  line("assignments", "duplicate-name", "", "a=1;", "");
  line("kinds", "program-too-large", "Task a GPU", ",GPU", ";");
  line("kinds_unknown", "unknown-processor", "Task a GPU", ",GPUS", ";");
  line("kinds_without_commas", "expected-token", "Task a GPU", " GPU", ";");
  line("memories", "program-too-large", "Region * * * FBMEM", ",FBMEM", ";");
  line("names", "program-too-large", "Task a", ",a", " GPU;");
  line("regions", "program-too-large", "Region * a", ",a", " * FBMEM;");
  line("positions", "program-too-large", "Region * 0", ",0", " * FBMEM;");
  line("constraints", "program-too-large", "Layout * * *", " SOA", ";");
  line("statements", "", "", "Task a GPU;", "");
  line("unknown_statements", "unknown-statement", "", "Tusk a GPU;", "");
  line("unknown_functions", "unknown-function", "", "IndexTaskMap a g;", "");
  line("unknown_kinds", "unknown-processor", "", "Task a GUP;", "");
  line("unknown_memories", "unknown-memory", "", "Region * * GPU FBMEN;", "");
  line("missing_semicolons", "missing-semicolon", "", "Task a GPU ", "");
  line("semicolons", "unknown-statement", "", ";", "");
  line("commas", "unknown-statement", "", ",", "");
  line("equals", "unknown-statement", "", "=", "");
  line("stars", "stray-star", "a = ", "*", "1;");
  line("splices", "stray-star", "a = (", "*", "1);");
  line("ats", "unexpected-character", "", "@", "");
  line("ats_apart", "unexpected-character", "", "@ ", "");
  line("accents", "unexpected-character", "", "\xC3\xA9", "");
  line("nul", "unexpected-character", "", std::string(1, '\0'), "");
  line("nul_in_names", "unknown-statement", "", std::string("a\0", 2), "");
  line("nul_in_string", "unexpected-character", "Task \"", std::string(1, '\0'), "\" GPU;");
  line("hidden_in_comment", "unexpected-character", "# ", "\x1b[2J\xE2\x80\xAE", "");
  line("seen_in_comment", "", "# ", "caf\xC3\xA9\xE6\x97\xA5 ", "");
  line("bad_utf8", "bad-utf8", "", "\xFF", "");
  line("bad_utf8_apart", "bad-utf8", "", "\xFF ", "");
  line("bad_utf8_in_string", "bad-utf8", "Task \"", "\x80", "\" GPU;");
  line("cut_utf8", "bad-utf8", "", "\xE2\x82 ", "");
  line("byte_order_marks", "unexpected-character", "", "\xEF\xBB\xBF", "");
  line("returns_at_top", "misplaced-statement", "", "return ", "");
  line("return_lines", "misplaced-statement", "", "return\n", "");
  line("statement_words", "kind-as-name", "", "Task ", "");
  line("statement_lines", "expected-token", "", "Task\n", "");
  line("def_lines", "expected-token", "", "def\n", "");
  line("def_heads", "reserved-name", "", "def g(\n", "");
  line("assigned_words", "reserved-name", "", "Task=\n", "");
  line("members", "nesting-too-deep", "a = 1", ".a", ";");
  line("broken_functions", "expected-token", "", "def f(Task t { ", "");
}

void add_nesting(std::vector<HostileCase>& cases) {
  constexpr std::size_t kDeep = 200'000;
  const auto nest = [&](std::string name, std::string expected, std::string before,
                        std::string open, std::string middle, std::string close) {
    cases.push_back({"nest_" + name, expected, [=] {
                       return before + times(kDeep, open) + middle + times(kDeep, close) + ";";
                     }});
    cases.push_back({"open_" + name, expected, [=] { return before + times(kDeep, open); }});
  };
  nest("parentheses", "nesting-too-deep", "a = ", "(", "1", ")");
  nest("tuples", "nesting-too-deep", "a = ", "(1,", "1", ")");
  nest("splices", "nesting-too-deep", "a = ", "(*", "1", ")");
  nest("brackets", "expected-token", "a = ", "[", "1", "]");
  nest("indices", "nesting-too-deep", "a = ", "a[", "1", "]");
  nest("slices", "nesting-too-deep", "a = ", "a[:", "1", "]");
  nest("star_indices", "nesting-too-deep", "a = ", "a[*", "1", "]");
  nest("calls", "nesting-too-deep", "a = ", "g(", "1", ")");
  nest("options", "nesting-too-deep", "a = ", "g(h=", "1", ")");
  nest("tuple_calls", "nesting-too-deep", "a = ", "tuple(", "1", ")");
  nest("comprehensions", "nesting-too-deep", "a = ", "tuple(", "1", " for i in (1,))");
  nest("comprehension_ranges", "nesting-too-deep", "a = ", "tuple(i for i in ", "(1,)", ")");
  nest("minus", "nesting-too-deep", "a = ", "-", "1", "");
  nest("not", "nesting-too-deep", "a = ", "!", "true", "");
  nest("minus_apart", "nesting-too-deep", "a = ", "- ", "1", "");
  nest("conditionals", "nesting-too-deep", "a = ", "true ? ", "1", " : 1");
  nest("conditional_chain", "nesting-too-deep", "a = ", "true ? 1 : ", "1", "");
  nest("questions", "expected-token", "a = true", "?", "", "");
  nest("chained_calls", "nesting-too-deep", "a = a", "()", "", "");
  nest("chained_indices", "nesting-too-deep", "a = a", "[0]", "", "");
  nest("chained_slices", "nesting-too-deep", "a = a", "[0:]", "", "");
  nest("chained_members", "nesting-too-deep", "a = a", ".size", "", "");
  nest("reversed_views", "nesting-too-deep", "a = Machine(GPU)", ".reverse(0)", "", "");
  nest("or", "nesting-too-deep", "a = true", "||true", "", "");
  nest("multiply", "nesting-too-deep", "a = 1", "*1", "", "");
  nest("compare", "nesting-too-deep", "a = 1", "<1", "", "");
  nest("print", "expected-token", "", "print(", "", ")");
  nest("braces", "unknown-statement", "", "{", "", "}");
  nest("bodies", "unknown-statement", "def g(Task t) ", "{", "return 1;", "}");
  nest("defs", "misplaced-statement", "", "def g(Task t) {", "return 1;", "}");
  nest("closing_parentheses", "unknown-statement", "", ")", "", "");
  nest("closing_braces", "expected-token", "", "}", "", "");
  nest("closing_brackets", "expected-token", "a = 1", "]", "", "");
}

void add_functions(std::vector<HostileCase>& cases) {
  static constexpr std::size_t kMany = 20'000;
  cases.push_back({"chained_functions", "calls-too-deep", [] {
                     return "def f0(x) { return x; }\n" + numbered(kMany, [](std::size_t i) {
                              return fmt::format("def f{}(x) {{ return f{}(x); }}\n", i + 1, i);
                            });
                   }});
  cases.push_back({"chained_functions_backwards", "calls-too-deep", [] {
                     return numbered(kMany,
                                     [](std::size_t i) {
                                       return fmt::format("def f{}(x) {{ return f{}(x); }}\n", i,
                                                          i + 1);
                                     }) +
                            fmt::format("def f{}(x) {{ return x; }}\n", kMany);
                   }});
  cases.push_back({"mutual_recursion", "calls-too-deep", [] {
                     return numbered(kMany, [](std::size_t i) {
                       return fmt::format("def f{}(x) {{ return f{}(x); }}\n", i, (i + 1) % kMany);
                     });
                   }});
  cases.push_back({"recursion_to_the_middle", "recursion", [] {
                     return numbered(200'000, [](std::size_t i) {
                       return fmt::format("def f{}(x) {{ return f{}(x) + f{}(x); }}\n", i, i + 1,
                                          i / 2);
                     });
                   }});
  cases.push_back({"all_call_all", "recursion", [] {
                     const std::string calls =
                         numbered(500, [](std::size_t i) { return fmt::format("f{}(x),", i); });
                     return numbered(500, [&](std::size_t i) {
                       return fmt::format("def f{}(x) {{ return ({}); }}\n", i, calls);
                     });
                   }});
  cases.push_back(
      {"same_function", "duplicate-name", [] { return times(500'000, "def g(x){return x}\n"); }});
  cases.push_back({"call_tree", "step-limit", [] {
                     return "def g0(x) { return x; }\n" +
                            numbered(60,
                                     [](std::size_t i) {
                                       return fmt::format(
                                           "def g{0}(x) {{ return g{1}(x) + g{1}(x); }}\n", i + 1,
                                           i);
                                     }) +
                            "a = g60(0);";
                   }});
  cases.push_back({"call_tree_mapping",
                   "step-limit",
                   [] {
                     return "def g0(x) { return x; }\n" +
                            numbered(60,
                                     [](std::size_t i) {
                                       return fmt::format(
                                           "def g{0}(x) {{ return g{1}(x) + g{1}(x); }}\n", i + 1,
                                           i);
                                     }) +
                            "def f(Task t) { return Machine(GPU)[g60(0), 0]; }";
                   },
                   "p100x4:nodes=2",
                   {1 << 20}});
  const auto double_up = [](std::string_view body) {
    return "def g0(x) { return x; }\n" +
           numbered(60,
                    [&](std::size_t i) {
                      return fmt::format("def g{}(x) {{ y = g{}(x); return {}; }}\n", i + 1, i,
                                         body);
                    }) +
           "a = g60((1,));";
  };
  cases.push_back({"doubling_tuple", "tuple-too-long", [=] { return double_up("(*y, *y)"); }});
  cases.push_back({"doubling_nested_tuple", "tuple-too-long", [=] { return double_up("(y, y)"); }});
  cases.push_back({"deepening_tuple", "", [=] { return double_up("(y,)"); }});
  cases.push_back({"doubling_by_globals", "tuple-too-long", [] {
                     return "a0 = (1,);" + numbered(100, [](std::size_t i) {
                              return fmt::format("a{} = (a{}, a{});", i + 1, i, i);
                            });
                   }});
}

// A tuple of 65,536 items, and what costs much on it.
void add_tuples(std::vector<HostileCase>& cases) {
  const std::string big =
      "u = (0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0); v = tuple(0 for i in u);\n"
      "def rep(x) { return (*x,*x,*x,*x,*x,*x,*x,*x,*x,*x,*x,*x,*x,*x,*x,*x); }\n"
      "big = rep(rep(rep(u)));\n";
  const auto over = [&](std::string name, std::string expected, std::string rest,
                        const Point& extents = {4}) {
    cases.push_back({"long_tuple_" + std::move(name), std::move(expected),
                     [=] { return big + rest; }, "p100x4:nodes=2", extents});
  };
  over("made", "", "");
  over("longer", "tuple-too-long", "x = (*big, 1);");
  over("added", "", "x = big + big * 2 - big;");
  over("indexed", "", "x = tuple(big[0] for i in big);");
  over("indexed_twice", "step-limit",
       "x = tuple(big[1] + big[-1] + big[2] + big[3] for i in big); y = tuple(big[1] + big[-1] + "
       "big[2] + big[3] for i in big); z = tuple(big[1] + big[-1] + big[2] + big[3] for i in big); "
       "w = tuple(tuple(big[0] for j in u) == u for i in big); a = tuple(tuple(big[0] for j in u) "
       "== u for i in big); b = tuple(tuple(big[0] for j in u) == u for i in big); c = "
       "tuple(tuple(big[0] for j in u) == u for i in big);d = tuple(tuple(big[0] for j in u) == u "
       "for i in big);");
  over("len", "step-limit", "x = tuple(tuple(big.len for j in big).len for i in big);");
  over("sliced", "step-limit", "x = tuple(big[1:].len for i in big);");
  over("sliced_short", "", "x = tuple(big[:1] for i in big);");
  over("compared", "step-limit", "x = tuple(big == big for i in big);");
  over("volume", "step-limit", "x = tuple(big.volume for i in big);");
  over("passed", "step-limit", "def g(IPoint p) { return p[0]; } x = tuple(g(big) for i in big);");
  over("passed_any", "", "def g(p) { return 1; } x = tuple(g(big) for i in big);");
  over("products", "step-limit", "x = tuple(tuple(i * j for j in big).len for i in big);");
  over("of_tuples", "tuple-too-long", "x = tuple(big for i in big);");
  over("printed", "", "print(\"{}\", big);");
  over("printed_often", "step-limit", times(3000, "print(\"{}\", big);"));
  over("as_index", "wrong-index-count", "x = Machine(GPU)[big];");
  over("as_splits", "bad-split-argument", "x = Machine(GPU).decompose(0, big);");
  over("in_mapping", "step-limit",
       "def f(Task t) { return Machine(GPU)[tuple(big[t.ipoint[0] % 7] for i in big)[0], 0]; }",
       {1 << 20});
  over("of_views", "",
       "m = Machine(GPU).split(1, 2).merge(0, 1); x = tuple(m.reverse(0) for i in big);");
  over("of_sets", "", "m = Machine(GPU); x = tuple(m[*, *] for i in big);");
  over("of_kinds", "", "x = tuple(GPU for i in big); y = x == x;");
  cases.push_back({"million_item_tuple", "program-too-large",
                   [] { return "a = (" + times(1'000'000, "1,") + ");"; }});
  cases.push_back({"many_long_tuples", "tuple-too-long", [] {
                     const std::string row = "(" + times(10'000, "1,") + ")";
                     return "a = (" + times(60, row + ",") + ");";
                   }});
  // `@` stands for a string of 10 MB.
  const auto strings = [&](std::string name, std::string expected, const std::string& rest,
                           const Point& extents = {4}) {
    cases.push_back({"long_string_" + std::move(name), std::move(expected),
                     [=] {
                       std::string text = "s = @;\n" + big + rest;
                       const std::string literal = "\"" + times(1'000'000, "abcdefghij") + "\"";
                       for (std::size_t at = 0; (at = text.find('@', at)) != std::string::npos;) {
                         text.replace(at, 1, literal);
                         at += literal.size();
                       }
                       return text;
                     },
                     "p100x4:nodes=2", extents});
  };
  strings("repeated", "", "x = tuple(s for i in big);");
  strings("compared", "step-limit", "y = @; x = tuple(s == y for i in big);");
  strings("compared_with_itself", "step-limit", "x = tuple(s == s for i in big);");
  strings("literal_repeated", "", "x = tuple(@ for i in big);");
  strings("printed", "step-limit", "x = tuple(s for i in big); print(\"{}\", x);");
  strings("printed_often", "step-limit", times(1000, "print(\"{}\", s);"));
  strings("print_text", "", "def f(Task t) { print(@); return Machine(GPU)[0, 0]; }", {100'000});
  strings("is_no_processor", "not-a-processor", "def f(Task t) { return s; }");
  strings("tuple_is_no_processor", "not-a-processor",
          "x = tuple(s for i in big); def f(Task t) { return x; }");
}

void add_counts(std::vector<HostileCase>& cases) {
  const auto many = [&](std::string name, std::string expected, std::size_t count, auto piece) {
    cases.push_back(
        {"many_" + std::move(name), std::move(expected), [=] { return numbered(count, piece); }});
  };
  many("globals", "", 999'000, [](std::size_t i) { return fmt::format("a{}=1;", i); });
  many("global_chain", "", 300'000, [](std::size_t i) {
    return i == 0 ? std::string("a0=1;") : fmt::format("a{}=a{};", i, i - 1);
  });
  many("tasks", "", 999'000, [](std::size_t i) { return fmt::format("Task t{} GPU\n", i); });
  many("statements", "program-too-large", 1'100'000,
       [](std::size_t i) { return fmt::format("Task t{} GPU\n", i); });
  many("shadowed", "", 999'000, [](std::size_t) { return std::string("Task t GPU\n"); });
  many("layouts", "", 500'000,
       [](std::size_t i) { return fmt::format("Layout t{} * * AOS\n", i); });
  many("prints", "", 500'000, [](std::size_t) { return std::string("print(\"a\")\n"); });
  many("functions", "", 300'000,
       [](std::size_t i) { return fmt::format("def f{}(Task t) {{ return t }}\n", i); });
  many("parameters", "", 5'000, [](std::size_t i) {
    return fmt::format("def f{}({}) {{ return a0 }}\n", i, list_of(50, "a"));
  });
  many("unknown_names", "unknown-name", 300'000,
       [](std::size_t i) { return fmt::format("abc{}=abd{};", i, i); });
  many("unknown_in_unused", "", 200'000,
       [](std::size_t i) { return fmt::format("def g{0}(x) {{ return xyz{0}; }} a{0}=1;", i); });
  many("unknown_functions", "unknown-function", 200'000, [](std::size_t i) {
    return fmt::format("def abc{0}(Task t) {{ return t; }} IndexTaskMap t abd{0};", i);
  });
  many("unknown_members", "unknown-member", 300'000,
       [](std::size_t i) { return fmt::format("a{}=(1,2).sizes;", i); });
  many("comments", "", 500'000,
       [](std::size_t i) { return fmt::format("# {}\na{}=1 # x\n", i, i); });
  many("strings", "", 300'000, [](std::size_t i) { return fmt::format("a{}=\"{}\";", i, i); });
  const auto body = [&](std::string name, std::string expected, std::size_t count, auto piece) {
    cases.push_back({"body_" + std::move(name), std::move(expected), [=] {
                       return "m = Machine(GPU); def f(Task t) {\n" + numbered(count, piece) +
                              "return m[0, 0]; }";
                     }});
  };
  body("locals", "", 300'000, [](std::size_t i) { return fmt::format("a{}=1;", i); });
  body("local_chain", "", 300'000, [](std::size_t i) {
    return i == 0 ? std::string("a0=1;") : fmt::format("a{}=a{};", i, i - 1);
  });
  body("first_local", "", 300'000,
       [](std::size_t i) { return i == 0 ? std::string("a0=1;") : fmt::format("a{}=a0;", i); });
  body("same_local", "", 300'000, [](std::size_t) { return std::string("a=1;"); });
  body("globals", "", 300'000, [](std::size_t i) { return fmt::format("a{}=m;", i); });
  body("comprehensions", "", 100'000,
       [](std::size_t i) { return fmt::format("a{}=tuple(i for i in (1,));", i); });
  body("prints", "", 300'000, [](std::size_t) { return std::string("print(\"a\");"); });
  body("unknown", "", 200'000, [](std::size_t i) { return fmt::format("a{}=b{};", i, i); });
  cases.push_back({"cross_product", "program-too-large", [] {
                     return "Region " + list_of(60'000, "t") + " " + list_of(60'000, "r") +
                            " * FBMEM;";
                   }});
  cases.push_back({"cross_product_of_one_name", "program-too-large", [] {
                     return "Region a" + times(60'000, ",a") + " r" + times(60'000, ",r") +
                            " * FBMEM;";
                   }});
  cases.push_back({"cross_products", "program-too-large", [] {
                     const std::string one =
                         "Layout " + list_of(1000, "t") + " " + list_of(1000, "r") + " * AOS;";
                     return times(500, one);
                   }});
  cases.push_back({"collected_cross_product", "program-too-large", [] {
                     return "CollectMemory " + list_of(60'000, "t") + " " + list_of(60'000, "r") +
                            ";";
                   }});
  cases.push_back({"name_used_often", "", [] {
                     return "a = 1; b = (" + times(60'000, "a,") + ");" +
                            times(900'000, "Task a CPU;");
                   }});
}

// Names whose hashes would be equal, did every process hash alike: two words of which the second
// undoes what mixing made of the first.
std::string colliding_names(std::size_t count) {
  std::string text;
  const std::uint64_t start = 0x9E3779B97F4A7C15U ^ 16U;
  for (std::uint64_t number = 0; count > 0; ++number) {
    char first[8], letters[8];
    for (std::size_t i = 0; i < 8; ++i)
      first[i] = static_cast<char>('a' + (number >> (4 * i)) % 16);
    std::uint64_t word = 0;
    std::memcpy(&word, first, 8);
    const std::uint64_t second = mix_bits(start ^ word) ^ 0x123456789ABCDEFU;
    std::memcpy(letters, &second, 8);
    const bool fits = std::all_of(std::begin(letters), std::end(letters), [](char c) {
      return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
    });
    if (!fits) continue;
    text += "Task \"" + std::string(first, 8) + std::string(letters, 8) + "\" GPU;\n";
    --count;
  }
  return text;
}

void add_numbers(std::vector<HostileCase>& cases) {
  const auto number = [&](std::string name, std::string expected, std::string text) {
    cases.push_back({"number_" + std::move(name), std::move(expected), [=] { return text; }});
  };
  number("two_to_63", "integer-too-large", "a = 9223372036854775808;");
  number("minus_two_to_63", "integer-too-large", "a = -9223372036854775808;");
  number("largest", "", "a = 9223372036854775807; b = -a - 1;");
  number("overflow", "overflow", "a = 9223372036854775807 + 1;");
  number("negated", "overflow", "a = -9223372036854775807 - 1; b = -a;");
  number("divided", "overflow", "a = -9223372036854775807 - 1; b = a / -1;");
  number("remainder", "overflow", "a = -9223372036854775807 - 1; b = a % -1;");
  number("volume", "overflow", "a = (4294967296, 4294967296).volume;");
  number("position", "position-too-large", "Region * 9223372036854775807 GPU FBMEM;");
  number("alignment", "bad-alignment", "Layout * * * Align==9223372036854775807;");
  number("limit", "", "InstanceLimit t 9223372036854775807;");
  number("index", "index-out-of-range", "a = (1, 2)[9223372036854775807];");
  number("negative_index", "index-out-of-range", "a = (1, 2)[-9223372036854775807 - 1];");
  number("slice", "", "a = (1, 2)[-9223372036854775807 - 1:9223372036854775807];");
  number("machine_index", "slice-index-out-of-bound", "a = Machine(GPU)[9223372036854775807, 0];");
  number("dimension", "bad-dimension", "a = Machine(GPU).reverse(9223372036854775807);");
  number("split", "split-not-divisible", "a = Machine(GPU).split(0, 9223372036854775807);");
  number("slice_of_machine", "bad-slice",
         "a = Machine(GPU).slice(0, -9223372036854775807 - 1, 9223372036854775807);");
  number("balance", "bad-split-argument",
         "a = Machine(GPU).balance_split(0, 9223372036854775807);");
  number("decompose", "overflow",
         "a = Machine(GPU).decompose(0, (9223372036854775807, 9223372036854775807));");
  number("auto_split", "",
         "a = Machine(GPU).auto_split(0, (9223372036854775807, 9223372036854775807));");
  number("greedy_split", "",
         "a = Machine(GPU).greedy_split(0, (9223372036854775807, 9223372036854775807));");
  number("halo", "",
         "a = Machine(GPU).decompose(0, (9, 9), halo=(9223372036854775807, 9223372036854775807));");
}

void add_machines(std::vector<HostileCase>& cases) {
  const auto on = [&](std::string name, std::string expected, std::string machine,
                      const Point& extents, std::string text) {
    cases.push_back({"machine_" + std::move(name), std::move(expected), [=] { return text; },
                     std::move(machine), extents});
  };
  const std::string large = "nodes=65536,gpu=16,cpu=1";
  const std::string composite = "nodes=720720,gpu=16,cpu=1";  // 240 divisors
  on("view_chain", "machine-limit", "p100x4", {1},
     "m0 = Machine(GPU);" + numbered(300, [](std::size_t i) {
       return fmt::format("m{} = m{}.reverse(0);", i + 1, i);
     }));
  on("view_dimensions", "machine-limit", "p100x4", {1},
     "m0 = Machine(GPU);" + numbered(300, [](std::size_t i) {
       return fmt::format("m{} = m{}.split(0, 1);", i + 1, i);
     }));
  on("views_in_function", "step-limit", "p100x4", {1 << 20},
     "def f(Task t) {" + numbered(255, [](std::size_t i) {
       return fmt::format("m{} = {}.reverse(0);", i + 1,
                          i == 0 ? std::string("Machine(GPU)") : fmt::format("m{}", i));
     }) + "return m255[0, 0]; }");
  on("huge_set", "tuple-too-long", large, {1}, "def f(Task t) { return Machine(GPU)[*, *]; }");
  on("huge_set_of_three", "tuple-too-long", large, {1},
     "def f(Task t) { return Machine(GPU).split(0, 256)[*, *, *]; }");
  on("large_sets", "domain-too-large", "nodes=4096,gpu=16,cpu=1", {1 << 20},
     "def f(Task t) { return Machine(GPU)[*, *]; }");
  on("large_sets_of_views", "domain-too-large", "nodes=4096,gpu=16,cpu=1", {1 << 20},
     "m = Machine(GPU).split(0, 64).merge(0, 1).reverse(1);\n"
     "def f(Task t) { return m[*, *]; }");
  on("sets_in_a_launch", "", "nodes=64,gpu=16,cpu=1", {1 << 14},
     "m = Machine(GPU); def f(Task t) { return m[0, *]; }");
  on("million_nodes", "", "nodes=1048576,gpu=16,cpu=1", {1 << 16},
     "m = Machine(GPU).merge(0, 1); def f(Task t) { return m[t.ipoint[0] * 256]; }");
  for (const std::string split : {"auto_split", "greedy_split", "decompose"}) {
    on(split, "", composite, {1 << 16},
       fmt::format("m = Machine(GPU).{}(0, (3, 5, 7)); def f(Task t) {{ return m[0, 0, 0, 0]; }}",
                   split));
    on(split + "_each_point", split == "greedy_split" ? "" : "step-limit", composite, {1 << 20},
       fmt::format("def f(Task t) {{ i = t.ipoint[0]; m = Machine(GPU).{}(0, (3 + i, 5 + i, 7)); "
                   "return m[0, 0, 0, 0]; }}",
                   split));
    on(split + "_many", split == "greedy_split" ? "" : "step-limit", composite, {1 << 20},
       fmt::format("def f(Task t) {{ i = t.ipoint[0]; m = Machine(GPU).{}(0, (3 + i, 5 + i, 7, 9, "
                   "11, 13, 17, 19)); return m[0, 0, 0, 0, 0, 0, 0, 0, 0]; }}",
                   split));
    on(split + "_32_dimensions", split == "auto_split" ? "step-limit" : "machine-limit", composite,
       {1}, fmt::format("m = Machine(GPU).{}(0, ({}1));", split, times(31, "2,")));
    on(split + "_31_dimensions", split == "auto_split" ? "step-limit" : "", composite, {1},
       fmt::format("m = Machine(GPU).{}(0, ({}1));", split, times(30, "2,")));
  }
  on("prints", "", "p100x4", {1 << 20},
     "m = Machine(GPU); def f(Task t) { print(\"{}\", t.ipoint); return m[0, 0]; }");
  on("prints_machines", "", "p100x4", {1 << 18},
     "m = Machine(GPU); def f(Task t) { print(\"{} {} {}\", m, t, t.ispace); return m[0, 0]; }");
  on("largest_launch", "", "p100x4:nodes=64", {1 << 20},
     "m = Machine(GPU); def f(Task t) { return m[t.ipoint[0] % 64, t.ipoint[0] / 64 % 4]; }");
  on("largest_square", "", "p100x4:nodes=64", {1 << 10, 1 << 10},
     "m = Machine(GPU).merge(0, 1); def f(Task t) { return m[(t.ipoint * (3, 5) % 16 * (1, "
     "16))[0]]; }");
  on("larger_launch", "domain-too-large", "p100x4", {(1 << 20) + 1},
     "m = Machine(GPU); def f(Task t) { return m[0, 0]; }");
  on("steps_in_a_launch", "step-limit", "p100x4", {1 << 20},
     "u = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10); m = Machine(GPU);\n"
     "def f(Task t) { return m[0, tuple(tuple(i * j for i in u)[0] for j in u)[0] % 4 * 0]; }");
  on("errors_in_a_launch", "slice-index-out-of-bound", "p100x4", {1 << 20},
     "m = Machine(GPU); def f(Task t) { return m[0, t.ipoint[0] / 131072]; }");
  cases.push_back({"colliding_names", "", [] { return colliding_names(20'000); }});
}

}  // namespace

std::vector<HostileCase> hostile_cases() {
  std::vector<HostileCase> cases;
  add_long_lines(cases);
  add_nesting(cases);
  add_functions(cases);
  add_tuples(cases);
  add_counts(cases);
  add_numbers(cases);
  add_machines(cases);
  return cases;
}

}  // namespace groma::testing
