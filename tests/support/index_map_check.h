// An IndexMap against the reference evaluation, by every question that it answers.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groma/evaluate.h"
#include "groma/index_map.h"

namespace groma::testing {

struct IndexMapTally {
  int launches = 0, points = 0;
  int errors = 0;  // launches with a point that fails
  int placed = 0;  // with one that does not
  int specialised = 0, proved = 0;
};

// What the reference says of the points of `part`, a box of the launch `launch.domain`, or of the
// single task `launch`. With `launch.points`, `part` is a range of ranks. Immutable: threads
// compare with it together.
class ReferenceAnswers {
 public:
  struct Answer {
    Point point;
    std::optional<PointTarget> placed;
    std::string error;  // as text, without warnings
  };

  ReferenceAnswers(BoundProgram bound, FunctionId function, const TaskPoint& launch,
                   std::optional<ProcKind> kind, const Rect& part);

  // What a map of the launch, which other threads may use too, says differently; "" if nothing. Of
  // a launch that is larger than `part` the boxes of processors and nodes are only looked at where
  // every dimension decides for itself, and not beyond the first some.
  std::string compare(std::shared_ptr<const IndexMap> map) const;
  void count(const IndexMap& map, IndexMapTally* tally) const;

  const TaskPoint& launch() const { return launch_; }
  const std::vector<Answer>& points() const { return points_; }  // in row-major order
  std::size_t first_error() const { return first_error_; }       // points().size(): none

 private:
  friend class Comparison;

  BoundProgram bound_;
  FunctionId function_;
  TaskPoint launch_;
  std::optional<ProcKind> kind_;
  Rect part_;
  std::vector<Answer> points_;
  std::size_t first_error_ = 0;
};

// Both at once for all of a launch (or single task). `map` as above; null: it is made here.
std::string compare_with_reference(const BoundProgram& bound, FunctionId function,
                                   const TaskPoint& launch, std::optional<ProcKind> kind,
                                   IndexMapTally* tally,
                                   std::shared_ptr<const IndexMap> map = nullptr);

}  // namespace groma::testing
