// Derivation of domains: finds the declaration of a domain (groma/domain.h) from its first points.
// derive_domain() searches exactly and needs no model. The other functions do the same task in two
// other ways, for comparison: a genetic programme, and a language model. docs/domains.md is the
// manual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/domain.h"
#include "groma/geometry.h"
#include "groma/llm.h"

namespace groma::domains {

// Limits on samples: their number, their dimensions, and the absolute value of a coordinate.
inline constexpr std::size_t kMaxSamples = 100'000;
inline constexpr int kMaxSampleDimensions = 4;
inline constexpr std::int64_t kMaxSampleCoordinate = (std::int64_t{1} << 31) - 1;

// The first points of a domain: points[k] is the k-th point. All points are different and have as
// many coordinates as there are names.
struct Samples {
  // The names of the coordinates. They can be names in a declaration.
  std::vector<std::string> names;
  std::vector<Point> points;

  int dimensions() const { return static_cast<int>(names.size()); }
  // Returns the first samples, at most `count`.
  Samples first(std::size_t count) const;
};

// Reads samples from CSV: a line for each point, with the columns k, x, y, ... or only x, y, ... A
// first line with names is optional. In it, the name k (or index) in the first column means that
// the column has the numbers of the points, which may then come in any order. Without names, the
// first column has the numbers if it begins with 0 and increases in each line. Empty lines and
// lines that begin with `#` are skipped.
//
// Reports errors: a line that is not a list of whole numbers, lines of different lengths, too many
// lines or columns, too large numbers, a missing k, two points for one k, one point for two k.
// Returns nullopt if there are any.
std::optional<Samples> read_samples(Diagnostics& diags);

// How well the samples support a derivation.
enum class Support : std::uint8_t {
  // A number in the declaration follows from the samples, but no further sample confirms it.
  kGuess,
  // Each number is confirmed, but one of them by a single equation, or the declaration needs as
  // many numbers as the samples have, or all samples lie on a line or a plane.
  kThin,
  // Each number is confirmed several times, and the declaration is shorter than the samples.
  kGood,
};
// Returns "guess", "thin" or "good".
std::string_view name_of(Support support);

// A declaration that yields the samples.
struct Derivation {
  // The declaration, such as "domain derived(n = 6) = (x, y) in loops y < n, x <= y;". Its default
  // values make the smallest domain that has all samples.
  std::string declaration;
  // The parameter that makes the domain larger, or "" if there is none. The samples do not show its
  // value.
  std::string size_parameter;
  Support support = Support::kGuess;
  // The equations between whole numbers that the samples satisfy beyond those that determine the
  // numbers of the declaration. 0 for a guess.
  std::int64_t evidence = 0;
  // The description length: how many whole numbers the declaration contains.
  std::int64_t description = 0;
  // What the samples cannot show, as sentences without a full stop.
  std::vector<std::string> remarks;
};

struct DerivationOptions {
  // The name of the declared domain.
  std::string name = "derived";
  // False if the samples are all points of the domain in an unknown order. The declaration then has
  // the same points, in the order of its loops or digits.
  bool is_ordered = true;
};

// Returns the declarations that yield all samples, the best first, at most kMaxDerivations. Guesses
// come after the others, and among equals the shortest description comes first. Every returned
// declaration was read again, and its points were compared with all samples.
//
// The candidates are nested loops whose bounds are sums of multiples of outer variables, affine
// images of such loops, two such nests joined by `then`, and self-similar sets. Method: domains.md
// section 5 (Groma's research note): a digit map satisfies q(k) = b q(k / s) + q(k % s).
inline constexpr std::size_t kMaxDerivations = 5;
std::vector<Derivation> derive_domain(const Samples& samples,
                                      const DerivationOptions& options = {});

// A domain that yields nearly all samples.
struct NearFit {
  // The name of a known domain, or a declaration.
  std::string name;
  struct WrongSample {
    std::int64_t k = 0;
    // The sample, and the point that the domain has for this k.
    Point point, expected;
  };
  // The first samples that the domain does not yield, at most 8, and the number of all.
  std::vector<WrongSample> wrong;
  std::size_t wrong_count = 0;
};
// Returns the domain that yields the most samples, if at most one of ten samples is wrong, and at
// least one is. The samples have an order. Returns nullopt if there is no such domain among those
// that Groma knows and those that the first half or three quarters of the samples yield.
std::optional<NearFit> find_near_fit(const Samples& samples);
// Returns a sentence without a full stop about the wrong samples.
std::string words_of(const NearFit& fit);

// Makes the derived domain with at least `count` points, or with as many as it can have.
std::optional<Domain> make_domain(const Derivation& derivation, std::int64_t count);

// A map from k to a point; nullopt if it has no value for k.
using PointFunction = std::function<std::optional<Point>(std::int64_t k)>;
// Returns the map of a domain, which has no value for k >= count().
PointFunction point_function(const Domain& domain);

// How much of a domain an answer gets right.
struct Grade {
  // The number of compared points.
  std::int64_t points = 0;
  // The number of k whose point is right.
  std::int64_t in_order = 0;
  // The number of different right points that the answer gives for any k.
  std::int64_t in_any_order = 0;
  // True if `stop` or the limit of the answer ended the comparison early. The rest counts as wrong.
  bool is_cut_off = false;
};
// Compares the first `points` values of two maps. The truth has a value for each of them. `stop` is
// called now and then and ends the comparison when it returns true.
Grade grade_answer(const PointFunction& answer, const PointFunction& truth, std::int64_t points,
                   const std::function<bool()>& stop = {});

// A map in the expression language of docs/domains.md: `k => (E, E)`, or `by k => (E, E);`.
// Evaluation is total: each value takes at most a million steps, and all values of one formula
// together kMaxSteps.
class Formula {
 public:
  static constexpr std::int64_t kMaxSteps = std::int64_t{1} << 31;

