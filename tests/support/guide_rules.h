// The rules that come with Groma, read once for all tests of a program.
#pragma once

#include <utility>

#include "groma/guide.h"

namespace groma::test {

inline const GuideRules& rules() {
  static const GuideRules kRules = std::move(GuideRules::make()).value();
  return kRules;
}

}  // namespace groma::test
