// Splits launches over domains with holes into launches over parts of these domains.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "groma/result.h"
#include "recording/events.h"

namespace groma::app {

// Replaces each launch over one of these sparse domains (Events::sparse_domains) by several: over
// parts that a condition can list, or, if one condition can list the domain, over its rows. No
// split launch has a domain of `domains`. Adds a note for each task whose launches were split.
// Returns an error if the events then have too many launches or numbers.
std::optional<Error> split_sparse_launches(Events& events, const std::set<std::int32_t>& domains,
                                           std::vector<std::string>& notes);

}  // namespace groma::app
