// groma domain check: says how the map of a domain is proved, and compares the map with its
// declaration.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "console.h"
#include "domain_inputs.h"

namespace driver {
namespace {

using groma::domains::Comparison;
using groma::domains::Domain;
using Json = nlohmann::ordered_json;

struct DomainCheckArguments {
  std::string name, file;
  bool json = false;
};

std::string counted_points(std::int64_t count) {
  return fmt::format("{} point{}", count, count == 1 ? "" : "s");
}

// Says what was compared, and what was not because there is too much of it.
std::string compared_words(const Comparison& comparison, const Domain& domain) {
  std::string text;
  text += comparison.mapped == domain.count()
              ? fmt::format("{} mapped and mapped back: no difference\n",
                            counted_points(comparison.mapped))
              : fmt::format("the first {} of {} mapped and mapped back: no difference\n",
                            comparison.mapped, counted_points(domain.count()));
  text += comparison.was_enumerated
              ? fmt::format(
                    "{} compared with those that the text gives, one by one: no "
                    "difference\n",
                    counted_points(comparison.enumerated))
              : std::string("not compared with the text point by point: there are too many\n");
  text += comparison.box > 0 || domain.count() == 0
              ? fmt::format("{} of the box looked up: {} in the domain\n",
                            counted_points(comparison.box), domain.count())
              : std::string("not looked up: the points of the box, there are too many\n");
  return text;
}

int check_domain(const DomainCheckArguments& options) {
  int exit_code = kFine;
  const auto chosen = choose_domain(options.name, options.file, options.json, &exit_code);
  if (!chosen) return exit_code;
  const Domain& domain = chosen->domain;
  const auto begin = std::chrono::steady_clock::now();
  catch_interrupts();
  Comparison comparison;
  {
    ProgressLine line("checking");
    groma::domains::CompareOptions limits;
    limits.progress = [&](std::int64_t done, std::int64_t all) {
      line.update(done, std::max<std::int64_t>(1, all));
      return !interrupted();
    };
    comparison = chosen->declaration.compare(domain, chosen->values, limits);
  }
  if (comparison.was_stopped) return kInterrupted;
  if (!comparison.difference.empty()) {
    return refuse(fmt::format("{}: {}", domain.name(), comparison.difference),
                  "this is a mistake in Groma; please report it with the declaration");
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto proof = domain.proof();
  if (options.json) {
    const Json json = {
        {"name", domain.name()},
        {"count", domain.count()},
        {"proof", {{"by", proof_words(proof.kind)}, {"words", proof.words}}},
        {"looked_at", comparison.mapped},
        {"enumerated", comparison.was_enumerated ? Json(comparison.enumerated) : Json(nullptr)},
        {"box", comparison.box},
        {"seconds", seconds}};
    return print(json.dump() + "\n");
  }
  std::string text =
      fmt::format("{}: {}\nproved by {}: {}\n", domain.name(), counted_points(domain.count()),
                  proof_words(proof.kind), proof.words);
  text += compared_words(comparison, domain);
  if (seconds >= 1) text += fmt::format("all that took {:.0f} s\n", seconds);
  return print(text);
}

}  // namespace

void add_domain_check(CLI::App& command, int* exit_code) {
  auto options = std::make_shared<DomainCheckArguments>();
  CLI::App* part = command.add_subcommand(
      "check", "Say how a map is proved, and compare it with the declaration");
  add_domain_options(*part, &options->name, &options->file, &options->json);
  part->footer(
      "Examples:\n"
      "  groma domain check menger:r=4\n"
      "  groma domain check mine:n=100 --file my.domain\n\n"
      "Exit codes: 0 fine, 1 the domain is wrong, 2 wrong usage, 130 after Ctrl-C.");
  part->callback([options, exit_code] { *exit_code = check_domain(*options); });
}

}  // namespace driver
