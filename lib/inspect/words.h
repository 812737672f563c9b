// What reports have in common: statements, short and harmless to a terminal; layouts in the
// language's words.
#pragma once

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

}  // namespace groma
