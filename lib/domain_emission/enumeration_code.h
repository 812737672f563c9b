// Writes C++ functions that know a domain without its map: nested loops over its points, and a test
// of a point. They are what the map is compared with.
#pragma once

#include <optional>
#include <string>

#include "domain_emission/map_code.h"

namespace groma::domains {

// Returns the function `base_each(visit)`. It calls visit(x, y ...) for the points in their order
// until one call returns false, and returns false then. The points of a map that is known point by
// point come from `base_point`.
std::string each_code(const PointMap& map, const std::string& base, const Names& names);

// Returns the function `base_inside(x, y ...)`, which returns whether a point of the box around the
// domain is in it. Returns nullopt if the map is known point by point, or needs 128 bits.
std::optional<std::string> inside_code(const PointMap& map, const std::string& base,
                                       const Names& names);

// Returns the text with each `@WORD@` replaced by its value.
std::string fill(std::string text, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace groma::domains
