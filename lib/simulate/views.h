// Views: makes the views by which mappers see the tasks and launches of an application.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "app/data.h"
#include "groma/task_view.h"
#include "simulate/spaces.h"
#include "simulate/task_run.h"

namespace groma::sim {

class Views {
 public:
  // The object keeps references to both arguments, so they must outlive it.
  Views(const app::Data& data, const DataSpaces& spaces);

  std::span<const VariantView> variants(std::uint32_t task) const { return variants_[task]; }
  static TaskId id_of(std::uint32_t task) { return task + 1; }
  // Returns the view of a launch before it is sliced, without its domain. If `launch` is null,
  // returns the view of the top-level task. `requirements` holds the memory of the requirements of
  // the view.
  TaskView view(std::uint32_t task, const app::Launch* launch,
                std::vector<RequirementView>& requirements);
  // Returns the view of one task with its pieces. In the view, each piece of a partition appears as
  // a region of its own, with a number that no other piece has.
  TaskView view_of(const TaskRun& run, std::vector<RequirementView>& requirements);
  // Returns the piece to which mappers refer by the number `id`, and sets `region` to its region.
  // Returns null if there is no such piece.
  const Piece* piece_of(RegionId id, std::uint32_t& region) const;

 private:
  struct Requirement {
    std::vector<std::string_view> names;
    std::vector<FieldView> fields;
  };
  void set_piece(const app::RequirementData& where, const Piece& piece,
                 RequirementView& requirement) const;
  const std::vector<RequirementView>& requirements(std::uint32_t task, const app::Launch* launch);

  const app::Data& data_;
  const DataSpaces& spaces_;
  // For each task: the views of its variants.
  std::vector<std::vector<VariantView>> variants_;
  std::deque<Requirement> kept_;
  // The views of the requirements of each launch, by the number of the launch. The last entry is
  // for the top-level task.
  std::vector<std::vector<RequirementView>> launches_;
  std::map<app::Names, std::uint64_t> name_keys_;
};

}  // namespace groma::sim
