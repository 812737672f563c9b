// Reads the task and the region argument from diagnostics and messages about full memories.
#include "guide/shortages.h"

#include <re2/re2.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace groma::guide {
namespace {

// Returns a regular expression for Groma's message about a full memory. Its two groups are the
// position of the region argument and the task. The expression is made from the catalogue of
// diagnostics, so that it follows every change of the message.
std::string out_of_memory_pattern() {
  constexpr const char* kArguments[] = {R"((\d{1,9})\b.*?)", "(.*?)"};
  std::string pattern = "^";
  std::string_view rest = entry_of(DiagId::kOutOfMemory).message;
  for (const char* argument : kArguments) {
    const std::size_t end = rest.find("{}");
    pattern += RE2::QuoteMeta(std::string(rest.substr(0, end))) + argument;
    rest.remove_prefix(end + 2);
  }
  return pattern + RE2::QuoteMeta(std::string(rest.substr(0, rest.find("{}"))));
}

}  // namespace

// A diagnostic about full memory has two arguments: the region argument, by its name or position,
// and the task.
std::optional<MemoryShortage> shortage_of(const Diagnostic& diagnostic) {
  if (diagnostic.id != DiagId::kOutOfMemory || diagnostic.args.size() < 2) return std::nullopt;
  const DiagArg& argument = diagnostic.args[0];
  const auto* region = std::get_if<RegionArg>(&argument);
  const auto* position =
      region != nullptr ? &region->position : std::get_if<std::int64_t>(&argument);
  const auto* task = std::get_if<std::string>(&diagnostic.args[1]);
  if (position == nullptr || task == nullptr) return std::nullopt;
  return MemoryShortage{*task, *position};
}

// Reads the task and the region argument from the groups of the rule's pattern, or from the group
// `message`, which has the whole message of Groma's diagnostic.
std::optional<MemoryShortage> shortage_of(const Rule& rule, const CapturedGroups& groups) {
  static const RE2 kOurs(out_of_memory_pattern());
  static const RE2 kNumber("(\\d{1,9})");
  MemoryShortage shortage;
  const bool ours = rule.diagnostic == name_of(DiagId::kOutOfMemory);
  if (ours && RE2::PartialMatch(text_of_group(groups, "message"), kOurs, &shortage.requirement,
                                &shortage.task)) {
    return shortage;
  }
  shortage.task = text_of_group(groups, "task");
  if (rule.is_memory_shortage &&
      RE2::FullMatch(text_of_group(groups, "req"), kNumber, &shortage.requirement)) {
    return shortage;
  }
  return std::nullopt;
}

}  // namespace groma::guide
