#include "inspect/words.h"

#include <fmt/format.h>

namespace groma {

std::string statement_text(const Program& program, Origin origin) {
  constexpr std::size_t kShown = 100;
  const std::string_view whole = program.source().text(program.range(origin));
  return harmless(whole.substr(0, kShown)) + (whole.size() > kShown ? "..." : "");
}

std::string statement_line(const Program& program, Origin origin) {
  const Source& source = program.source();
  const Position at = source.position(program.range(origin).begin);
  return fmt::format("{}:{}:{}: {}", source.name(), at.line, at.column,
                     statement_text(program, origin));
}

std::string layout_words(const LayoutSpec& layout) {
  constexpr std::string_view kOperators[] = {"", "==", "!=", "<", "<=", ">", ">="};
  std::string text = layout.fields == FieldOrder::kAos ? "AOS" : "SOA";
  text += layout.dimensions == DimensionOrder::kC ? " C_order" : " F_order";
  if (layout.compact) text += " Compact";
  if (layout.exact) text += " Exact";
  if (layout.align_op != AlignOp::kNone) {
    text += fmt::format(" Align{}{}", kOperators[static_cast<std::size_t>(layout.align_op)],
                        layout.align_bytes);
  }
  return text;
}

}  // namespace groma
