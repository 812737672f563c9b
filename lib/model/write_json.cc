// Converts a written mapping to JSON. docs/commands.md describes the format.
#include "explain/json.h"
#include "groma/write.h"

namespace groma::tuning {
namespace {

std::string_view status_of(const WrittenMapping& written) {
  if (written.text.empty()) return "no-mapping";
  return written.ok() ? "ok" : "invalid";
}

}  // namespace

std::string to_json(const WrittenMapping& written) {
  OrderedJson json = {{"status", status_of(written)}};
  json["mapping"] = written.text.empty() ? OrderedJson(nullptr) : OrderedJson(written.text);
  json["summary"] = nullptr;
  json["decisions"] = nullptr;
  if (written.explanation) {
    json["summary"] = draw_summary(*written.explanation);
    json["decisions"] = json_of(*written.explanation, written.bound->program());
  }
  json["diagnostics"] = json_of(written.diags);
  json["refusal"] = written.refusal.empty() ? OrderedJson(nullptr) : OrderedJson(written.refusal);
  json["error"] = nullptr;
  if (written.error) json["error"] = OrderedJson::parse(llm::to_json(*written.error));
  json["rounds"] = written.rounds;
  json["tokens"] = {{"input", written.usage.input_tokens},
                    {"output", written.usage.output_tokens},
                    {"estimated", written.usage.estimated}};
  json["money"] = written.money ? OrderedJson(*written.money) : OrderedJson(nullptr);
  return json_line(json);
}

}  // namespace groma::tuning
