// LoggedLaunches: the index launches whose slices a mapper log lists, and the launch of a point
// that comes later in the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "groma/geometry.h"
#include "legion_run/log_limits.h"
#include "legion_run/log_lines.h"

namespace groma::inspect {

class LoggedLaunches {
 public:
  // A launch whose points may follow.
  struct Launch {
    std::uint64_t uid = 0;
    Rect domain;              // bounding box of the slices, or the logged domain
    bool whole = false;       // the log states the domain
    std::int64_t mapped = 0;  // points mapped so far
  };

  // Adds a launch with this domain: `whole` if the log states the domain, otherwise its first
  // slice. Returns null if the launch is known already (a slice may be sliced again, with the
  // launch's number) or if the limits are reached. The result is valid as long as this object.
  Launch* add(const LoggedTask& task, const Rect& domain, bool whole, LogLimits& limits);
  // Extends the launch's bounding box by a slice, unless the log states the domain. Returns false
  // if the slice does not fit the launch.
  static bool extend(Launch& launch, const Rect& slice);
  // Returns the launch of a point if the log does not state it: an earlier launch that still lacks
  // points. Returns null if the possible launches have different domains. The points of launches
  // come in any order, so the point is counted for the oldest.
  const Launch* of_point(const LoggedTask& task);

  // Returns the index of a domain in domains() and adds it if it is new; nullopt if the list is
  // full.
  std::optional<std::size_t> domain_index(const Rect& domain, LogLimits& limits);
  const std::vector<Rect>& domains() const { return domains_; }

 private:
  std::map<std::string, std::deque<Launch>, std::less<>> by_task_;
  std::size_t count_ = 0;
  std::vector<Rect> domains_;
  // Index in domains_, by lower bounds and extents.
  std::map<std::vector<std::int64_t>, std::size_t> indices_;
};

}  // namespace groma::inspect
