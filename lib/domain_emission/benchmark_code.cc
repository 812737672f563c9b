// Writes the benchmark program.
#include <fmt/format.h>

#include "domain_emission/benchmark_text.h"
#include "domain_emission/enumeration_code.h"
#include "domain_emission/map_code.h"
#include "groma/domain_emission.h"

namespace groma::domains {
namespace {

// Returns the functions and the description of one domain, whose names begin with `base`.
Result<std::string> domain_code(const TitledDomain& titled, const std::string& base) {
  const Domain& domain = titled.domain;
  const Names names = coordinate_names(domain.dimensions());
  const auto refuse = [&](std::string_view why) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("{} cannot be measured: {}", titled.title, why)};
  };
  if (domain.count() == 0) return refuse("it has no points");
  std::int64_t volume = 1;
  for (int d = 0; d < domain.dimensions(); ++d) {
    if (__builtin_mul_overflow(volume, domain.bounds().extents[d], &volume) ||
        volume > kMaxMeasuredCells) {
      return refuse("the box around it has more than 2^32 cells");
    }
  }
  const Dialect dialect(Language::kCpp, base);
  MapCode code(dialect);
  if (auto error = code.write(*domain.map(), base, names)) return *error;
  const auto inside = inside_code(*domain.map(), base, names);
  if (!inside) return refuse("it is known point by point, so its box has no test but the map's");

  std::string text;
  if (code.needs_wide()) text += fmt::format("__extension__ typedef __int128 {}_int128;\n\n", base);
  text += code.text() + *inside + each_code(*domain.map(), base, names);
  text += kBenchmarkDomain;
  std::string loops, ends, cell, seed;
  static constexpr const char* kFactors[] = {"2654435761U", "40503U", "2246822519U", "3266489917U"};
  for (int d = domain.dimensions(); d-- > 0;) {
    const std::string& name = names[static_cast<std::size_t>(d)];
    const std::int64_t low = domain.bounds().lower[d], extent = domain.bounds().extents[d];
    loops += fmt::format("      for (std::int64_t {0} = {1}; {0} <= {2}; ++{0}) {{\n", name, low,
                         low + extent - 1);
    ends += "      }\n";
    const std::string place = low == 0 ? name : fmt::format("({} - {})", name, low);
    cell = cell.empty() ? place : fmt::format("({}) * {} + {}", cell, extent, place);
    seed += fmt::format("{}static_cast<std::uint32_t>({}) * {}", seed.empty() ? "" : " + ", name,
                        kFactors[d % 4]);
  }
  return fill(std::move(text), {{"LOOPS", loops},
                                {"ENDS", ends},
                                {"CELL", cell},
                                {"SEED", seed},
                                {"B", base},
                                {"TITLE", titled.title},
                                {"COUNT", fmt::format("{}", domain.count())},
                                {"VOLUME", fmt::format("{}", volume)},
                                {"XY", joined(names)},
                                {"AND_XY", joined(names, "&")},
                                {"LONG_XY", joined(names, "std::int64_t ")}});
}

}  // namespace

Result<std::string> emit_benchmark(const std::vector<TitledDomain>& domains) {
  std::string text(kBenchmarkHead), main;
  std::size_t number = 0;
  for (const TitledDomain& titled : domains) {
    const std::string base = fmt::format("{}_{}", titled.domain.name(), ++number);
    const auto code = domain_code(titled, base);
    if (!code) return code.error();
    text += *code;
    main += fmt::format("  measure_domain<{}_bench>(&results);\n", base);
  }
  text += fmt::format(
      "\nint main(int count, char** words) {{\n"
      "  quick = count > 1 && std::strcmp(words[1], \"quick\") == 0;\n"
      "  std::vector<Result> results;\n{}  std::vector<Costs> costs;\n"
      "  for (const Result& result : results) costs.push_back(fit(result));\n"
      "  print_waste(results);\n  print_costs(results, costs);\n  print_times(results, costs);\n"
      "  print_summary(results, costs);\n  return failed ? 1 : 0;\n}}\n",
      main);
  return text;
}

}  // namespace groma::domains
