// Diagnostics as a person reads them, verbatim: the place, the line, the carets.
#include <gtest/gtest.h>

#include <string>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/machine.h"
#include "groma/program.h"

namespace groma {
namespace {

// All diagnostics of a program, bound to a small machine where it compiles.
std::string rendered(const std::string& text, bool color = false) {
  const Source source("a.mapper", text);
  Diagnostics diags(source);
  const Program program = compile(source, diags);
  if (!diags.has_errors()) bind(program, make_machine("nodes=2,gpu=4").value(), diags);
  return render(diags, color);
}

// One diagnostic at a range of `text`.
std::string rendered_at(const std::string& text, Range range) {
  Diagnostics diags{Source("a.mapper", text)};
  diags.report(DiagId::kStrayStar, range);
  return render(diags);
}

TEST(Render, AnErrorWithHelp) {
  EXPECT_EQ(rendered("m = Machine(GPU)\nTask work GPUS;\n"),
            "a.mapper:2:11: error: unknown processor kind `GPUS` [unknown-processor]\n"
            "    2 | Task work GPUS;\n"
            "      |           ^~~~\n"
            "help: did you mean `GPU`?\n");
}

TEST(Render, ACharacter) {
  EXPECT_EQ(rendered("x = 1 @ 2"),
            "a.mapper:1:7: error: unexpected character `@` [unexpected-character]\n"
            "    1 | x = 1 @ 2\n"
            "      |       ^\n");
}

TEST(Render, ANoteWithAPlace) {
  EXPECT_EQ(rendered("x = (1, 2;\n"),
            "a.mapper:1:10: error: expected `)` before `;` [unclosed-bracket]\n"
            "    1 | x = (1, 2;\n"
            "      |          ^\n"
            "a.mapper:1:5: note: to close this one\n"
            "    1 | x = (1, 2;\n"
            "      |     ^\n");
}

TEST(Render, TheEndOfTheFile) {
  EXPECT_EQ(rendered("Task a"),
            "a.mapper:1:7: error: expected a processor kind, found the end of the file "
            "[expected-token]\n"
            "    1 | Task a\n"
            "      |       ^\n");
}

TEST(Render, AWarningAndWhatItRefersTo) {
  EXPECT_EQ(rendered("Task a GPU;\n\n\nTask b, a CPU;\n"),
            "a.mapper:4:9: warning: where `a` runs is decided already; this has no effect "
            "[shadowed-statement]\n"
            "    4 | Task b, a CPU;\n"
            "      |         ^\n"
            "a.mapper:1:1: note: by this statement\n"
            "    1 | Task a GPU;\n"
            "      | ^~~~~~~~~~\n");
}

TEST(Render, OneWithoutAPlace) {
  EXPECT_EQ(rendered(""),
            "a.mapper: note: the program has no statements [empty-program]\n"
            "note: every decision is then the default mapper's\n");
}

TEST(Render, AFailureOfTheEvaluation) {
  EXPECT_EQ(rendered("m = Machine(GPU);\nn = m.split(1, 3);\n"),
            "a.mapper:2:7: error: 3 does not divide the extent 4 of dimension 1 "
            "[split-not-divisible]\n"
            "    2 | n = m.split(1, 3);\n"
            "      |       ^~~~~\n"
            "note: the original drops processors here (D8)\n"
            "help: `balance_split`, `auto_split` and `decompose` take any number\n");
}

TEST(Render, SeveralInTheOrderOfTheText) {
  EXPECT_EQ(rendered("y = x;\nTask a GPU CPU;\n"),
            "a.mapper:1:5: error: nothing is named `x` [unknown-name]\n"
            "    1 | y = x;\n"
            "      |     ^\n"
            "a.mapper:2:12: error: expected `,`, found `CPU` [expected-token]\n"
            "    2 | Task a GPU CPU;\n"
            "      |            ^~~\n"
            "help: insert `,`\n");
}

TEST(Render, ATabIsOneColumn) {
  EXPECT_EQ(rendered("\tTask\ta\tGPUS"),
            "a.mapper:1:9: error: unknown processor kind `GPUS` [unknown-processor]\n"
            "    1 |  Task a GPUS\n"
            "      |         ^~~~\n"
            "help: did you mean `GPU`?\n");
}

TEST(Render, ACharacterOfSeveralBytesIsOneColumn) {
  EXPECT_EQ(rendered("Task \"gr\xC3\xB6\xC3\x9F"
                     "e\" GPUS"),
            "a.mapper:1:14: error: unknown processor kind `GPUS` [unknown-processor]\n"
            "    1 | Task \"gr\xC3\xB6\xC3\x9F"
            "e\" GPUS\n"
            "      |              ^~~~\n"
            "help: did you mean `GPU`?\n");
}

TEST(Render, WhatATerminalMustNotSee) {
  EXPECT_EQ(rendered("x = \x1b"
                     "[m \xFF"),
            "a.mapper:1:5: error: unexpected character 0x1b [unexpected-character]\n"
            "    1 | x = \\u001b[m \\xff\n"
            "      |     ^~~~~~\n"
            "help: remove it: nobody sees it, and a terminal may obey it\n"
            "a.mapper:1:9: error: invalid UTF-8: byte 0xff [bad-utf8]\n"
            "    1 | x = \\u001b[m \\xff\n"
            "      |              ^~~~\n"
            "help: save the file as UTF-8\n");
}

TEST(Render, LinesThatEndInCrLf) {
  EXPECT_EQ(rendered("Task a GPU;\r\nTask b GPUS;\r\n"),
            "a.mapper:2:8: error: unknown processor kind `GPUS` [unknown-processor]\n"
            "    2 | Task b GPUS;\n"
            "      |        ^~~~\n"
            "help: did you mean `GPU`?\n");
}

TEST(Render, ARangeOfSeveralLinesShowsItsFirst) {
  EXPECT_EQ(rendered_at("one two\nthree", {4, 13}),
            "a.mapper:1:5: error: `*` cannot stand here [stray-star]\n"
            "    1 | one two\n"
            "      |     ^~~\n");
}

TEST(Render, AnEmptyRangeHasOneCaret) {
  EXPECT_EQ(rendered_at("one two", {3, 3}),
            "a.mapper:1:4: error: `*` cannot stand here [stray-star]\n"
            "    1 | one two\n"
            "      |    ^\n");
}

TEST(Render, ALongLineIsCutAroundTheRange) {
  const std::string text = "x = " + std::string(200, 'a') + " @ " + std::string(200, 'b');
  EXPECT_EQ(rendered_at(text, {205, 206}),
            "a.mapper:1:206: error: `*` cannot stand here [stray-star]\n"
            "    1 | ..." +
                std::string(39, 'a') + " @ " + std::string(58, 'b') + "...\n" + "      | " +
                std::string(43, ' ') + "^\n");
}

TEST(Render, ALongRangeIsCutToo) {
  EXPECT_EQ(rendered_at(std::string(300, 'a'), {10, 300}),
            "a.mapper:1:11: error: `*` cannot stand here [stray-star]\n"
            "    1 | " +
                std::string(100, 'a') + "...\n" + "      | " + std::string(10, ' ') + "^" +
                std::string(89, '~') + "\n");
}

TEST(Render, Colours) {
  EXPECT_EQ(
      rendered("Task a GPUS", true),
      "a.mapper:1:8: \x1b[1;31merror:\x1b[0m unknown processor kind `GPUS` [unknown-processor]\n"
      "    1 | Task a GPUS\n"
      "      |        \x1b[1;32m^~~~\x1b[0m\n"
      "\x1b[1;32mhelp:\x1b[0m did you mean `GPU`?\n");
}

}  // namespace
}  // namespace groma
