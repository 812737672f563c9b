// The part of the interpreter that makes machine views and indexes them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mapper/interpreter.h"
#include "mapper/processors.h"
#include "mapper/splits.h"

namespace groma::mapper {

using program::Method;

namespace {

std::string dimensions_text(std::size_t n) {
  return fmt::format("{} dimension{}", n, n == 1 ? "" : "s");
}

// Steps that a split which is computed anew counts for: some tens of nanoseconds each.
std::int64_t split_steps(bool every_factorisation, std::int64_t n, std::size_t k) {
  return every_factorisation ? 2'000 + count_factorisations(n, k) / 5 : 20'000;
}

std::string view_text(const MachineView& view) {
  return to_string({std::make_shared<const MachineView>(view)}, "");
}

}  // namespace

Value Interpreter::make_view(const Code& node, MachineView view) {
  const auto cost = static_cast<std::int64_t>(2 * view.operations() + view.sizes().size());
  if (!tick(cost, node.range)) return {};
  return {std::make_shared<const MachineView>(std::move(view))};
}

bool Interpreter::fits(const Code& node, const MachineView& view, std::size_t more_dimensions) {
  if (view.operations() >= kMaxViewOperations) {
    fail(DiagId::kMachineLimit, node.focus, {kMaxViewOperations, std::string("operations")});
    return false;
  }
  if (view.sizes().size() + more_dimensions > kMaxViewDimensions) {
    fail(DiagId::kMachineLimit, node.focus, {kMaxViewDimensions, std::string("dimensions")});
    return false;
  }
  return true;
}

// Machine(KIND): (nodes, processors of KIND in each node).
Value Interpreter::machine(const Code& node) {
  const Value value = eval(node.a);
  if (failed_) return {};
  const auto* kind = value.get<ProcKind>();
  if (kind == nullptr) {
    return fail_type(code(node.a).range, "`Machine`", "a processor kind", value);
  }
  if (!std::exchange(looked_at_[static_cast<std::size_t>(*kind)], true)) {
    warn_of_unequal_nodes(machine_, *kind, node.range, *diags_);
  }
  return make_view(node, {*kind, machine_.node_count(), machine_.processors_per_node(*kind)});
}

// ------------------------------------------------------------------------------------ indexing

Value Interpreter::index_machine(const Code& node, const MachineView& view) {
  std::vector<Element> index = elements(node.a, node.b);
  if (failed_) return {};
  if (index.size() == 1 && !index[0].all) {
    // m[t] takes a tuple as it is.
    if (const auto values = tuple_values(index[0].value)) {
      const Range range = index[0].range;
      index.clear();
      for (const Value& value : *values) index.push_back({value, range});
    }
  }
  if (!check_index(node, view, index)) return {};
  Coordinates at;
  std::vector<std::size_t> open;  // dimensions given as `*`
  std::int64_t count = 1;
  for (std::size_t i = 0; i < index.size(); ++i) {
    at.push_back(index[i].all ? 0 : *index[i].value.get<std::int64_t>());
    if (!index[i].all) continue;
    open.push_back(i);
    count = std::min(count, kMaxTupleItems) * std::min(view.sizes()[i], kMaxTupleItems + 1);
  }
  if (count > kMaxTupleItems) {
    fail(DiagId::kTupleTooLong, node.focus, {kMaxTupleItems});
    return {};
  }
  if (open.empty()) {
    const auto processor = processor_at(node, view, at);
    return processor ? Value{*processor} : Value{};
  }
  auto set = std::make_shared<ProcessorSet>();
  const auto cost = static_cast<std::int64_t>(view.operations() + 1);
  for (std::int64_t k = 0; k < count; ++k) {
    if (!tick(cost, node.range)) return {};
    std::int64_t rest = k;  // row-major over the open dimensions
    for (std::size_t i = open.size(); i-- > 0;) {
      at[open[i]] = rest % view.sizes()[open[i]];
      rest /= view.sizes()[open[i]];
    }
    const auto processor = processor_at(node, view, at);
    if (!processor) return {};
    set->processors.push_back(*processor);
  }
  return {std::shared_ptr<const ProcessorSet>(std::move(set))};
}

bool Interpreter::check_index(const Code& node, const MachineView& view,
                              const std::vector<Element>& index) {
  if (index.size() != view.sizes().size()) {
    fail(DiagId::kWrongIndexCount, node.focus,
         {fmt::format("{} ind{}", index.size(), index.size() == 1 ? "ex" : "ices"),
          fmt::format("a machine with {}", dimensions_text(view.sizes().size()))})
        .note(fmt::format("the machine is {}", view_text(view)));
    return false;
  }
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t size = view.sizes()[i];
    std::int64_t value = 0;
    if (index[i].all) {
      if (size > 0) continue;
    } else {
      const auto* given = index[i].value.get<std::int64_t>();
      if (given == nullptr) {
        fail_type(index[i].range, "an index", "an integer", index[i].value);
        return false;
      }
      if (*given >= 0 && *given < size) continue;
      value = *given;
    }
    Diagnostic& diagnostic = fail(DiagId::kSliceIndexOutOfBound, index[i].range,
                                  {static_cast<std::int64_t>(i), value, size});
    diagnostic.note(fmt::format("the machine is {}", view_text(view)));
    if (size == 0 && machine_.processors_per_node(view.kind()) == 0) {
      diagnostic.note(fmt::format("`{}` has no {}", machine_.name(), name_of(view.kind())));
    } else if (value == -1) {
      diagnostic.note("the original takes a computed -1 for `*` (D6)");
    } else if (view.operations() > 0) {
      diagnostic.note("the original may take another processor instead (D5)");
    }
    return false;
  }
  return true;
}

