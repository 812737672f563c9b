// What the figures of benchmarks/gpu_figures.cu mean for a machine.
#pragma once

#include <functional>

#include "groma/calibrate.h"
#include "machine/figures.h"

namespace groma::calibration {

// Passes every figure of the GPUs to `use`, with the figure of the node that it gives, or null if
// it stands in the record only.
void use_gpu_figures(
    const GpuFigures& gpu,
    const std::function<void(const MeasuredFigure&, SourcedNumber NodeFigures::*)>& use);

}  // namespace groma::calibration
