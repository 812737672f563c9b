// groma domain: lists the domains that are not boxes, shows one, and proves its map.
#include "groma/domain.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "console.h"
#include "inputs.h"

namespace driver {
namespace {

using groma::domains::Declaration;
using groma::domains::Domain;
using groma::domains::DomainLibrary;
using groma::domains::ParameterValues;
using groma::domains::Proof;
using Json = nlohmann::ordered_json;

// The values of the options of all parts of `groma domain`.
struct DomainArguments {
  std::string name, file;
  std::int64_t points = 10;
  bool json = false;
};

// Returns the declarations of the file, or the known ones if no file is given. Returns null after
// an error, which is in `diags`.
std::shared_ptr<const DomainLibrary> read_library(const std::string& file,
                                                  std::optional<groma::Diagnostics>* diags) {
  if (file.empty()) {
    diags->emplace(groma::domains::known_domains()->source());
    return groma::domains::known_domains();
  }
  return read_source(file, diags) ? DomainLibrary::read(**diags) : nullptr;
}

// Splits NAME:n=100,w=3. Fails with wrong usage for anything else.
std::pair<std::string, ParameterValues> parse_name(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  ParameterValues values;
  for (std::size_t at = colon; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at + 1), text.size());
    const std::string part = text.substr(at + 1, end - at - 1);
    const std::size_t sign = part.find('=');
    std::int64_t value = 0;
    const char* const last = part.data() + part.size();
    const auto [next, status] =
        std::from_chars(part.data() + std::min(sign, part.size() - 1) + 1, last, value);
    if (sign == std::string::npos || status != std::errc() || next != last) {
      throw CLI::ValidationError("NAME", fmt::format("`{}` is not of the form n=100", part));
    }
    values.emplace_back(part.substr(0, sign), value);
    at = end;
  }
  return {text.substr(0, colon), values};
}

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
  const auto library = read_library(options.file, &diags);
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

// Makes the named domain. Returns nullopt after an error, whose exit code is in *exit_code.
std::optional<Domain> make(const DomainArguments& options, std::string* declared, int* exit_code) {
  const auto [name, values] = parse_name(options.name);
  std::optional<groma::Diagnostics> diags;
  const auto library = read_library(options.file, &diags);
  if (!library) {
    *exit_code = fail(*diags, options.json);
    return std::nullopt;
  }
  const auto declaration = library->find(name);
  if (!declaration) {
    *exit_code = refuse(fmt::format("no domain is named `{}`", name),
                        "`groma domain list` shows those that Groma knows; --file names a file "
                        "with others");
    return std::nullopt;
  }
  auto domain = declaration->make(values, *diags);
  if (!domain) *exit_code = fail(*diags, options.json);
  *declared = declaration->text();
  return domain;
}

std::string words_of(Proof::Kind kind) {
  switch (kind) {
    case Proof::Kind::kDigitTable:
      return "digit table";
    case Proof::Kind::kPolynomial:
      return "polynomials";
    case Proof::Kind::kBoxes:
      return "boxes";
    case Proof::Kind::kExhaustive:
      break;
  }
  return "each point";
}

// Returns the volume of the box around the points as a multiple of their number.
double waste(const Domain& domain) {
  double volume = 1;
  for (int d = 0; d < domain.dimensions(); ++d) {
    volume *= static_cast<double>(domain.bounds().extents[d]);
  }
  return domain.count() == 0 ? 0 : volume / static_cast<double>(domain.count());
}

std::string point_words(const groma::Point& point) {
  return fmt::format("({})", fmt::join(point.coordinates(), ", "));
}

