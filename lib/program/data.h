// What a Program is made of: rows for statements with an index from key to row, and functions as
// typed code in flat vectors, operands before what uses them.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "groma/program.h"
#include "syntax/methods.h"
#include "syntax/token.h"

namespace groma::program {

using syntax::Method;
using syntax::ParamType;

// ------------------------------------------------------------------------------------------ code

// What a value is, as far as it is known before a machine and a task are: kAny is decided at
// evaluation. A processor may stand where a tuple is due (it is the pair of its node and index).
enum class Type : std::uint8_t {
  kAny,
  kInt,
  kBool,
  kTuple,
  kString,
  kMachine,
  kTask,
  kParent,  // a task's parent, of which less can be read
  kProcessor,
  kProcessors,
  kProcKind,
  kMemKind,
};
// "an integer", "a processor": for messages.
std::string_view describe(Type type);

using CodeId = std::uint32_t;
inline constexpr CodeId kNoCode = 0xFFFFFFFF;

enum class Op : std::uint8_t {
  kInt,            // a, b: value
  kBool,           // a
  kString,         // a: strings
  kProcKind,       // a
  kMemKind,        // a
  kLocal,          // a: slot
  kGlobal,         // a: globals
  kTuple,          // items: lists a, b
  kSplice,         // in lists: the items of a
  kAll,            // in an index list: `*`
  kComprehension,  // a: item, b: range, c: slot of the variable
  kNegate,
  kNot,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kConditional,  // a ? b : c
  kIndex,        // of c (machine or tuple) with lists a, b
  kSlice,        // of c from a to b, each kNoCode or code
  kCall,         // function c with lists a, b
  kMachine,      // Machine(a)
  kMethod,       // `method` of c with lists a, b; option: kNoCode or the value of `halo`
  kMember,       // `member` of a
  kBroken,       // fails as the failure a says: a mistake where none was sure to matter
};

enum class Member : std::uint8_t {
  kSize,  // machine, tuple
  kVolume,
  kLen,
  kIpoint,  // task
  kIspace,
  kIlo,
  kParent,
  kName,
};
inline constexpr std::size_t kMemberCount = 8;
std::string_view name_of(Member member);

struct Code {
  Op op = Op::kInt;
  Type type = Type::kAny;
  Method method = Method::kSplit;
  Member member = Member::kSize;
  std::uint32_t a = 0, b = 0, c = 0;
  CodeId option = kNoCode;
  Range range;  // of the whole
  Range focus;  // of the operator, the member's name: what a message points at
};

struct List {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
};

// A statement of a function's body or of the program's top level that is carried out.
struct Action {
  enum class Kind : std::uint8_t { kAssign, kPrint, kReturn };
  Kind kind = Kind::kAssign;
  std::uint32_t target = 0;  // kAssign: slot, at top level the global
  CodeId value = kNoCode;    // kAssign, kReturn
  std::uint32_t text = 0;    // kPrint: strings
  List args;                 // kPrint: lists
  Range range;
};

struct Parameter {
  ParamType type = ParamType::kAny;
  Range range;  // of its name
};

// Which of its task a function reads, itself or through those that it calls.
struct TaskRead {
  bool reads = false;
  Member member = Member::kIpoint;  // the first such one; kParent also stands for `processor`
  bool is_processor = false;
  Range range;
};

struct Function {
  NameId name = kStarName;
  Range name_range;
  List parameters;          // Data::parameters; parameter i is slot i
  List body;                // Data::actions; ends with its only kReturn when the program is right
  std::uint32_t slots = 0;  // locals, each assignment its own
  Type result = Type::kAny;
  TaskRead index_only;      // ipoint, ispace, ilo
  TaskRead single_only;     // parent, processor
  bool reads_name = false;  // of its task, itself or through those that it calls
  bool used = false;        // by a statement, directly or not
  bool broken = false;      // a mistake was reported in its parameters
};

struct Global {
  NameId name = kStarName;
  Range range;           // of its name
  bool implied = false;  // by a statement that was reported: what it is is not known
};

// ---------------------------------------------------------------------------------------- tables

// A region in a key: kStarName, a NameId, or a position with the upper bit set.
using RegionKey = std::uint32_t;
inline constexpr RegionKey position_key(std::uint32_t position) { return 0x80000000U | position; }

// Where a statement applies: `*`, a processor kind, or (Layout) a memory kind.
using PlaceKey = std::uint8_t;
inline constexpr PlaceKey kAnyPlace = 0;
inline constexpr PlaceKey place_key(ProcKind kind) {
  return static_cast<PlaceKey>(1 + static_cast<int>(kind));
}
inline constexpr PlaceKey place_key(MemKind kind) {
  return static_cast<PlaceKey>(0x40 + static_cast<int>(kind));
}

enum class TableId : std::uint8_t {
  kTask,
  kRegion,
  kLayout,
  kInstanceLimit,
  kCollectMemory,
  kIndexMap,
  kSingleMap,
  kControlReplicate,
  kTaskSteal,
};

struct Key {
  TableId table = TableId::kTask;
  PlaceKey place = kAnyPlace;
  NameId task = kStarName;
  RegionKey region = kStarName;
  friend auto operator<=>(const Key&, const Key&) = default;
};

// One statement under one key. What `value` and `kinds` hold depends on the table.
struct Row {
  Key key;
  std::uint32_t statement = 0;          // Origin
  std::uint8_t kind_count = 0;          // kTask, kRegion: kinds in order, none twice
  std::array<std::uint8_t, 7> kinds{};  // kInstanceLimit: the first is the LimitScope
  std::int64_t value = 0;               // limit, scope, function, or an index into layouts
};

struct Data {
  Source source;
  NameTable names;

  std::vector<Range> statements;  // by Origin - 1
  std::vector<Row> rows;          // of statements that count, not the shadowed
  std::vector<Row> shadowed;      // the others, by key, then in the order of the text
  FlatIndex row_index;
  std::vector<StatedLayout> layouts;

  std::vector<Code> code;
  std::vector<CodeId> lists;
  std::vector<std::string> strings;
  std::vector<Action> actions;  // of all functions
  std::vector<Action> top;      // of the program, in order
  std::vector<Parameter> parameters;
  std::vector<Function> functions;
  std::vector<Global> globals;
  std::vector<Diagnostic> failures;  // of kBroken
  std::uint32_t top_slots = 0;       // of comprehensions at top level
  bool has_errors = false;

  const Row* find(const Key& key) const;
  // Adds a row, or returns the one that its key has already.
  const Row* add(const Row& row);
};

}  // namespace groma::program
