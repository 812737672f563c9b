// Derives a domain: collects candidates, checks each against the samples, and sorts them.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "derive/candidate.h"

namespace groma::domains {
namespace {

// Reads the only declaration of a text. Returns null if it has errors.
std::shared_ptr<const DomainLibrary> read_declaration(const std::string& text) {
  Diagnostics diags(Source("derived", text));
  return DomainLibrary::read(diags);
}

// Returns the domain for a value of the parameter, or nullopt if there is none.
std::optional<Domain> make_with(const DomainLibrary& library, const ParameterValues& values) {
  Diagnostics diags(library.source());
  return library.declarations().front().make(values, diags);
}

// Returns true if the domain of the declaration begins with the samples, or consists of them if
// they have no order.
bool yields_samples(const std::string& declaration, const Samples& samples, bool is_ordered) {
  const auto library = read_declaration(declaration);
  if (!library) return false;
  const auto domain = make_with(*library, {});
  const auto count = static_cast<std::int64_t>(samples.points.size());
  if (!domain || domain->count() < count) return false;
  if (!is_ordered) {
    return domain->count() == count &&
           std::all_of(samples.points.begin(), samples.points.end(),
                       [&](const Point& point) { return domain->contains(point); });
  }
  for (std::int64_t k = 0; k < count; ++k) {
    if (domain->point(k) != samples.points[static_cast<std::size_t>(k)]) return false;
  }
  return true;
}

// Returns what the samples cannot show about a candidate.
std::vector<std::string> remarks_about(const Candidate& candidate, const Samples& samples) {
  std::vector<std::string> remarks = candidate.remarks;
  if (candidate.is_flat) {
    remarks.push_back(
        fmt::format("all samples lie on a line or a plane; how {} go on from there is not known",
                    fmt::join(samples.names, ", ")));
  }
  if (candidate.is_confirmed && candidate.least_evidence == 1) {
    remarks.push_back("a number in the declaration is confirmed by one equation only");
  }
  return remarks;
}

// Returns how well the samples support a candidate.
Support support_of(const Candidate& candidate, const Samples& samples) {
  const std::int64_t numbers =
      static_cast<std::int64_t>(samples.points.size()) * samples.dimensions();
  if (!candidate.is_confirmed) return Support::kGuess;
  const bool is_thin =
      candidate.description >= numbers || candidate.is_flat || candidate.least_evidence < 2;
  return is_thin ? Support::kThin : Support::kGood;
}

// Returns the points in the order of nested loops over the coordinates, the first of `order`
// outermost.
std::vector<Coordinates> in_loop_order(std::vector<Coordinates> points,
                                       const std::vector<std::size_t>& order) {
  std::sort(points.begin(), points.end(), [&](const Coordinates& a, const Coordinates& b) {
    for (const std::size_t d : order) {
      if (a[d] != b[d]) return a[d] < b[d];
    }
    return false;
  });
  return points;
}

std::vector<Candidate> all_candidates(const Samples& samples, bool is_ordered) {
  std::vector<Coordinates> points;
  for (const Point& point : samples.points) {
    Coordinates coordinates{};
    std::copy(point.coordinates().begin(), point.coordinates().end(), coordinates.begin());
    points.push_back(coordinates);
  }
  std::vector<Candidate> all;
  const auto add = [&all](std::vector<Candidate> more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  };
  const SampleView view{samples.names, points};
  if (is_ordered) {
    add(find_digit_maps(view));
    add(find_loop_nests(view, false));
    return all;
  }
  add(find_digit_set(view));
  std::vector<std::size_t> order(samples.names.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  // Many points are not searched again for a shorter declaration.
  constexpr std::size_t kMaxSearchedInAllOrders = 4096;
  do {  // The last coordinate is outermost first.
    const std::vector<Coordinates> sorted = in_loop_order(points, order);
    add(find_loop_nests({samples.names, sorted}, true));
    const bool is_found = std::any_of(
        all.begin(), all.end(), [](const Candidate& candidate) { return candidate.is_confirmed; });
    if (is_found && points.size() > kMaxSearchedInAllOrders) break;
  } while (std::prev_permutation(order.begin(), order.end()));
  return all;
}

}  // namespace

std::string_view name_of(Support support) {
  return support == Support::kGuess ? "guess" : support == Support::kThin ? "thin" : "good";
}

std::vector<Derivation> derive_domain(const Samples& samples, const DerivationOptions& options) {
  std::vector<Derivation> derivations;
  if (samples.points.size() < 2) return derivations;
  std::vector<Candidate> candidates = all_candidates(samples, options.is_ordered);
  std::stable_sort(
      candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return std::tuple(!a.is_confirmed, a.description, -a.least_evidence, -a.evidence) <
               std::tuple(!b.is_confirmed, b.description, -b.least_evidence, -b.evidence);
      });
  for (Candidate& candidate : candidates) {
    if (derivations.size() == kMaxDerivations) break;
    Derivation derivation;
    derivation.declaration = fmt::format("domain {}{}", options.name, candidate.text);
    const bool is_known = std::any_of(
        derivations.begin(), derivations.end(),
        [&](const Derivation& each) { return each.declaration == derivation.declaration; });
    if (is_known || !yields_samples(derivation.declaration, samples, options.is_ordered)) continue;
    derivation.size_parameter = candidate.size_parameter;
    derivation.evidence = candidate.is_confirmed ? candidate.evidence : 0;
    derivation.description = candidate.description;
    derivation.support = support_of(candidate, samples);
    derivation.remarks = remarks_about(candidate, samples);
    derivations.push_back(std::move(derivation));
  }
  return derivations;
}

std::optional<Domain> make_domain(const Derivation& derivation, std::int64_t count) {
  const auto library = read_declaration(derivation.declaration);
  if (!library) return std::nullopt;
  auto domain = make_with(*library, {});
  if (!domain || derivation.size_parameter.empty()) return domain;
  std::int64_t value = 0;
  for (const auto& [name, usual] : library->declarations().front().parameters()) {
    if (name == derivation.size_parameter) value = usual.value_or(0);
  }
  // Adds 1, 2, 4, ... to the parameter. After a refused value, adds less and less.
  constexpr std::int64_t kMostStep = std::int64_t{1} << 40;
  bool is_refused = false;
  for (std::int64_t step = 1; domain->count() < count && step >= 1 && step <= kMostStep;) {
    auto larger = make_with(*library, {{derivation.size_parameter, value + step}});
    const bool is_larger = larger && larger->count() >= domain->count();
    if (is_larger) {
      domain = std::move(larger);
      value += step;
    }
    is_refused = is_refused || !is_larger;
    step = is_refused ? step / 2 : 2 * step;
  }
  return domain;
}

}  // namespace groma::domains
