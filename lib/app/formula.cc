// Parses formulas into code for a stack machine (class FormulaParser) and computes their values
// (CompiledFormula::run).
#include "app/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "groma/harmless.h"
#include "groma/spelling.h"

namespace groma::app {
namespace {

// Limit on the nesting of the grammar's rules in one formula.
constexpr int kMaxNestedRules = 200;
// Limits on the number of bytes of the unread formula, and of an unknown name, that a message
// shows.
constexpr std::size_t kShownRest = 12, kShownName = 40;
// Limit on the values on the stack. Each open rule of the grammar keeps at most one value there,
// and kMaxNestedRules limits the open rules.
constexpr std::size_t kMaxStack = 256;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns a / b rounded down: -1 / 2 is -1, where C++ gives 0.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
}

// Returns the remainder of the division that rounds down. The remainder has the sign of b: -1 % 4
// is 3.
std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// Returns the quotient, or the remainder, of a division that rounds down. Sets `fault` and returns
// 0 if b is zero or if the quotient does not fit 64 bits.
std::int64_t divide(std::int64_t a, std::int64_t b, bool remainder, FormulaFault& fault) {
  if (b == 0) {
    fault = FormulaFault::kDivisionByZero;
    return 0;
  }
  // INT64_MIN / -1 and INT64_MIN % -1 stop a process on x86, so -1 is a case of its own.
  if (b == -1) {
    if (remainder) return 0;
    if (a == INT64_MIN) fault = FormulaFault::kOverflow;
    return a == INT64_MIN ? 0 : -a;
  }
  return remainder ? floor_remainder(a, b) : floor_divide(a, b);
}

}  // namespace

// Returns why a formula has no value, as a clause for messages.
std::string_view words_of(FormulaFault fault) {
  switch (fault) {
    case FormulaFault::kNone:
      return "it has a value";
    case FormulaFault::kDivisionByZero:
      return "it divides by zero";
    case FormulaFault::kOverflow:
      return "its value does not fit 64 bits";
    case FormulaFault::kOutOfRange:
      return "it asks for a piece that is not there";
    case FormulaFault::kTooManyPoints:
      return "a launch with a condition has at most 2^20 points in its domain";
    case FormulaFault::kNoBox:
      break;
  }
  return "an extent is negative, or there are more than 2^63-1 points";
}

// Returns true if the formula reads neither a variable nor a piece, so that its value is always the
// same.
bool CompiledFormula::reads_no_input() const {
  const auto reads = [](const Op& op) {
    return op.kind == Kind::kSlot || op.kind == Kind::kPoints || op.kind == Kind::kExtent;
  };
  return slot_ < 0 && std::none_of(ops_.begin(), ops_.end(), reads);
}

// A formula that is a single variable has no operations, only the slot of the variable.
bool CompiledFormula::reads(int slot) const {
  return slot_ == slot || std::any_of(ops_.begin(), ops_.end(), [slot](const Op& op) {
           return op.kind == Kind::kSlot && op.operand == slot;
         });
}

// Runs the code on a stack of integers and returns the value. If there is no value, returns 0 and
// sets `fault`, unless `fault` holds an earlier fault.
std::int64_t CompiledFormula::run(std::span<const std::int64_t> frame, FormulaFault& fault,
                                  Pieces pieces) const {
  std::array<std::int64_t, kMaxStack> stack;
  std::size_t size = 0;
  FormulaFault found = FormulaFault::kNone;
  for (std::size_t at = 0; at < ops_.size(); ++at) {
    const Op& op = ops_[at];
    switch (op.kind) {
      case Kind::kConstant:
        stack[size++] = op.operand;
        continue;
      case Kind::kSlot:
        stack[size++] = frame[static_cast<std::size_t>(op.operand)];
        continue;
      case Kind::kPoints:
      case Kind::kExtent: {
        const auto r = static_cast<std::size_t>(op.operand);
        if (r >= pieces.size() || op.dimension >= std::max(1, pieces[r].box->dimensions())) {
          found = FormulaFault::kOutOfRange;
          stack[size++] = 0;
        } else {
          stack[size++] =
              op.kind == Kind::kPoints ? pieces[r].points : pieces[r].box->extents[op.dimension];
        }
        continue;
      }
      case Kind::kJump:
        at = static_cast<std::size_t>(op.operand) - 1;
        continue;
      case Kind::kJumpIfZero:
        if (stack[--size] == 0) at = static_cast<std::size_t>(op.operand) - 1;
        continue;
      default: {
        const std::int64_t b = stack[--size];
        std::int64_t& a = stack[size - 1];
        bool overflow = false;
        switch (op.kind) {
          case Kind::kAdd:
            overflow = __builtin_add_overflow(a, b, &a);
            break;
          case Kind::kSubtract:
            overflow = __builtin_sub_overflow(a, b, &a);
            break;
          case Kind::kMultiply:
            overflow = __builtin_mul_overflow(a, b, &a);
            break;
          case Kind::kDivide:
            a = divide(a, b, false, found);
            break;
          case Kind::kRemainder:
            a = divide(a, b, true, found);
            break;
          case Kind::kMin:
            a = std::min(a, b);
            break;
          case Kind::kMax:
            a = std::max(a, b);
            break;
          case Kind::kLess:
            a = a < b ? 1 : 0;
            break;
          case Kind::kLessEqual:
            a = a <= b ? 1 : 0;
            break;
          case Kind::kEqual:
            a = a == b ? 1 : 0;
            break;
          default:
            a = a != b ? 1 : 0;
            break;
        }
        if (overflow) found = FormulaFault::kOverflow;
      }
    }
    if (found != FormulaFault::kNone) break;
  }
  if (found == FormulaFault::kNone) return stack[0];
  if (fault == FormulaFault::kNone) fault = found;
  return 0;
}

