// Makes a briefing of the parts from which prompts are made.
#include "groma/briefing.h"

#include <limits>

#include "groma/result.h"
#include "model/prompt.h"

namespace groma::tuning {

std::string briefing(const std::shared_ptr<const Machine>& machine, const Workload* app) {
  GROMA_REQUIRE(app == nullptr || machine != nullptr, "an application needs a machine");
  Prompt prompt;
  add_card_and_facts(prompt, machine, app);
  std::string text;
  for (const llm::ChatMessage& message : prompt.messages(std::numeric_limits<std::size_t>::max())) {
    if (!text.empty()) text += "\n";
    text += message.text;
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace groma::tuning
