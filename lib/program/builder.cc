// Builds the functions, and the actions of functions and of the top level.
#include "program/builder.h"

#include <fmt/format.h>

namespace groma::program {

using syntax::Tree;

CodeBuilder::CodeBuilder(const Tree& tree, const ProgramDefinitions& definitions, ProgramData& data,
                         Diagnostics& diags)
    : context_(tree, definitions, data, diags), expressions_(context_) {}

// Builds one function: its parameters and its body up to the first `return`. Statements after it
// are reported once. A function whose head is broken gets no body.
void CodeBuilder::build_function(FunctionId id) {
  const syntax::DefStatement& def = *context_.definitions.defs[id];
  ProgramFunction& made = context_.data.functions[id];
  made.broken = def.head_broken;
  if (made.broken) return;
  context_.function = &made;
  context_.scope.restart_slots();
  declare_parameters(made, def);
  const auto first = static_cast<std::uint32_t>(context_.data.actions.size());
  bool returned = false;
  for (const syntax::Statement& statement :
       Tree::entries_of(context_.tree.body_statements, def.body)) {
    if (returned) {
      context_.report(DiagId::kUnreachableCode, statement.range, {});
      break;
    }
    build_body_statement(statement, made);
    returned = std::holds_alternative<syntax::ReturnStatement>(statement.node);
  }
  made.body = {first, static_cast<std::uint32_t>(context_.data.actions.size()) - first};
  made.slot_count = context_.scope.slot_count();
  if (!returned && !def.body_broken) {
    context_
        .report(DiagId::kMissingReturn, def.name.range,
                {std::string(context_.name_text(def.name.id))})
        .help("end the function with `return`");
  }
  context_.function = nullptr;
  expressions_.forget_unknown_names();
  context_.scope.clear();
}

// Gives each parameter a slot and a type. Reports a name that is used for two parameters.
void CodeBuilder::declare_parameters(ProgramFunction& made, const syntax::DefStatement& def) {
  made.parameters = {static_cast<std::uint32_t>(context_.data.parameters.size()), def.params.count};
  for (const syntax::Param& param : Tree::entries_of(context_.tree.params, def.params)) {
    // The type that the values of a parameter have, for each declared type in the order of
    // syntax::ParamType.
    constexpr Type kTypes[] = {Type::kAny,   Type::kInt,     Type::kBool, Type::kTuple,
                               Type::kTuple, Type::kMachine, Type::kTask};
    if (const LocalVariable* known = context_.scope.find_local(param.name.id)) {
      const Range first = context_.data.parameters[made.parameters.begin + known->slot].range;
      context_
          .report(DiagId::kDuplicateName, param.name.range,
                  {std::string(context_.name_text(param.name.id))})
          .note("the first one is here", first);
    }
    // An IPoint may be a processor, which is a pair.
    const bool pair = param.type == ParamType::kIPoint || param.type == ParamType::kISpace;
    const Type type = pair ? Type::kAny : kTypes[static_cast<std::size_t>(param.type)];
    context_.data.parameters.push_back({param.type, param.name.range});
    context_.scope.declare_local(param.name.id, type);
  }
}

// Builds one statement of a function's body. A `return` also decides the result type of the
// function.
void CodeBuilder::build_body_statement(const syntax::Statement& statement, ProgramFunction& made) {
  if (const auto* node = std::get_if<syntax::AssignStatement>(&statement.node)) {
    build_local_assignment(*node, statement.range);
  } else if (const auto* print = std::get_if<syntax::PrintStatement>(&statement.node)) {
    context_.data.actions.push_back(build_print(*print, statement.range));
  } else if (const auto* ret = std::get_if<syntax::ReturnStatement>(&statement.node)) {
    ExecutableStatement action;
    action.kind = ExecutableStatement::Kind::kReturn;
    action.value = expressions_.build_expression(ret->value);
    action.range = statement.range;
    made.result = context_.type_of(action.value);
    context_.data.actions.push_back(action);
  }
}

// Builds an assignment in a function. Every assignment gets a slot of its own and hides an earlier
// variable of the same name; a second assignment is reported because the original language ignores
// it (difference D12 in docs/language.md).
void CodeBuilder::build_local_assignment(const syntax::AssignStatement& node, Range range) {
  ExecutableStatement action;
  action.kind = ExecutableStatement::Kind::kAssign;
  action.value = expressions_.build_expression(node.value);
  action.range = range;
  if (context_.scope.find_local(node.target.id) != nullptr && !node.implied) {
    context_.diags.add(DiagId::kOriginalDiffers, node.target.range,
                       {fmt::format("a second assignment to `{}` acts; the original ignores it",
                                    context_.name_text(node.target.id)),
                        std::string("D12")});
  }
  action.target = context_.scope.declare_local(node.target.id, context_.type_of(action.value));
  context_.data.actions.push_back(action);
}

// Builds a `print` and compares the number of `{}` in its text with the number of values.
ExecutableStatement CodeBuilder::build_print(const syntax::PrintStatement& node, Range range) {
  ExecutableStatement action;
  action.kind = ExecutableStatement::Kind::kPrint;
  action.range = range;
  action.text = static_cast<std::uint32_t>(context_.data.strings.size());
  // The text of a `print` has no escapes, as in the original language, so only its quotes are
  // removed.
  const std::string_view quoted = context_.tree.source.text(node.text);
  context_.data.strings.emplace_back(quoted.size() < 2 ? quoted
                                                       : quoted.substr(1, quoted.size() - 2));
  std::size_t wanted = 0;
  const std::string& format = context_.data.strings.back();
  for (std::size_t at = format.find("{}"); at != std::string::npos;
       at = format.find("{}", at + 2)) {
    ++wanted;
  }
  action.args = expressions_.build_expressions(context_.tree.exprs_of(node.args));
  // A `print` with fewer values than `{}` is an error. If it has more values, the first value that
  // no `{}` shows is reported.
  const std::uint32_t given = action.args.count;
  if (given < wanted) {
    context_.report(DiagId::kPrintArguments, node.text,
                    {static_cast<std::int64_t>(wanted),
                     fmt::format("{} value{}", given, given == 1 ? "" : "s")});
  } else if (given > wanted) {
    context_.report(DiagId::kUnusedPrintArgument,
                    context_.range_of(context_.data.lists[action.args.begin + wanted]),
                    {static_cast<std::int64_t>(wanted)});
  }
  return action;
}

// Builds an assignment outside functions. `index` is the position of the assigned global among all
// globals. The assigned expression can read only earlier globals.
void CodeBuilder::build_top_assignment(const syntax::AssignStatement& node, std::uint32_t index,
                                       Range range) {
  context_.current_global = index;
  context_.scope.restart_slots();
  ExecutableStatement action;
  action.kind = ExecutableStatement::Kind::kAssign;
  action.value = expressions_.build_expression(node.value);
  action.target = index;
  action.range = range;
  context_.data.top_level_actions.push_back(action);
  context_.data.top_level_slot_count =
      std::max(context_.data.top_level_slot_count, context_.scope.slot_count());
  // Later expressions of the top level may read this global.
  context_.current_global = index + 1;
}

void CodeBuilder::build_condition(const syntax::WhenStatement& node, std::uint32_t number,
                                  Range range) {
  context_.scope.restart_slots();
  ExecutableStatement action;
  action.kind = ExecutableStatement::Kind::kWhen;
  action.value = expressions_.build_expression(node.condition);
  action.target = number;
  action.range = range;
  if (!context_.may_have_type(action.value, Type::kBool)) {
    context_.report_type_mismatch(context_.range_of(action.value), "the condition of `when`",
                                  "a bool", context_.type_of(action.value));
  }
  context_.data.top_level_actions.push_back(action);
  context_.data.top_level_slot_count =
      std::max(context_.data.top_level_slot_count, context_.scope.slot_count());
}

// Builds a `print` outside functions. Its slots are only for the variables of comprehensions.
void CodeBuilder::build_top_print(const syntax::PrintStatement& node, Range range) {
  context_.scope.restart_slots();
  context_.data.top_level_actions.push_back(build_print(node, range));
  context_.data.top_level_slot_count =
      std::max(context_.data.top_level_slot_count, context_.scope.slot_count());
}

}  // namespace groma::program
