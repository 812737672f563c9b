// `cannon:size=large,nodes=4`: which application, and the values of its parameters.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "groma/benchmarks.h"
#include "groma/spelling.h"

namespace groma {

Result<AppSpec> parse_app_spec(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  AppSpec spec;
  spec.name = std::string(text);
  if (colon == std::string_view::npos || text.find('=', colon) == std::string_view::npos) {
    return spec;
  }
  spec.name = std::string(text.substr(0, colon));
  std::string_view rest = text.substr(colon + 1);
  while (true) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const std::size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : item.substr(equals + 1);
    std::int64_t number = 0;
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (name == "size" && !value.empty()) {
      spec.size = std::string(value);
    } else if (name.empty() || status != std::errc() || end != value.data() + value.size()) {
      return Error{Error::Code::kMalformed,
                   fmt::format("`{}` is not of the form NAME=NUMBER or size=NAME", item), ""};
    } else {
      spec.values.emplace_back(name, number);
    }
    if (item.size() == rest.size()) return spec;
    rest.remove_prefix(item.size() + 1);
  }
}

Result<std::vector<AppValue>> values_of(const AppSpec& spec, const Application& app) {
  std::vector<AppValue> values;
  if (!spec.size.empty()) {
    const auto size = std::find_if(app.sizes.begin(), app.sizes.end(),
                                   [&](const AppSize& each) { return each.name == spec.size; });
    if (size == app.sizes.end()) {
      std::vector<std::string_view> names;
      for (const AppSize& each : app.sizes) names.push_back(each.name);
      return Error{Error::Code::kUnknown, fmt::format("`{}` has no size `{}`", app.name, spec.size),
                   names.empty() ? "" : fmt::format("it has {}", join_names(names, "and"))};
    }
    values = size->values;
  }
  values.insert(values.end(), spec.values.begin(), spec.values.end());
  return values;
}

}  // namespace groma
