// Limits on what a program may contain, checked before it runs.
#pragma once

namespace groma::program {

// Limit on functions that call one another in a chain. The evaluation recurses this deep and uses
// about 500 bytes for each level of an expression in each function. The deepest known mapper has 3.
inline constexpr int kMaxCallDepth = 64;

}  // namespace groma::program
