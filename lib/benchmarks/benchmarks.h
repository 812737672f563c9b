// The built-in applications, one function each. Of the nine benchmarks, names, requirements,
// fields, launches and operation counts are those of the originals: Regent's circuit_sparse,
// stencil_fast and pennant as the paper ran them, and DISTAL's generated matrix multiplications.
#pragma once

#include "groma/app.h"

namespace groma::app {

Application circuit();
Application stencil();
Application pennant();
Application cannon();
Application summa();
Application pumma();
Application johnson();
Application solomonik();
Application cosma();
// Not a benchmark of the paper: an application whose launches are not boxes.
Application cholesky();

}  // namespace groma::app
