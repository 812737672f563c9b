// TaskViews: Legion's tasks as a mapper of ours sees them.
#pragma once

#include <legion.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "groma/task_view.h"
#include "legion/machine_map.h"

namespace groma::legion {

using Legion::Mapping::MapperContext;

Point point_of(const Legion::DomainPoint& point);
// Of a domain that is no box: the box around it.
Rect rect_of(const Legion::Domain& domain);
Legion::DomainPoint realm_point(const Point& point);
Legion::Domain domain_of(const Rect& rect);
// The boxes that a domain is made of.
void for_each_box(const Legion::Domain& domain, const std::function<void(const Rect&)>& box);

// What is behind one view. Reused; a mapper object has as many as hooks are under way at once.
struct ViewStorage {
  TaskView view;
  TaskView parent;
  std::vector<RequirementView> requirements;
  std::vector<std::vector<FieldView>> fields;
  std::vector<FutureView> futures;
};

// What one mapper object knows of tasks and regions; not thread-safe.
class TaskViews {
 public:
  TaskViews(const MachineMap& machine, Legion::Mapping::MapperRuntime* runtime)
      : machine_(machine), runtime_(runtime) {}

  // A view of the task, which stands on `current`; without its requirements unless asked. Good
  // until `storage` is used again.
  const TaskView& make(MapperContext context, const Legion::Task& task, const Processor& current,
                       bool requirements, ViewStorage& storage);
  // The same without requirements and parent, for long lists.
  void fill(MapperContext context, const Legion::Task& task, const Processor& current,
            TaskView& view);
  // The view of a task's parent, which stands on `otherwise` where no mapping names its processor.
  void fill_parent(MapperContext context, const Legion::Task& parent, const Processor& otherwise,
                   TaskView& view);

 private:
  struct Known {
    std::string name;
    std::vector<VariantView> variants;
    std::deque<std::vector<LayoutDemand>> demands;  // of each variant
  };
  struct Aliases {
    std::vector<std::string> names;
    std::vector<std::string_view> views;
    std::uint64_t key = 0;
  };
  using AliasKey = std::pair<Legion::LogicalRegion, Legion::LogicalRegion>;

  const Known& known(MapperContext context, const Legion::Task& task);
  std::vector<LayoutDemand> demands(MapperContext context, Legion::TaskID task,
                                    Legion::VariantID variant);
  void add_requirement(MapperContext context, const Legion::RegionRequirement& requirement,
                       ViewStorage& storage);
  const Aliases& aliases(MapperContext context, const Legion::RegionRequirement& requirement);

  const MachineMap& machine_;
  Legion::Mapping::MapperRuntime* runtime_;
  std::unordered_map<Legion::TaskID, Known> known_;
  // By what was asked; sets of names that are equal are one.
  std::map<AliasKey, const Aliases*> by_region_;
  std::map<std::vector<std::string>, std::unique_ptr<Aliases>> sets_;
  std::uint64_t last_key_ = 0;
};

}  // namespace groma::legion
