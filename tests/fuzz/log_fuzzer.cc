// Any bytes as a log, whole and in pieces, with an exit code: the same is found, and all that is
// said can be shown. The same bytes as rules: taken or refused with a message.
#include <cstddef>
#include <cstdint>
#include <string>

#include "groma/guide.h"
#include "guide/rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const groma::GuideRules kRules = std::move(groma::GuideRules::make()).value();
  const std::string text(data, data + size);
  groma::GuideContext context;
  if (size > 0) context.exit_code = static_cast<std::int8_t>(data[0]);
  groma::GuideReader pieces(kRules);
  for (std::size_t at = 0; at < size; at += 1 + data[at]) {
    pieces.read(std::string_view(text).substr(at, std::size_t{1} + data[at]));
  }
  const groma::GuideFeedback whole = groma::guide_log(kRules, text, context);
  GROMA_CHECK(groma::to_json(whole) == groma::to_json(pieces.feedback(context)));
  for (const char c : groma::draw(whole)) {
    GROMA_CHECK(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  }
  const groma::Source source("fuzz", text);
  const auto rules = groma::guide::make_rules({&source, 1});
  GROMA_CHECK(rules.ok() || !rules.error().message.empty());
  return 0;
}
