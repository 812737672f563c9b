// The rule files that come with Groma: lib/guide/rules, embedded.
#pragma once

#include <span>
#include <string_view>

namespace groma::guide {

struct RuleFile {
  std::string_view name, text;
};
// In the order of their names: an earlier rule wins.
std::span<const RuleFile> rule_files();

}  // namespace groma::guide
