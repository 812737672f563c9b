// Bounds on what a program may do before it runs at all.
#pragma once

namespace groma::program {

// Functions that call one another in a chain. The evaluation recurses this deep, some 500 bytes for
// each level of an expression in each; the deepest known mapper has 3.
inline constexpr int kMaxCallDepth = 64;

}  // namespace groma::program
