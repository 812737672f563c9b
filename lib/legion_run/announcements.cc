// Recognises the lines that Groma's library writes among the other output of a program, by their
// first words.
#include "legion_run/announcements.h"

#include <algorithm>

namespace groma::inspect {
namespace {

// The first words of the messages that Groma's library (lib/legion/preload*.cc) writes.
constexpr std::string_view kMapped = "groma: mapped by ";
constexpr std::string_view kRecords = "groma: records, ";
constexpr std::string_view kElsewhere = "groma: the first process records";
constexpr std::string_view kNotMapped = "groma: not mapped: ";
// The number of bytes of a line that are read. The rest of a longer line is ignored.
constexpr std::size_t kMaxLine = 400;

}  // namespace

// Reads bytes of the output until a line is complete. A line may arrive in several calls.
void LibraryMessages::read(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    line_ += bytes.substr(0, std::min(end, kMaxLine - line_.size()));
    if (end == bytes.size()) return;
    finish_output_line();
    bytes.remove_prefix(end + 1);
  }
}

// Counts the current line if it is a message of Groma's library, and begins a new line. The first
// message about a recording also describes the machine. A description with unexpected characters is
// ignored, because any program can write such a line.
void LibraryMessages::finish_output_line() {
  mapped += line_.starts_with(kMapped) ? 1 : 0;
  not_mapped += line_.starts_with(kNotMapped) ? 1 : 0;
  elsewhere += line_.starts_with(kElsewhere) ? 1 : 0;
  if (line_.starts_with(kRecords) && records++ == 0) {
    const std::size_t begin = line_.rfind("nodes=");
    if (begin != line_.npos) machine = line_.substr(begin);
    const bool plain =
        machine.find_first_not_of("abcdefghijklmnopqrstuvwxyz=,0123456789") == machine.npos;
    if (!plain) machine.clear();
  }
  line_.clear();
}

}  // namespace groma::inspect