std::optional<Processor> Interpreter::processor_at(const Code& node, const MachineView& view,
                                                   const Coordinates& index) {
  if (machine_.processors_per_node(view.kind()) == 0) {
    // A split of nothing has sizes of 1, so that only what indexes it is in error.
    fail(DiagId::kSliceIndexOutOfBound, node.focus, {std::int64_t{0}, index[0], std::int64_t{0}})
        .note(fmt::format("`{}` has no {}", machine_.name(), name_of(view.kind())));
    return std::nullopt;
  }
  if (!tick(static_cast<std::int64_t>(view.operations()), node.range)) return std::nullopt;
  const Coordinates base = view.to_base(index);
  return Processor{view.kind(), base[0], base[1]};
}

// ------------------------------------------------------------------------------------ operations

Value Interpreter::method(CodeId id, const Code& node) {
  const Value base = eval(node.c);
  if (failed_) return {};
  const std::vector<Element> args = elements(node.a, node.b);
  if (failed_) return {};
  constexpr std::size_t kArguments[] = {2, 2, 2, 1, 3, 2, 2, 2, 2, 1, 1};
  const std::size_t wanted = kArguments[static_cast<std::size_t>(node.method)];
  if (args.size() != wanted) {
    fail(DiagId::kWrongArgumentCount, node.range,
         {std::string(name_of(node.method)),
          fmt::format("{} argument{}", wanted, wanted == 1 ? "" : "s"),
          std::to_string(args.size())});
    return {};
  }
  if (node.method == Method::kHas) return has(node, base, args[0]);
  if (node.method == Method::kProcessor) return task_processor(node, base, args[0]);
  const MachineView* view = base.machine();
  if (view == nullptr) {
    fail(DiagId::kUnknownMember, node.focus,
         {std::string(describe(type_of(base))), std::string(name_of(node.method))});
    return {};
  }
  return machine_method(id, node, *view, args);
}

Value Interpreter::machine_method(CodeId id, const Code& node, const MachineView& view,
                                  const std::vector<Element>& args) {
  const auto d = dimension(node, view, args[0]);
  if (!d) return {};
  const bool grid = node.method >= Method::kGreedySplit && node.method <= Method::kDecompose;
  if (grid) return grid_split(id, node, view, *d, args[1]);
  if (node.method == Method::kBalanceSplit) return grid_split(id, node, view, *d, args[1]);
  if (node.method == Method::kReverse) {
    return fits(node, view, 0) ? make_view(node, view.reverse(*d)) : Value{};
  }
  if (node.method == Method::kMerge || node.method == Method::kSwap) {
    const auto other = dimension(node, view, args[1]);
    return other ? pair_method(node, view, *d, *other) : Value{};
  }
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const auto* given = args[i].value.get<std::int64_t>();
    if (given == nullptr) {
      return fail_type(args[i].range, fmt::format("`{}`", name_of(node.method)), "an integer",
                       args[i].value);
    }
    numbers.push_back(*given);
  }
  if (node.method == Method::kSplit) return split(node, view, *d, numbers[0]);
  return slice_machine(node, view, *d, numbers[0], numbers[1]);
}

std::optional<int> Interpreter::dimension(const Code& node, const MachineView& view,
                                          const Element& arg) {
  const auto* given = arg.value.get<std::int64_t>();
  if (given == nullptr) {
    fail_type(arg.range, fmt::format("`{}`", name_of(node.method)), "a dimension, an integer",
              arg.value);
    return std::nullopt;
  }
  if (*given < 0 || *given >= view.dimensions()) {
    fail(DiagId::kBadDimension, arg.range,
         {std::string(name_of(node.method)), *given, dimensions_text(view.sizes().size())})
        .note(fmt::format("the machine is {}; dimensions count from 0", view_text(view)));
    return std::nullopt;
  }
  return static_cast<int>(*given);
}

