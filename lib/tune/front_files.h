// FrontFiles: the folder `front` in the directory of a search, with the texts of its Pareto front.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "groma/result.h"
#include "groma/search.h"

namespace groma::tuning {

// Keeps one file for each step of the front: front/17.mapper has the text of step 17. A file is
// replaced as a whole. Not thread-safe.
class FrontFiles {
 public:
  // `directory` is the directory of the search. If it is empty, nothing is written. `suffix` is
  // ".mapper" or ".txt".
  FrontFiles(std::string directory, std::string suffix)
      : directory_(std::move(directory)), suffix_(std::move(suffix)) {}

  // Writes the texts of these steps, and removes the files of steps that are not among them. The
  // first call makes the folder, and removes what an earlier process left in it. Files with other
  // names stay. Returns the first error. Fails if the folder is a link.
  [[nodiscard]] std::optional<Error> replace(std::span<const Step> steps);

 private:
  std::string path_of(const std::string& name) const { return directory_ + "/" + name; }
  std::optional<Error> open(std::span<const Step> steps);

  std::string directory_, suffix_;
  bool is_open_ = false;
  // The text in the file of each step.
  std::map<std::int64_t, std::string> written_;
};

}  // namespace groma::tuning
