// Makes foreign text safe to show to a person: names, files, arguments and the output of programs.
// A terminal obeys some characters instead of showing them (ESC and other controls). Some
// characters change the direction of the following text, and some are invisible. These hidden
// characters are written as in JSON, `\u001b`, and bytes that are not UTF-8 as `\x9b`. All other
// text stays as it is.
//
// These functions are the only filter. Everything that the command prints has passed through one of
// them, except the output of a program that runs under the command.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace groma {

// Returns the text on one line: tabs and line ends become spaces.
std::string harmless(std::string_view text);

// Returns the beginning of the text on one line: at most `most_bytes` bytes, in whole characters.
// `...` stands for the rest.
std::string harmless(std::string_view text, std::size_t most_bytes);

// Returns the text as one word, for a name or a command in a message. Tabs and line ends become
// `\t`, `\n` and `\r`, so that nothing in the text can hide.
std::string visible(std::string_view text);

// Returns the text with its tabs and line ends. JSON stays JSON with the same meaning. With
// `keep_colors`, sequences that only set colours (`ESC [ 1 ; 31 m`) stay.
std::string harmless_lines(std::string_view text, bool keep_colors = false);

}  // namespace groma
