// Regions and partitions that were recorded, as an application has them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/events.h"
#include "groma/app.h"

namespace groma::app {

// Names of the coordinates of a colour or a launch's point: i, j, k; of more than three i0, i1, ...
std::vector<std::string> coordinate_names(std::size_t dimensions);

// Adds the regions and partitions of `events` to an application, in their order.
class RecordedData {
 public:
  RecordedData(const Events& events, Application& app, std::vector<std::string>& notes);

 private:
  // The name as it was attached, else one that nothing has yet, by which no mapping of the program
  // knows it: it does by what was attached, if anything, which is then an alias.
  std::string name_for(const std::string& attached, const std::string& otherwise,
                       std::vector<std::string>& aliases, bool& unnamed);
  void add_region(const Events::Region& from);
  void add_partition(std::size_t number);
  // For how many pieces it is right; nothing where it can be no partition.
  std::optional<std::size_t> right_pieces(const AppPartition& made, std::size_t number) const;
  Rect color_box(const AppPartition& partition) const;
  std::optional<AppPartition> by_boxes(const AppPartition& plain, std::size_t number,
                                       bool flat) const;
  std::vector<AppPartition> ways(const AppPartition& plain, std::size_t number, bool flat) const;

  const Events& events_;
  Application& app_;
  std::vector<std::string>& notes_;
  std::set<std::string> taken_;
};

}  // namespace groma::app
