// What the figures of benchmarks/gpu_figures.cu mean for a machine.
#pragma once

#include <functional>

#include "groma/calibrate.h"
#include "machine/figures.h"

namespace groma::calibration {

// Calls `use` for every figure that was measured on the GPUs. The second argument of `use` is the
// figure of the node that gets the value; null: the value stands in the record only.
void for_each_gpu_figure(
    const GpuFigures& gpu,
    const std::function<void(const MeasuredFigure&, SourcedNumber NodeFigures::*)>& use);

}  // namespace groma::calibration
