// AppView: gives a mapper's view of a task of a workload, for any of its launches.
#pragma once

#include <string_view>
#include <vector>

#include "app/data.h"
#include "groma/task_view.h"

namespace groma::app {

// The names of each requirement of a task in one launch.
using LaunchNames = std::vector<Names>;
LaunchNames names_of(const Data& data, const DistinctLaunch& use);

// Returns the views of a task's variants, in their order, with ids from 1.
std::vector<VariantView> views_of(const std::vector<Variant>& variants);
// Returns the view of a requirement without its names, fields and region.
RequirementView view_of(const Requirement& requirement, Privilege privilege);

// Makes the views of one task for a mapper, and owns everything that these views point to, except
// the names. The names and the workload must outlive this object.
class AppView {
 public:
  AppView(const Data& data, std::uint32_t task, const LaunchNames& names);
  AppView(const AppView&) = delete;
  AppView& operator=(const AppView&) = delete;

  // Returns the view of the task for that launch, on the processor `current`. An index launch is
  // viewed before it is sliced. The view refers to `use`.
  TaskView view(const DistinctLaunch& use, const Processor& current = {}) const;

 private:
  struct RequirementFields {
    std::vector<std::string_view> names;
    std::vector<FieldView> fields;
  };
  const Task& task_;
  TaskId id_;
  std::vector<VariantView> variants_;
  // The names and fields of each requirement.
  std::vector<RequirementFields> parts_;
  std::vector<RequirementView> requirements_;
};

}  // namespace groma::app
