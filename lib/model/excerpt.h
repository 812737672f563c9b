// Excerpts: the passages of a long text that are of interest for a question, when a prompt has no
// room for all of it. Texts are the source of a kernel and documents on hardware and techniques.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/text_files.h"

namespace groma::tuning {

// Words that a passage is looked for with, each with a weight above 0. Words are in lower case.
using QueryWords = std::map<std::string, double>;

// Adds the words of a text to the query, each with this weight. A name of several parts
// (`tileRows`, `tile_rows`) counts as a whole, and its parts with a third of the weight. Numbers,
// single letters and common English words are left out. Reads at most the first 256 kB.
void add_query_words(std::string_view text, double weight, QueryWords* query);

// A passage of a text: whole lines that belong together.
struct Passage {
  std::string_view text;
  // The number of the first line, from 1.
  std::size_t first_line = 1;
  std::size_t lines = 0;
};
// Divides the source of a program into passages: functions and groups of declarations, cut at empty
// lines and where a line without indentation begins after a closing brace. A passage has at most 60
// lines.
std::vector<Passage> passages_of_source(std::string_view text);
// Divides a document into passages: paragraphs, joined until they have some 600 bytes. A heading
// (Markdown's `#`) begins a passage. A passage has at most 1,600 bytes or one line.
std::vector<Passage> passages_of_document(std::string_view text);

// Returns for each passage how well it fits the query, 0 if none of its words is in the query
// (BM25: Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, with k1 = 1.2 and
// b = 0.75).
std::vector<double> scores_of(std::span<const Passage> passages, const QueryWords& query);

// Returns at most `most_bytes` bytes of a program's source, or all of it if it has no more: those
// passages that fit the query best, and those that define what these name, in their order. Entry
// points of kernels and loops are preferred to other passages. For each gap, a line "[lines 120 to
// 184 are left out: load_tile, store_tile]" says what stands there. A gap that is hardly longer
// than such a line is shown.
std::string excerpt_of_source(std::string_view text, std::size_t most_bytes,
                              const QueryWords& query);

// Returns quotations of the documents, at most `most_bytes` bytes: the passages that fit the query
// best, the best ones first, below lines with the names of their documents and the headings above
// them. Short documents are quoted as a whole. Headings alone, and passages that fit far worse than
// the best one, are not quoted.
std::string quote_documents(std::span<const NamedText> documents, std::size_t most_bytes,
                            const QueryWords& query);

}  // namespace groma::tuning
