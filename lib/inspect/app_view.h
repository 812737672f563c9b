// AppView: a task of an application as a mapper sees it; and what else it takes to ask mappers.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "groma/app.h"
#include "groma/machine.h"
#include "groma/task_view.h"
#include "groma/wish.h"

namespace groma {

// Owns what its views point to; must outlive them, as the application must outlive it.
class AppView {
 public:
  // `number` is the task's in the application.
  AppView(const Application& app, std::size_t number);
  AppView(const AppView&) = delete;
  AppView& operator=(const AppView&) = delete;

  // The task as that launch makes it, standing on `current`; of an index launch as launched, before
  // it is cut.
  TaskView view(const AppLaunch& launch, const Processor& current = {}) const;

 private:
  struct Requirement {
    std::vector<std::string_view> names;
    std::vector<FieldView> fields;
  };
  const Application& app_;
  const AppTask& task_;
  TaskId id_;
  std::vector<VariantView> variants_;
  std::vector<Requirement> parts_;  // of requirements
  std::vector<RequirementView> requirements_;
};

// By kind, the first processor in each type of node that has some: a mapper may decide differently
// on each.
using FirstProcessors = std::array<std::vector<Processor>, kProcKindCount>;
FirstProcessors first_of_each_node_type(const Machine& machine);

// Whether two wishes say the same of memories and layouts, by the same statements.
bool same_data(const RequirementWish& a, const RequirementWish& b);

}  // namespace groma
