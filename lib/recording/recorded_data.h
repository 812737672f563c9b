// RecordedData: turns recorded regions and partitions into those of an application.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "groma/app.h"
#include "recording/events.h"

namespace groma::app {

// Returns names for the coordinates of a colour or a point: i, j, k, or i0, i1, ... if there are
// more than three.
std::vector<std::string> coordinate_names(std::size_t dimensions);

// Returns the boxes of a piece, relative to the region's lower corner. `region` is the region's
// bounds.
std::vector<Rect> boxes_of(const Events::Piece& piece, const Rect& region);

// Returns the fields of the region that a launch uses, in the region's order.
std::vector<AppField> fields_of(const AppRegion& region, const Events::Requirement& requirement);
// Returns the extents of the partition's colours, those of the outer partitions first.
std::vector<std::int64_t> color_extents(const Application& app, const AppPartition& partition);
// Returns the value of a formula that is a number.
std::int64_t constant_of(const Formula& formula);

// Adds the regions and partitions of `events` to an application, in their order.
class RecordedData {
 public:
  RecordedData(const Events& events, Application& app, std::vector<std::string>& notes);

 private:
  // Returns the name that the program attached if it is not taken, otherwise a new name. `unnamed`
  // then becomes true, because a mapping cannot refer to a new name. An attached name that was
  // taken becomes an alias.
  std::string name_for(const std::string& attached, const std::string& otherwise,
                       std::vector<std::string>& aliases, bool& unnamed);
  void add_region(const Events::Region& from);
  void add_partition(std::size_t number);
  // Returns the number of recorded pieces that `made` reproduces, or nullopt if it is not a valid
  // partition.
  std::optional<std::size_t> count_matching_pieces(const AppPartition& made,
                                                   std::size_t number) const;
  Rect color_box(const AppPartition& partition) const;
  std::optional<AppPartition> with_listed_boxes(const AppPartition& plain, std::size_t number,
                                                bool flat) const;
  std::vector<AppPartition> candidate_partitions(const AppPartition& plain, std::size_t number,
                                                 bool flat) const;

  const Events& events_;
  Application& app_;
  std::vector<std::string>& notes_;
  std::set<std::string> taken_;
};

}  // namespace groma::app
