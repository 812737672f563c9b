// Reads the plans of the proposer `scientist` from the replies of a language model.
#include "propose/experiments.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "search/lines.h"

namespace groma::tuning {
namespace {

constexpr std::size_t kMaxDescription = 400, kMaxRubric = 1'200, kMaxAvenue = 200;
constexpr std::size_t kMaxExperiments = 8;

// Returns the number, clamped to a million; nullopt if it is not a finite number.
std::optional<double> number_in(const llm::json& value) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (!std::isfinite(number)) return std::nullopt;
  return std::clamp(number, -1e6, 1e6);
}

// Returns a member of a JSON object as one line of at most `most` bytes. A list of strings is
// joined by semicolons.
std::string words_in(const llm::json& object, const char* key, std::size_t most) {
  const llm::json* value = llm::member(object, key);
  if (value == nullptr) return "";
  if (value->is_string()) return one_line(value->get<std::string>(), most);
  // The items of the list, joined by semicolons.
  std::string words;
  for (const llm::json& item : *value) {
    if (!item.is_string()) continue;
    words += (words.empty() ? "" : "; ") + item.get<std::string>();
  }
  return one_line(words, most);
}

// Reads an experiment from JSON. Returns nullopt if its description or its gain is missing.
std::optional<Experiment> experiment_in(const llm::json& value) {
  Experiment made;
  made.description = words_in(value, "description", kMaxDescription);
  made.rubric = words_in(value, "rubric", kMaxRubric);
  const llm::json* gain = llm::member(value, "gain");
  const llm::json* innovation = llm::member(value, "innovation");
  if (made.description.empty() || gain == nullptr || !gain->is_array() || gain->size() != 2) {
    return std::nullopt;
  }
  const std::optional<double> least = number_in((*gain)[0]), most = number_in((*gain)[1]);
  if (!least || !most) return std::nullopt;
  made.least = std::min(*least, *most);
  made.most = std::max(*least, *most);
  if (innovation != nullptr) made.innovation = number_in(*innovation).value_or(0);
  return made;
}

}  // namespace

const std::string_view kDesignerSchema =
    R"({"type":"object","additionalProperties":false,"required":["avenues","experiments"],)"
    R"("properties":{"avenues":{"type":"array","minItems":10,"maxItems":10,)"
    R"("items":{"type":"string","maxLength":120}},"experiments":{"type":"array","minItems":5,)"
    R"("maxItems":5,"items":{"type":"object","additionalProperties":false,)"
    R"("required":["description","rubric","gain","innovation"],"properties":{)"
    R"("description":{"type":"string","maxLength":300},"rubric":{"type":"string","maxLength":900},)"
    R"("gain":{"type":"array","minItems":2,"maxItems":2,"items":{"type":"integer"}},)"
    R"("innovation":{"type":"integer"}}}}}})";

Design design_in(const llm::json& reply) {
  Design design;
  if (const llm::json* list = llm::member(reply, "experiments")) {
    for (const llm::json& value : *list) {
      if (auto made = experiment_in(value)) design.experiments.push_back(std::move(*made));
      if (design.experiments.size() == kMaxExperiments) break;
    }
  }
  const llm::json* avenues = llm::member(reply, "avenues");
  if (avenues == nullptr || !avenues->is_array()) return design;
  for (const llm::json& avenue : *avenues) {
    if (avenue.is_string()) {
      design.avenues.push_back(one_line(avenue.get<std::string>(), kMaxAvenue));
    }
    if (design.avenues.size() == kAvenues) break;
  }
  return design;
}

std::vector<Experiment> picked(const std::vector<Experiment>& all) {
  std::vector<Experiment> chosen;
  std::vector<bool> taken(all.size());
  for (double Experiment::*by : {&Experiment::innovation, &Experiment::most, &Experiment::least}) {
    std::size_t best = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!taken[i] && (best == all.size() || all[i].*by > all[best].*by)) best = i;
    }
    if (best == all.size()) break;
    taken[best] = true;
    chosen.push_back(all[best]);
  }
  return chosen;
}

}  // namespace groma::tuning
