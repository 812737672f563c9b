// LoggedLaunches: keeps the index launches that a mapper log shows, and finds the launch to which a
// later point task of the log belongs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "groma/explain_log.h"
#include "groma/geometry.h"
#include "legion_run/log_limits.h"
#include "legion_run/log_lines.h"

namespace groma::inspect {

class LoggedLaunches {
 public:
  // An index launch. Its point tasks may follow in the log.
  struct Launch {
    std::uint64_t uid = 0;
    // The launch domain if the log states it, otherwise the bounding box of the slices that were
    // read so far.
    Rect domain;
    // True if the log states the domain of the launch.
    bool is_domain_stated = false;
    // The number of point tasks of the launch that were mapped so far in the log.
    std::int64_t mapped = 0;
  };

  // Adds an index launch. `whole`: `domain` is the launch domain; otherwise it is the first slice
  // of the launch. Returns null if the launch is known already (a slice may be sliced again, with
  // the launch's number) or if the limits are reached. The result is valid as long as this object.
  Launch* add(const LoggedTask& task, const Rect& domain, bool whole, LogLimits& limits);
  // Extends the launch's bounding box by a slice, unless the log states the domain. Returns false
  // if the slice does not fit the launch.
  static bool extend(Launch& launch, const Rect& slice);
  // Returns the launch of a point task whose launch the log does not state: an earlier launch of
  // the task that still lacks points. Returns null if the possible launches have different domains.
  // The points of launches come in any order, so the point is counted for the oldest launch.
  const Launch* launch_of_point(const LoggedTask& task);

  // Returns the index of a launch domain in domains() and adds the domain if it is new. Returns
  // nullopt if the list is full.
  std::optional<std::size_t> domain_index(const MapperLog::LaunchedDomain& domain,
                                          LogLimits& limits);
  const std::vector<MapperLog::LaunchedDomain>& domains() const { return domains_; }

 private:
  std::map<std::string, std::deque<Launch>, std::less<>> by_task_;
  std::size_t count_ = 0;
  std::vector<MapperLog::LaunchedDomain> domains_;
  // The index of each domain in domains_. The key consists of the lower corner, the extents,
  // whether they come from slices, and the number and id of a domain with holes.
  std::map<std::vector<std::int64_t>, std::size_t> indices_;
};

}  // namespace groma::inspect
