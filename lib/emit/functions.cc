// Translates functions and top-level statements of a mapping program to C++. The translation of
// expressions is in expressions.cc.
#include "emit/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace groma::emitting {

using program::ExecutableStatement;
using program::Type;

namespace {

// Returns the C++ statement that stores a line and column of the source. If a later expression
// fails, the message names this place.
std::string here(const Source& source, Range range) {
  const Position position = source.position(range.begin);
  return fmt::format("here({}, {});", position.line, position.column);
}

// Returns the variable name at the beginning of an assignment.
std::string_view name_at(const Source& source, Range range) {
  const std::string_view text = source.text(range);
  std::size_t end = 0;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
    ++end;
  }
  return text.substr(0, end);
}

}  // namespace

// Reserves the C++ names of functions and globals, then translates the top level.
FunctionTranslator::FunctionTranslator(const Program& program, Features& features,
                                       Diagnostics& diags)
    : program_(program), data_(program.data()), emission_{features, diags} {
  for (const program::ProgramFunction& function : data_.functions) {
    function_names_.push_back(names_.add_name(data_.names.text(function.name)));
  }
  for (const program::GlobalVariable& global : data_.globals) {
    globals_.push_back({names_.add_name(data_.names.text(global.name)), {}});
  }
  translate_top_level();
}

// Translates the top-level statements in order, up to the first that can only fail. A statement
// that assigns a machine to a global cannot fail if the processor kind is a literal.
void FunctionTranslator::translate_top_level() {
  frames_.emplace_back(FunctionFrame{std::vector<CppVariable>(data_.top_level_slot_count), names_});
  for (const ExecutableStatement& each : data_.top_level_actions) {
    std::vector<std::string> lines;
    const bool goes_on = translate_statement(each, 4, true, nullptr, nullptr, lines);
    TopLevelStatement statement;
    for (const std::string& line : lines) statement.text += line;
    if (goes_on && each.kind == ExecutableStatement::Kind::kAssign) {
      statement.global = &globals_[each.target];
      const program::CodeNode& value = code_of(each.value);
      const bool machine = value.op == program::Op::kMachine;
      statement.can_fail = !machine || code_of(value.a).op != program::Op::kProcKind;
    }
    top_.push_back(std::move(statement));
    if (!goes_on) break;
  }
  frames_.pop_back();
}

// Returns the statements of the constructor, without those that cannot fail and whose global
// nothing reads.
std::string FunctionTranslator::constructor_statements() const {
  std::string text;
  for (const TopLevelStatement& each : top_) text += each.is_kept() ? each.text : "";
  return text;
}

std::string FunctionTranslator::global_declarations() const {
  std::string text;
  for (const TopLevelStatement& each : top_) {
    if (each.global == nullptr || !each.is_kept()) continue;
    text += fmt::format("  {} {};\n", each.global->type.cpp_type(), each.global->name);
  }
  for (const auto& [number, name] : conditions_) text += fmt::format("  bool {} = false;\n", name);
  return text;
}

std::string FunctionTranslator::condition_variable(std::uint32_t when) const {
  const auto found = conditions_.find(when);
  return found == conditions_.end() ? "false" : found->second;
}

// Appends the C++ of one statement to `lines`: its line and column, then the statement. `result`
// gets the type that a return statement returns. Returns false if no later statement is reached,
// because the expression can only fail.
bool FunctionTranslator::translate_statement(const ExecutableStatement& action, int indent,
                                             bool top, CppValueType* result, std::string* failure,
                                             std::vector<std::string>& lines) {
  const std::string space(static_cast<std::size_t>(indent), ' ');
  const std::string place = space + here(data_.source, action.range) + "\n";
  const auto fails = [&](const CppExpr& expr) {
    lines.push_back(place + space + "fail(" + expr.failure + ");\n");
    if (failure != nullptr) *failure = expr.failure;
    return false;
  };
  if (action.kind == ExecutableStatement::Kind::kPrint) {
    std::string args;
    for (std::uint32_t i = 0; i < action.args.count; ++i) {
      const CppExpr arg = translate_code(data_.lists[action.args.begin + i]);
      if (arg.type.can_only_fail()) return fails(arg);
      const std::string text = with_exact_type(arg, arg.type);
      args += ", " + (arg.type.is_type(Type::kProcessors) ? "text_of_set(" + text + ")" : text);
    }
    if (top) {
      emission_.features.insert("print");
      lines.push_back(fmt::format("{}{}print({}{});\n", place, space,
                                  string_literal(data_.strings[action.text]), args));
    } else if (!args.empty()) {
      // A `print` in a function writes nothing, since only `groma place --trace` shows such output.
      // The arguments are still computed, since they may fail.
      emission_.features.insert("ignore");
      lines.push_back(fmt::format("{}{}ignore({});\n", place, space, args.substr(2)));
    }
    return true;
  }
  const CppExpr value = translate_code(action.value);
  if (value.type.can_only_fail()) return fails(value);
  if (action.kind == ExecutableStatement::Kind::kWhen) {
    if (!value.type.is_type(Type::kBool)) {
      return fails(type_mismatch_expr("the condition of `when`", "a bool", value));
    }
    std::string& name = conditions_[action.target];
    name = names_.add_name(fmt::format("when_{}", conditions_.size()));
    lines.push_back(fmt::format("{}{}{} = {};\n", place, space, name, value.text));
    return true;
  }
  if (action.kind == ExecutableStatement::Kind::kReturn) {
    *result = value.type;
    lines.push_back(fmt::format("{}{}return {};\n", place, space, value.text));
  } else if (top) {
    CppVariable& global = globals_[action.target];
    global.type = value.type;
    lines.push_back(fmt::format("{}{}{} = {};\n", place, space, global.name, value.text));
  } else {
    FunctionFrame& frame = frames_.back();
    CppVariable& slot = frame.slots[action.target];
    slot = {frame.names.add_name(name_at(data_.source, action.range)), value.type};
    // translate_function() completes this emitted line once it knows whether the function reads the
    // variable.
    lines.push_back(fmt::format("{}{}\1{}\2const {} {} = {};\n", place, space, action.target,
                                value.type.cpp_type(), slot.name, value.text));
  }
  if (top) known_globals_ = action.target + 1;
  return true;
}

