// The rule files of the guide (lib/guide/rules), which are embedded in the library.
#pragma once

#include <span>
#include <string_view>

namespace groma::guide {

struct RuleFile {
  std::string_view name, text;
};
// Returns the embedded rule files sorted by name. If two rules match the same text, the earlier
// rule wins.
std::span<const RuleFile> rule_files();

}  // namespace groma::guide