Value Interpreter::split(const Code& node, const MachineView& view, int d, std::int64_t factor) {
  const std::int64_t n = view.sizes()[static_cast<std::size_t>(d)];
  if (factor < 1) {
    fail(DiagId::kBadSplitArgument, node.focus,
         {std::string("split"), fmt::format("a factor of {}", factor), std::string("1 or more")});
    return {};
  }
  if (n % factor != 0) {
    fail(DiagId::kSplitNotDivisible, node.focus, {factor, n, d})
        .note("the original drops processors here (D8)")
        .help("`balance_split`, `auto_split` and `decompose` take any number");
    return {};
  }
  return with_parts(node, view, d, {factor, n / factor});
}

Value Interpreter::with_parts(const Code& node, const MachineView& view, int d, Coordinates parts) {
  if (!fits(node, view, parts.size() - 1)) return {};
  return make_view(node, view.split(d, std::move(parts)));
}

Value Interpreter::pair_method(const Code& node, const MachineView& view, int a, int b) {
  if (a == b) {
    fail(DiagId::kSameDimension, node.focus, {std::string(name_of(node.method)), a});
    return {};
  }
  if (!fits(node, view, 0)) return {};
  if (node.method == Method::kSwap) return make_view(node, view.swap(a, b));
  std::int64_t size = 0;
  if (__builtin_mul_overflow(view.sizes()[static_cast<std::size_t>(a)],
                             view.sizes()[static_cast<std::size_t>(b)], &size)) {
    fail(DiagId::kOverflow, node.focus, {std::string("the merged extent")});
    return {};
  }
  return make_view(node, view.merge(a, b));
}

Value Interpreter::slice_machine(const Code& node, const MachineView& view, int d, std::int64_t lo,
                                 std::int64_t hi) {
  const std::int64_t n = view.sizes()[static_cast<std::size_t>(d)];
  if (lo < 0 || lo > hi || hi >= n) {
    fail(DiagId::kBadSlice, node.focus, {lo, hi, d, n})
        .note(
            "both ends are included: 0 <= first <= last < extent (the original takes some others: "
            "D4)");
    return {};
  }
  return fits(node, view, 0) ? make_view(node, view.slice(d, lo, hi)) : Value{};
}

Value Interpreter::grid_split(CodeId id, const Code& node, const MachineView& view, int d,
                              const Element& grid) {
  const std::int64_t n = view.sizes()[static_cast<std::size_t>(d)];
  const auto sizes = sizes_of_split(id, node, n, grid);
  return sizes ? with_parts(node, view, d, *sizes) : Value{};
}

std::optional<std::vector<std::int64_t>> Interpreter::sizes_of_split(CodeId id, const Code& node,
                                                                     std::int64_t n,
                                                                     const Element& grid) {
  const std::string name(name_of(node.method));
  const auto reject = [&](std::string what, std::string_view needs) {
    fail(DiagId::kBadSplitArgument, grid.range, {name, std::move(what), std::string(needs)});
    return std::nullopt;
  };
  if (node.method == Method::kBalanceSplit) {
    const auto* parts = grid.value.get<std::int64_t>();
    if (parts == nullptr) {
      fail_type(grid.range, "`balance_split`", "a number of dimensions", grid.value);
      return std::nullopt;
    }
    if (*parts < 1 || *parts > kMaxViewDimensions) {
      return reject(fmt::format("{} dimensions", *parts),
                    fmt::format("1 to {}", kMaxViewDimensions));
    }
    return balance_split(n, *parts);
  }
  const auto extents = integers(grid.value, grid.range, fmt::format("`{}`", name));
  if (!extents) return std::nullopt;
  if (extents->empty() || extents->size() > kMaxViewDimensions) {
    return reject(fmt::format("{} extents", extents->size()),
                  fmt::format("1 to {}", kMaxViewDimensions));
  }
  if (node.method == Method::kGreedySplit) return greedy_split(n, *extents);
  std::vector<std::int64_t> halo(extents->size(), 1);
  if (node.method == Method::kDecompose) {
    if (std::any_of(extents->begin(), extents->end(), [](std::int64_t x) { return x < 0; })) {
      return reject("a negative extent", "extents of 0 or more");
    }
    if (node.option != program::kNoCode) {
      const Value given = eval(node.option);
      if (failed_) return std::nullopt;
      const auto widths = integers(given, code(node.option).range, "`halo`");
      if (!widths) return std::nullopt;
      if (widths->size() != extents->size() ||
          std::any_of(widths->begin(), widths->end(), [](std::int64_t x) { return x < 0; })) {
        return reject(fmt::format("a halo of {}", to_string(given, "")),
                      fmt::format("{} widths of 0 or more", extents->size()));
      }
      halo = *widths;
    }
  }
  for (const SplitMemo& memo : memos_) {
    if (memo.code == id && memo.n == n && memo.extents == *extents && memo.halo == halo) {
      return memo.sizes;
    }
  }
  if (!tick(split_steps(node.method == Method::kAutoSplit, n, extents->size()), node.range)) {
    return std::nullopt;
  }
  const SplitResult result =
      node.method == Method::kAutoSplit ? auto_split(n, *extents) : decompose(n, *extents, halo);
  if (const auto* error = std::get_if<SplitError>(&result)) {
    if (*error == SplitError::kOverflow) {
      fail(DiagId::kOverflow, node.focus, {fmt::format("a product in `{}`", name)});
    } else {
      fail(DiagId::kStepLimit, node.focus, {kMaxFactorisations})
          .note(fmt::format("{} has that many factorisations into {}", n, extents->size()));
    }
    return std::nullopt;
  }
  const auto& sizes = std::get<std::vector<std::int64_t>>(result);
  memos_[next_memo_++ % memos_.size()] = {id, n, *extents, halo, sizes};
  return sizes;
}

