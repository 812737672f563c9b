// A mapping above the mapper of a Legion program.
#pragma once

#include <legion.h>

#include <bitset>
#include <map>
#include <memory>
#include <string>

#include "groma/program.h"

namespace groma::legion {

class Adapter;

// Kinds of statements, by MappingStatement.
using StatementSet = std::bitset<9>;

// Which kinds of statements name a task. `*` names all tasks.
class Mentions {
 public:
  explicit Mentions(const Program& program);
  StatementSet of(const std::string& task) const;

 private:
  StatementSet all_;  // those with `*`
  std::map<std::string, StatementSet> names_;
};

// Makes a mapper that answers each hook as `own`, the program's mapper, does, and then changes what
// a statement of the mapping decides. `adapter` has the mapping. Both end with what is returned.
std::unique_ptr<Legion::Mapping::Mapper> make_overlay(Legion::Mapping::Mapper* own,
                                                      std::unique_ptr<Adapter> adapter,
                                                      std::shared_ptr<const Mentions> mentions);

// Returns true if Legion may call this mapper from several threads at once. The calls of an adapter
// above it are then made in turn.
bool is_concurrent(const Legion::Mapping::Mapper& own);

// Returns true if the layouts that `own` asks for are those of Legion's DefaultMapper, or of
// another mapping, which demand nothing of a task. Used where AskedInstances has seen nothing.
bool asks_by_default(const Legion::Mapping::Mapper& own);

// The `own` of a mapper that make_overlay made; null for any other mapper.
Legion::Mapping::Mapper* own_of(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
