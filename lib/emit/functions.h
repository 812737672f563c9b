// Functions: translates functions and globals from typed code to C++. Each function is translated
// once for each list of argument types, so that every expression has one type. An expression
// without a type before the run is reported.
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

class Functions {
 public:
  // All three arguments must outlive this object.
  Functions(const Program& program, Features& features, Diagnostics& diags);

  // Returns the statements of the constructor in the order of the text: globals and prints.
  // Machines that nothing reads are left out, so call it last.
  std::string constructor_statements() const;
  // Returns the declarations of globals. Machines that nothing reads are left out, so call it last.
  std::string global_declarations() const;

  // A function of the program that places a task, as the decisions call it.
  struct MappingFunction {
    // The name of the function in C++. Empty if the function can only fail.
    std::string name;
    // True: the function returns a set of processors. False: it returns one.
    bool is_set = false;
    // A C++ expression for the reason why the function can only fail.
    std::string failure;
  };
  MappingFunction map(FunctionId function);
  // Returns all functions, each after the functions that it calls.
  std::string definitions() const;

 private:
  struct Variable {
    std::string name;
    ValueType type;
    bool read = false;
  };
  // A function of the program for one list of argument types. `failure` is not empty if the
  // function can only fail.
  struct Instance {
    std::string name;
    ValueType result;
    std::string failure;
    std::string text;
  };
  // The variables and the names of the function that is being translated.
  struct Frame {
    std::vector<Variable> slots;
    Names names;
  };
  using InstanceKey = std::pair<FunctionId, std::vector<ValueType>>;

  const program::CodeNode& code(program::CodeId id) const { return data_.code[id]; }
  void carry_out_top();
  const Instance& instance(FunctionId function, const std::vector<ValueType>& types);
  Instance translate(FunctionId function, const std::vector<ValueType>& types);
  // Translates one statement, with its place. Returns false if no statement after it is reached.
  bool translate_statement(const program::ExecutableStatement& action, int indent, bool top,
                           ValueType* result, std::string* failure,
                           std::vector<std::string>& lines);

  Expr eval(program::CodeId id);
  Expr variable(Variable& variable);
  Expr global(const program::CodeNode& node);
  Expr broken(const program::CodeNode& node);
  Expr tuple(const program::CodeNode& node);
  Expr comprehension(const program::CodeNode& node);
  Expr operation(const program::CodeNode& node);
  Expr logical(const program::CodeNode& node);
  Expr conditional(const program::CodeNode& node);
  Expr index(const program::CodeNode& node);
  Expr slice(const program::CodeNode& node);
  Expr call(const program::CodeNode& node);
  Expr method(const program::CodeNode& node);

  // Returns the items of a list, spliced or not. Returns nullopt if an item can only fail; `failed`
  // is then that item.
  std::optional<std::vector<ListItem>> items(std::uint32_t begin, std::uint32_t count,
                                             Expr* failed);
  std::optional<std::vector<Expr>> arguments(const program::CodeNode& node, std::string_view callee,
                                             Expr* failed);

  const Program& program_;
  const program::ProgramData& data_;
  Emission emission_;
  Names names_;
  std::vector<std::string> function_names_;
  std::vector<Variable> globals_;
  std::size_t known_globals_ = 0;
  std::map<InstanceKey, Instance> instances_;
  std::vector<const Instance*> order_;
  std::vector<Frame> frames_;
  struct TopStatement {
    std::string text;
    // The global variable to which the statement assigns. Null for a print.
    const Variable* global = nullptr;
    bool can_fail = true;
    bool kept() const { return can_fail || global->read; }
  };
  std::vector<TopStatement> top_;
};

}  // namespace groma::emitting
