// calibrate() for any topology of hwloc.
#pragma once

#include <hwloc.h>

#include "groma/calibrate.h"

namespace groma::calibration {

// Measures this computer as calibrate() does, but as if it had this hwloc topology. Cores and
// memories that the computer does not have cannot be bound; their work runs anywhere.
Result<Calibration> calibrate_topology(hwloc_topology_t topology,
                                       const CalibrationOptions& options);

}  // namespace groma::calibration
