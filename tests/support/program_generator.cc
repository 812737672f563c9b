// Expressions are made by type, so that they are right without being checked.
#include "support/program_generator.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "support/program_tokens.h"
#include "syntax/methods.h"

namespace groma::testing {
namespace {

// -------- types

enum class ValueKind { kInt, kBool, kTuple, kMachine, kProcessor, kString, kProcKind, kMemKind };

// Of a value. `size`: items of a tuple (of ints), dimensions of a machine; 0 where it is not known.
struct Type {
  ValueKind kind = ValueKind::kInt;
  int size = 0;
};

struct Variable {
  std::string name;
  Type type;
};

struct Helper {
  std::string name;
  std::vector<Type> parameters;
  int task_parameter = -1;  // which one takes the task
  bool reads_index = false, reads_parent = false;
  bool reads_globals = false;
  Type result;
};

// -------- the program

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  GeneratedProgram run() {
    make_globals();
    for (int i = random_.between(0, 3); i > 0; --i) make_helper();
    for (int i = random_.between(1, 3); i > 0; --i) make_mapping_function();
    for (int i = random_.between(0, 8); i > 0; --i) pieces_.push_back(table_statement());
    for (int i = random_.between(0, 2); i > 0; --i) pieces_.push_back(when_block());
    program_.machine = "nodes=" + std::to_string(random_.between(1, 6)) +
                       ",gpu=" + std::to_string(random_.between(1, 6)) +
                       ",cpu=" + std::to_string(random_.between(1, 4)) +
                       ",omp=" + std::to_string(random_.between(1, 2));
    for (int dimensions = 1; dimensions <= 3; ++dimensions) make_launch(dimensions);
    return program_;
  }

  // All statements, the globals in their order, the others anywhere.
  Tokens tokens() {
    for (std::size_t i = pieces_.size(); i > 1; --i)
      std::swap(pieces_[i - 1], pieces_[random_.below(i)]);
    Tokens all;
    std::size_t global = 0;
    const auto append = [&all](const Tokens& piece) {
      all.insert(all.end(), piece.begin(), piece.end());
    };
    for (const Tokens& piece : pieces_) {
      while (global < global_pieces_.size() && random_.chance(50)) append(global_pieces_[global++]);
      append(piece);
    }
    while (global < global_pieces_.size()) append(global_pieces_[global++]);
    return all;
  }

  Random& random() { return random_; }

 private:
  // -------- tokens

  void put(std::string_view token) { out_.emplace_back(token); }
  template <typename... Rest>
  void put(std::string_view token, const Rest&... rest) {
    put(token);
    (put(std::string_view(rest)), ...);
  }
  void number(std::int64_t value) { put(std::to_string(value)); }
  Tokens take() { return std::exchange(out_, {}); }

  // Takes what `make` puts, as a piece of its own.
  template <typename Make>
  Tokens piece(const Make& make) {
    Tokens before = take();
    make();
    Tokens made = take();
    out_ = std::move(before);
    return made;
  }

  std::string fresh_name() {
    static const std::vector<std::string> kStems = {"a",    "point", "grid",  "_x", "slice", "len",
                                                    "size", "merge", "Tasks", "n",  "halo",  "has"};
    return random_.pick(kStems) + "_" + std::to_string(names_++);
  }

  // -------- launches

  void make_launch(int dimensions) {
    Point lower = Point::zeros(dimensions), extents = Point::zeros(dimensions);
    for (int i = 0; i < dimensions; ++i) {
      extents[i] = random_.between(1, dimensions == 1 ? 9 : 3);
      if (random_.chance(50)) lower[i] = random_.between(-4, 4);
    }
    program_.launches.push_back(*Rect::make(lower, extents));
  }

  // -------- table statements

  std::string task_name() {
    if (random_.chance(10)) {
      return random_.pick({"t*", "init_*", "up*_voltages", "ns::*", "a.Task.*", "a*b*_c", "ma*"});
    }
    if (random_.chance(20)) {
      return random_.pick({"h.init", "ns::task", "a.Task.b", "\"my task\"", "\"GPU\"",
                           "\"a \\\"b\\\" \\\\ c\"", "\"caf\xC3\xA9\""});
    }
    return random_.pick({"a", "t", "init", "main", "update_voltages", "Tasks", "slice", "tuple"});
  }

