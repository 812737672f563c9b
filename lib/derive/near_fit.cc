// Finds a domain that yields nearly all samples, so that a wrong sample can be named.
#include <fmt/format.h>

#include <algorithm>

#include "groma/domain_derivation.h"

namespace groma::domains {
namespace {

// The share of the samples that may be wrong, and the number of wrong samples that are kept.
constexpr std::size_t kWrongShare = 10, kKeptWrong = 8;

// Compares a domain with the samples. Returns nullopt if it has none of them wrong, or too many.
std::optional<NearFit> compare(const Samples& samples, const Domain& domain, std::string name) {
  if (domain.dimensions() != samples.dimensions()) return std::nullopt;
  if (domain.count() < static_cast<std::int64_t>(samples.points.size())) return std::nullopt;
  NearFit fit;
  fit.name = std::move(name);
  const std::size_t most = std::max<std::size_t>(1, samples.points.size() / kWrongShare);
  for (std::size_t k = 0; k < samples.points.size(); ++k) {
    const Point expected = domain.point(static_cast<std::int64_t>(k));
    if (expected == samples.points[k]) continue;
    if (++fit.wrong_count > most) return std::nullopt;
    if (fit.wrong.size() < kKeptWrong) {
      fit.wrong.push_back({static_cast<std::int64_t>(k), samples.points[k], expected});
    }
  }
  if (fit.wrong_count == 0) return std::nullopt;
  return fit;
}

// Returns a known domain with at least `count` points, or with as many as it can have.
std::optional<Domain> make_large(const Declaration& known, std::int64_t count) {
  Derivation derivation;
  derivation.declaration = known.text();
  if (!derivation.declaration.ends_with(';')) derivation.declaration += ';';
  const auto parameters = known.parameters();
  if (!parameters.empty()) derivation.size_parameter = parameters.front().first;
  return make_domain(derivation, count);
}

}  // namespace

// Tries the known domains, and what is derived from the first half and the first three quarters of
// the samples.
std::optional<NearFit> find_near_fit(const Samples& samples) {
  std::optional<NearFit> best;
  const auto take = [&](std::optional<NearFit> fit) {
    if (fit && (!best || fit->wrong_count < best->wrong_count)) best = std::move(fit);
  };
  // Fewer samples fit too much.
  constexpr std::size_t kFewest = 8;
  const std::size_t count = samples.points.size();
  if (count < kFewest) return best;
  const auto library = known_domains();
  for (const Declaration& known : library->declarations()) {
    const auto domain = make_large(known, static_cast<std::int64_t>(count));
    if (domain) take(compare(samples, *domain, known.name()));
  }
  for (const std::size_t part : {count / 2, count - count / 4}) {
    const std::vector<Derivation> derived = derive_domain(samples.first(part));
    if (derived.empty() || derived.front().support != Support::kGood) continue;
    const auto domain = make_domain(derived.front(), static_cast<std::int64_t>(count));
    if (domain) take(compare(samples, *domain, derived.front().declaration));
  }
  return best;
}

// Returns "all samples but k = 17 fit `triangle`, which has (1, 5) there and not (7, 5)".
std::string words_of(const NearFit& fit) {
  const auto words = [](const Point& point) {
    return fmt::format("({})", fmt::join(point.coordinates(), ", "));
  };
  const NearFit::WrongSample& first = fit.wrong.front();
  if (fit.wrong_count == 1) {
    return fmt::format("all samples but k = {} fit `{}`, which has {} there and not {}", first.k,
                       fit.name, words(first.expected), words(first.point));
  }
  std::string numbers;
  for (const NearFit::WrongSample& each : fit.wrong) {
    numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", each.k);
  }
  return fmt::format("all samples but k = {}{} fit `{}`, which has {} for k = {} and not {}",
                     numbers, fit.wrong_count > fit.wrong.size() ? ", ..." : "", fit.name,
                     words(first.expected), first.k, words(first.point));
}

}  // namespace groma::domains
