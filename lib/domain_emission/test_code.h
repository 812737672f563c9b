// Writes the program that tests the emitted header of a domain.
#pragma once

#include <string>
#include <string_view>

#include "groma/domain_emission.h"

namespace groma::domains {

// Returns the program. It includes the header, or reads it as the source of OpenCL kernels.
std::string test_program(const Domain& domain, Language language, std::string_view title,
                         const EmittedDomain& files);

}  // namespace groma::domains