  void names() {
    if (random_.chance(25)) return put("*");
    put(task_name());
    for (int i = random_.between(0, 2); i > 0; --i) put(",", task_name());
  }

  void which() {
    if (random_.chance(30)) return put("*");
    for (int i = 0, count = random_.between(1, 3); i < count; ++i) {
      if (i > 0) put(",");
      if (random_.chance(40)) {
        number(random_.between(0, 12));
      } else {
        put(random_.pick(
            {"r", "ghost_region", "all.wires", "\"a region\"", "rp_shared", "gh*", "all.*", "r*"}));
      }
    }
  }

  std::string proc() { return random_.pick({"GPU", "GPU", "CPU", "OMP", "IO", "PY", "PROC"}); }
  std::string mem() {
    return random_.pick({"FBMEM", "SYSMEM", "ZCMEM", "SOCKMEM", "RDMEM", "REGSOCKMEM"});
  }

  void constraints() {
    for (int i = random_.between(0, 4); i > 0; --i) {
      if (random_.chance(25)) {
        put("Align", random_.pick({"==", "!=", "<", "<=", ">", ">="}));
        number(std::int64_t{1} << random_.between(0, 10));
      } else {
        put(random_.pick({"SOA", "AOS", "C_order", "F_order", "Compact", "Exact", "No_Align"}));
      }
    }
  }

  template <typename Make>
  void some(const Make& make) {
    make();
    while (random_.chance(35)) put(","), make();
  }

  // Some statements that act only on machines with a random property.
  Tokens when_block() {
    enter_function(false);
    return piece([this] {
      put("when");
      if (random_.chance(80)) {
        put("Machine", "(", proc(), ")", ".", "volume", random_.pick({"==", "<", ">="}));
        number(random_.between(0, 12));
      } else {
        disjunction(2);
      }
      put("{");
      for (int i = random_.between(0, 3); i > 0; --i) {
        for (const std::string& token : table_statement(false)) put(token);
      }
      put("}");
    });
  }

  Tokens table_statement(bool print = true) {
    enter_function(false);
    return piece([&] {
      switch (random_.below(print ? 8 : 7)) {
        case 0:
          put("Task"), names(), some([this] { put(proc()); });
          break;
        case 1:
          put("Region"), names(), which(), put(random_.chance(30) ? "*" : proc());
          some([this] { put(random_.chance(10) ? "VIRTUAL" : mem()); });
          break;
        case 2:
          put("Layout"), names(), which();
          put(random_.chance(40) ? "*" : random_.chance(50) ? proc() : mem());
          constraints();
          break;
        case 3:
          put("InstanceLimit"), names();
          if (random_.chance(50)) put(proc());
          number(random_.between(0, 100));
          if (random_.chance(30)) put(random_.pick({"SAME_NODE", "Machine"}));
          break;
        case 4:
          put("CollectMemory"), names(), which();
          break;
        case 5:
          put("ControlReplicate"), names();
          break;
        case 6:
          put("TaskSteal"), names(), put(proc(), random_.pick({"SAME_NODE", "ANY_NODE"}));
          break;
        default:
          return print_statement();
      }
      put(kEnd);
    });
  }

  // -------- globals, functions

  void make_globals() {
    for (int i = random_.between(1, 5); i > 0; --i) {
      const Type type = i == 1 ? Type{ValueKind::kMachine, 2} : any_type();
      Variable made{fresh_name(), type};
      const bool kind = type.kind == ValueKind::kMachine && !random_.chance(30);
      global_pieces_.push_back(piece([&] {
        put(made.name, "=");
        if (kind) {
          put("Machine", "(", random_.pick({"GPU", "GPU", "CPU", "OMP"}), ")");
          made.type.size = 2;
        } else {
          made.type = expression(type);
        }
        put(kEnd);
      }));
      globals_.push_back(made);
      scope_.push_back(made);
    }
    scope_.clear();
  }

