// groma domain draw: writes a picture of a domain.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "domain_inputs.h"
#include "groma/domain_picture.h"
#include "groma/system.h"

namespace driver {
namespace {

struct DomainDrawArguments {
  std::string name, file, out;
  std::int64_t processors = 16;
};

int draw_domain(const DomainDrawArguments& options) {
  check_written({{"--out", options.out}}, {options.file});
  const bool is_page = options.out.ends_with(".html");
  if (!is_page && !options.out.ends_with(".svg") && options.out != "-") {
    throw CLI::ValidationError("--out", "the name of the file ends with .svg or .html");
  }
  int exit_code = kFine;
  const auto chosen = choose_domain(options.name, options.file, false, &exit_code);
  if (!chosen) return exit_code;
  groma::domains::PictureOptions picture;
  picture.processors = options.processors;
  picture.title = options.name;
  picture.declaration = chosen->declaration.text();
  picture.axes = chosen->declaration.coordinates();
  const auto text = is_page ? groma::domains::domain_page(chosen->domain, picture)
                            : groma::domains::domain_svg(chosen->domain, picture);
  if (!text) return refuse(text.error());
  if (options.out == "-") return print(*text);
  if (const auto error = groma::write_file(options.out, *text)) return refuse(*error);
  const auto shares = groma::domains::share_points(chosen->domain, options.processors);
  return print(fmt::format(
      "{}: {} points on {} processors; max/mean is {:.4g} by rank and {:.4g} by blocks of the "
      "box{}\n",
      options.out, chosen->domain.count(), options.processors,
      groma::domains::imbalance(shares.by_rank), groma::domains::imbalance(shares.by_box),
      shares.is_exact ? "" : " (estimated)"));
}

}  // namespace

void add_domain_draw(CLI::App& command, int* exit_code) {
  auto options = std::make_shared<DomainDrawArguments>();
  CLI::App* part = command.add_subcommand(
      "draw", "Draw the points of a domain, their order, and which processor gets which");
  part->add_option("NAME", options->name,
                   "The domain, with values for its parameters such as triangle:n=20")
      ->type_name(kDomainType)
      ->required();
  part->add_option("--file", options->file,
                   "Take the domain from this file instead of those that Groma knows; `-` is "
                   "standard input")
      ->type_name(kDomainFileType);
  part->add_option("--processors", options->processors, "How many processors share the points")
      ->check(CLI::Range(std::int64_t{1}, groma::domains::kMaxPictureProcessors))
      ->capture_default_str();
  part->add_option("--out", options->out,
                   "Where the picture goes: FILE.svg (one or two dimensions) or FILE.html (up to "
                   "three, which can be turned); `-` is SVG on standard output")
      ->type_name(kFileType)
      ->required();
  part->footer(
      "Examples:\n"
      "  groma domain draw triangle:n=20 --processors 8 --out triangle.svg\n"
      "  groma domain draw menger:r=2 --out menger.html\n"
      "  groma domain draw mine:n=12 --file my.domain --out - > mine.svg\n\n"
      "Exit codes: 0 fine, 1 the domain is wrong or has too many dimensions, 2 wrong usage.");
  part->callback([options, exit_code] { *exit_code = draw_domain(*options); });
}

}  // namespace driver
