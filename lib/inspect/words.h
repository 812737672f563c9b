// What reports have in common: statements, short and harmless to a terminal; layouts in the
// language's words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "groma/explain.h"
#include "groma/harmless.h"
#include "groma/profile.h"
#include "groma/program.h"

namespace groma {

// Its text, cut, on one line.
std::string statement_text(const Program& program, Origin origin);

// "a.mapper:4:1: Region * * GPU FBMEM"
std::string statement_line(const Program& program, Origin origin);

// "AOS C_order Align==128": as a Layout statement writes it.
std::string layout_words(const LayoutSpec& layout);

// "1 point", "2 points"
std::string count(std::int64_t n, std::string_view what);
// "4.88 Tflop/s"
std::string rate_words(double rate, std::string_view unit);
// "123 ms"
std::string seconds_words(double seconds);

// Of a run of `title`; null: the default mapper's.
ProfileWords words_of(const std::string& title, const Program* program);

// What was decided, whoever did.
std::string placement_words(const ExplainedLaunch& launch, ProcKind kind);
std::string collection_words(bool collected);
std::string limit_words(std::int64_t limit, LimitScope scope);
std::string replication_words(bool replicated);
std::string steal_words(std::optional<StealScope> steal);

}  // namespace groma