  Type any_type() {
    switch (random_.below(7)) {
      case 0:
        return {ValueKind::kInt, 0};
      case 1:
        return {ValueKind::kBool, 0};
      case 2:
        return {ValueKind::kTuple, random_.between(1, 3)};
      case 3:
        return {ValueKind::kMachine, 0};
      case 4:
        return {ValueKind::kString, 0};
      case 5:
        return random_.chance(50) ? Type{ValueKind::kProcKind, 0} : Type{ValueKind::kMemKind, 0};
      default:
        return {ValueKind::kInt, 0};
    }
  }

  void enter_function(bool with_globals) {
    scope_.clear();
    if (with_globals) scope_ = globals_;
    task_.clear();
    index_ = single_ = false;
    dimensions_ = 0;
  }

  void parameter(Helper& helper, int place) {
    const std::string name = fresh_name();
    if (place > 0) put(",");
    Type type = any_type();
    if (type.kind == ValueKind::kString || type.kind == ValueKind::kMemKind)
      type = {ValueKind::kInt, 0};
    if (type.kind == ValueKind::kMachine) type.size = 2;
    const bool typed = random_.chance(70) && type.kind != ValueKind::kProcKind;
    if (typed) {
      constexpr std::string_view kWords[] = {"int", "bool", "", "MSpace"};
      put(type.kind == ValueKind::kTuple
              ? random_.pick({"IPoint", "ISpace"})
              : std::string(kWords[static_cast<std::size_t>(type.kind)]));
    }
    put(name);
    helper.parameters.push_back(type);
    scope_.push_back({name, type});
  }

  void task_parameter(bool typed) {
    task_ = fresh_name();
    if (typed) put("Task");
    put(task_);
  }

  void make_helper() {
    Helper helper;
    helper.name = fresh_name();
    helper.reads_globals = random_.chance(50);
    enter_function(helper.reads_globals);
    pieces_.push_back(piece([&] {
      put("def", helper.name, "(");
      const int count = random_.between(0, 3);
      for (int i = 0; i < count; ++i) parameter(helper, i);
      if (random_.chance(35)) {
        if (count > 0) put(",");
        helper.task_parameter = count;
        helper.parameters.push_back({});
        task_parameter(random_.chance(60));
        (random_.chance(60) ? index_ : single_) = true;
        helper.reads_index = index_;
        helper.reads_parent = single_;
      }
      put(")");
      Type result = any_type();
      body([&] { helper.result = expression(result); });
    }));
    helpers_.push_back(helper);
  }

  void make_mapping_function() {
    enter_function(true);
    GeneratedFunction function;
    function.name = fresh_name();
    function.single = random_.chance(25);
    function.dimensions = random_.between(1, 3);
    (function.single ? single_ : index_) = true;
    dimensions_ = function.single ? 0 : function.dimensions;
    pieces_.push_back(piece([&] {
      put("def", function.name, "(");
      task_parameter(random_.chance(80));
      put(")");
      body([this] { processors(2); });
    }));
    program_.functions.push_back(function);
    bind(function);
  }

  void bind(const GeneratedFunction& function) {
    for (int i = random_.between(0, 2); i > 0; --i) {
      pieces_.push_back(piece([&] {
        put(function.single ? "SingleTaskMap" : "IndexTaskMap");
        if (random_.chance(30)) {
          put(proc());
        } else {
          names();
        }
        put(function.name, kEnd);
      }));
    }
  }

  template <typename Result>
  void body(const Result& result) {
    const bool braces = random_.chance(93);
    put(braces ? "{" : ":");
    for (int i = random_.between(0, 4); i > 0; --i) {
      if (random_.chance(12)) {
        print_statement();
      } else {
        assignment();
      }
    }
    put("return"), result(), put(kEnd);
    if (braces && random_.chance(4)) assignment();
    if (braces) put("}");
  }

  void assignment() {
    const bool again = random_.chance(10) && !scope_.empty();
    const std::string name = again ? random_.pick(scope_).name : fresh_name();
    put(name, "=");
    const Type type = random_.chance(12) ? processor_value() : expression(any_type());
    put(kEnd);
    std::erase_if(scope_, [&](const Variable& known) { return known.name == name; });
    scope_.push_back({name, type});
  }

  Type processor_value() {
    processor(2);
    return {ValueKind::kProcessor, 2};
  }

