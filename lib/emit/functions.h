// FunctionTranslator: translates the functions and globals of a mapping program to C++. Each
// function is translated once for each list of argument types, so that every expression has one
// type. An expression whose type is not known before the run is reported.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emit/cpp.h"
#include "emit/cpp_expression.h"
#include "groma/program.h"

namespace groma::emitting {

class FunctionTranslator {
 public:
  // All three arguments must outlive this object.
  FunctionTranslator(const Program& program, Features& features, Diagnostics& diags);

  // Returns the C++ statements of the constructor of `Mapping`, in the order of the program:
  // globals and prints. Machines that nothing reads are left out, so call this function last.
  std::string constructor_statements() const;
  // Returns the C++ declarations of global variables. Machines that nothing reads are left out, so
  // call this function last.
  std::string global_declarations() const;

  // A function of the program that places a task on processors. The emitted decisions call it.
  struct MappingFunction {
    // The name of the function in C++. Empty if the function can only fail.
    std::string name;
    // True if the function returns a set of processors, false if it returns one processor.
    bool is_set = false;
    // A C++ expression for the reason why the function can only fail.
    std::string failure;
  };
  MappingFunction mapping_function(FunctionId function);
  // Returns the C++ name of the variable that is true if the `when` statement with this number
  // holds on the machine. Returns "false" if the top level fails before.
  std::string condition_variable(std::uint32_t when) const;
  // Returns the C++ definitions of all translated functions, each after the functions that it
  // calls.
  std::string function_definitions() const;

 private:
  struct CppVariable {
    std::string name;
    CppValueType type;
    bool read = false;
  };
  // A function of the program, translated for one list of argument types. `failure` is not empty if
  // the function can only fail.
  struct FunctionInstance {
    std::string name;
    CppValueType result;
    std::string failure;
    std::string text;
  };
  // State of the translation of one function: its local variables, and the C++ names that are taken
  // in it.
  struct FunctionFrame {
    std::vector<CppVariable> slots;
    ScopeNames names;
  };
  using InstanceKey = std::pair<FunctionId, std::vector<CppValueType>>;

  const program::CodeNode& code_of(program::CodeId id) const { return data_.code[id]; }
  void translate_top_level();
  const FunctionInstance& instance_of(FunctionId function, const std::vector<CppValueType>& types);
  FunctionInstance translate_function(FunctionId function, const std::vector<CppValueType>& types);
  // Translates one statement of a function, with its line and column. Returns false if no statement
  // after it is reached.
  bool translate_statement(const program::ExecutableStatement& action, int indent, bool top,
                           CppValueType* result, std::string* failure,
                           std::vector<std::string>& lines);

  CppExpr translate_code(program::CodeId id);
  CppExpr translate_variable(CppVariable& variable);
  CppExpr translate_global(const program::CodeNode& node);
  CppExpr translate_erroneous_code(const program::CodeNode& node);
  CppExpr translate_tuple(const program::CodeNode& node);
  CppExpr translate_comprehension(const program::CodeNode& node);
  CppExpr translate_operation(const program::CodeNode& node);
  CppExpr translate_logical(const program::CodeNode& node);
  CppExpr translate_conditional(const program::CodeNode& node);
  CppExpr translate_index(const program::CodeNode& node);
  CppExpr translate_slice(const program::CodeNode& node);
  CppExpr translate_call(const program::CodeNode& node);
  CppExpr translate_method(const program::CodeNode& node);

  // Returns the C++ for the items of a list, spliced or not. Returns nullopt if an item can only
  // fail; `failed` is then that item.
  std::optional<std::vector<CppListItem>> translate_items(std::uint32_t begin, std::uint32_t count,
                                                          CppExpr* failed);
  std::optional<std::vector<CppExpr>> translate_arguments(const program::CodeNode& node,
                                                          std::string_view callee, CppExpr* failed);

  const Program& program_;
  const program::ProgramData& data_;
  EmissionOutput emission_;
  ScopeNames names_;
  std::vector<std::string> function_names_;
  std::vector<CppVariable> globals_;
  // The names of the variables for `when` statements, by their numbers (StatementRow::when).
  std::map<std::uint32_t, std::string> conditions_;
  std::size_t known_globals_ = 0;
  std::map<InstanceKey, FunctionInstance> instances_;
  std::vector<const FunctionInstance*> order_;
  std::vector<FunctionFrame> frames_;
  struct TopLevelStatement {
    std::string text;
    // The global variable to which the top-level statement assigns. Null for a print.
    const CppVariable* global = nullptr;
    bool can_fail = true;
    bool is_kept() const { return can_fail || global->read; }
  };
  std::vector<TopLevelStatement> top_;
};

}  // namespace groma::emitting
