// Keeps the texts that the proposer `scientist` has tried.
#include "propose/population.h"

#include <algorithm>
#include <utility>

#include "groma/line_edits.h"
#include "groma/segments.h"
#include "model/prompt.h"

namespace groma::tuning {
namespace {

// Limit on the work of line_edits() for one pair of texts.
constexpr std::size_t kMaxCells = 1'000'000;

// Returns by how many segments, or lines of files, two texts differ.
std::ptrdiff_t differing_parts(const Segments& a, const Segments& b) {
  std::ptrdiff_t differing = 0;
  for (const Segment& segment : a.all()) {
    const Segment* same = b.find(segment.name);
    if (same != nullptr && same->text == segment.text) continue;
    if (!a.are_files() || same == nullptr) {
      ++differing;
      continue;
    }
    const std::vector<LineEdit> edits = line_edits(segment.text, same->text, kMaxCells);
    differing += std::count_if(edits.begin(), edits.end(),
                               [](const LineEdit& edit) { return edit.sign != ' '; });
  }
  return differing;
}

}  // namespace

void Population::add(PopulationMember member) {
  members_.push_back(std::move(member));
  if (members_.size() <= kMaxMembers) return;
  const auto worst = std::max_element(members_.begin(), members_.end() - 1,
                                      [](const PopulationMember& a, const PopulationMember& b) {
                                        return std::pair(a.evaluation.score, -a.id) <
                                               std::pair(b.evaluation.score, -b.id);
                                      });
  members_.erase(worst);
}

std::vector<const PopulationMember*> Population::valid() const {
  std::vector<const PopulationMember*> members;
  for (const PopulationMember& member : members_) {
    if (member.evaluation.ok()) members.push_back(&member);
  }
  std::stable_sort(members.begin(), members.end(),
                   [](const PopulationMember* a, const PopulationMember* b) {
                     return a->evaluation.score < b->evaluation.score;
                   });
  return members;
}

const PopulationMember* most_different(const SearchProblem& problem, const PopulationMember& base,
                                       const std::vector<const PopulationMember*>& members) {
  const Result<Segments> own = segments_of(problem, base.text);
  const PopulationMember* found = nullptr;
  std::ptrdiff_t most = -1;
  for (const PopulationMember* member : members) {
    const Result<Segments> other = segments_of(problem, member->text);
    if (member == &base || !own.ok() || !other.ok()) continue;
    const std::ptrdiff_t differing = differing_parts(*own, *other);
    if (differing > most) {
      most = differing;
      found = member;
    }
  }
  return found;
}

}  // namespace groma::tuning