  void print_statement() {
    std::string text = "\"";
    const int count = random_.between(0, 3);
    for (int i = 0; i < count; ++i) text += random_.pick({"{}", " {} ", "x={};"});
    put("print", "(", text + random_.pick({"\"", " \\\" \"", "\xE2\x82\xAC\"", "{ }\""}));
    for (int i = 0; i < count; ++i) put(","), expression(any_type());
    put(")", kEnd);
  }

  // -------- expressions

  // Puts an expression of that type; its size is as made.
  Type expression(Type type, int depth = 3) {
    if (random_.chance(8) && depth > 0) return conditional(type, depth - 1);
    switch (type.kind) {
      case ValueKind::kInt:
        sum(depth);
        break;
      case ValueKind::kBool:
        disjunction(depth);
        break;
      case ValueKind::kTuple:
        return tuple(type.size, depth);
      case ValueKind::kMachine:
        return machine(depth);
      case ValueKind::kProcessor:
        processor(depth);
        break;
      case ValueKind::kString:
        string();
        break;
      case ValueKind::kProcKind:
        put(proc());
        break;
      case ValueKind::kMemKind:
        put(mem());
        break;
    }
    return type;
  }

  // Both branches are of one type and size: the second is the first's variable or the same again.
  Type conditional(Type type, int depth) {
    if (type.kind == ValueKind::kMachine) return machine(depth);
    if (type.kind == ValueKind::kTuple && type.size == 0) type.size = 2;
    disjunction(depth), put("?");
    expression(type, depth), put(":");
    expression(type, depth);
    return type;
  }

  std::optional<Variable> variable(ValueKind kind, int size = 0) {
    std::vector<Variable> fitting;
    for (const Variable& known : scope_) {
      if (known.type.kind == kind && (size == 0 || known.type.size == size))
        fitting.push_back(known);
    }
    if (fitting.empty()) return std::nullopt;
    return random_.pick(fitting);
  }

  // A helper with that result that can be called here.
  const Helper* helper(ValueKind kind, int size = 0) {
    std::vector<const Helper*> fitting;
    const bool top = task_.empty();
    for (const Helper& each : helpers_) {
      const bool fits = each.result.kind == kind && (size == 0 || each.result.size == size);
      const bool reads = (!each.reads_index || index_) && (!each.reads_parent || single_);
      const bool task = each.task_parameter < 0 || !top;
      if (fits && reads && task && (!each.reads_globals || !top)) fitting.push_back(&each);
    }
    return fitting.empty() ? nullptr : random_.pick(fitting);
  }

  void call(const Helper& called, int depth) {
    put(called.name, "(");
    for (std::size_t i = 0; i < called.parameters.size(); ++i) {
      if (i > 0) put(",");
      if (static_cast<int>(i) == called.task_parameter) {
        put(task_);
      } else if (called.parameters[i].kind == ValueKind::kMachine) {
        put("Machine", "(", random_.pick({"GPU", "CPU"}), ")");
      } else {
        expression(called.parameters[i], depth - 1);
      }
    }
    put(")");
  }

  // ---- ints

  void sum(int depth) {
    product(depth);
    while (depth > 0 && random_.chance(25)) put(random_.chance(70) ? "+" : "-"), product(depth - 1);
  }

  void product(int depth) {
    factor(depth);
    while (depth > 0 && random_.chance(25)) {
      const std::string sign = random_.pick({"*", "/", "%", "%"});
      put(sign);
      if (sign != "*" && random_.chance(85)) {
        number(random_.between(1, 9));
      } else {
        factor(depth - 1);
      }
    }
  }

  void factor(int depth) {
    if (depth <= 0) return number(random_.between(0, 12));
    if (random_.chance(5)) return put("-"), factor(depth - 1);
    switch (random_.below(9)) {
      case 0:
      case 1:
        return number(random_.chance(95) ? random_.between(0, 20) : INT64_MAX);
      case 2:
        return put("("), expression({ValueKind::kInt, 0}, depth - 1), put(")");
      case 3:
        if (const auto known = variable(ValueKind::kInt)) return put(known->name);
        break;
      case 4:
        if (const Helper* called = helper(ValueKind::kInt)) return call(*called, depth);
        break;
      case 5:
        return tuple_item(depth - 1);
      case 6:
        if (const auto known = variable(ValueKind::kMachine)) return machine_number(*known);
        break;
      default:
        if (index_ && dimensions_ > 0) return coordinate();
    }
    number(random_.between(0, 12));
  }

