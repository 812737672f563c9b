// The text of dsl/domains/known.domain, which is embedded in the library.
#pragma once

#include <string_view>

namespace groma::domains {

std::string_view known_text();

}  // namespace groma::domains
