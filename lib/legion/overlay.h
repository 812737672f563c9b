// Applies a mapping on top of the mapper of a Legion program: the program's mapper answers first,
// then statements change its answers.
#pragma once

#include <legion.h>

#include <bitset>
#include <map>
#include <memory>
#include <string>

#include "base/names.h"
#include "groma/program.h"

namespace groma::legion {

class Adapter;

// A set of statement kinds, indexed by MappingStatement.
using StatementSet = std::bitset<9>;

// Tells which kinds of statements of a mapping name a task. `*` names all tasks.
class StatementsByTask {
 public:
  explicit StatementsByTask(const Program& program);
  StatementSet statements_naming(const std::string& task) const;
  // Returns the kinds of statements with a selector, such as `main > step`, that stands for the
  // task.
  StatementSet statements_selecting(const Legion::Task& task) const;

 private:
  // The kinds of statements about all tasks (`*`).
  StatementSet all_;
  std::map<std::string, StatementSet> names_;
  // The kinds of statements about the tasks that a pattern matches.
  std::map<std::string, StatementSet> patterns_;
  std::map<NameId, StatementSet> selectors_;
  Program program_;
};

// Makes a mapper that answers each hook as `own`, the program's mapper, and then changes what a
// statement of the mapping decides. `adapter` has the mapping. The new mapper owns both.
std::unique_ptr<Legion::Mapping::Mapper> make_overlay(
    Legion::Mapping::Mapper* own, std::unique_ptr<Adapter> adapter,
    std::shared_ptr<const StatementsByTask> mentions);

// Returns true if Legion may call this mapper from several threads at once. The adapter that wraps
// such a mapper makes Legion call it from one thread at a time.
bool is_concurrent(const Legion::Mapping::Mapper& own);

// Returns true if the layouts that `own` requests do not express demands of a task, because `own`
// is Legion's DefaultMapper or another mapping. Used for instances that RequestedInstances has not
// seen.
bool requests_default_layouts(const Legion::Mapping::Mapper& own);

// Returns true if `own` is derived from Legion's DefaultMapper and overrides a hook in which it can
// choose the layouts that DefaultMapper requests.
bool chooses_layouts(const Legion::Mapping::Mapper& own);

// Returns the program's mapper below a mapper that make_overlay() made, or null for any other
// mapper.
Legion::Mapping::Mapper* mapper_below_overlay(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