  // An item, the length or the volume of a tuple.
  void tuple_item(int depth) {
    const int size = random_.between(1, 3);
    put("("), tuple(size, depth - 1), put(")");
    if (random_.chance(20)) return put(".", random_.pick({"len", "volume"}));
    put("["), number(random_.chance(80) ? random_.between(0, size - 1) : -random_.between(1, size));
    put("]");
  }

  void machine_number(const Variable& known) {
    put(known.name, ".");
    if (random_.chance(30)) return put(random_.pick({"volume", "len"}));
    put("size", "["), number(random_.between(0, std::max(1, known.type.size) - 1)), put("]");
  }

  void coordinate() {
    if (random_.chance(10)) return put(task_, ".", random_.pick({"irank", "ivolume"}));
    put(task_, ".", random_.pick({"ipoint", "ipoint", "ipoint", "ispace", "ilo"}), "[");
    number(random_.between(0, dimensions_ - 1));
    put("]");
  }

  // ---- bools

  void disjunction(int depth) {
    truth(depth);
    while (depth > 0 && random_.chance(20)) put(random_.pick({"||", "&&"})), truth(depth - 1);
  }

  void truth(int depth) {
    if (depth <= 0) return put(random_.pick({"true", "false", "True", "False"}));
    switch (random_.below(9)) {
      case 0:
        if (random_.chance(50)) return put("!"), truth(0);
        return put("!", "("), disjunction(depth - 1), put(")");
      case 1:
        return put("("), disjunction(depth - 1), put(")");
      case 2:
        if (const auto known = variable(ValueKind::kBool)) return put(known->name);
        break;
      case 3:
        if (const Helper* called = helper(ValueKind::kBool)) return call(*called, depth);
        break;
      case 4:
        return equality(depth - 1);
      case 5:
        if (random_.chance(30)) {
          processor(1);
          return put(".", "has", "(", mem(), ")");
        }
        break;
      default:
        break;
    }
    sum(depth - 1), put(random_.pick({"<", "<=", ">", ">=", "==", "!="})), sum(depth - 1);
  }

  void equality(int depth) {
    const Type type = any_type();
    const std::string sign = random_.pick({"==", "!="});
    if (type.kind == ValueKind::kMachine) return put("true");
    const auto operand = [&] { put("("), expression(type, depth), put(")"); };
    operand(), put(sign), operand();
  }

  // ---- strings

  void string() {
    if (!task_.empty() && random_.chance(30)) return put(task_, ".", "name");
    if (!task_.empty() && single_ && random_.chance(20))
      return put(task_, ".", "parent", ".", "name");
    if (const auto known = variable(ValueKind::kString); known && random_.chance(50))
      return put(known->name);
    put(random_.pick({"\"\"", "\"main\"", "\"a \\\" b\"", "\"\xC3\xA9\"", "\"{}\"", "\"// #\""}));
  }

  // ---- tuples

  // Of `size` ints; 0: of any size. What is made may be longer only where nothing asked for a size.
  Type tuple(int size, int depth) {
    const Type type{ValueKind::kTuple, size == 0 ? random_.between(1, 3) : size};
    simple_tuple(type.size, depth);
    while (depth > 0 && random_.chance(20)) {
      put(random_.pick({"+", "-", "*", "/", "%"}));
      if (random_.chance(50)) {
        number(random_.between(1, 5));
      } else {
        literal_tuple(type.size, 0);
      }
    }
    return type;
  }

  void simple_tuple(int size, int depth) {
    if (depth <= 0) return literal_tuple(size, 0);
    switch (random_.below(9)) {
      case 0:
        if (const auto known = variable(ValueKind::kTuple, size)) return put(known->name);
        break;
      case 1:
        if (const auto known = variable(ValueKind::kMachine, size))
          return put(known->name, ".", "size");
        break;
      case 2:
        if (const Helper* called = helper(ValueKind::kTuple, size)) return call(*called, depth);
        break;
      case 3:
        return comprehension(size, depth - 1);
      case 4:
        return sliced(size, depth - 1);
      case 5:
        return spliced(size, depth - 1);
      case 6:
        if (const auto known = variable(ValueKind::kProcessor); known && size == 2)
          return put(known->name);
        break;
      default:
        if (index_ && dimensions_ == size) {
          return put(task_, ".", random_.pick({"ipoint", "ispace", "ilo"}));
        }
    }
    literal_tuple(size, depth - 1);
  }

