// Whether every source file is built: sources are listed, so one may be forgotten, and a test that
// is not listed never fails.
#pragma once

#include <filesystem>

#include "architecture/text.h"

namespace groma::architecture {

// Every .cc below lib/, examples/, tests/ and benchmarks/ stands in the CMakeLists.txt of its
// folder or of one above, by its path from there; fuzz targets and benchmarks by their name.
// tests/package is a project of its own.
Violations check_sources(const std::filesystem::path& root);

}  // namespace groma::architecture
