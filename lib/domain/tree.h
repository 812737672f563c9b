// The tree of a domain declaration, as it is written.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/expression.h"
#include "groma/diagnostics.h"

namespace groma::domains {

// `low <= name < high`; each comparison may be `<` or `<=`.
struct LoopTree {
  std::string name;
  Range range;
  // Without a lower bound the loop begins at 0.
  std::optional<Expression> low;
  bool low_is_excluded = false;
  Expression high;
  bool high_is_excluded = true;
};

// One part of a domain: `(x, y) in loops ...`, `(x, y) in digits ...` or `other(n, 2)`.
struct PartTree {
  enum class Kind : std::uint8_t { kLoops, kDigits, kReference } kind = Kind::kLoops;
  Range range;
  // The coordinates of a point: expressions of the loop variables, or of the variables that stand
  // for the numbers made of digits. One tuple, or one integer.
  Expression head;
  std::vector<LoopTree> loops;
  // kDigits: the base, the number of levels, and the digits of each coordinate: the ones for which
  // `where` is not 0, or the listed ones.
  Expression base, levels;
  std::vector<Expression> table;
  // A condition on the loop variables, or on the digits.
  std::optional<Expression> where;
  // kReference: the name of another domain and its parameters.
  std::string name;
  std::vector<Expression> arguments;
};

struct DeclarationTree {
  std::string name;
  Range name_range;
  struct Parameter {
    std::string name;
    Range range;
    std::optional<std::int64_t> usual;
  };
  std::vector<Parameter> parameters;
  // The lines of comments directly above the declaration.
  std::string comment;
  // How a part is joined to the points before it. `then`: after them; no point is in both. `or`:
  // after them, without those that they have already. `except`: takes its points away.
  enum class Join : std::uint8_t { kFirst, kThen, kOr, kExcept };
  std::vector<std::pair<Join, PartTree>> parts;
  // `by k => e`: the map from k to the k-th point.
  struct Map {
    std::vector<std::string> variables;
    Expression value;
  };
  std::optional<Map> by;
  Range range;
};

// Limits on what a text may have.
inline constexpr std::size_t kMaxDeclarations = 1000;
inline constexpr std::size_t kMaxParts = 64;
inline constexpr std::size_t kMaxParameters = 4;
inline constexpr std::size_t kMaxNodes = std::size_t{1} << 16;
inline constexpr int kMaxNesting = 64;
// Limit on the depth of an expression, which operators like 1 + 1 + 1 + ... make deep, too.
inline constexpr int kMaxDepth = 1000;
// Limit on the bytes of a comment.
inline constexpr std::size_t kMaxComment = 2000;

// Reads declarations. Reports errors and returns what could be read.
std::vector<DeclarationTree> parse_declarations(Diagnostics& diags);
// Reads a text that is one map, `k => e`. A semicolon behind it is allowed. Returns nullopt after
// an error.
std::optional<DeclarationTree::Map> parse_map(Diagnostics& diags);

// A name that an expression may use, and the number of integers in its value.
struct NameInScope {
  std::string name;
  int width = 1;
};
// Gives each name its slot and each node its width. The names of the scope get the first slots, in
// their order. Reports unknown names and wrong widths. Returns false if there is an error. `cure`
// returns what helps against an unknown name; if it is empty or returns an empty text, a similar
// name is suggested.
using NameCure = std::function<std::string(std::string_view name)>;
bool resolve(Expression& expression, const std::vector<NameInScope>& scope, Diagnostics& diags,
             const NameCure& cure = {});

}  // namespace groma::domains