  void literal_tuple(int size, int depth) {
    put("(");
    for (int i = 0; i < size; ++i) {
      if (i > 0) put(",");
      sum(depth);
    }
    if (size == 1 || random_.chance(15)) put(",");
    put(")");
  }

  void comprehension(int size, int depth) {
    const std::string name = fresh_name();
    put("tuple", "(");
    scope_.push_back({name, {ValueKind::kInt, 0}});
    if (random_.chance(60)) {
      put(name, random_.pick({"+", "*", "%"})), number(random_.between(1, 4));
    } else {
      sum(depth);
    }
    std::erase_if(scope_, [&](const Variable& known) { return known.name == name; });
    put("for", name, "in"), tuple(size, depth), put(")");
  }

  void sliced(int size, int depth) {
    const int before = random_.between(0, 1), after = random_.between(before == 0 ? 1 : 0, 1);
    put("("), literal_tuple(before + size + after, depth), put(")", "[");
    if (before == 1) number(1);
    put(":");
    if (after == 1) number(random_.chance(50) ? -1 : before + size);
    put("]");
  }

  void spliced(int size, int depth) {
    put("(", "*"), simple_tuple(size - (size > 1 ? 1 : 0), depth);
    if (size > 1) put(","), sum(depth);
    put(")");
  }

  // ---- machines

  // A machine and up to two operations on it.
  Type machine(int depth) {
    Type type{ValueKind::kMachine, 2};
    const auto known = variable(ValueKind::kMachine);
    if (known && known->type.size > 0 && random_.chance(80)) {
      put(known->name);
      type.size = known->type.size;
    } else {
      put("Machine", "(", random_.pick({"GPU", "GPU", "CPU", "OMP"}), ")");
    }
    for (int i = random_.between(0, 2); i > 0; --i) operation(type, depth - 1);
    return type;
  }

  // Any operation of the table of methods. One that is not named here keeps the number of
  // dimensions.
  void operation(Type& type, int depth) {
    using syntax::Method;
    const int d = random_.between(0, type.size - 1);
    const int other = type.size > 1 ? (d + random_.between(1, type.size - 1)) % type.size : d;
    const syntax::MethodInfo& method = any_operation(type.size);
    put(".", std::string(method.name), "("), number(d);
    switch (method.method) {
      case Method::kSplit:
        put(","), number(random_.chance(80) ? 1 : 2);
        ++type.size;
        break;
      case Method::kMerge:
        put(","), number(other);
        --type.size;
        break;
      case Method::kSlice:
        put(",", "0", ",", random_.chance(90) ? "0" : "1");
        break;
      case Method::kBalanceSplit: {
        const int parts = random_.between(1, 3);
        put(","), number(parts);
        type.size += parts - 1;
        break;
      }
      default:
        for (std::size_t i = 1; i < method.parameter_count(); ++i) {
          put(",");
          switch (method.parameters[i].type) {
            case syntax::OperandType::kDimension:
              number(other);
              break;
            case syntax::OperandType::kIntegers:
              type.size += new_grid(method, depth) - 1;
              break;
            default:
              number(random_.between(0, 9));
          }
        }
    }
    put(")");
  }

  // An operation of two dimensions needs a machine that has two.
  const syntax::MethodInfo& any_operation(int dimensions) {
    for (;;) {
      const auto& method = syntax::kMethods[random_.below(syntax::kMethods.size())];
      const bool two = method.parameters[1].type == syntax::OperandType::kDimension;
      if (method.receiver == syntax::OperandType::kMachine && (dimensions > 1 || !two))
        return method;
    }
  }

  // The extents of a grid and the method's option; returns how many dimensions the grid has.
  int new_grid(const syntax::MethodInfo& method, int depth) {
    const int parts = random_.between(1, 3);
    extents(parts, depth);
    if (!method.option.empty() && random_.chance(30)) {
      put(",", std::string(method.option), "="), positive_tuple(parts);
    }
    return parts;
  }

