// The parts of a prompt about a text that is not a mapping, such as the source of a kernel: what it
// is for, the machine's facts, quotations from the user's documents, the text itself and what
// differs between two versions. Long texts are shown as excerpts (excerpt.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "groma/search.h"
#include "groma/segments.h"
#include "model/excerpt.h"
#include "model/prompt.h"

namespace groma::tuning {

// Returns the words by which a proposer without a better idea chooses excerpts: those of
// SearchProblem::about.
QueryWords words_of_interest(const SearchProblem& problem);

// Adds what is known about the text: SearchProblem::about, SearchProblem::hardware, and from
// SearchProblem::knowledge the quotations that fit the query.
void add_about_text(Prompt& prompt, const SearchProblem& problem, const QueryWords& query);

// Adds the text outside the segments of a marked text to a prompt. The model cannot change this
// text. If there is too much of it, the lines next to the segments are kept, and the passages that
// have words of the segments.
void add_text_outside_segments(Prompt& prompt, const SearchProblem& problem);

// Returns the segments as fenced_segments() does, in at most about `most_bytes` bytes. If they have
// more, each of them is an excerpt for the query, of a size in proportion to its own, and a line
// above them says so.
std::string fenced_excerpts(const Segments& segments, std::size_t most_bytes,
                            const QueryWords& query);

// Describes how the lines of `after` differ from those of `before`, as in a unified difference: the
// removed lines (-), the added lines (+) and two lines of context around them, at most `most_bytes`
// bytes. Differences that do not fit are left out, and a line says so.
std::string describe_line_changes(std::string_view before, std::string_view after,
                                  std::size_t most_bytes);

// Adds the words of the lines that only one of the texts has to the query.
void add_words_of_changes(std::string_view before, std::string_view after, double weight,
                          QueryWords* query);

}  // namespace groma::tuning
