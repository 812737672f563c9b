// The genetic programme: evolves an expression of k for each coordinate. It is deterministic.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "domain/expression.h"
#include "groma/domain_derivation.h"

namespace groma::domains {
namespace {

enum class Gene : std::uint8_t {
  kIndex,
  kConstant,
  kRoot,
  kSum,
  kDifference,
  kProduct,
  kQuotient,
  kRest
};

struct GeneNode {
  Gene gene = Gene::kIndex;
  std::int64_t number = 0;
};
// A tree in prefix notation: an operator stands before its operands.
using GeneTree = std::vector<GeneNode>;

// Limits on a tree.
constexpr std::size_t kMaxGenes = 40;
constexpr int kMaxNewDepth = 4;
// The value of an expression that has none.
constexpr std::int64_t kNoValue = std::numeric_limits<std::int64_t>::min();

std::size_t operands_of(Gene gene) {
  return gene <= Gene::kConstant ? 0 : gene == Gene::kRoot ? 1 : 2;
}

// The random numbers of splitmix64.
class GeneRandom {
 public:
  explicit GeneRandom(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t limit) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return static_cast<std::size_t>((mixed ^ (mixed >> 31)) % limit);
  }

 private:
  std::uint64_t state_;
};

std::int64_t apply_gene(Gene gene, std::int64_t a, std::int64_t b) {
  if (a == kNoValue || b == kNoValue) return kNoValue;
  std::int64_t result = kNoValue;
  switch (gene) {
    case Gene::kRoot:
      return a < 0 ? kNoValue : floor_square_root(a);
    case Gene::kSum:
      return __builtin_add_overflow(a, b, &result) ? kNoValue : result;
    case Gene::kDifference:
      return __builtin_sub_overflow(a, b, &result) ? kNoValue : result;
    case Gene::kProduct:
      return __builtin_mul_overflow(a, b, &result) ? kNoValue : result;
    case Gene::kQuotient:
      return b == 0 || b == -1 ? kNoValue : floor_divide(a, b);
    case Gene::kRest:
      return b == 0 || b == -1 ? kNoValue : floor_remainder(a, b);
    default:
      return kNoValue;
  }
}

// Returns the value of the tree at `*at` and moves `*at` behind it.
std::int64_t evaluate_tree(const GeneTree& tree, std::int64_t k, std::size_t* at) {
  const GeneNode& node = tree[(*at)++];
  if (node.gene == Gene::kIndex) return k;
  if (node.gene == Gene::kConstant) return node.number;
  const std::int64_t a = evaluate_tree(tree, k, at);
  const std::int64_t b = operands_of(node.gene) == 2 ? evaluate_tree(tree, k, at) : 0;
  return apply_gene(node.gene, a, b);
}

std::size_t end_of_subtree(const GeneTree& tree, std::size_t at) {
  for (std::size_t open = 1; open > 0; ++at) open += operands_of(tree[at].gene) - 1;
  return at;
}

std::string text_of_tree(const GeneTree& tree, std::size_t* at) {
  const GeneNode& node = tree[(*at)++];
  if (node.gene == Gene::kIndex) return "k";
  if (node.gene == Gene::kConstant) return fmt::format("{}", node.number);
  const std::string a = text_of_tree(tree, at);
  if (node.gene == Gene::kRoot) return fmt::format("isqrt({})", a);
  static constexpr const char* kSigns[] = {"+", "-", "*", "/", "%"};
  const std::string b = text_of_tree(tree, at);
  const auto sign = static_cast<std::size_t>(node.gene) - static_cast<std::size_t>(Gene::kSum);
  return fmt::format("({} {} {})", a, kSigns[sign], b);
}

// Evolves the expression of one coordinate.
class Evolution {
 public:
  Evolution(std::vector<std::int64_t> wanted, const GeneticOptions& options, std::uint64_t seed)
      : wanted_(std::move(wanted)), options_(options), random_(seed) {}

