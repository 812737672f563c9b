// Where the mapping functions of a bound program send the points of launches.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"

namespace groma::mapper {

// An index launch of a task by a function. `kind`, where known, is what the task runs on.
struct Launch {
  FunctionId function = 0;
  std::string_view task;
  Rect domain;
  std::optional<ProcKind> kind;
};

// What all threads share.
class FunctionMaps {
 public:
  FunctionMaps(BoundProgram bound, LogSink* log) : bound_(std::move(bound)), log_(log) {}
  const BoundProgram& bound() const { return bound_; }
  LogSink* log() const { return log_; }

 private:
  BoundProgram bound_;
  LogSink* log_;
};

// One thread's way in. `maps` must outlive it.
class MapCursor {
 public:
  explicit MapCursor(FunctionMaps* maps)
      : evaluator_(maps->bound(), maps->log()), diags_(maps->bound().program().source()) {}

  // Cuts `part` of the launch into boxes of one processor each. The error of the first point that
  // has no place, after which nothing more is cut.
  std::optional<Diagnostic> slices(const Launch& launch, const Rect& part,
                                   const std::function<void(const Rect&, const Processor&)>& slice);
  // Appends the processors of a point.
  std::optional<Diagnostic> place(const Launch& launch, const Point& point,
                                  std::vector<Processor>& processors);

 private:
  Evaluator evaluator_;
  Diagnostics diags_;
};

}  // namespace groma::mapper
