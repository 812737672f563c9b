// AppView: a task of a workload as a mapper sees it, whichever way it is launched.
#pragma once

#include <string_view>
#include <vector>

#include "app/data.h"
#include "groma/task_view.h"

namespace groma::app {

// The names of each requirement of a task, as one launch of it has them.
using LaunchNames = std::vector<Names>;
LaunchNames names_of(const Data& data, const Use& use);

// As a task's variants are seen, in their order, numbered from 1.
std::vector<VariantView> views_of(const std::vector<Variant>& variants);
// What a requirement is, whatever it is on.
RequirementView view_of(const Requirement& requirement, Privilege privilege);

// Owns what its views point to but the names, which must outlive it, as the workload must.
class AppView {
 public:
  AppView(const Data& data, std::uint32_t task, const LaunchNames& names);
  AppView(const AppView&) = delete;
  AppView& operator=(const AppView&) = delete;

  // The task as that launch makes it, standing on `current`; of an index launch as launched, before
  // it is cut.
  TaskView view(const Use& use, const Processor& current = {}) const;

 private:
  struct Part {
    std::vector<std::string_view> names;
    std::vector<FieldView> fields;
  };
  const Task& task_;
  TaskId id_;
  std::vector<VariantView> variants_;
  std::vector<Part> parts_;  // of requirements
  std::vector<RequirementView> requirements_;
};

}  // namespace groma::app
