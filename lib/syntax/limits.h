// Bounds on what a program's text may contain, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace groma::syntax {

// Brackets, prefix signs, chained operators and conditionals inside one another. The stages after
// the parser recurse this deep; at some 500 bytes a level it fits the smallest stack of a runtime's
// threads. The deepest expression in any known mapper is below 20.
inline constexpr int kMaxNesting = 256;

// Statements of a program, those in functions counted too; the largest known mapper has 300. A
// million need 100 MB until they are checked.
inline constexpr std::size_t kMaxStatements = 1'000'000;

// Nodes of all expressions (80 MB).
inline constexpr std::size_t kMaxExprs = 3'000'000;

// Names, kinds or elements in one list; a program names at most every task of an application once.
inline constexpr std::size_t kMaxListItems = 65'536;

// A region's position among a task's requirements.
inline constexpr std::int64_t kMaxPosition = 65'535;

}  // namespace groma::syntax
