// Builds typed code from the syntax tree: functions, actions of the top level, and local names.
// Expressions are built in builder_expr.cc.
#include "program/builder.h"

#include <fmt/format.h>

namespace groma::program {

using syntax::ExprKind;
using syntax::Tree;

Builder::Builder(const Tree& tree, const Definitions& definitions, Data& data, Diagnostics& diags)
    : tree_(tree), definitions_(definitions), data_(data), diags_(diags) {}

// Reports a diagnostic. An error becomes a warning if the code may never be evaluated: in a
// function that nothing uses, or in a branch of `?:`. The original language accepts such code. The
// instruction kBroken fails if it is evaluated after all.
Diagnostic& Builder::report(DiagId id, Range range, std::vector<DiagArg> args) {
  Diagnostic& diagnostic = diags_.add(id, range, std::move(args));
  last_ = diagnostic;
  if (diagnostic.severity != Severity::kError) return diagnostic;
  if (current_ != nullptr && !current_->used) {
    diagnostic.lower_to(Severity::kWarning);
    diagnostic.note(
        fmt::format("nothing uses `{}`, so this is not an error yet", text(current_->name)));
  } else if (branches_ > 0) {
    diagnostic.lower_to(Severity::kWarning);
    diagnostic.note("it is an error where this branch of `?:` is taken");
  }
  return diagnostic;
}

// Reports that `what` needs one type and found another.
Diagnostic& Builder::mismatch(Range range, std::string_view what, std::string_view needs,
                              Type found) {
  return report(DiagId::kTypeMismatch, range,
                {std::string(what), std::string(needs), std::string(describe(found))});
}

// Returns the expression inside any parentheses.
Builder::ExprId Builder::bare(ExprId id) const {
  while (expr_of(id).kind == ExprKind::kParen) id = expr_of(id).a;
  return id;
}

// Builds one function: its parameters and its body up to the first `return`. Statements after it
// are reported once. A function whose head is broken gets no body.
void Builder::function(FunctionId id) {
  const syntax::DefStatement& def = *definitions_.defs[id];
  Function& made = data_.functions[id];
  made.broken = def.head_broken;
  if (made.broken) return;
  current_ = &made;
  slots_ = 0;
  bind_parameters(made, def);
  const auto first = static_cast<std::uint32_t>(data_.actions.size());
  bool returned = false;
  for (const syntax::Statement& statement : Tree::slice(tree_.bodies, def.body)) {
    if (returned) {
      report(DiagId::kUnreachableCode, statement.range, {});
      break;
    }
    body_statement(statement, made);
    returned = std::holds_alternative<syntax::ReturnStatement>(statement.node);
  }
  made.body = {first, static_cast<std::uint32_t>(data_.actions.size()) - first};
  made.slots = slots_;
  if (!returned && !def.body_broken) {
    report(DiagId::kMissingReturn, def.name.range, {std::string(text(def.name.id))})
        .help("end the function with `return`");
  }
  current_ = nullptr;
  unknown_.clear();
  while (!locals_.empty()) pop_local();
}

// Gives each parameter a slot and a type. Reports a name that is used for two parameters.
void Builder::bind_parameters(Function& made, const syntax::DefStatement& def) {
  made.parameters = {static_cast<std::uint32_t>(data_.parameters.size()), def.params.count};
  for (const syntax::Param& param : Tree::slice(tree_.params, def.params)) {
    constexpr Type kTypes[] = {Type::kAny,   Type::kInt,     Type::kBool, Type::kTuple,
                               Type::kTuple, Type::kMachine, Type::kTask};
    if (const Local* known = find_local(param.name.id)) {
      const Range first = data_.parameters[made.parameters.begin + known->slot].range;
      report(DiagId::kDuplicateName, param.name.range, {std::string(text(param.name.id))})
          .note("the first one is here", first);
    }
    // An IPoint may be a processor, which is a pair.
    const bool pair = param.type == ParamType::kIPoint || param.type == ParamType::kISpace;
    const Type type = pair ? Type::kAny : kTypes[static_cast<std::size_t>(param.type)];
    data_.parameters.push_back({param.type, param.name.range});
    push_local(param.name.id, slots_++, type);
  }
}

// Builds one statement of a function's body. A `return` also decides the result type of the
// function.
void Builder::body_statement(const syntax::Statement& statement, Function& made) {
  if (const auto* node = std::get_if<syntax::AssignStatement>(&statement.node)) {
    assign_local(*node, statement.range);
  } else if (const auto* print = std::get_if<syntax::PrintStatement>(&statement.node)) {
    data_.actions.push_back(print_action(*print, statement.range));
  } else if (const auto* ret = std::get_if<syntax::ReturnStatement>(&statement.node)) {
    Action action;
    action.kind = Action::Kind::kReturn;
    action.value = build(ret->value);
    action.range = statement.range;
    made.result = type_of(action.value);
    data_.actions.push_back(action);
  }
}

// Builds an assignment in a function. Every assignment gets a slot of its own and hides an earlier
// variable of the same name; a second assignment is reported because the original ignores it (D12).
void Builder::assign_local(const syntax::AssignStatement& node, Range range) {
  Action action;
  action.kind = Action::Kind::kAssign;
  action.value = build(node.value);
  action.range = range;
  if (find_local(node.target.id) != nullptr && !node.implied) {
    diags_.add(DiagId::kOriginalDiffers, node.target.range,
               {fmt::format("a second assignment to `{}` acts; the original ignores it",
                            text(node.target.id)),
                std::string("D12")});
  }
  action.target = slots_++;
  push_local(node.target.id, action.target, type_of(action.value));
  data_.actions.push_back(action);
}

// Builds a `print` and compares the number of `{}` in its text with the number of values.
Action Builder::print_action(const syntax::PrintStatement& node, Range range) {
  Action action;
  action.kind = Action::Kind::kPrint;
  action.range = range;
  action.text = static_cast<std::uint32_t>(data_.strings.size());
  // The text is used without escapes because the original language has none.
  const std::string_view quoted = tree_.source.text(node.text);
  data_.strings.emplace_back(quoted.size() < 2 ? quoted : quoted.substr(1, quoted.size() - 2));
  std::size_t wanted = 0;
  const std::string& format = data_.strings.back();
  for (std::size_t at = format.find("{}"); at != std::string::npos;
       at = format.find("{}", at + 2)) {
    ++wanted;
  }
  for (ExprId id : tree_.exprs_of(node.args)) {
    const CodeId built = build(id);
    pending_.push_back(built);
  }
  action.args = take_pending(0);
  const std::uint32_t given = action.args.count;
  if (given < wanted) {
    report(DiagId::kPrintArguments, node.text,
           {static_cast<std::int64_t>(wanted),
            fmt::format("{} value{}", given, given == 1 ? "" : "s")});
  } else if (given > wanted) {
    report(DiagId::kUnusedPrintArgument, range_of(data_.lists[action.args.begin + wanted]),
           {static_cast<std::int64_t>(wanted)});
  }
  return action;
}

// Builds an assignment outside functions. `index` is the position among the globals; its expression
// can read only earlier globals.
void Builder::top_assign(const syntax::AssignStatement& node, std::uint32_t index, Range range) {
  current_global_ = index;
  slots_ = 0;
  Action action;
  action.kind = Action::Kind::kAssign;
  action.value = build(node.value);
  action.target = index;
  action.range = range;
  data_.top.push_back(action);
  data_.top_slots = std::max(data_.top_slots, slots_);
  current_global_ = index + 1;
}

void Builder::top_print(const syntax::PrintStatement& node, Range range) {
  slots_ = 0;
  data_.top.push_back(print_action(node, range));
  data_.top_slots = std::max(data_.top_slots, slots_);
}

// Returns the innermost local variable with this name, or null.
const Builder::Local* Builder::find_local(NameId name) const {
  const std::uint32_t at = name < last_local_.size() ? last_local_[name] : kNoLocal;
  return at == kNoLocal ? nullptr : &locals_[at];
}

// Declares a local variable, which hides an earlier one of the same name until pop_local().
void Builder::push_local(NameId name, std::uint32_t slot, Type type) {
  if (last_local_.empty()) last_local_.assign(tree_.table.size(), kNoLocal);
  locals_.push_back({name, slot, type, last_local_[name]});
  last_local_[name] = static_cast<std::uint32_t>(locals_.size() - 1);
}

void Builder::pop_local() {
  last_local_[locals_.back().name] = locals_.back().hidden;
  locals_.pop_back();
}

// Remembers that the current function reads this member of its task. Only the first read of each
// sort is kept, for the message at the statement that binds the function.
void Builder::note_read(TaskRead Function::*which, const TaskRead& read) {
  if (current_ == nullptr || !read.reads) return;
  TaskRead& known = current_->*which;
  if (!known.reads) known = read;
}

}  // namespace groma::program