// Returns the translated function for these argument types. The function is translated at the first
// call.
const FunctionTranslator::FunctionInstance& FunctionTranslator::instance_of(
    FunctionId function, const std::vector<CppValueType>& types) {
  const InstanceKey key{function, types};
  const auto known = instances_.find(key);
  if (known != instances_.end()) return known->second;
  FunctionInstance made = translate_function(function, types);
  const FunctionInstance& kept = instances_.emplace(key, std::move(made)).first->second;
  order_.push_back(&kept);
  return kept;
}

// Translates a function of the program for these argument types. The comment above the emitted
// function cites the head of the function in the source.
FunctionTranslator::FunctionInstance FunctionTranslator::translate_function(
    FunctionId function, const std::vector<CppValueType>& types) {
  const program::ProgramFunction& called = data_.functions[function];
  FunctionFrame frame{std::vector<CppVariable>(called.slot_count), names_};
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Range range = data_.parameters[called.parameters.begin + i].range;
    frame.slots[i] = {frame.names.add_name(data_.source.text(range)), types[i]};
  }
  frames_.push_back(std::move(frame));
  FunctionInstance made;
  std::vector<std::string> lines;
  for (std::uint32_t i = 0; i < called.body.count; ++i) {
    const ExecutableStatement& each = data_.actions[called.body.begin + i];
    if (!translate_statement(each, 4, false, &made.result, &made.failure, lines)) break;
  }
  const FunctionFrame done = std::move(frames_.back());
  frames_.pop_back();
  // The C++ functions for different argument types need different names, because two of their types
  // may be the same in C++.
  bool first = true;
  for (const auto& [key, other] : instances_) first = first && key.first != function;
  made.name = first ? function_names_[function] : names_.add_name(function_names_[function]);
  std::string parameters;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const CppVariable& slot = done.slots[i];
    parameters += fmt::format("{}{}{}", i == 0 ? "" : ", ", slot.type.cpp_parameter_type(),
                              slot.read ? " " + slot.name : std::string());
  }
  // In the source, the head of the function goes from its name to the first `)`.
  const std::string_view rest = data_.source.text().substr(called.name_range.begin);
  const auto head = static_cast<std::uint32_t>(std::min(rest.find(')') + 1, rest.size()));
  const Range cite{called.name_range.begin, called.name_range.begin + head};
  const bool returns = made.failure.empty();
  made.text = fmt::format("  // {}\n  {}{} {}({}) const {{\n    const Here here;\n",
                          cite_source(data_.source, cite), returns ? "" : "[[noreturn]] ",
                          made.result.cpp_type(), made.name, parameters);
  // Completes the emitted lines that declare a variable. translate_statement() has put the index
  // (slot) of the variable between \1 and \2 in such a line.
  for (const std::string& line : lines) {
    const std::size_t from = line.find('\1'), to = line.find('\2');
    if (from == std::string::npos) {
      made.text += line;
      continue;
    }
    const auto slot = static_cast<std::size_t>(std::stoul(line.substr(from + 1, to - from - 1)));
    made.text += line.substr(0, from) + (done.slots[slot].read ? "" : "[[maybe_unused]] ") +
                 line.substr(to + 1);
  }
  made.text += "  }\n";
  return made;
}

// Translates a mapping function, which takes a task. If the function returns anything but
// processors, a call of it fails.
FunctionTranslator::MappingFunction FunctionTranslator::mapping_function(FunctionId function) {
  const FunctionInstance& made = instance_of(function, {CppValueType{Type::kTask}});
  const bool is_set = made.result.is_type(Type::kProcessors);
  if (!made.failure.empty()) return {made.name, is_set, made.failure};
  if (is_set || made.result.is_type(Type::kProcessor)) return {made.name, is_set, {}};
  const std::string why =
      fmt::format("`{}` returned {}, which is not a processor [not-a-processor]",
                  program_.function_name(function), made.result.type_text());
  return {made.name, is_set, string_literal(why)};
}

std::string FunctionTranslator::function_definitions() const {
  std::string text;
  for (const FunctionInstance* each : order_) text += each->text + "\n";
  return text;
}

}  // namespace groma::emitting
