// Announcements: what Groma's library says on the standard error of a program that it took over.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace groma::inspect {

// Reads the lines of the library among any other output.
class Announcements {
 public:
  // Reads the next bytes of standard error.
  void read(std::string_view bytes);
  // Reads the last line, which may have no end.
  void end() { take(); }

  int mapped = 0, records = 0, not_mapped = 0, elsewhere = 0;
  std::string machine;  // `nodes=1,gpu=0,cpu=4,omp=0,sysmem=512`, from the first record

 private:
  void take();

  std::string line_;  // beginning of the current line
};

}  // namespace groma::inspect