// Returns the name that was added last among those with this text, or null. So the variable of an
// inner loop hides a parameter with the same name.
const Scope::Name* Scope::find(std::string_view name) const {
  const auto found = std::find_if(names_.rbegin(), names_.rend(),
                                  [name](const Name& each) { return each.name == name; });
  return found == names_.rend() ? nullptr : &*found;
}

std::vector<std::string_view> Scope::names() const {
  std::vector<std::string_view> names;
  for (const Name& name : names_) names.push_back(name.name);
  return names;
}

// Returns true if the name is a word and not one of the functions that formulas have.
bool is_formula_name(std::string_view name) {
  if (name.empty() || !is_letter(name.front())) return false;
  if (!std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); })) {
    return false;
  }
  constexpr std::array<std::string_view, 4> kFunctions = {"min", "max", "points", "extent"};
  return std::find(kFunctions.begin(), kFunctions.end(), name) == kFunctions.end();
}

// A recursive-descent parser. Precedence from low to high: ?:, comparisons, sums, products, signs.
class FormulaParser {
 public:
  FormulaParser(std::string_view text, const Scope& scope, FormulaError& error,
                std::optional<PieceShapes> pieces)
      : text_(text), scope_(scope), error_(error), pieces_(pieces) {}

  // Parses the whole text. Returns nullopt if it is not a formula; `error` then has the first
  // error.
  std::optional<CompiledFormula> parse() {
    if (text_.size() > kMaxFormulaBytes) {
      fail(fmt::format("a formula of {} bytes; at most {}", text_.size(), kMaxFormulaBytes));
      return std::nullopt;
    }
    choice(0);
    skip();
    if (ok_ && at_ < text_.size()) fail_unexpected();
    if (!ok_) return std::nullopt;
    // A formula of one operation becomes a constant or a single variable, which need no stack.
    if (code_.ops_.size() > 1) return std::move(code_);
    const CompiledFormula::Op only = code_.ops_.front();
    if (only.kind == CompiledFormula::Kind::kConstant) return CompiledFormula(only.operand);
    if (only.kind != CompiledFormula::Kind::kSlot) return std::move(code_);
    CompiledFormula variable;
    variable.slot_ = static_cast<int>(only.operand);
    return variable;
  }

 private:
  using Kind = CompiledFormula::Kind;

