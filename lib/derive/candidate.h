// Candidate: a declaration that might yield the samples, before it is checked.
#pragma once

#include <span>
#include <vector>

#include "domain/point_map.h"
#include "groma/domain_derivation.h"

namespace groma::domains {

// A declaration without `domain NAME`, its size, and how much of it the samples confirm.
struct Candidate {
  // The text behind the name of the domain: "(n = 4) = (x, y) in loops y < n, x <= y;".
  std::string text;
  std::string size_parameter;
  std::int64_t evidence = 0;
  std::int64_t description = 0;
  // The redundant equations of the number in the declaration that is confirmed least.
  std::int64_t least_evidence = 0;
  bool is_confirmed = false;
  // True if the points lie on a line or a plane, although they have more coordinates.
  bool is_flat = false;
  std::vector<std::string> remarks;
};

// The samples in the form in which they are searched.
struct SampleView {
  const std::vector<std::string>& names;
  std::span<const Coordinates> points;

  std::size_t dimensions() const { return names.size(); }
  std::size_t size() const { return points.size(); }
  std::int64_t numbers() const { return static_cast<std::int64_t>(size() * dimensions()); }
};

// Returns the self-similar sets whose first points are the samples.
std::vector<Candidate> find_digit_maps(const SampleView& samples);
// Returns the self-similar set that consists of the samples, if there is one.
std::vector<Candidate> find_digit_set(const SampleView& samples);
// Returns the loop nests whose first points are the samples, or whose points if `is_complete` is
// true. If there is no confirmed nest and `is_complete` is false, also returns two nests that are
// joined by `then`.
std::vector<Candidate> find_loop_nests(const SampleView& samples, bool is_complete);

}  // namespace groma::domains
