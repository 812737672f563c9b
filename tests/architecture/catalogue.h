// Whether every diagnostic of include/groma/catalogue.inc is emitted, explained and tested.
#pragma once

#include <filesystem>

#include "architecture/text.h"

namespace groma::architecture {

// For each line `GROMA_DIAGNOSTIC(kUnknownName, "unknown-name", ...)`: neither name stands twice;
// `DiagId::kUnknownName` occurs in lib/ or examples/; docs/diagnostics.md has the section
// `## unknown-name`; `[unknown-name]` occurs below tests/language, tests/unit, tests/command or
// tests/legion. And no section explains an id that does not exist.
Violations check_catalogue(const std::filesystem::path& root);

}  // namespace groma::architecture
