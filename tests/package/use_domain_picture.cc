// groma::domain_picture from outside: a picture of a domain that Groma knows.
#include <cstdio>

#include "groma/domain_picture.h"

int main() {
  const auto known = groma::domains::known_domains();
  groma::Diagnostics diags(known->source());
  const auto menger = known->find("menger")->make({{"r", 1}}, diags);
  if (!menger) return 1;
  groma::domains::PictureOptions options;
  options.processors = 4;
  options.title = "menger:r=1";
  const auto page = groma::domains::domain_page(*menger, options);
  if (!page) {
    std::puts(page.error().message.c_str());
    return 1;
  }
  const auto shares = groma::domains::share_points(*menger, 4);
  return page->find("</html>") != std::string::npos && shares.by_rank[3] == 5 ? 0 : 1;
}
