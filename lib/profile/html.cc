// Escapes foreign texts for HTML, and begins a page.
#include "profile/html.h"

#include <fmt/format.h>

#include "groma/harmless.h"
#include "profile/json_text.h"

namespace groma::profile {
namespace {

// Escapes the characters that have a meaning in HTML.
std::string with_html_escapes(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

// The colours are CSS variables, which have other values in dark mode.
constexpr std::string_view kCommonStyle = R"css(
:root { color-scheme: light dark; --back: #ffffff; --text: #1b1b1b; --dim: #595959;
  --line: #d0d0d0; --bar: #2f6db5; --heat: 47 109 181; --accent: #c02020; --row: #f5f5f5; }
@media (prefers-color-scheme: dark) { :root { --back: #16181c; --text: #e8e8e8; --dim: #a8a8a8;
  --line: #43464d; --bar: #78aef0; --heat: 120 174 240; --accent: #ff7a6b; --row: #1f2227; } }
body { background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif;
  margin: 0 auto; max-width: 1200px; padding: 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2rem; }
p { max-width: 46rem; } .dim { color: var(--dim); }
.scroll { overflow-x: auto; }
code { font-size: .9em; overflow-wrap: anywhere; }
button { font: inherit; min-width: 2.2rem; }
)css";

}  // namespace

std::string html_text(std::string_view text) { return with_html_escapes(harmless(text)); }

std::string html_lines(std::string_view text) { return with_html_escapes(harmless_lines(text)); }

std::string script_json(std::string_view text) {
  std::string safe;
  for (const char c : json_quoted(text)) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string html_head(std::string_view title, std::string_view style) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n<main>\n",
      html_text(title), kCommonStyle, style);
}

}  // namespace groma::profile
