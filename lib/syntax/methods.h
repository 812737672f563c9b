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

// The type of a method's receiver, argument or result.
enum class OperandType : std::uint8_t {
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
  OperandType type = OperandType::kNone;
};

inline constexpr std::size_t kMaxMethodParameters = 3;

// The description of one method of the mapping language.
struct MethodInfo {
  Method method;
  std::string_view name;
  OperandType receiver;
  std::array<MethodParameter, kMaxMethodParameters> parameters;
  OperandType result;
  // The name of the method's optional argument NAME=..., whose value is a tuple of integers. Empty
  // if the method has none.
  std::string_view option;
  // The new extents, as text, of the dimensions that an operation on a machine changes. In the
  // text, `n` is the old extent of dimension `d`. Empty if the operation changes no extent.
  std::string_view new_extents;
  // The meaning of the result, as in docs/language.md and the reference card.
  std::string_view description;
  // True if the reference card that language models are given lists the method.
  bool on_reference_card = false;

  // Returns the number of parameters. The entries of the array after them are unused.
  constexpr std::size_t parameter_count() const {
    std::size_t count = 0;
    while (count < parameters.size() && parameters[count].type != OperandType::kNone) ++count;
    return count;
  }
};

// The descriptions of all methods, in the order of the enumerators of Method.
inline constexpr std::array kMethods = {
    MethodInfo{Method::kSplit,
               "split",
               OperandType::kMachine,
               {{{"d", OperandType::kDimension}, {"f", OperandType::kInteger}}},
               OperandType::kMachine,
               "",
               "f, n/f",
               "dimension d becomes two; f must divide its extent n, and the first runs fastest",
               true},
    MethodInfo{Method::kMerge,
               "merge",
               OperandType::kMachine,
               {{{"a", OperandType::kDimension}, {"b", OperandType::kDimension}}},
               OperandType::kMachine,
               "",
               "their product",
               "dimensions a and b become one, at a (at a - 1 if a > b); b runs fastest",
               true},
    MethodInfo{Method::kSwap,
               "swap",
               OperandType::kMachine,
               {{{"a", OperandType::kDimension}, {"b", OperandType::kDimension}}},
               OperandType::kMachine,
               "",
               "",
               "dimensions a and b change places",
               true},
    MethodInfo{Method::kReverse,
               "reverse",
               OperandType::kMachine,
               {{{"d", OperandType::kDimension}}},
               OperandType::kMachine,
               "",
               "",
               "dimension d counts from its other end",
               true},
    MethodInfo{Method::kRotate,
               "rotate",
               OperandType::kMachine,
               {{{"d", OperandType::kDimension}, {"k", OperandType::kInteger}}},
               OperandType::kMachine,
               "",
               "",
               "dimension d counts from k on and around: index i is what (i + k) mod n was",
               true},
    MethodInfo{Method::kSlice,
               "slice",
               OperandType::kMachine,
               {{{"d", OperandType::kDimension},
                 {"lo", OperandType::kInteger},
                 {"hi", OperandType::kInteger}}},
               OperandType::kMachine,
               "",
               "hi - lo + 1",
               "of dimension d only lo to hi stay, both included; 0 <= lo <= hi < n",
               true},
    MethodInfo{Method::kBalanceSplit,
               "balance_split",
               OperandType::kMachine,
               {{{"d", OperandType::kDimension}, {"k", OperandType::kInteger}}},
               OperandType::kMachine,
               "",
               "k extents, falling",
               "dimension d becomes k dimensions, as equal as the prime factors of n, dealt from "
               "the smallest, make them"},
    MethodInfo{Method::kGreedySplit,
               "greedy_split",
               OperandType::kMachine,
               {{{"d", OperandType::kDimension}, {"t", OperandType::kIntegers}}},
               OperandType::kMachine,
               "",
               "as many as t has",
               "the prime factors of n, the largest first, each go to the largest extent of t that "
               "is left"},
    MethodInfo{Method::kAutoSplit,
               "auto_split",
               OperandType::kMachine,
               {{{"d", OperandType::kDimension}, {"t", OperandType::kIntegers}}},
               OperandType::kMachine,
               "",
               "as many as t has",
               "of all ways o0, o1, ... to factorise n the one with the least sum of o_i / t_i, as "
               "the original computes it"},
    MethodInfo{Method::kDecompose,
               "decompose",
               OperandType::kMachine,
               {{{"d", OperandType::kDimension}, {"t", OperandType::kIntegers}}},
               OperandType::kMachine,
               "halo",
               "as many as t has",
               "dimension d becomes the grid for a launch of extents t that exchanges least",
               true},
    MethodInfo{Method::kHas,
               "has",
               OperandType::kProcessor,
               {{{"memory", OperandType::kMemory}}},
               OperandType::kTruth,
               "",
               "",
               "whether the processor can address such a memory"},
    MethodInfo{Method::kProcessor,
               "processor",
               OperandType::kTask,
               {{{"m", OperandType::kMachine}}},
               OperandType::kIntegers,
               "",
               "",
               "the task's processor as an index of the machine m"},
};

// Returns true if kMethods has the description of each method at the index of its enumerator.
constexpr bool methods_are_in_order() {
  for (std::size_t i = 0; i < kMethods.size(); ++i) {
    if (static_cast<std::size_t>(kMethods[i].method) != i) return false;
  }
  return true;
}
static_assert(methods_are_in_order(), "the table has the order of the enumerators");

// Returns the description of a method.
constexpr const MethodInfo& info_of(Method method) {
  return kMethods[static_cast<std::size_t>(method)];
}
constexpr std::string_view name_of(Method method) { return info_of(method).name; }
// Returns the name and the parameters of a method as text, such as "decompose(d, t)".
std::string signature_of(const MethodInfo& method);

}  // namespace groma::syntax
