// Computes the types of values and the text that shows them.
#include "evaluate/value.h"

#include <fmt/format.h>

namespace groma::mapper {
namespace {

// Returns a tuple as the language writes it: "(1, 2)", or "(1,)" for a single item.
std::string list(const std::vector<std::string>& items) {
  std::string text = "(";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ", ") + items[i];
  return text + (items.size() == 1 ? ",)" : ")");
}

// Returns the node and the index of a processor, for example "(2, 4)".
std::string pair(const Processor& processor) {
  return fmt::format("({}, {})", processor.node, processor.index);
}

}  // namespace

// Returns the type of a value. The order of kTypes is the order of the variant's alternatives.
program::Type type_of(const ProgramValue& value) {
  using program::Type;
  constexpr Type kTypes[] = {Type::kAny,        Type::kInt,      Type::kBool,   Type::kTuple,
                             Type::kString,     Type::kMachine,  Type::kTask,   Type::kProcessor,
                             Type::kProcessors, Type::kProcKind, Type::kMemKind};
  if (const auto* task = value.get<TaskValue>(); task != nullptr && task->is_parent) {
    return Type::kParent;
  }
  return kTypes[value.contents.index()];
}

// Returns the items of a tuple, or the node and index of a processor. Returns null for all other
// values. The items of a tuple are shared with it, not copied.
std::shared_ptr<const std::vector<ProgramValue>> tuple_values(const ProgramValue& value) {
  using Values = std::vector<ProgramValue>;
  if (const auto* tuple = value.get<std::shared_ptr<const TupleValue>>()) {
    return std::shared_ptr<const Values>(*tuple, &(*tuple)->values);
  }
  if (const auto* processor = value.get<Processor>()) {
    return std::make_shared<const Values>(Values{{processor->node}, {processor->index}});
  }
  return nullptr;
}

// Returns the approximate length of the value's text in bytes, without making the text. A long text
// costs steps.
std::int64_t printed_bytes(const ProgramValue& value) {
  if (const auto* text = value.get<std::shared_ptr<const std::string>>()) {
    return static_cast<std::int64_t>((*text)->size());
  }
  if (const auto* set = value.get<std::shared_ptr<const ProcessorSet>>()) {
    return 8 * static_cast<std::int64_t>((*set)->processors.size());
  }
  std::int64_t bytes = 8;
  if (const TupleValue* tuple = value.as_tuple()) {
    for (const ProgramValue& item : tuple->values) bytes += printed_bytes(item);
  }
  return bytes;
}

// Returns the value as `print` and messages show it. A task is shown as `task_name`, a machine by
// its kind and extents, and a set of processors in braces.
std::string to_string(const ProgramValue& value, std::string_view task_name) {
  struct Writer {
    std::string_view task_name;
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(const std::shared_ptr<const TupleValue>& tuple) const {
      std::vector<std::string> items;
      for (const ProgramValue& item : tuple->values) items.push_back(to_string(item, task_name));
      return list(items);
    }
    std::string operator()(const std::shared_ptr<const std::string>& text) const { return *text; }
    std::string operator()(const std::shared_ptr<const MachineView>& view) const {
      std::vector<std::string> sizes;
      for (std::int64_t size : view->sizes()) sizes.push_back(std::to_string(size));
      return fmt::format("{} {}", name_of(view->kind()), list(sizes));
    }
    std::string operator()(TaskValue task) const {
      return std::string(task.is_parent ? "parent" : task_name);
    }
    std::string operator()(const Processor& processor) const { return pair(processor); }
    std::string operator()(const std::shared_ptr<const ProcessorSet>& set) const {
      std::string text = "{";
      for (const Processor& processor : set->processors) {
        text += (text.size() == 1 ? "" : ", ") + pair(processor);
      }
      return text + "}";
    }
    std::string operator()(ProcKind kind) const { return std::string(name_of(kind)); }
    std::string operator()(MemKind kind) const { return std::string(name_of(kind)); }
  };
  return std::visit(Writer{task_name}, value.contents);
}

}  // namespace groma::mapper
