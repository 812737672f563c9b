// Escapes and line breaks of roff source.
#include "roff.h"

#include <cstddef>
#include <vector>

namespace driver::roff {
namespace {

// The longest line of roff source.
constexpr std::size_t kMostColumns = 78;

std::string in_font(char font, std::string_view text) {
  return std::string("\\f") + font + escaped(text) + "\\fR";
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Returns the text with the words between backticks in bold letters.
std::string with_code(std::string_view text) {
  std::string made;
  bool is_code = false;
  for (const std::string_view part : split(text, '`')) {
    if (!part.empty()) made += is_code ? bold(part) : escaped(part);
    is_code = !is_code;
  }
  return made;
}

// Returns the words as lines that are not longer than kMostColumns where they have spaces. A line
// that begins with a dot would be a request of roff.
std::string wrapped(std::string_view text) {
  std::string lines, line;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    if (!line.empty() && line.size() + 1 + word.size() > kMostColumns) {
      lines += line + "\n";
      line.clear();
    }
    if (!line.empty()) line += ' ';
    if (line.empty() && word.starts_with('.')) line += "\\&";
    line += word;
  }
  return line.empty() ? lines : lines + line + "\n";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string made;
  for (const char c : text) {
    switch (c) {
      case '\\':
        made += "\\e";
        break;
      case '-':
        made += "\\-";
        break;
      case '\'':
        made += "\\(aq";
        break;
      case '"':
        made += "\\(dq";
        break;
      case '`':
        made += "\\(ga";
        break;
      case '^':
        made += "\\(ha";
        break;
      case '~':
        made += "\\(ti";
        break;
      default:
        made += c;
    }
  }
  return made;
}

std::string bold(std::string_view text) { return in_font('B', text); }
std::string italic(std::string_view text) { return in_font('I', text); }

std::string filled(std::string_view text) {
  std::string made;
  for (const std::string_view line : split(text, '\n')) {
    if (!made.empty()) made += ".br\n";
    made += wrapped(with_code(line));
  }
  return made;
}

// A backslash at the end of a line of roff source continues the line.
std::string verbatim(std::string_view text) {
  std::string made = ".nf\n";
  for (const std::string_view line : split(text, '\n')) {
    std::string rest = escaped(line);
    if (rest.starts_with('.')) rest.insert(0, "\\&");
    while (rest.size() > kMostColumns) {
      const std::size_t space = rest.rfind(' ', kMostColumns - 2);
      if (space == std::string::npos || space == 0) break;
      made += rest.substr(0, space) + "\\\n";
      rest.erase(0, space);
    }
    made += rest + "\n";
  }
  return made + ".fi\n";
}

}  // namespace driver::roff