int show(const DomainArguments& options) {
  int exit_code = kFine;
  std::string declared;
  const auto domain = make(options, &declared, &exit_code);
  if (!domain) return exit_code;
  const groma::Rect& box = domain->bounds();
  const std::int64_t shown = std::min(options.points, domain->count());
  if (options.json) {
    Json points = Json::array();
    for (std::int64_t k = 0; k < shown; ++k) {
      const groma::Point point = domain->point(k);
      points.push_back(point.coordinates());
    }
    const Json json = {
        {"name", domain->name()},
        {"declaration", declared},
        {"count", domain->count()},
        {"lower", box.lower.coordinates()},
        {"extents", box.extents.coordinates()},
        {"proof", {{"by", words_of(domain->proof().kind)}, {"words", domain->proof().words}}},
        {"points", std::move(points)}};
    return print(json.dump() + "\n");
  }
  std::string text = declared + "\n";
  text += fmt::format("{} points in a box of {} from {}, {:.4g} times as many\n", domain->count(),
                      fmt::join(box.extents.coordinates(), " x "), point_words(box.lower),
                      waste(*domain));
  text += fmt::format("proved by {}: {}\n", words_of(domain->proof().kind), domain->proof().words);
  for (std::int64_t k = 0; k < shown; ++k) {
    text += fmt::format("{:>6}  {}\n", k, point_words(domain->point(k)));
  }
  if (shown < domain->count()) text += fmt::format("   ...  {} more\n", domain->count() - shown);
  return print(text);
}

// Goes through all points once and compares the two directions of the map.
int check(const DomainArguments& options) {
  constexpr std::int64_t kMaxPoints = std::int64_t{1} << 28;
  int exit_code = kFine;
  std::string declared;
  const auto domain = make(options, &declared, &exit_code);
  if (!domain) return exit_code;
  const std::int64_t looked_at = std::min(domain->count(), kMaxPoints);
  catch_interrupts();
  {
    ProgressLine line("checking");
    for (std::int64_t k = 0; k < looked_at; ++k) {
      constexpr std::int64_t kOften = 1 << 16;
      if (k % kOften == 0) {
        if (interrupted()) return kInterrupted;
        line.update(k, looked_at);
      }
      const groma::Point point = domain->point(k);
      const auto back = domain->rank(point);
      if (back == k) continue;
      return refuse(fmt::format("{} is {}, but that is {}", k, point_words(point),
                                back ? fmt::format("{}", *back) : "not in the domain"),
                    "please report it with the declaration");
    }
  }
  const bool all = looked_at == domain->count();
  if (options.json) {
    return print(
        Json{{"name", domain->name()},
             {"count", domain->count()},
             {"proof", {{"by", words_of(domain->proof().kind)}, {"words", domain->proof().words}}},
             {"looked_at", looked_at}}
            .dump() +
        "\n");
  }
  return print(fmt::format(
      "{}: {} points\nproved by {}: {}\n{} mapped and mapped back: no "
      "difference\n",
      domain->name(), domain->count(), words_of(domain->proof().kind), domain->proof().words,
      all ? "all points" : fmt::format("the first {} points", looked_at)));
}

// Adds the options that show and check share.
CLI::App* add_part(CLI::App& command, const std::string& name, const std::string& help,
                   DomainArguments& options) {
  CLI::App* part = command.add_subcommand(name, help);
  part->add_option("NAME", options.name,
                   "The domain, with values for its parameters such as triangle:n=100")
      ->required();
  part->add_option("--file", options.file,
                   "Take the domain from this file instead of those that Groma knows; `-` is "
                   "standard input");
  add_json_flag(*part, &options.json);
  return part;
}

}  // namespace

void add_domain(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<DomainArguments>();
  CLI::App* command = app.add_subcommand(
      "domain", "List, show and check launch domains that are not boxes, such as triangles");
  command->require_subcommand(1);
  CLI::App* all = command->add_subcommand("list", "List the domains that Groma knows");
  all->add_option("--file", options->file, "List the domains of this file instead");
  add_json_flag(*all, &options->json);
  all->callback([options, exit_code] { *exit_code = list(*options); });
  CLI::App* one =
      add_part(*command, "show", "Show the size and the first points of a domain", *options);
  one->add_option("--points", options->points, "How many points are shown")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 24))
      ->capture_default_str();
  one->callback([options, exit_code] { *exit_code = show(*options); });
  CLI::App* proved = add_part(
      *command, "check", "Say how a map is proved, and compare both of its directions", *options);
  proved->callback([options, exit_code] { *exit_code = check(*options); });
  command->footer(
      "Examples:\n"
      "  groma domain list\n"
      "  groma domain show triangle:n=100\n"
      "  groma domain show mine --file my.domain --points 50\n"
      "  groma domain check menger:r=4");
}

}  // namespace driver
