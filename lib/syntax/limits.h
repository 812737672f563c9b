// Limits on the text of a program, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace groma::syntax {

// The limit on the nesting of brackets, prefix signs, chained operators and conditionals in an
// expression. The stages after the parser recurse this deep; at about 500 bytes for each level this
// fits the smallest stack of a runtime's threads. The deepest expression in any known mapper is
// below 20.
inline constexpr int kMaxNesting = 256;

// The limit on the statements of a program, including those in functions. The largest known mapper
// has 300. A million statements need 100 MB until they are checked.
inline constexpr std::size_t kMaxStatements = 1'000'000;

// The limit on the nodes of all expressions of a program together, which take 80 MB.
inline constexpr std::size_t kMaxExprs = 3'000'000;

// The limit on the names, kinds or elements in one list. A list needs to name every task of an
// application at most once.
inline constexpr std::size_t kMaxListItems = 65'536;

// The limit on the different name patterns of a program. A query about a name that was not seen
// before compares the name with all of them.
inline constexpr std::size_t kMaxPatterns = 1'024;

// The largest position that a program may use to name a region among the requirements of a task.
inline constexpr std::int64_t kMaxPosition = 65'535;

}  // namespace groma::syntax
