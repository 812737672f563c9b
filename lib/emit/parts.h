// EmittedCodeTemplates: provides the text of emitted mappers that is the same for every mapping
// program, and leaves out the optional blocks that a program does not need.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "emit/functions.h"

namespace groma::emitting {

class EmittedCodeTemplates {
 public:
  // `space` is the namespace of the emitted code, `mapper` the name of the emitted class.
  EmittedCodeTemplates(const Features& features, std::string space, std::string mapper)
      : features_(features), space_(std::move(space)), mapper_(std::move(mapper)) {}

  // Returns the text of the file without its includes, its namespaces and the blocks that are not
  // needed. A block looks like this, with the marks on separate lines:
  //   // @if split || decompose
  //   ...
  //   // @end
  // `!` before a word means that the word is not needed.
  std::string part_text(std::string_view file);

  // Returns the sorted `#include` lines that the emitted text `body` needs.
  std::string include_lines(std::string_view body) const;

 private:
  bool is_needed(std::string_view condition) const;

  const Features& features_;
  std::string space_, mapper_;
  std::set<std::string, std::less<>> includes_, legion_includes_;
};

}  // namespace groma::emitting
