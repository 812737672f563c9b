// Where the mapping functions of a bound program send the points of launches: an IndexMap for each
// launch, made when it is first seen, shared by all threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/index_map.h"

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
  explicit FunctionMaps(BoundProgram bound) : bound_(std::move(bound)) {}
  const BoundProgram& bound() const { return bound_; }

  // The map of that launch. Null on a machine too large for one, as `diags` then says.
  std::shared_ptr<const IndexMap> find(const Launch& launch, Diagnostics& diags) const;

 private:
  // Launches are the application's, and may all differ; beyond this one goes for each that comes.
  // At some 10 KB each.
  static constexpr std::size_t kMaxMaps = 4'096;
  struct Key {
    FunctionId function;
    int kind;
    std::vector<std::int64_t> domain;
    std::string task;
    auto operator<=>(const Key&) const = default;
  };

  BoundProgram bound_;
  mutable std::mutex mutex_;
  mutable std::map<Key, std::shared_ptr<const IndexMap>> maps_;
};

// One thread's way in. `maps` must outlive it.
class LaunchCursor {
 public:
  explicit LaunchCursor(const FunctionMaps* maps)
      : maps_(maps), diags_(maps->bound().program().source()) {}

  // Cuts `part` of the launch into boxes of one processor each. The error of a point that has no
  // place, after which nothing more is cut.
  std::optional<Diagnostic> slices(const Launch& launch, const Rect& part,
                                   const std::function<void(const Rect&, const Processor&)>& slice);
  // Appends the processors of a point.
  std::optional<Diagnostic> place(const Launch& launch, const Point& point,
                                  std::vector<Processor>& processors);

 private:
  // The launches that were asked for last.
  static constexpr std::size_t kOpen = 16;
  struct Open {
    FunctionId function;
    std::optional<ProcKind> kind;
    Rect domain;
    std::string task;
    std::shared_ptr<const IndexMap> map;
    IndexMap::Cursor cursor;

    bool is(const Launch& launch) const;
  };

  Open* open(const Launch& launch);
  std::optional<Diagnostic> error() const;

  const FunctionMaps* maps_;
  Diagnostics diags_;
  std::vector<Open> open_;
  std::size_t last_ = 0;      // used
  std::size_t replaced_ = 0;  // of open_, when it is full
};

}  // namespace groma::mapper
