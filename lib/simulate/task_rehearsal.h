// TaskRehearsal: maps one task of a rehearsal, on every processor where it may run, and collects
// what is refused. Rehearsal goes through the program and calls it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulate/findings.h"
#include "simulate/hash.h"
#include "simulate/links.h"
#include "simulate/mapping.h"
#include "simulate/rehearsal.h"
#include "simulate/wants.h"

namespace groma::sim {

class TaskRehearsal : public Mapping {
 protected:
  // `notes_wants`: the instances that all requirements may want are noted.
  TaskRehearsal(const app::Data& data, const Spaces& spaces, std::shared_ptr<const Machine> machine,
                const MapperFactory& make, const RehearsalOptions& options, bool notes_wants);

  // Maps a task. Asks about it on each processor in `may`, or only on its own if `may` is empty.
  // Takes instances on the first processor of the answer. All processors of the answers go to
  // `places`. Returns false, with nothing taken, if the task is refused.
  bool map(TaskRun& run, const std::vector<Processor>& may, std::vector<Processor>& places);
  // Notes that the task may end at once, or at any time before the next wait for everything.
  void leave(TaskRun& run);
  // Gives back the memory of the task's lists.
  void release_lists(TaskRun& run);
  // Notes that all tasks are over.
  void all_over() { store_.all_over(); }
  // Returns the mapper that maps a task on this processor. A program and the default mapper answer
  // map_task by the processor of the task alone. One mapper object for each kind and node therefore
  // does, and keeps its plans.
  Mapper& mapper_of(const Processor& at) { return mappers_.of({at.kind, at.node, 0}); }

  // Moves the refusals that ended the run to the findings, and lets the rehearsal go on. With
  // `certain` false they become warnings. Afterwards the store is not certain, since the run would
  // be over.
  void collect(const app::Launch* launch, const TaskRun* run, bool certain = true);
  // Warns about memories and copies that may fail in another order of the tasks.
  void judge_wants();
  // Returns the findings, and the reason why the rehearsal is incomplete, if there is one.
  RehearsalResult finish();

  // Adds a value to the signature.
  void sign(std::uint64_t value) { signature_ = hash_on(signature_, value); }

  const RehearsalOptions& options_;
  const bool notes_wants_;
  Findings findings_;
  Wants wants_;
  // `certain_`: the store is still that of the run. `ordered_`: mappers are still asked in the
  // order of the run.
  bool certain_ = true, ordered_ = true;
  std::uint64_t signature_ = 1;              // hash of the taken instances and the copies, in order
  std::vector<RequirementView> views_kept_;  // a buffer

 private:
  bool stops() override;
  std::int64_t bytes() const override { return Mapping::bytes() + wants_.bytes(); }

  bool take_instances(TaskRun& run, const std::vector<Processor>& may,
                      std::vector<Processor>& places);
  void ask_on_others(TaskRun& run, const std::vector<Processor>& may,
                     std::vector<Processor>& places);
  bool take_instance(TaskRun& run, const TaskView& view, const std::vector<Processor>& places,
                     std::uint32_t position);
  void leave_all(TaskRun& run);
  void leave(const Fetch& fetch);
  void check_copy(const TaskRun& run, const Fetch& fetch);
  void check_formulas(const TaskRun& run);
  bool knows_instances() const;
  bool refused_for(DiagId id) const;

  Links links_;
  bool limited_ = false;               // a task has an `InstanceLimit`
  bool limited_inside_ = false;        // so has a task that a launched task launches
  std::uint32_t asking_ = 0;           // the task whose mapper is asked
  std::vector<app::PieceSize> sizes_;  // a buffer
};

}  // namespace groma::sim
