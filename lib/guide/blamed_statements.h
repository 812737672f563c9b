// Finds the statements of a mapping program that a log message or a profile blames, and names them.
#pragma once

#include <string>
#include <vector>

#include "groma/program.h"
#include "guide/words.h"
#include "program/data.h"

namespace groma::guide {

// Returns the source text in this range, shortened and with control characters escaped.
std::string text_of(const Program& program, Range range);

// Returns the table rows of one kind of statement that may have decided what a log message is
// about, the most specific rows first. Logs number the regions while mappings may name them, so
// rows about a named region are always returned. Rows of `when` blocks are returned if their
// conditions hold or are not known.
std::vector<program::StatementRow> suspects(const Program& program, MappingStatement statement,
                                            const CapturedGroups& groups);

// Returns the line and the text of a statement, and the line of the function that it names, if any:
// "line 4 (`IndexTaskMap t f`; `f` is defined in line 2)". If the statement stands in a `when`
// block, the condition follows its text.
std::string place_of(const Program& program, const program::StatementRow& row);
// Lists the lines and texts of the first few mapping statements, and the number of further ones.
std::string places_of(const Program& program, const std::vector<program::StatementRow>& rows);

}  // namespace groma::guide