std::optional<std::vector<std::int64_t>> Interpreter::integers(const Value& value, Range range,
                                                               std::string_view what) {
  if (failed_) return std::nullopt;
  std::vector<std::int64_t> made;
  const auto values = tuple_values(value);
  if (!values) {
    fail_type(range, what, "a tuple of integers", value);
    return std::nullopt;
  }
  if (!tick(static_cast<std::int64_t>(values->size()), range)) return std::nullopt;
  for (const Value& item : *values) {
    const auto* given = item.get<std::int64_t>();
    if (given == nullptr) {
      fail_type(range, what, "a tuple of integers", item);
      return std::nullopt;
    }
    made.push_back(*given);
  }
  return made;
}

Value Interpreter::has(const Code& node, const Value& base, const Element& memory) {
  const auto* processor = base.get<Processor>();
  const auto* kind = memory.value.get<MemKind>();
  if (processor == nullptr) {
    return fail_type(code(node.c).range, "`has`", "a processor before it", base);
  }
  if (kind == nullptr) return fail_type(memory.range, "`has`", "a memory kind", memory.value);
  return {machine_.can_address(processor->node, processor->kind, *kind)};
}

// A task's processor in the coordinates of a machine: its node and index in its own kind.
Value Interpreter::task_processor(const Code& node, const Value& base, const Element& machine_arg) {
  const auto* task = base.get<TaskValue>();
  const MachineView* view = machine_arg.value.machine();
  if (task == nullptr) {
    fail(DiagId::kUnknownMember, node.focus,
         {std::string(describe(type_of(base))), std::string("processor")});
    return {};
  }
  if (view == nullptr) {
    return fail_type(machine_arg.range, "`processor`", "a machine", machine_arg.value);
  }
  const auto& processor = task->parent ? task_->parent : task_->processor;
  if (!processor) {
    fail(DiagId::kNeedsSingleTask, node.focus,
         {std::string(function_name(mapping_function_)), std::string("task.processor")});
    return {};
  }
  const std::int64_t extents[] = {machine_.node_count(),
                                  machine_.processors_per_node(view->kind())};
  const std::int64_t at[] = {processor->node, processor->index};
  for (std::int64_t i = 0; i < 2; ++i) {
    if (at[i] < extents[i]) continue;
    fail(DiagId::kSliceIndexOutOfBound, machine_arg.range, {i, at[i], extents[i]})
        .note(fmt::format("{} stands on node {}, index {} of its kind",
                          task->parent ? "the parent task" : "the task", at[0], at[1]));
    return {};
  }
  MachineView::Cut cut;
  const auto index = view->from_base(at[0], at[1], &cut);
  if (!index) {
    fail(DiagId::kSliceIndexOutOfBound, machine_arg.range,
         {std::int64_t{cut.dimension}, cut.index, cut.size})
        .note(fmt::format("node {}, processor {} is cut off by a slice; the machine is {}", at[0],
                          at[1], view_text(*view)));
    return {};
  }
  std::vector<Value> values;
  for (std::int64_t coordinate : *index) values.push_back({coordinate});
  return make_tuple(std::move(values), node.range);
}

}  // namespace groma::mapper
