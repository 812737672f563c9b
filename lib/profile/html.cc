// Escapes foreign texts for HTML, and writes the parts that every page has.
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
  --line: #d0d0d0; --bar: #2f6db5; --heat: 47 109 181; --accent: #c02020; --row: #f5f5f5;
  --card: #f7f8fa; }
@media (prefers-color-scheme: dark) { :root { --back: #16181c; --text: #e8e8e8; --dim: #a8a8a8;
  --line: #43464d; --bar: #78aef0; --heat: 120 174 240; --accent: #ff7a6b; --row: #1f2227;
  --card: #1d2025; } }
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif;
  margin: 0 auto; max-width: 1200px; padding: 1rem; }
main { min-width: 0; } h1 { overflow-wrap: anywhere; }
header h1 { font-size: 2rem; line-height: 1.2; margin: .2rem 0 .3rem; }
.lead { font-size: 1.05rem; margin-top: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .5rem; } h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p { max-width: 46rem; } .dim { color: var(--dim); }
a { color: var(--bar); } li { overflow-wrap: anywhere; } ul { margin: .2rem 0; max-width: 46rem;
  padding-left: 1.3rem; }
.label { font-size: .9rem; font-weight: 600; margin: .9rem 0 .2rem; }
.tiles { display: grid; gap: .7rem; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr));
  margin: 1.2rem 0; }
.tiles > div { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .6rem .8rem; }
dt { color: var(--dim); font-size: .85rem; } dd { margin: 0; overflow-wrap: anywhere; }
dd:not(.dim) { font-size: 1.2rem; font-weight: 600; font-variant-numeric: tabular-nums; }
dd.dim { font-size: .85rem; }
.columns { display: grid; gap: 0 2rem; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
.columns > div > :first-child { margin-top: .3rem; }
.tools { align-items: center; display: flex; flex-wrap: wrap; gap: .5rem 1rem; margin: .6rem 0; }
.tools[hidden] { display: none; }
.tools button { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  color: var(--text); cursor: pointer; padding: .2rem .7rem; }
.tools button[aria-pressed=true] { border-color: var(--bar); color: var(--bar); font-weight: 600; }
.legend { color: var(--dim); display: flex; flex-wrap: wrap; font-size: .85rem; gap: .2rem 1.2rem;
  margin: .5rem 0; }
details { margin: .4rem 0; } summary { cursor: pointer; }
.scroll { overflow-x: auto; }
code { font-size: .9em; overflow-wrap: anywhere; }
button { font: inherit; min-width: 2.2rem; }
footer { border-top: 1px solid var(--line); font-size: .85rem; margin-top: 3rem; max-width: none;
  overflow-wrap: anywhere; padding-top: .7rem; }
:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
@media (max-width: 760px) { .columns { grid-template-columns: minmax(0, 1fr); }
  header h1 { font-size: 1.6rem; } }
)css";

}  // namespace

std::string html_text(std::string_view text) { return with_html_escapes(harmless(text)); }

std::string html_lines(std::string_view text) { return with_html_escapes(harmless_lines(text)); }

std::string html_sentence(std::string_view sentence) {
  std::string html;
  bool open = false;
  for (const char c : html_lines(sentence)) {
    if (c != '`') {
      html += c;
      continue;
    }
    html += open ? "</code>" : "<code>";
    open = !open;
  }
  return open ? html + "</code>" : html;
}

void add_html_list(std::string_view title, const std::vector<std::string>& sentences,
                   std::string* html) {
  if (sentences.empty()) return;
  *html += fmt::format("<p class=\"label\">{}</p>\n<ul>\n", title);
  for (const std::string& sentence : sentences) {
    *html += fmt::format("<li>{}</li>\n", html_sentence(sentence));
  }
  *html += "</ul>\n";
}

void add_html_tile(std::string_view name, std::string_view value, std::string_view remark,
                   std::string* html) {
  *html += fmt::format("<div><dt>{}</dt><dd>{}</dd>", html_text(name), html_text(value));
  if (!remark.empty()) *html += fmt::format("<dd class=\"dim\">{}</dd>", html_text(remark));
  *html += "</div>\n";
}

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
