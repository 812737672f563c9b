// Foreign text made fit to be shown to a person: names, files, arguments and what programs print.
// A terminal obeys some characters instead of showing them (ESC, other controls), some turn the
// direction of what follows, some are invisible. Such hidden characters are written as JSON writes
// them, `\u001b`, and bytes that are not UTF-8 as `\x9b`. All other text stays as it is.
//
// These functions are the only filter. Everything that the command prints has gone through one of
// them, except the output of a program that runs under it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace groma {

// The text on one line: tabs and line ends become spaces.
std::string harmless(std::string_view text);

// The beginning of the text, at most `most_bytes` of it and whole characters, on one line; `...`
// stands for the rest.
std::string harmless(std::string_view text, std::size_t most_bytes);

// The text as one word, for a name or a command in a message: tabs and line ends become `\t`, `\n`
// and `\r`, so that nothing in it can hide.
std::string visible(std::string_view text);

// The text with its tabs and line ends. JSON stays JSON, and means the same. With `keep_colors` the
// sequences that only set colours (`ESC [ 1 ; 31 m`) stay.
std::string harmless_lines(std::string_view text, bool keep_colors = false);

}  // namespace groma