  void fail(std::string message, std::string help = {}) {
    if (ok_) error_ = {std::move(message), std::move(help)};
    ok_ = false;
  }
  // Fails with a message that shows the text at which the parser stopped.
  void fail_unexpected() {
    fail(unexpected(),
         "a formula has whole numbers, names, `+ - * / %`, comparisons, `a ? b : c`, `min(a, b)`, "
         "`max(a, b)` and parentheses");
  }
  // Returns a message that shows the text at which the parser stopped.
  std::string unexpected() const {
    if (at_ >= text_.size()) return "the formula ends too early";
    return fmt::format("`{}` is not expected in a formula",
                       harmless(text_.substr(at_), kShownRest));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  // Reads a symbol if it comes next. Returns true if it does.
  bool take(std::string_view symbol) {
    skip();
    if (text_.substr(at_, symbol.size()) != symbol) return false;
    at_ += symbol.size();
    return true;
  }
  // Reads a symbol, or reports that it is missing.
  void expect(std::string_view symbol) {
    if (ok_ && !take(symbol)) {
      fail(fmt::format("`{}` is expected{}", symbol,
                       at_ < text_.size()
                           ? fmt::format(" before `{}`", harmless(text_.substr(at_), kShownRest))
                           : " at the end"));
    }
  }
  // Returns true if one more rule may be nested, and reports an error otherwise. The limit protects
  // the call stack of the parser.
  bool deeper(int depth) {
    if (depth < kMaxNestedRules) return ok_;
    fail("it is nested too deeply");
    return false;
  }

  void push(Kind kind, std::int64_t operand = 0, std::int32_t dimension = 0) {
    code_.ops_.push_back({kind, dimension, operand});
  }
  // Adds an operation on the two values that were pushed last. `right` is the index of the first
  // operation of the right operand. If both operands are constants, the result is computed now.
  // Operations before barrier_ stay as they are, because a jump starts or ends there.
  void combine(Kind kind, std::size_t right) {
    auto& ops = code_.ops_;
    const bool known = ok_ && right > 0 && right + 1 == ops.size() && right > barrier_ &&
                       ops[right - 1].kind == Kind::kConstant && ops[right].kind == Kind::kConstant;
    push(kind);
    if (!known) return;
    CompiledFormula both;
    both.ops_.assign(ops.end() - 3, ops.end());
    FormulaFault fault = FormulaFault::kNone;
    const std::int64_t value = both.run({}, fault, {});
    // If the operation has no value, for example because it divides by zero, the operation stays in
    // the code. The fault then occurs again when the formula is evaluated.
    if (fault != FormulaFault::kNone) return;
    ops.resize(ops.size() - 3);
    push(Kind::kConstant, value);
  }

  // choice : comparison ['?' choice ':' choice]
  void choice(int depth) {
    if (!deeper(depth)) return;
    comparison(depth + 1);
    if (!ok_ || !take("?")) return;
    // The targets of both jumps are known only after the code of the branches, so the operands are
    // filled in later.
    const std::size_t to_else = code_.ops_.size();
    push(Kind::kJumpIfZero);
    barrier_ = code_.ops_.size();
    choice(depth + 1);
    expect(":");
    const std::size_t to_end = code_.ops_.size();
    push(Kind::kJump);
    code_.ops_[to_else].operand = static_cast<std::int64_t>(code_.ops_.size());
    barrier_ = code_.ops_.size();
    choice(depth + 1);
    code_.ops_[to_end].operand = static_cast<std::int64_t>(code_.ops_.size());
    barrier_ = code_.ops_.size();
  }

  // comparison : sum [('<' | '<=' | '>' | '>=' | '==' | '!=') sum]
  void comparison(int depth) {
    sum(depth + 1);
    struct Symbol {
      std::string_view text;
      Kind kind;
      bool swapped;
    };
    constexpr std::array<Symbol, 6> kSymbols = {{{"<=", Kind::kLessEqual, false},
                                                 {">=", Kind::kLess, true},
                                                 {"==", Kind::kEqual, false},
                                                 {"!=", Kind::kNotEqual, false},
                                                 {"<", Kind::kLess, false},
                                                 {">", Kind::kLessEqual, true}}};
    for (const Symbol& symbol : kSymbols) {
      if (!ok_ || !take(symbol.text)) continue;
      const std::size_t right = code_.ops_.size();
      sum(depth + 1);
      combine(symbol.kind, right);
      if (!symbol.swapped) return;
      // a > b is computed as (a <= b) == 0.
      const std::size_t one = code_.ops_.size();
      push(Kind::kConstant, 0);
      combine(Kind::kEqual, one);
      return;
    }
  }

  // sum : product (('+' | '-') product)*
  void sum(int depth) {
    if (!deeper(depth)) return;
    product(depth + 1);
    while (ok_) {
      const bool add = take("+");
      if (!add && !take("-")) return;
      const std::size_t right = code_.ops_.size();
      product(depth + 1);
      combine(add ? Kind::kAdd : Kind::kSubtract, right);
    }
  }

  // product : sign (('*' | '/' | '%') sign)*
  void product(int depth) {
    sign(depth + 1);
    while (ok_) {
      Kind kind = Kind::kMultiply;
      if (take("/"))
        kind = Kind::kDivide;
      else if (take("%"))
        kind = Kind::kRemainder;
      else if (!take("*"))
        return;
      const std::size_t right = code_.ops_.size();
      sign(depth + 1);
      combine(kind, right);
    }
  }

  // sign : '-' sign | value
  void sign(int depth) {
    if (!deeper(depth)) return;
    if (!take("-")) return value(depth + 1);
    skip();
    if (at_ < text_.size() && is_digit(text_[at_])) return number(true);
    const std::size_t zero = code_.ops_.size();
    push(Kind::kConstant, 0);
    const std::size_t right = zero + 1;
    sign(depth + 1);
    combine(Kind::kSubtract, right);
  }

  // value : NUMBER | NAME | '(' choice ')' | min, max, points or extent with arguments
  void value(int depth) {
    if (take("(")) {
      choice(depth + 1);
      return expect(")");
    }
    skip();
    if (at_ >= text_.size()) return fail_unexpected();
    if (is_digit(text_[at_])) return number();
    if (!is_letter(text_[at_])) return fail_unexpected();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "min" || name == "max")
      return extreme(name == "min" ? Kind::kMin : Kind::kMax, depth);
    if (name == "points" || name == "extent") return piece(name == "extent");
    const Scope::Name* found = scope_.find(name);
    if (found == nullptr) {
      const auto near = near_names(name, scope_.names());
      return fail(fmt::format("`{}` is not known here", harmless(name, kShownName)),
                  near.empty() ? "" : fmt::format("did you mean {}?", join_names(near)));
    }
    if (found->slot < 0) return push(Kind::kConstant, found->value);
    push(Kind::kSlot, found->slot);
  }

