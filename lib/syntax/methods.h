// The methods of the mapping language, which a program calls with `.` on a machine, a task or a
// processor. This single table has everything about a method except its implementation. The users
// are the checker, both evaluators, the emitter, the grammar, the reference card, the program
// generator, the editors' files, the fuzzers' words and docs/language.md. A test keeps the last
// three equal to the table. CONTRIBUTING.md, "Adding a machine operation", says how to add a
// method.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace groma::syntax {

enum class Method : std::uint8_t {
  kSplit,
  kMerge,
  kSwap,
  kReverse,
  kRotate,
  kSlice,
  kBalanceSplit,
  kGreedySplit,
  kAutoSplit,
  kDecompose,
  kHas,
  kProcessor,
};

// The type of a receiver, an argument or a result.
enum class Operand : std::uint8_t {
  kNone,
  kMachine,
  kProcessor,
  kTask,
  // A kind of memory.
  kMemory,
  // An integer that names a dimension of the machine.
  kDimension,
  kInteger,
  // A tuple of integers.
  kIntegers,
  kTruth,
};

// A parameter of a method.
struct MethodParameter {
  std::string_view name = {};
  Operand type = Operand::kNone;
};

inline constexpr std::size_t kMaxMethodParameters = 3;

// A row of the table.
struct MethodInfo {
  Method method;
  std::string_view name;
  Operand receiver;
  std::array<MethodParameter, kMaxMethodParameters> parameters;
  Operand result;
  // The name of an optional argument, a tuple of integers, that is given as NAME=...; empty: none.
  std::string_view option;
  // For an operation on a machine: what replaces the extent n of dimension `d`, or the extents of
  // dimensions a and b. Empty: the extents stay as they are.
  std::string_view extents;
  // The meaning of the result, as in docs/language.md and the reference card.
  std::string_view words;
  // True if the reference card that language models are given lists the method.
  bool on_card = false;

  // Returns the number of parameters, which come first in the array.
  constexpr std::size_t parameter_count() const {
    std::size_t count = 0;
    while (count < parameters.size() && parameters[count].type != Operand::kNone) ++count;
    return count;
  }
};

// The rows of the table, in the order of the enumerators of Method.
inline constexpr std::array kMethods = {
    MethodInfo{Method::kSplit,
               "split",
               Operand::kMachine,
               {{{"d", Operand::kDimension}, {"f", Operand::kInteger}}},
               Operand::kMachine,
               "",
               "f, n/f",
               "dimension d becomes two; f must divide its extent n, and the first runs fastest",
               true},
    MethodInfo{Method::kMerge,
               "merge",
               Operand::kMachine,
               {{{"a", Operand::kDimension}, {"b", Operand::kDimension}}},
               Operand::kMachine,
               "",
               "their product",
               "dimensions a and b become one, at a (at a - 1 if a > b); b runs fastest",
               true},
    MethodInfo{Method::kSwap,
               "swap",
               Operand::kMachine,
               {{{"a", Operand::kDimension}, {"b", Operand::kDimension}}},
               Operand::kMachine,
               "",
               "",
               "dimensions a and b change places",
               true},
    MethodInfo{Method::kReverse,
               "reverse",
               Operand::kMachine,
               {{{"d", Operand::kDimension}}},
               Operand::kMachine,
               "",
               "",
               "dimension d counts from its other end",
               true},
    MethodInfo{Method::kRotate,
               "rotate",
               Operand::kMachine,
               {{{"d", Operand::kDimension}, {"k", Operand::kInteger}}},
               Operand::kMachine,
               "",
               "",
               "dimension d counts from k on and around: index i is what (i + k) mod n was",
               true},
    MethodInfo{Method::kSlice,
               "slice",
               Operand::kMachine,
               {{{"d", Operand::kDimension}, {"lo", Operand::kInteger}, {"hi", Operand::kInteger}}},
               Operand::kMachine,
               "",
               "hi - lo + 1",
               "of dimension d only lo to hi stay, both included; 0 <= lo <= hi < n",
               true},
    MethodInfo{Method::kBalanceSplit,
               "balance_split",
               Operand::kMachine,
               {{{"d", Operand::kDimension}, {"k", Operand::kInteger}}},
               Operand::kMachine,
               "",
               "k extents, falling",
               "dimension d becomes k dimensions, as equal as the prime factors of n, dealt from "
               "the smallest, make them"},
    MethodInfo{Method::kGreedySplit,
               "greedy_split",
               Operand::kMachine,
               {{{"d", Operand::kDimension}, {"t", Operand::kIntegers}}},
               Operand::kMachine,
               "",
               "as many as t has",
               "the prime factors of n, the largest first, each go to the largest extent of t that "
               "is left"},
    MethodInfo{Method::kAutoSplit,
               "auto_split",
               Operand::kMachine,
               {{{"d", Operand::kDimension}, {"t", Operand::kIntegers}}},
               Operand::kMachine,
               "",
               "as many as t has",
               "of all ways o0, o1, ... to factorise n the one with the least sum of o_i / t_i, as "
               "the original computes it"},
    MethodInfo{Method::kDecompose,
               "decompose",
               Operand::kMachine,
               {{{"d", Operand::kDimension}, {"t", Operand::kIntegers}}},
               Operand::kMachine,
               "halo",
               "as many as t has",
               "dimension d becomes the grid for a launch of extents t that exchanges least",
               true},
    MethodInfo{Method::kHas,
               "has",
               Operand::kProcessor,
               {{{"memory", Operand::kMemory}}},
               Operand::kTruth,
               "",
               "",
               "whether the processor can address such a memory"},
    MethodInfo{Method::kProcessor,
               "processor",
               Operand::kTask,
               {{{"m", Operand::kMachine}}},
               Operand::kIntegers,
               "",
               "",
               "the task's processor as an index of the machine m"},
};

// Returns true if the row of each method is at the index of its enumerator.
constexpr bool in_order() {
  for (std::size_t i = 0; i < kMethods.size(); ++i) {
    if (static_cast<std::size_t>(kMethods[i].method) != i) return false;
  }
  return true;
}
static_assert(in_order(), "the table has the order of the enumerators");

// Returns the row of the method.
constexpr const MethodInfo& info_of(Method method) {
  return kMethods[static_cast<std::size_t>(method)];
}
constexpr std::string_view name_of(Method method) { return info_of(method).name; }
// Returns text such as "decompose(d, t)".
std::string signature_of(const MethodInfo& method);

}  // namespace groma::syntax
