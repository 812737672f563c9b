// with_values: applies the parameter values that a user writes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "groma/spelling.h"
#include "groma/workload.h"
#include "machine/quote.h"

namespace groma {
namespace {

// Returns the value of a text that is a decimal 64-bit integer, otherwise nullopt.
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

AppParameter* find_parameter(Application& app, std::string_view name) {
  const auto found = std::find_if(app.parameters.begin(), app.parameters.end(),
                                  [name](const AppParameter& each) { return each.name == name; });
  return found == app.parameters.end() ? nullptr : &*found;
}

// Returns a help text: similar names, otherwise the known names, or `otherwise` if there are none.
std::string help_for(std::string_view word, const std::vector<std::string_view>& known,
                     std::string_view otherwise) {
  const auto near = near_names(word, known);
  if (!near.empty()) return fmt::format("did you mean {}?", join_names(near));
  return known.empty() ? std::string(otherwise)
                       : fmt::format("known are {}", join_names(known, "and"));
}

// The names that the user has given a value so far: parameters, and the word `size`.
using Given = std::vector<std::string_view>;

bool has(const Given& given, std::string_view name) {
  return std::find(given.begin(), given.end(), name) != given.end();
}

Error malformed(std::string message, std::string help = {}) {
  return {Error::Code::kMalformed, std::move(message), std::move(help)};
}

// Sets the parameters to the values of a named size. A parameter in `given` keeps its value,
// because the user wrote that value explicitly. Returns kUnknown if the application has no such
// size.
std::optional<Error> set_size(Application& app, std::string_view name, const Given& given) {
  const auto size = std::find_if(app.sizes.begin(), app.sizes.end(),
                                 [name](const AppSize& each) { return each.name == name; });
  if (size == app.sizes.end()) {
    std::vector<std::string_view> known;
    for (const AppSize& each : app.sizes) known.push_back(each.name);
    return Error{Error::Code::kUnknown,
                 fmt::format("{} has no size {}", in_quotes(app.name), in_quotes(name)),
                 help_for(name, known, "it has no sizes")};
  }
  for (const auto& [parameter, value] : size->values) {
    AppParameter* known = find_parameter(app, parameter);
    if (known != nullptr && !has(given, parameter)) known->value = value;
  }
  return std::nullopt;
}

// Applies one item of the user's text, such as `n=4096`, `size=small` or `runtime=default`, and
// adds its name to `given`. A parameter of the application that is called `size` or `runtime` has
// priority over the special meaning of the word.
std::optional<Error> set_value(Application& app, std::string_view item, Given& given) {
  const std::size_t equals = item.find('=');
  const std::string_view name = item.substr(0, equals);
  const bool has_value = equals != item.npos && equals + 1 < item.size();
  const std::string_view text = has_value ? item.substr(equals + 1) : std::string_view();
  AppParameter* parameter = find_parameter(app, name);
  if (parameter == nullptr && item == "runtime=default") {
    app.runtime.reset();
    return std::nullopt;
  }
  const bool is_size = parameter == nullptr && name == "size";
  if (parameter == nullptr && !is_size) {
    std::vector<std::string_view> known;
    for (const AppParameter& each : app.parameters) known.push_back(each.name);
    return Error{Error::Code::kUnknown,
                 fmt::format("{} has no parameter {}", in_quotes(app.name), in_quotes(name)),
                 help_for(name, known, "it has no parameters")};
  }
  if (has(given, name)) return malformed(fmt::format("`{}` has two values", name));
  if (!has_value) {
    const std::string example = !is_size            ? std::to_string(parameter->value)
                                : app.sizes.empty() ? "small"
                                                    : app.sizes.front().name;
    return malformed(fmt::format("`{}` has no value", name),
                     fmt::format("it is written `{}={}`", name, example));
  }
  if (is_size) {
    if (auto error = set_size(app, text, given)) return error;
  } else if (const std::optional<std::int64_t> value = number_of(text)) {
    parameter->value = *value;
  } else {
    return malformed(
        fmt::format("`{}` is {}, which is not a whole number", parameter->name, in_quotes(text)));
  }
  given.push_back(name);
  return std::nullopt;
}

}  // namespace

// Applies the items, which are separated by commas, from left to right. Returns the first error.
Result<Application> with_values(Application app, std::string_view given) {
  Given so_far;
  while (!given.empty()) {
    const std::size_t comma = std::min(given.find(','), given.size());
    if (auto error = set_value(app, given.substr(0, comma), so_far)) return *std::move(error);
    given.remove_prefix(std::min(comma + 1, given.size()));
  }
  return app;
}

}  // namespace groma
