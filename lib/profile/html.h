// The parts that every HTML page of Groma shares: escaping, the head of the page, figures, lists
// and common styles. A page is one file that loads nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace groma::profile {

// Returns the text on one line for an HTML element, or for the value of an HTML attribute in double
// quotes. The text passes harmless() first, so it may come from a stranger.
std::string html_text(std::string_view text);
// Returns the same for a text of several lines, in an element that keeps line ends, such as `pre`.
std::string html_lines(std::string_view text);

// Returns a sentence, escaped. Words in backticks are shown as code.
std::string html_sentence(std::string_view sentence);
// Appends a list of sentences below a title, which is not escaped. Appends nothing if there are
// none.
void add_html_list(std::string_view title, const std::vector<std::string>& sentences,
                   std::string* html);
// Appends one figure with its name and a remark, which may be empty, to a list with the class
// `tiles`. Escapes all three.
void add_html_tile(std::string_view name, std::string_view value, std::string_view remark,
                   std::string* html);

// Returns the text as a JSON string for an HTML script element. Every `<` is escaped, so that the
// string cannot begin an end tag or a comment.
std::string script_json(std::string_view text);

// Returns the beginning of a page, up to and including `<main>`. The content security policy of the
// page forbids to load anything. `title` is escaped; `style` is the style sheet of the page, which
// is added to the common one.
std::string html_head(std::string_view title, std::string_view style);

}  // namespace groma::profile
