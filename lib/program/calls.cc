// Finds which functions are used, reports recursion, and orders the functions so that callees come
// first. The depth-first search has its own stack because the program text decides the depth.
#include "program/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "program/limits.h"

namespace groma::program {
namespace {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Tree;

// A call of a function at one place of the text.
struct Call {
  FunctionId callee;
  Range range;
};

// Depth-first search over the calls of all functions.
class CallSearch {
 public:
  CallSearch(const Tree& tree, const ProgramDefinitions& definitions, Diagnostics& diags)
      : tree_(tree), definitions_(definitions), diags_(diags) {
    const std::size_t count = definitions.defs.size();
    result_.used.assign(count, false);
    state_.assign(count, State::kNew);
    depth_.assign(count, 1);
    for (const syntax::DefStatement* def : definitions.defs) calls_.push_back(calls_in(def->exprs));
  }

  // Visits all functions, also those that nothing uses.
  CallOrder run() {
    for (FunctionId f = 0; f < calls_.size(); ++f) {
      if (state_[f] == State::kNew) visit(f);
    }
    mark_used();
    return std::move(result_);
  }

 private:
  // The states of a function during the search. A function is open while it is on the stack.
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  // A function on the stack of the search. `next_call` is the index of the first of its calls that
  // was not followed yet.
  struct Frame {
    FunctionId function;
    std::size_t next_call = 0;
  };

  // Returns the calls of the program's functions among the expressions `exprs` of the tree.
  std::vector<Call> calls_in(syntax::IndexRange exprs) const {
    std::vector<Call> calls;
    for (const Expr& expr : Tree::entries_of(tree_.exprs, exprs)) {
      if (expr.kind != ExprKind::kCall) continue;
      const Expr& callee = tree_.exprs[expr.c];
      if (callee.kind != ExprKind::kName) continue;
      const Symbol symbol = definitions_.symbols[callee.a];
      if (symbol.kind == Symbol::Kind::kFunction) calls.push_back({symbol.index, callee.range});
    }
    return calls;
  }

  // Visits `root` and all functions that it reaches. A call of a function on the stack is
  // recursion.
  void visit(FunctionId root) {
    stack_ = {{root}};
    state_[root] = State::kOpen;
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      const FunctionId caller = frame.function;
      if (frame.next_call == calls_[caller].size()) {
        finish(caller);
        continue;
      }
      // A call of an open function closes a cycle of calls. If the called function is done, only
      // the length of its longest chain of calls is used.
      const Call& call = calls_[caller][frame.next_call++];
      if (state_[call.callee] == State::kOpen) {
        report_recursion(call);
      } else if (state_[call.callee] == State::kNew) {
        state_[call.callee] = State::kOpen;
        stack_.push_back({call.callee});
      } else {
        deepen(caller, call.callee);
      }
    }
  }

  // Appends a function after all of its callees. A chain of more than kMaxCallDepth functions is
  // reported once, at the first function that exceeds the limit.
  void finish(FunctionId function) {
    state_[function] = State::kDone;
    result_.order.push_back(function);
    stack_.pop_back();
    if (!stack_.empty()) deepen(stack_.back().function, function);
    // A function that calls this one exceeds the limit by more, and is not reported.
    if (depth_[function] == kMaxCallDepth + 1) {
      const syntax::NameUse& name = definitions_.defs[function]->name;
      diags_.report(DiagId::kCallsTooDeep, name.range, kMaxCallDepth, text(function))
          .help("put what the called functions do into fewer of them");
    }
  }

  // Updates the length of the longest chain of calls that begins at the caller, after a visit of
  // the callee. depth_ holds these lengths.
  void deepen(FunctionId caller, FunctionId callee) {
    depth_[caller] = std::max(depth_[caller], depth_[callee] + 1);
  }

  std::string_view text(FunctionId function) const {
    return tree_.name_table.text(definitions_.defs[function]->name.id);
  }

  // Reports a recursive call and names up to five functions of the cycle.
  void report_recursion(const Call& call) {
    if (diags_.full()) return;
    Diagnostic& diagnostic = diags_.report(DiagId::kRecursion, call.range, text(call.callee));
    const auto first = std::find_if(stack_.begin(), stack_.end(), [&](const Frame& frame) {
      return frame.function == call.callee;
    });
    std::string path;
    int shown = 0;
    for (auto frame = first + 1; frame < stack_.end() && shown < 5; ++frame, ++shown) {
      path += fmt::format("{}`{}`", path.empty() ? "" : ", ", text(frame->function));
    }
    if (!path.empty()) diagnostic.note(fmt::format("through {}", path));
    diagnostic.note(
        "every program ends, so no function may call itself (the original allows it: D1)");
  }

  // Marks the functions that a statement or a top-level expression reaches.
  void mark_used() {
    std::vector<FunctionId> open;
    const auto use = [&](FunctionId function) {
      if (result_.used[function]) return;
      result_.used[function] = true;
      open.push_back(function);
    };
    bool used_all = false;
    for (const syntax::Statement& statement : tree_.statements) {
      const auto* map = std::get_if<syntax::TaskMapStatement>(&statement.node);
      if (map == nullptr) continue;
      const Symbol symbol = definitions_.symbols[map->function.id];
      if (symbol.kind == Symbol::Kind::kFunction) {
        use(symbol.index);
      } else if (!std::exchange(used_all, true)) {
        // A misspelt function name may mean any function, so all functions count as used.
        for (FunctionId f = 0; f < calls_.size(); ++f) use(f);
      }
    }
    // Expressions that lie between those of two functions belong to the top level.
    std::uint32_t begin = 0;
    for (const syntax::Statement& statement : tree_.statements) {
      const auto* def = std::get_if<syntax::DefStatement>(&statement.node);
      if (def == nullptr) continue;
      for (const Call& call : calls_in({begin, def->exprs.begin - begin})) use(call.callee);
      begin = def->exprs.begin + def->exprs.count;
    }
    const auto end = static_cast<std::uint32_t>(tree_.exprs.size());
    for (const Call& call : calls_in({begin, end - begin})) use(call.callee);
    while (!open.empty()) {
      const FunctionId function = open.back();
      open.pop_back();
      for (const Call& call : calls_[function]) use(call.callee);
    }
  }

  const Tree& tree_;
  const ProgramDefinitions& definitions_;
  Diagnostics& diags_;
  CallOrder result_;
  // The calls in a function, its state, and the length of the longest chain of calls from it. All
  // three lists are indexed by FunctionId.
  std::vector<std::vector<Call>> calls_;
  std::vector<State> state_;
  std::vector<int> depth_;
  std::vector<Frame> stack_;
};

}  // namespace

CallOrder order_calls(const Tree& tree, const ProgramDefinitions& definitions, Diagnostics& diags) {
  return CallSearch(tree, definitions, diags).run();
}

}  // namespace groma::program
