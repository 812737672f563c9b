// Functions and globals: typed code to C++. Each function becomes one for the types that it is
// called with, so every expression has one type; what has none before it runs is reported.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/cpp.h"
#include "groma/program.h"

namespace groma::emitting {

// Which blocks of the parts are needed (parts.h).
using Features = std::set<std::string, std::less<>>;

class Functions {
 public:
  // All are used until the last call.
  Functions(const Program& program, Features& features, Diagnostics& diags);

  // The statements of the constructor, in the order of the text: globals and prints. Without the
  // machines that nothing reads, so to be asked for last.
  std::string top() const;
  // The declarations of globals, likewise.
  std::string globals() const;

  // A mapping function as it is called with a task.
  struct Mapped {
    std::string name;  // in C++; empty where it can only fail
    bool is_set = false;
    std::string failure;  // as an expression
  };
  Mapped map(FunctionId function);
  // All functions, each after those that it calls.
  std::string definitions() const;

 private:
  // An expression. Where it can only fail, why, as a string of C++.
  struct Expr {
    std::string text;
    ValueType type;
    int precedence = 9;
    bool literal = false;  // an integer of C++'s own
    std::string failure = {};
  };
  struct Variable {
    std::string name;
    ValueType type;
    bool read = false;
  };
  struct Instance {
    std::string name;
    ValueType result;
    std::string failure;
    std::string text;
  };
  struct Frame {
    std::vector<Variable> slots;
    Names names;
  };
  using InstanceKey = std::pair<FunctionId, std::vector<ValueType>>;

  const program::Code& code(program::CodeId id) const { return data_.code[id]; }
  void carry_out_top();
  const Instance& instance(FunctionId function, const std::vector<ValueType>& types);
  Instance translate(FunctionId function, const std::vector<ValueType>& types);
  // One statement, with the place that it stands at. False where nothing after it is reached.
  bool action(const program::Action& action, int indent, bool top, ValueType* result,
              std::string* failure, std::vector<std::string>& lines);
  std::string here(Range range) const;
  std::string_view name_at(Range range) const;

  Expr eval(program::CodeId id);
  Expr constant(const program::Code& node);
  Expr variable(Variable& variable);
  Expr global(const program::Code& node);
  Expr broken(const program::Code& node);
  Expr tuple(const program::Code& node);
  Expr comprehension(const program::Code& node);
  Expr negate(const program::Code& node);
  Expr arithmetic(const program::Code& node);
  Expr compare(const program::Code& node);
  Expr logical(const program::Code& node);
  Expr conditional(const program::Code& node);
  Expr index(const program::Code& node);
  Expr index_machine(const program::Code& node, const Expr& base);
  Expr slice(const program::Code& node);
  Expr call(const program::Code& node);
  Expr method(const program::Code& node);
  Expr member(const program::Code& node);
  Expr task_member(const program::Code& node, const Expr& base);

  // The items of a list, spliced or not; nothing when one can only fail, which `failed` then is.
  struct Item {
    Expr expr;
    Range range;
    bool splice = false, all = false;
  };
  std::optional<std::vector<Item>> items(std::uint32_t begin, std::uint32_t count, Expr* failed);
  std::optional<std::vector<Expr>> arguments(const program::Code& node, std::string_view callee,
                                             Expr* failed);
  std::string list_text(const std::vector<Item>& items, std::string_view type) const;

  // A tuple where one is due: of a processor its pair. Nothing where it is no tuple.
  std::optional<Expr> as_tuple(const Expr& expr) const;
  Expr mismatch(std::string_view what, std::string_view needs, const Expr& found) const;
  Expr failing(const std::string& why) const;
  // Reports that the expression has no type; it counts as one that only fails.
  Expr no_cpp(Range range, std::string_view what, std::string_view help);
  static std::string operand(const Expr& expr, int precedence);
  static std::string integer(const Expr& expr);  // an Int, also where it is a literal
  static std::string full(const Expr& expr, ValueType type);

  const Program& program_;
  const program::Data& data_;
  Features& features_;
  Diagnostics& diags_;
  Names names_;
  std::vector<std::string> function_names_;
  std::vector<Variable> globals_;
  std::size_t known_globals_ = 0;
  std::map<InstanceKey, Instance> instances_;
  std::vector<const Instance*> order_;
  std::vector<Frame> frames_;
  struct TopStatement {
    std::string text;
    const Variable* global = nullptr;  // that it assigns
    bool can_fail = true;
    bool kept() const { return can_fail || global->read; }
  };
  std::vector<TopStatement> top_;
};

}  // namespace groma::emitting
