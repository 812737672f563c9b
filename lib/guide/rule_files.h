// The rule files that are embedded in the library (from lib/guide/rules).
#pragma once

#include <span>
#include <string_view>

namespace groma::guide {

struct RuleFile {
  std::string_view name, text;
};
// Returns the files sorted by name. If two rules match the same text, the earlier rule wins.
std::span<const RuleFile> rule_files();

}  // namespace groma::guide
