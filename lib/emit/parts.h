// Parts of emitted mappers that do not depend on the program but for what of them it needs.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "emit/functions.h"

namespace groma::emitting {

class Parts {
 public:
  // `space` is the namespace that they come to stand in, `mapper` the class.
  Parts(const Features& features, std::string space, std::string mapper)
      : features_(features), space_(std::move(space)), mapper_(std::move(mapper)) {}

  // The file's text without its includes and namespaces, and without blocks that are not needed:
  //   // @if split || decompose
  //   ...
  //   // @end
  // are lines of their own; `!` before a word means that it is not needed.
  std::string text(std::string_view file);

  // `#include` lines of the headers that the texts so far, `body`, need, sorted.
  std::string includes(std::string_view body) const;

 private:
  bool needed(std::string_view condition) const;

  const Features& features_;
  std::string space_, mapper_;
  std::set<std::string, std::less<>> includes_, legion_includes_;
};

}  // namespace groma::emitting
