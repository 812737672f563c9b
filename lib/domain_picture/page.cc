// The HTML page of a domain: figures, a picture that can be turned (three dimensions) or the SVG
// picture, the shares of the processors, and the declaration.
#include <fmt/format.h>

#include "base/append_format.h"
#include "domain_picture/picture_parts.h"
#include "domain_picture/shares.h"
#include "groma/version.h"
#include "profile/html.h"

namespace groma::domains {
namespace {

using profile::add_html_tile;
using profile::html_text;
using profile::script_json;

// Limits on the cells of a picture that can be turned.
constexpr std::int64_t kMostCubes = 50'000, kMostSide = 1'024;

// Returns the JSON for the script.
std::string cells_json(const Domain& domain, const PictureCells& picture, const PointShares& shares,
                       std::int64_t processors) {
  std::string json = "{\"extents\":[";
  for (std::size_t d = 0; d < 3; ++d) {
    append_format(&json, "{}{}", d == 0 ? "" : ",", picture.extents[d]);
  }
  append_format(&json, "],\"side\":{},\"count\":{},\"lower\":[", picture.side,
                script_json(std::to_string(domain.count())));
  for (int d = 0; d < domain.dimensions(); ++d) {
    append_format(&json, "{}{}", d == 0 ? "" : ",",
                  script_json(std::to_string(domain.bounds().lower[d])));
  }
  json += "],\"colors\":[";
  for (std::int64_t p = 0; p < processors; ++p) {
    append_format(&json, "{}\"{}\"", p == 0 ? "" : ",", processor_color(p));
  }
  json += "],\"cells\":[";
  const std::vector<std::int64_t> ranks = row_major_ranks(domain, picture);
  for (std::size_t i = 0; i < picture.cells.size(); ++i) {
    const PictureCell& cell = picture.cells[i];
    append_format(&json, "{}{},{},{},{},{},{}", i == 0 ? "" : ",\n", cell.at[0], cell.at[1],
                  cell.at[2], cell.first, processor_by_rank(domain, processors, ranks[i]),
                  processor_by_box(domain, shares.box_parts, domain.point(cell.first)));
  }
  return json + "]}";
}

void add_space(const Domain& domain, const PictureOptions& options, const PointShares& shares,
               std::string* html) {
  const PictureCells picture = picture_cells(domain, kMostCubes, kMostSide);
  *html +=
      "<section>\n<h2 id=\"space\">The points</h2>\n"
      "<div class=\"tools\" id=\"tools\">"
      "<button data-show=\"rank\" aria-pressed=\"true\">processors by rank</button>"
      "<button data-show=\"box\" aria-pressed=\"false\">by blocks of the box</button>"
      "<button data-show=\"order\" aria-pressed=\"false\">order</button></div>\n"
      "<div id=\"space-box\"><canvas tabindex=\"0\" role=\"img\" aria-label=\"The points of the "
      "domain as cubes; the figures on this page give the shares in numbers\"></canvas></div>\n"
      "<div class=\"tools\"><label class=\"upto\">points up to <input type=\"range\" id=\"upto\" "
      "min=\"1\"></label><button data-key=\"ArrowLeft\" aria-label=\"turn left\">&larr;</button>"
      "<button data-key=\"ArrowRight\" aria-label=\"turn right\">&rarr;</button>"
      "<button data-key=\"ArrowUp\" aria-label=\"turn up\">&uarr;</button>"
      "<button data-key=\"ArrowDown\" aria-label=\"turn down\">&darr;</button>"
      "<button data-key=\"+\" aria-label=\"larger\">+</button>"
      "<button data-key=\"-\" aria-label=\"smaller\">&minus;</button>"
      "<button data-key=\"Home\">reset</button></div>\n"
      "<p id=\"what\" aria-live=\"polite\">Drag or use the arrow keys to turn, + and - for the "
      "size. Point at a cube.</p>\n"
      "<noscript><p>The picture needs JavaScript.</p></noscript>\n";
  const std::string coarser = coarseness_words(domain, picture);
  if (!coarser.empty()) append_format(html, "<p class=\"dim\">{}</p>\n", html_text(coarser));
  append_format(html,
                "<script type=\"application/json\" id=\"domain\">{}</script>\n</section>\n"
                "<section>\n<h2 id=\"shares\">Points per processor</h2>\n<div "
                "class=\"scroll\">{}</div>\n</section>\n",
                cells_json(domain, picture, shares, options.processors), bars_element(shares));
}

}  // namespace

Result<std::string> domain_page(const Domain& domain, const PictureOptions& options) {
  if (domain.dimensions() > 3) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("`{}` has {} dimensions, and a picture shows at most 3", domain.name(),
                             domain.dimensions())};
  }
  const PointShares shares = share_points(domain, options.processors);
  std::string html = profile::html_head(options.title, domain_page_style());
  append_format(&html, "<header>\n<h1>{}</h1>\n<p class=\"lead\">{}.</p>\n</header>\n",
                html_text(options.title), html_text(size_words(domain, domain.name())));
  html += "<dl class=\"tiles\">\n";
  add_html_tile("points", std::to_string(domain.count()), "", &html);
  add_html_tile("box around them", extents_words(domain.bounds().extents), "", &html);
  add_html_tile("processors", std::to_string(options.processors), "", &html);
  add_html_tile("by rank, max/mean", fmt::format("{:.4g}", imbalance(shares.by_rank)),
                "the point goes to processor task.irank * processors / points", &html);
  add_html_tile("by blocks, max/mean", fmt::format("{:.4g}", imbalance(shares.by_box)),
                fmt::format("{} blocks of equal size{}", extents_words(shares.box_parts),
                            shares.is_exact ? "" : "; estimated"),
                &html);
  html += "</dl>\n";
  if (domain.dimensions() == 3) {
    add_space(domain, options, shares, &html);
  } else {
    append_format(&html, "<section class=\"scroll\">\n{}</section>\n",
                  svg_element(domain, options, shares));
  }
  append_format(
      &html,
      "<section>\n<h2 id=\"declaration\">Declaration</h2>\n<pre class=\"scroll\">{}</pre>\n"
      "<p class=\"dim\">Proof: {}.</p>\n</section>\n",
      profile::html_lines(options.declaration), html_text(domain.proof().words));
  append_format(&html,
                "<footer class=\"dim\">Written by <code>groma domain draw</code> {}.</footer>\n"
                "</main>\n",
                kVersion);
  if (domain.dimensions() == 3) {
    append_format(&html, "<script>{}</script>\n", domain_page_script());
  }
  return html + "</body>\n</html>\n";
}

}  // namespace groma::domains
