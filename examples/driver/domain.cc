// groma domain: lists the domains that are not boxes, and shows one. The other parts of the command
// are in files of their own (domain_inputs.h).
#include "groma/domain.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "console.h"
#include "domain_inputs.h"

namespace driver {
namespace {

using groma::domains::Declaration;
using groma::domains::Domain;
using Json = nlohmann::ordered_json;

// The values of the options of all parts of `groma domain`.
struct DomainArguments {
  std::string name, file;
  std::int64_t points = 10;
  bool json = false;
};

// Returns "triangle(n = 8)".
std::string title(const Declaration& declaration) {
  std::string parameters;
  for (const auto& [name, usual] : declaration.parameters()) {
    parameters += (parameters.empty() ? "" : ", ") + name;
    if (usual) parameters += fmt::format(" = {}", *usual);
  }
  return declaration.name() + (parameters.empty() ? "" : fmt::format("({})", parameters));
}

int list(const DomainArguments& options) {
  std::optional<groma::Diagnostics> diags;
  const auto library = read_domains(options.file, &diags);
  if (!library) return fail(*diags, options.json);
  Json all = Json::array();
  std::string text;
  for (const Declaration& declaration : library->declarations()) {
    if (options.json) {
      all.push_back({{"name", declaration.name()},
                     {"declaration", declaration.text()},
                     {"comment", declaration.comment()}});
    } else {
      text += fmt::format("{:<26}{}\n", title(declaration), declaration.comment());
    }
  }
  return print(options.json ? Json{{"domains", std::move(all)}}.dump(2) + "\n" : text);
}

// Returns the volume of the box around the points as a multiple of their number.
double waste(const Domain& domain) {
  double volume = 1;
  for (int d = 0; d < domain.dimensions(); ++d) {
    volume *= static_cast<double>(domain.bounds().extents[d]);
  }
  return domain.count() == 0 ? 0 : volume / static_cast<double>(domain.count());
}

int show(const DomainArguments& options) {
  int exit_code = kFine;
  const auto chosen = choose_domain(options.name, options.file, options.json, &exit_code);
  if (!chosen) return exit_code;
  const Domain* const domain = &chosen->domain;
  const std::string declared(chosen->declaration.text());
  const groma::Rect& box = domain->bounds();
  const std::int64_t shown = std::min(options.points, domain->count());
  if (options.json) {
    Json points = Json::array();
    domain->for_each(0, shown, [&](std::int64_t, const groma::Point& point) -> void {
      points.push_back(point.coordinates());
    });
    const Json json = {
        {"name", domain->name()},
        {"declaration", declared},
        {"count", domain->count()},
        {"lower", box.lower.coordinates()},
        {"extents", box.extents.coordinates()},
        {"proof", {{"by", proof_words(domain->proof().kind)}, {"words", domain->proof().words}}},
        {"points", std::move(points)}};
    return print(json.dump() + "\n");
  }
  std::string text = declared + "\n";
  text += fmt::format("{} points in a box of {} from {}, {:.4g} times as many\n", domain->count(),
                      fmt::join(box.extents.coordinates(), " x "), point_words(box.lower),
                      waste(*domain));
  text +=
      fmt::format("proved by {}: {}\n", proof_words(domain->proof().kind), domain->proof().words);
  domain->for_each(0, shown, [&](std::int64_t k, const groma::Point& point) -> void {
    text += fmt::format("{:>6}  {}\n", k, point_words(point));
  });
  if (shown < domain->count()) text += fmt::format("   ...  {} more\n", domain->count() - shown);
  return print(text);
}

}  // namespace

void add_domain(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<DomainArguments>();
  CLI::App* command = app.add_subcommand("domain",
                                         "List, show, check, draw, derive and emit launch domains "
                                         "that are not boxes, such as triangles");
  command->require_subcommand(1);
  CLI::App* all = command->add_subcommand("list", "List the domains that Groma knows");
  all->add_option("--file", options->file, "List the domains of this file instead")
      ->type_name(kDomainFileType);
  add_json_flag(*all, &options->json);
  all->callback([options, exit_code] { *exit_code = list(*options); });
  CLI::App* one = command->add_subcommand("show", "Show the size and the first points of a domain");
  add_domain_options(*one, &options->name, &options->file, &options->json);
  one->add_option("--points", options->points, "How many points are shown")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 24))
      ->capture_default_str();
  one->callback([options, exit_code] { *exit_code = show(*options); });
  add_domain_check(*command, exit_code);
  add_domain_draw(*command, exit_code);
  add_domain_derive(*command, exit_code);
  add_domain_emit(*command, exit_code);
  add_domain_bench(*command, exit_code);
  all->footer(
      "Examples:\n"
      "  groma domain list\n"
      "  groma domain list --file my.domain --json");
  one->footer(
      "Examples:\n"
      "  groma domain show triangle:n=100\n"
      "  groma domain show mine --file my.domain --points 50");
  command->footer(
      "Examples:\n"
      "  groma domain list\n"
      "  groma domain show triangle:n=100\n"
      "  groma domain show mine --file my.domain --points 50\n"
      "  groma domain check menger:r=4\n"
      "  groma domain draw triangle:n=20 --processors 8 --out triangle.svg\n"
      "  groma domain derive samples.csv\n"
      "  groma domain emit triangle:n=4096 --language cuda --out kernels/");
}

}  // namespace driver
