// Recognises the lines that Groma's library writes among the other output of a program, by the
// words with which they begin.
#include "legion_run/announcements.h"

#include <algorithm>

namespace groma::inspect {
namespace {

// The beginnings of the lines that lib/legion/preload*.cc write.
constexpr std::string_view kMapped = "groma: mapped by ";
constexpr std::string_view kRecords = "groma: records, ";
constexpr std::string_view kElsewhere = "groma: the first process records";
constexpr std::string_view kNotMapped = "groma: not mapped: ";
// Only this many bytes of a line are read.
constexpr std::size_t kMaxLine = 400;

}  // namespace

// Collects bytes until a line is complete. A line may arrive in several calls.
void Announcements::read(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    line_ += bytes.substr(0, std::min(end, kMaxLine - line_.size()));
    if (end == bytes.size()) return;
    take();
    bytes.remove_prefix(end + 1);
  }
}

// Counts the current line if it comes from Groma's library, and begins a new line. The first line
// about a recording also names the machine. A machine with unexpected characters is ignored,
// because any program can write such a line.
void Announcements::take() {
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