  void extents(int parts, int depth) {
    if (index_ && dimensions_ == parts && random_.chance(60)) return put(task_, ".", "ispace");
    if (random_.chance(80)) return positive_tuple(parts);
    tuple(parts, depth);
  }

  void positive_tuple(int size) {
    put("(");
    for (int i = 0; i < size; ++i) number(random_.between(1, 9)), put(",");
    put(")");
  }

  // ---- processors

  // A machine to index: a variable's, or one of its own, with its dimensions.
  Variable machine_to_index(int depth) {
    if (auto known = variable(ValueKind::kMachine);
        known && known->type.size > 0 && random_.chance(85)) {
      put(known->name);
      return *known;
    }
    return {"", machine(depth - 1)};
  }

  void processor(int depth) { indexed(depth, false); }

  // What a mapping function returns: a processor, or a set of them.
  void processors(int depth) {
    if (random_.chance(8)) return put(task_.empty() ? "true" : "("), wrapped(depth);
    indexed(depth, random_.chance(15));
  }

  void wrapped(int depth) {
    if (out_.back() == "true") out_.pop_back(), put("(");
    disjunction(depth), put("?"), indexed(depth, false), put(":"), indexed(depth, false), put(")");
  }

  void indexed(int depth, bool set) {
    if (const auto known = variable(ValueKind::kProcessor); known && !set && random_.chance(20)) {
      return put(known->name);
    }
    const Variable base = machine_to_index(depth);
    const int size = base.type.size;
    put("[");
    if (single_ && !base.name.empty() && random_.chance(60)) {
      put("*", task_);
      if (random_.chance(70)) put(".", "parent");
      put(".", "processor", "(", base.name, ")");
    } else if (!set && random_.chance(15)) {
      zeros(size);
    } else if (!set && !base.name.empty() && index_ && dimensions_ == size && random_.chance(50)) {
      put(random_.chance(70) ? "*" : "", task_, ".", "ipoint", "%", base.name, ".", "size");
    } else {
      for (int i = 0; i < size; ++i) {
        if (i > 0) put(",");
        if (set && random_.chance(50)) {
          put("*");
        } else {
          one_index(base, i, depth);
        }
      }
    }
    put("]");
    std::erase(out_, "");
  }

  void zeros(int size) {
    put("(");
    for (int i = 0; i < size; ++i) put("0", ",");
    put(")");
  }

  // Mostly within the machine.
  void one_index(const Variable& base, int dimension, int depth) {
    if (base.name.empty() || random_.chance(10)) {
      return random_.chance(90) ? put("0") : sum(depth - 1);
    }
    if (index_ && dimensions_ > 0 && random_.chance(70)) {
      coordinate();
      if (out_[out_.size() - 4] == "ilo") out_[out_.size() - 4] = "ipoint";
    } else {
      put("("), expression({ValueKind::kInt, 0}, depth - 1), put(")");
    }
    put("%", base.name, ".", "size", "["), number(dimension), put("]");
  }

  Random random_;
  GeneratedProgram program_;
  std::vector<Tokens> global_pieces_, pieces_;
  std::vector<Variable> globals_, scope_;
  std::vector<Helper> helpers_;
  Tokens out_;
  std::string task_;  // the task's name in this function; none at top level
  bool index_ = false, single_ = false;
  int dimensions_ = 0;  // of task.ipoint in this function; 0: not known
  int names_ = 0;
};

}  // namespace

GeneratedProgram generate_program(std::uint64_t seed) {
  Generator generator(seed);
  GeneratedProgram program = generator.run();
  const Tokens tokens = generator.tokens();
  program.text = lay_out(tokens, generator.random());
  return program;
}

std::string generate_broken_program(std::uint64_t seed) {
  Generator generator(seed);
  static_cast<void>(generator.run());
  Tokens tokens = generator.tokens();
  Random& random = generator.random();
  if (tokens.empty()) tokens.emplace_back(kEnd);
  for (int i = random.between(1, 4); i > 0; --i) break_tokens(tokens, random);
  std::string text = lay_out(tokens, random);
  for (int i = random.chance(20) ? random.between(1, 3) : 0; i > 0 && !text.empty(); --i) {
    text[random.below(text.size())] = static_cast<char>(random.below(256));
  }
  return text;
}

}  // namespace groma::testing