  // Reads a formula with this number of coordinates. Reports errors; returns nullopt if there are
  // any.
  static std::optional<Formula> read(Diagnostics& diags, int dimensions);
  Formula(Formula&&) noexcept;
  Formula& operator=(Formula&&) noexcept;
  ~Formula();

  // Returns the value for k, or nullopt if there is none or all steps are used up. Then why() says
  // so, as a sentence without a subject: "divides by zero". Not thread-safe.
  std::optional<Point> point(std::int64_t k);
  const std::string& why() const;
  bool is_used_up() const;

 private:
  struct Impl;
  explicit Formula(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The genetic programme, a small symbolic regression: it evolves one expression of k for each
// coordinate, from + - * / % isqrt and small numbers. It is expected to fail for most domains.
struct GeneticOptions {
  std::uint64_t seed = 1;
  int population = 400;
  int generations = 100;
};
// Returns the best formula, "k => (E, E)". The result depends only on the arguments.
std::string evolve_formula(const Samples& samples, const GeneticOptions& options = {});

// A model's answer to the samples.
struct ModelAnswer {
  // The formula or the declaration of the last usable reply; "" if there was none.
  std::string text;
  // The map, or an empty function if there is none.
  PointFunction point;
  // If there is no map: the reason.
  std::string refusal;
  // The failed call that ended the questions.
  std::optional<llm::ChatError> error;
  // The number of questions that the model answered.
  int rounds = 0;
  llm::ChatUsage usage;
  std::optional<double> money;
};

struct ModelOptions {
  // Limit on the questions after the first one, in which the model repairs its answer.
  int repairs = 2;
  double temperature = 0;
  // Limit on the tokens of a reply, with the model's reasoning.
  int reply_tokens = 16384;
};

// Limit on the bytes of the formula or declaration in a reply. A table of 100 samples does not fit.
inline constexpr std::size_t kMaxAnswerBytes = 1000;

// Asks a model for the map of the samples. The prompt has the samples and a short reference of the
// language, and forbids tables of samples. The reply is read by Groma's parser and evaluated within
// limits; nothing in it is executed otherwise. If the reply cannot be read, or a sample comes out
// wrong, the model is told so and answers again, at most `repairs` times.
ModelAnswer ask_for_map(llm::ChatClient& client, const Samples& samples,
                        const ModelOptions& options = {},
                        const llm::ChatClient::ReplyWatcher& watch = {});

}  // namespace groma::domains
