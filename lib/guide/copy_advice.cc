// Suggests how to avoid copies, by the memories between which the data moved.
#include "guide/copy_advice.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/quantities.h"
#include "edit/mapping.h"

namespace groma::guide {
namespace {

// Returns the text of a statement about one region in all tasks, to be shown in a suggestion.
std::string about(const std::string& region, MappingStatement kind, edit::Place place,
                  std::vector<MemKind> memories) {
  return edit::StatementParts{.kind = kind,
                              .tasks = {"*"},
                              .regions = {region},
                              .place = place,
                              .memories = std::move(memories)}
      .statement_text();
}

}  // namespace

bool is_copy_between(const ProfileFacts::Cause& cause, std::string_view a, std::string_view b) {
  return (cause.from == a && cause.to == b) || (cause.from == b && cause.to == a);
}

// If source and target have the same memory kind and node, and `same_memory` is false, the target
// is another memory of this kind.
std::string copy_direction_text(const ProfileFacts::Cause& cause) {
  if (cause.same_memory) return fmt::format("within one {}", cause.to);
  const bool another = cause.from == cause.to && !cause.other_node;
  return fmt::format("from {} to {}{}{}", cause.from, another ? "another " : "", cause.to,
                     cause.other_node ? " on another node" : "");
}

std::string size_of_copies(const ProfileFacts::Cause& cause) {
  return cause.bytes > 0 ? fmt::format(" ({} in all)", format_bytes(cause.bytes)) : "";
}

// The suggestion depends on the memory kinds between which the data was copied.
std::string suggestion_to_avoid_copy(const ProfileFacts::Cause& cause) {
  const std::string& region = cause.region;
  if (cause.other_node) {
    return fmt::format(
        "let points that share `{0}` run on one node: another function in IndexTaskMap, so that "
        "less of `{0}` crosses the network",
        region);
  }
  if (cause.same_memory) {
    return fmt::format(
        "copies within one memory are from one layout or shape to another: give all tasks that use "
        "`{0}` one layout (`{1} ...`), and points pieces of one shape",
        region, about(region, MappingStatement::kLayout, {}, {}));
  }
  if (is_copy_between(cause, "SYSMEM", "FBMEM") || is_copy_between(cause, "SOCKMEM", "FBMEM")) {
    return fmt::format(
        "let all tasks that use `{0}` run on GPUs where they have variants for them, and keep it "
        "in FBMEM. `{1}` would avoid these copies too, at a price: GPUs then "
        "reach `{0}` over the bus at each access, so it pays for data that they touch little, and "
        "only while ZCMEM has room",
        region, about(region, MappingStatement::kRegion, ProcKind::kGpu, {MemKind::kZcmem}));
  }
  if (is_copy_between(cause, "ZCMEM", "FBMEM")) {
    return fmt::format(
        "keep `{}` in one memory for all tasks that use it: FBMEM where GPUs touch it much and it "
        "fits, else ZCMEM for all",
        region);
  }
  if (cause.from == cause.to) {
    return fmt::format(
        "let neighbouring points that share `{0}` run on one processor: another function in "
        "IndexTaskMap or SingleTaskMap",
        region);
  }
  return fmt::format(
      "keep `{0}` in one memory that all its tasks reach (a Region statement for `{0}`)", region);
}

}  // namespace groma::guide
