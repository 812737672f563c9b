// A text that stands for several files. A search changes one text; if a program has several files,
// this text has all of them, each below a line `groma: file NAME`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/result.h"

namespace groma {

// A file: its name, without folders, and its content.
struct NamedText {
  std::string name, text;
};

inline constexpr std::size_t kMaxTextFiles = 32;

// Returns true if the text can be the name of a file in a text of several files: 1 to 64 letters,
// digits and `_ . + -`. A name does not begin with a full stop or a hyphen.
bool is_text_file_name(std::string_view name);

// Returns the name in a line `groma: file NAME`, which may include its line end. Returns an empty
// text if the line is another one.
std::string_view file_name_in_line(std::string_view line);

// Returns the line `groma: file NAME`, with its line end, that stands before a file.
std::string line_before_file(std::string_view name);

// Returns true if the text stands for several files: its first line is `groma: file NAME`.
bool stands_for_files(std::string_view text);

// Joins files to one text. A file whose last line has no line end gets one. Fails with kMalformed
// if a name is not valid or given twice, or if a file itself has a line `groma: file NAME`. Fails
// with kTooLarge if there are more than kMaxTextFiles.
Result<std::string> join_files(std::span<const NamedText> files);

// Names a line of a text for people: "line 26", or "tile.h:5" in a text of several files. `line` is
// counted from 1 in the whole text.
std::string name_of_line(std::string_view text, std::size_t line);

// Splits a text into its files. A text that does not stand for several files is one file without a
// name. Fails with kMalformed if a name is given twice, with kTooLarge if there are more
// than kMaxTextFiles.
Result<std::vector<NamedText>> split_files(std::string_view text);

}  // namespace groma