  GeneTree run() {
    std::vector<Individual> all;
    for (int i = 0; i < options_.population; ++i) {
      GeneTree tree;
      grow(kMaxNewDepth, &tree);
      all.push_back(judge(std::move(tree)));
    }
    Individual best = *std::min_element(all.begin(), all.end());
    for (int generation = 0; generation < options_.generations && best.misses > 0; ++generation) {
      std::vector<Individual> next = {best};
      while (next.size() < all.size()) next.push_back(judge(child(all)));
      all = std::move(next);
      best = *std::min_element(all.begin(), all.end());
    }
    return best.tree;
  }

 private:
  struct Individual {
    // The number of wrong samples, then the sum of the errors, then the size.
    std::size_t misses = 0;
    double error = 0;
    GeneTree tree;
    bool operator<(const Individual& other) const {
      return std::tuple(misses, error, tree.size()) <
             std::tuple(other.misses, other.error, other.tree.size());
    }
  };

  void grow(int depth, GeneTree* tree) {
    const bool is_leaf = depth == 0 || random_.below(5) == 0;
    if (is_leaf) {
      if (random_.below(2) == 0) return tree->push_back({Gene::kIndex, 0});
      return tree->push_back({Gene::kConstant, static_cast<std::int64_t>(random_.below(10))});
    }
    const auto gene = static_cast<Gene>(static_cast<std::size_t>(Gene::kRoot) + random_.below(6));
    tree->push_back({gene, 0});
    for (std::size_t i = 0; i < operands_of(gene); ++i) grow(depth - 1, tree);
  }

  const Individual& winner(const std::vector<Individual>& all) {
    constexpr int kRounds = 5;
    const Individual* best = &all[random_.below(all.size())];
    for (int i = 1; i < kRounds; ++i) {
      const Individual& other = all[random_.below(all.size())];
      if (other < *best) best = &other;
    }
    return *best;
  }

  // Returns a tree in which a part of one winner is replaced by a part of another one, or by a new
  // tree.
  GeneTree child(const std::vector<Individual>& all) {
    const GeneTree& mother = winner(all).tree;
    GeneTree part;
    if (random_.below(10) < 7) {
      const GeneTree& father = winner(all).tree;
      const std::size_t from = random_.below(father.size());
      part.assign(father.begin() + static_cast<std::ptrdiff_t>(from),
                  father.begin() + static_cast<std::ptrdiff_t>(end_of_subtree(father, from)));
    } else {
      grow(2, &part);
    }
    const std::size_t at = random_.below(mother.size());
    const std::size_t end = end_of_subtree(mother, at);
    GeneTree result(mother.begin(), mother.begin() + static_cast<std::ptrdiff_t>(at));
    result.insert(result.end(), part.begin(), part.end());
    result.insert(result.end(), mother.begin() + static_cast<std::ptrdiff_t>(end), mother.end());
    return result.size() <= kMaxGenes ? result : mother;
  }

  Individual judge(GeneTree tree) {
    Individual individual{0, 0, std::move(tree)};
    constexpr double kMostError = 1e6;
    for (std::size_t k = 0; k < wanted_.size(); ++k) {
      std::size_t at = 0;
      const std::int64_t value = evaluate_tree(individual.tree, static_cast<std::int64_t>(k), &at);
      if (value == wanted_[k]) continue;
      ++individual.misses;
      const double error = std::abs(static_cast<double>(value) - static_cast<double>(wanted_[k]));
      individual.error += std::min(error, kMostError);
    }
    return individual;
  }

  const std::vector<std::int64_t> wanted_;
  const GeneticOptions& options_;
  GeneRandom random_;
};

}  // namespace

std::string evolve_formula(const Samples& samples, const GeneticOptions& options) {
  std::vector<std::string> coordinates;
  for (int d = 0; d < samples.dimensions(); ++d) {
    std::vector<std::int64_t> wanted;
    for (const Point& point : samples.points) wanted.push_back(point[d]);
    const auto seed = options.seed * 1000 + static_cast<std::uint64_t>(d);
    const GeneTree tree = Evolution(std::move(wanted), options, seed).run();
    std::size_t at = 0;
    coordinates.push_back(text_of_tree(tree, &at));
  }
  if (coordinates.size() == 1) return "k => " + coordinates.front();
  return fmt::format("k => ({})", fmt::join(coordinates, ", "));
}

}  // namespace groma::domains
