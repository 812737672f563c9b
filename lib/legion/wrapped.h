// A mapper of the program's own beneath a mapping.
#pragma once

#include <legion.h>

#include <memory>
#include <set>
#include <string>

#include "groma/program.h"

namespace groma::legion {

// The tasks that a program's statements name, any of them; `*` names all.
class Mentions {
 public:
  explicit Mentions(const Program& program);
  bool operator()(const std::string& task) const { return all_ || names_.contains(task); }

 private:
  bool all_ = false;
  std::set<std::string> names_;
};

// What concerns a task that is mentioned is `adapter`'s, also the operations which it issues; all
// else is `own`'s. Both end with what is returned.
std::unique_ptr<Legion::Mapping::Mapper> make_wrapped(
    Legion::Mapping::Mapper* own, std::unique_ptr<Legion::Mapping::Mapper> adapter,
    std::shared_ptr<const Mentions> mentions);

// Whether its calls may come at once. Those of an adapter above it are then made in turn.
bool is_concurrent(const Legion::Mapping::Mapper& own);

// The `own` of such a mapper; null for any other.
Legion::Mapping::Mapper* own_of(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
