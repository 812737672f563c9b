// What reports have in common: statements, short and harmless to a terminal; layouts in the
// language's words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/harmless.h"
#include "groma/program.h"

namespace groma {

// Its text, cut, on one line.
std::string statement_text(const Program& program, Origin origin);

// "a.mapper:4:1: Region * * GPU FBMEM"
std::string statement_line(const Program& program, Origin origin);

// "AOS C_order Align==128": as a Layout statement writes it.
std::string layout_words(const LayoutSpec& layout);

// A task's or region's name as a statement writes it; nothing for what no string can hold.
std::optional<std::string> written_name(std::string_view name);

}  // namespace groma
