// Returns the value of a member, such as `task.ipoint` or `m.size`, or reports why there is none.
#include "evaluate/members.h"

#include <fmt/format.h>

#include <span>

namespace groma::mapper {

using program::CodeNode;
using program::Member;
using program::Type;

namespace {

// Returns an integer as a value.
ProgramValue number(std::int64_t value) { return {value}; }

// Returns a member of a task or of its parent. Of a parent, only the name can be read.
ProgramValue task_member(Evaluation& run, const CodeNode& node, TaskValue task) {
  const auto tuple_of = [&](std::span<const std::int64_t> coordinates) {
    std::vector<ProgramValue> values;
    for (std::int64_t coordinate : coordinates) values.push_back(number(coordinate));
    return make_tuple(run, std::move(values), node.range);
  };
  const auto name = [](std::string_view text) -> ProgramValue {
    return {std::make_shared<const std::string>(text)};
  };
  if (task.is_parent && node.member != Member::kName) {
    run.fail_with(DiagId::kParentMember, node.focus, {std::string(name_of(node.member))});
    return {};
  }
  if (program::needs_index_launch(node.member) && (run.task().processor || run.task().parent)) {
    run.fail_with(
        DiagId::kNeedsIndexTask, node.focus,
        {std::string(run.mapping_function()), fmt::format("task.{}", name_of(node.member))});
    return {};
  }
  switch (node.member) {
    case Member::kName:
      return name(task.is_parent ? run.task().parent_name : run.task().name);
    case Member::kIspace:
      return tuple_of(run.task().domain.extents.coordinates());
    case Member::kIlo:
      return tuple_of(run.task().domain.lower.coordinates());
    case Member::kIpoint: {
      Point relative = run.task().point;
      for (int i = 0; i < relative.dimensions(); ++i) relative[i] -= run.task().domain.lower[i];
      return tuple_of(relative.coordinates());
    }
    case Member::kIrank:
      return number(run.task().launch_domain().rank(run.task().point));
    case Member::kIvolume:
      return number(run.task().launch_domain().count());
    case Member::kParent:
      if (run.task().parent) return {TaskValue{true}};
      run.fail_with(DiagId::kNeedsSingleTask, node.focus,
                    {std::string(run.mapping_function()), std::string("task.parent")});
      return {};
    default:
      run.fail_with(DiagId::kUnknownMember, node.focus,
                    {std::string(describe_type(Type::kTask)), std::string(name_of(node.member))});
      return {};
  }
}

}  // namespace

std::shared_ptr<const std::vector<ProgramValue>> sizes_as_values(const MachineView& view) {
  std::vector<ProgramValue> sizes;
  for (std::int64_t size : view.sizes()) sizes.push_back(number(size));
  return std::make_shared<const std::vector<ProgramValue>>(std::move(sizes));
}

// Returns a member of a value. A processor has the members of a pair (node, index), and a machine
// has those of the tuple of its extents. `volume` is the product of the items and fails if it
// overflows.
ProgramValue read_member(Evaluation& run, const CodeNode& node, const ProgramValue& base,
                         Range base_range) {
  if (const auto* task = base.get<TaskValue>()) return task_member(run, node, *task);
  const auto values =
      base.as_machine() != nullptr ? sizes_as_values(*base.as_machine()) : tuple_values(base);
  if (!values || node.member > Member::kLen) {
    run.fail_with(DiagId::kUnknownMember, node.focus,
                  {std::string(describe_type(type_of(base))), std::string(name_of(node.member))});
    return {};
  }
  if (node.member == Member::kLen) return number(static_cast<std::int64_t>(values->size()));
  if (node.member == Member::kSize) return make_tuple(run, *values, node.range);
  const auto sizes = integers_of_tuple(
      run, base.as_machine() != nullptr ? make_tuple(run, *values, node.range) : base, base_range,
      "`volume`");
  if (!sizes) return {};
  // The product of the items; a product that does not fit is an error.
  std::int64_t volume = 1;
  for (std::int64_t size : *sizes) {
    if (__builtin_mul_overflow(volume, size, &volume)) {
      run.fail_with(DiagId::kOverflow, node.focus, {std::string("the volume")});
      return {};
    }
  }
  return number(volume);
}

}  // namespace groma::mapper
