// clang-format off
// annotate: a mapping program with all that the library says of it written into it as comments. A test
// file is right when annotating it changes nothing; updating it is writing the result back.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"

namespace groma::testing {

// Comments that ask (each on a line of its own, in any number):
//
//   # machine: p100x4:nodes=2        binds the program there; `x.json` is below tests/language/machines
//   # place: --task t --domain 4x4   places a launch on the machine named last, with the options of
//                                    `groma place` (--function, --from, --lower, --parent)
//   # ask: task t                    asks the program, bound to the machine named last if there is
//                                    one, which statement decides: task T, memories T R K,
//                                    layout T R K M, index T K, single T K, limit T K, collect T R,
//                                    replicate T, steal T K; a region R is `position` or
//                                    `position:alias,alias`; a kind K may be `-` for index and single
//
// Comments that answer: `# places:` (node,processor; `{}` a set; ` | ` where the last coordinate starts
// anew), `# prints:`, `# answer:` under their question; before the line that a diagnostic is about
// `# expect-error@+1:12 [id] message` (error, warning or note; the line counted from the comment, the
// column from 1) with its notes, helps and fixes below, each behind `#   `; one that is about no line
// stands under its question, or at the file's top, without `@`.
struct Annotated {
  std::string text;           // with answers
  std::set<DiagId> ids;       // of all diagnostics
  std::size_t errors = 0;     // how many of them are errors, by compiling alone
  bool any_problem = false;   // an error or a warning, by compiling, binding or placing
};

// `text` may have answers already; they are not looked at.
Annotated annotate(const std::string& name, std::string_view text);

// `text` without answers.
std::string without_answers(std::string_view text);

// What compiling `text` finds, in order.
std::vector<Diagnostic> compiled(const std::string& text);

// `text` with its sure fixes made, again and again while there are some.
std::string fixed(const std::string& text);

}  // namespace groma::testing
