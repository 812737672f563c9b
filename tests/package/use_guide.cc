// groma::guide from outside: what a line of a log means.
#include <cstdio>

#include "groma/guide.h"

int main() {
  const auto rules = groma::GuideRules::make();
  if (!rules) return 1;
  const groma::GuideFeedback feedback =
      groma::guide_log(*rules, "Execution Error: Slice processor index out of bound\n");
  std::fputs(groma::draw(feedback).c_str(), stdout);
  return feedback.suggest.size() == 1 ? 0 : 1;
}
