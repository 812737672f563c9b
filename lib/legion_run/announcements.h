// LibraryMessages: recognises the messages that Groma's library writes to the standard error of a
// Legion program that it took over.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace groma::inspect {

// Counts the messages of Groma's library among any other output of a program.
class LibraryMessages {
 public:
  // Reads the next bytes of the program's standard error.
  void read(std::string_view bytes);
  // Reads the last line of the output, which may lack a line end.
  void end() { finish_output_line(); }

  int mapped = 0, records = 0, not_mapped = 0, elsewhere = 0;
  // The machine in the first message about a recording: `nodes=1,gpu=0,cpu=4,omp=0,sysmem=512`.
  std::string machine;

 private:
  void finish_output_line();

  // The beginning of the current line of the output.
  std::string line_;
};

}  // namespace groma::inspect
