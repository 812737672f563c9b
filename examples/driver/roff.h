// Text as roff source, the form of manual pages: what needs an escape gets it, and lines stay
// short.
#pragma once

#include <string>
#include <string_view>

namespace driver::roff {

// Returns the text with every character that roff would interpret or replace written as its escape.
std::string escaped(std::string_view text);
// Returns the escaped text in bold or italic letters.
std::string bold(std::string_view text);
std::string italic(std::string_view text);

// Returns a paragraph of a description as lines of at most 78 bytes. Code in backticks becomes
// bold. Ends of lines in the text stay.
std::string filled(std::string_view text);
// Returns lines that are shown as they are, such as examples.
std::string verbatim(std::string_view text);

}  // namespace driver::roff
