// Makes C++ text: types, literals, comments and names.
#include "emit/cpp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace groma::emitting {

using program::Type;

// Returns the type as text for a message, for example "a tuple of integers".
std::string CppValueType::type_text() const {
  if (depth == 0) return std::string(describe_type(type));
  std::string items = "tuples";
  if (depth == 1) {
    // The names are in the order of program::Type.
    constexpr std::string_view kPlurals[] = {
        "values",     "integers",           "bools",           "tuples",
        "strings",    "machines",           "tasks",           "tasks",
        "processors", "sets of processors", "processor kinds", "memory kinds"};
    items = kPlurals[static_cast<std::size_t>(type)];
  }
  return "a tuple of " + items;
}

// Returns the C++ name of the type, for example "List<Tuple>" for a tuple of tuples of integers.
std::string CppValueType::cpp_type() const {
  constexpr std::string_view kTypes[] = {
      "void", "Int",    "bool",      "",           "std::string_view", "Grid",
      "Task", "Parent", "Processor", "Processors", "ProcKind",         "MemKind"};
  if (is_integer_tuple()) return "Tuple";
  if (depth == 0) return std::string(kTypes[static_cast<std::size_t>(type)]);
  return "List<" + CppValueType{type, depth - 1}.cpp_type() + ">";
}

// Returns the C++ type of a parameter: small types by value, others by constant reference.
std::string CppValueType::cpp_parameter_type() const {
  const bool small = is_type(Type::kInt) || is_type(Type::kBool) || is_type(Type::kString) ||
                     is_type(Type::kProcKind) || is_type(Type::kMemKind);
  return small ? cpp_type() : "const " + cpp_type() + "&";
}

// Returns the text as a C++ string literal. Control characters become octal escapes.
std::string string_literal(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      made += '\\';
      made += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      made += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      made += c;
    }
  }
  return made + '"';
}

// Returns a part of a mapping's source with its line and column, for a comment. Line ends and runs
// of spaces become one space.
std::string cite_source(const Source& source, Range range) {
  const Position position = source.position(range.begin);
  std::string made = fmt::format("{}:{} ", position.line, position.column);
  for (const char c : source.text(range)) {
    const bool space = static_cast<unsigned char>(c) <= 0x20;
    if (space && made.back() == ' ') continue;
    // A `\` at the end of a comment would continue it on the next line, so it becomes `/`.
    made += space ? ' ' : c == '\\' ? '/' : c;
  }
  made.erase(made.find_last_not_of(" ;") + 1);
  return made;
}

// Returns the enumerator that the emitted code has for the kind.
std::string_view enumerator_of(ProcKind kind) {
  constexpr std::array<std::string_view, kProcKindCount> kWords = {"kCpu", "kGpu", "kOmp",
                                                                   "kIo",  "kPy",  "kProc"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string_view enumerator_of(MemKind kind) {
  constexpr std::array<std::string_view, kMemKindCount> kWords = {
      "kSysmem", "kFbmem", "kZcmem", "kSockmem", "kRdmem", "kRegsockmem", "kVirtual"};
  return kWords[static_cast<std::size_t>(kind)];
}

// Reserves every name that a user's name must not hide or repeat: words of C++, macros, names in
// the emitted code and names of Legion.
ScopeNames::ScopeNames() {
  constexpr std::string_view kWords =
      // Keywords of C++20.
      "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t "
      "char16_t "
      "char32_t class compl concept const consteval constexpr constinit const_cast continue "
      "co_await "
      "co_return co_yield decltype default delete do double dynamic_cast else enum explicit export "
      "extern false float for friend goto if inline int long mutable namespace new noexcept not "
      "not_eq nullptr operator or or_eq private protected public register reinterpret_cast "
      "requires "
      "return short signed sizeof static static_assert static_cast struct switch template this "
      "thread_local throw true try typedef typeid typename union unsigned using virtual void "
      "volatile wchar_t while xor xor_eq std "
      // Macros of C and C++ compilers that are written in lower case.
      "assert errno linux major minor offsetof stderr stdin stdout unix "
      // Names that the fixed parts of the emitted code use.
      "AlignOp Axis Coordinates Function Grid Here Int LayoutAspects LayoutSpec List Machine "
      "MachineView Mapping "
      "MemKind "
      "DimensionOrder FieldOrder Steal kC kFortran kAos kSoa kNone kEq kNe kLt kLe kGt kGe "
      "Parent ProcKind Processor Processors Region Task Tuple each fail failed here ignore join "
      "kAll "
      "kCpu kFbmem kGpu kIo kOmp kProc kPy kRdmem kRegsockmem kSockmem kSysmem kVirtual kZcmem "
      "none "
      "print text_of_set collects index_function kinds_of layout_of limit_of limit_scope_of "
      "machine_ "
      "InstanceLimits LimitMessage LimitScope read_limit_message "
      "AutoSearch Box Cost Decomposition Divisors Failure PrimeFactor Shared Sharding Shardings "
      "LegionMachine "
      "Sizes "
      "StatedLayout SplitError SplitResult Tail Ways memories_of place replicates single_function "
      "steal_of "
      "steals_from text_of "
      "the_machine "
      "any_matches matches_pattern replicates_any LaunchedTask selects words_of counted_as "
      "limit_statement_of "
      // Names of Legion that an emitted class would hide if it had the same name.
      "DefaultMapper Legion Mapper Realm MapMustEpochInput MapMustEpochOutput MapTaskInput "
      "MapTaskOutput MustEpochShardingFunctorOutput ReplicateTaskInput ReplicateTaskOutput "
      "SelectMappingInput "
      "SelectMappingOutput SelectShardingFunctorInput SelectShardingFunctorOutput "
      "SelectStealingInput SelectStealingOutput SliceTaskInput SliceTaskOutput StealRequestInput "
      "StealRequestOutput TaskOptions TaskSlice";
  for (std::size_t at = 0; at < kWords.size();) {
    const std::size_t end = std::min(kWords.find(' ', at), kWords.size());
    taken_.emplace(kWords.substr(at, end - at));
    at = end + 1;
  }
}

// Reserves the wanted name and returns it, or a similar one if C++ does not allow it or if it is
// taken. Examples: `_x` becomes `v_x`, `int` becomes `int_2`, and `MAX` becomes `MAX_` because it
// may be a macro.
std::string ScopeNames::add_name(std::string_view wanted) {
  std::string name(wanted);
  // C++ reserves a leading underscore and two underscores in a row. Words in capitals may be
  // macros.
  if (name.starts_with('_')) name.insert(0, 1, 'v');
  for (auto at = name.find("__"); at != std::string::npos; at = name.find("__")) name.erase(at, 1);
  const bool capitals =
      std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  const bool bare = name.ends_with('_');
  if ((capitals && name.size() > 1 && !bare) || name == "I") name += '_';
  std::string made = name;
  for (int n = 2; !taken_.insert(made).second; ++n) {
    made = fmt::format("{}{}{}", name, name.ends_with('_') ? "" : "_", n);
  }
  return made;
}

}  // namespace groma::emitting