  // Parses a number of up to 64 bits. The sign has been read before, because -2^63 fits 64 bits but
  // 2^63 does not.
  void number(bool negative = false) {
    std::uint64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    const std::uint64_t most = static_cast<std::uint64_t>(INT64_MAX) + (negative ? 1 : 0);
    if (error != std::errc() || value > most) return fail("a number does not fit 64 bits");
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && (is_letter(text_[at_]) || text_[at_] == '.'))
      return fail_unexpected();
    push(Kind::kConstant, static_cast<std::int64_t>(negative ? 0 - value : value));
  }

  // Parses the arguments of min(a, b) or max(a, b).
  void extreme(Kind kind, int depth) {
    expect("(");
    if (ok_) choice(depth + 1);
    expect(",");
    const std::size_t right = code_.ops_.size();
    if (ok_) choice(depth + 1);
    combine(kind, right);
    expect(")");
  }

  // Parses points(r) and extent(r, d). Their arguments must be plain numbers, so the parser can
  // check that the requirement and the dimension exist.
  void piece(bool extent) {
    const std::string_view name = extent ? "extent" : "points";
    if (!pieces_) return fail(fmt::format("`{}` has no meaning here", name));
    expect("(");
    const std::int64_t requirement = plain_number();
    std::int64_t dimension = 0;
    if (extent) {
      expect(",");
      dimension = plain_number();
    }
    expect(")");
    if (!ok_) return;
    if (requirement >= static_cast<std::int64_t>(pieces_->size())) {
      return fail(fmt::format("the task has no requirement {}", requirement));
    }
    if (extent && dimension >= (*pieces_)[static_cast<std::size_t>(requirement)]) {
      return fail(fmt::format("requirement {} has no dimension {}", requirement, dimension));
    }
    push(extent ? Kind::kExtent : Kind::kPoints, requirement, static_cast<std::int32_t>(dimension));
  }
  // Parses a number that must not be an expression. Returns 0 after reporting an error. number()
  // pushes the value as an operation, which is removed again.
  std::int64_t plain_number() {
    skip();
    if (!ok_) return 0;
    if (at_ >= text_.size() || !is_digit(text_[at_])) {
      fail(fmt::format("a plain number is expected: {}", unexpected()));
      return 0;
    }
    number();
    if (!ok_) return 0;
    const std::int64_t value = code_.ops_.back().operand;
    code_.ops_.pop_back();
    return value;
  }

  std::string_view text_;
  const Scope& scope_;
  FormulaError& error_;
  std::optional<PieceShapes> pieces_;
  std::size_t at_ = 0;
  // A jump starts before this index of the code or leads to it. So combine() leaves the operations
  // before this index as they are.
  std::size_t barrier_ = 0;
  bool ok_ = true;
  CompiledFormula code_;
};

// Compiles the text of a formula. formula.h describes the result and the errors.
std::optional<CompiledFormula> compile(const Formula& formula, const Scope& scope,
                                       FormulaError& error, std::optional<PieceShapes> pieces) {
  return FormulaParser(formula.text(), scope, error, pieces).parse();
}

}  // namespace groma::app
