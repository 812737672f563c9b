// Formula: a map `k => (E, E)` in the expression language of domains.
#include <fmt/format.h>

#include <array>

#include "domain/expression.h"
#include "domain/tree.h"
#include "groma/domain_derivation.h"

namespace groma::domains {

struct Formula::Impl {
  Expression expression;
  Evaluator evaluator;
  std::int64_t left = kMaxSteps;
  std::string why;
};

std::optional<Formula> Formula::read(Diagnostics& diags, int dimensions) {
  auto map = parse_map(diags);
  if (!map) return std::nullopt;
  auto impl = std::make_unique<Impl>();
  impl->expression = std::move(map->value);
  const Range whole = impl->expression.top().range;
  if (map->variables.size() != 1) {
    diags.report(DiagId::kTypeMismatch, whole, "a map of k", "one variable",
                 fmt::format("{}", map->variables.size()));
    return std::nullopt;
  }
  if (!resolve(impl->expression, {{map->variables.front(), 1}}, diags)) return std::nullopt;
  if (impl->expression.width() != dimensions) {
    diags.report(DiagId::kTypeMismatch, whole, "this map",
                 fmt::format("{} coordinates", dimensions),
                 fmt::format("{}", impl->expression.width()));
    return std::nullopt;
  }
  return Formula(std::move(impl));
}

Formula::Formula(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;
Formula::~Formula() = default;

std::optional<Point> Formula::point(std::int64_t k) {
  if (is_used_up()) {
    impl_->why = "takes more steps in all than are allowed";
    return std::nullopt;
  }
  Value value;
  const std::array<std::int64_t, 1> given = {k};
  const bool has_value = impl_->evaluator.evaluate(impl_->expression, given, &value);
  impl_->left -= impl_->evaluator.steps();
  if (has_value) {
    return Point(std::span(value.items).first(static_cast<std::size_t>(value.width)));
  }
  impl_->why = words_of(impl_->evaluator.fault().kind);
  return std::nullopt;
}

const std::string& Formula::why() const { return impl_->why; }
bool Formula::is_used_up() const { return impl_->left <= 0; }

}  // namespace groma::domains
