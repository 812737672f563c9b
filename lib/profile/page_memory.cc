// The section about memories on the page of a run. All pictures have the capacity of the memory as
// their full height, so that they can be compared.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "profile/html.h"
#include "profile/page_sections.h"
#include "profile/timeline.h"
#include "profile/words.h"

namespace groma::profile {
namespace {

// Limit on the points in the picture that shows the bytes in a memory over time.
constexpr std::size_t kLevelPoints = 300;
// Limits on the memories whose bytes over time are drawn, and on those that are not folded.
constexpr std::size_t kMaxPictures = 32, kMaxOpenPictures = 6;
// Limit on the names of empty memories that are listed.
constexpr std::size_t kMaxEmptyNames = 200;

// Returns a fraction of a capacity as a percentage. A small one does not look like nothing.
std::string full_words(double full) {
  return full < 0.001 ? std::string("less than 0.1 %") : fmt::format("{:.1f} %", 100 * full);
}

// Appends the picture of one memory over time, as an SVG path of steps.
void add_picture(const Profile& profile, const Profile::Memory& memory,
                 const std::vector<AllocatedBytesAtTime>& levels, std::string* html) {
  const auto put = [html]<typename... Values>(fmt::format_string<Values...> format,
                                              Values&&... values) {
    fmt::format_to(std::back_inserter(*html), format, std::forward<Values>(values)...);
  };
  const RunRecord::Memory& one = profile.record->memories[static_cast<std::size_t>(memory.memory)];
  const double full = fraction_of(one.peak_bytes, one.capacity_bytes);
  put("<figure class=\"memory\" data-full=\"{:.6f}\"><figcaption><b>{}</b> {} full<br>"
      "<span class=\"dim\">peak {} of {}, at {}</span></figcaption>\n",
      full, html_text(name_of(one)), full_words(full), format_bytes(one.peak_bytes),
      format_bytes(one.capacity_bytes), format_time(memory.peak_time));
  // The y axis of SVG points down.
  const auto y = [&](std::int64_t bytes) {
    return 100 - 100 * std::clamp(fraction_of(bytes, one.capacity_bytes), 0.0, 1.0);
  };
  put("<svg class=\"level\" viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"bytes in {} over time; the height of the picture is its capacity\">"
      "<path d=\"M0 100",
      html_text(name_of(one)));
  std::int64_t last = 0;
  for (const AllocatedBytesAtTime& level : levels) {
    // Each level gives a horizontal and a vertical line, because the number of bytes changes
    // instantly.
    const double x = 1000 * fraction_of(level.time, profile.total);
    put("L{:.1f} {:.1f}L{:.1f} {:.1f}", x, y(last), x, y(level.bytes));
    last = level.bytes;
  }
  put("L1000 100Z\"/><line x1=\"0\" x2=\"1000\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/></svg></figure>\n",
      y(one.peak_bytes));
}

}  // namespace

void add_page_memories(const Profile& profile, std::string* html) {
  const RunRecord& record = *profile.record;
  const auto full = [&](const Profile::Memory* memory) {
    const auto& one = record.memories[static_cast<std::size_t>(memory->memory)];
    return fraction_of(one.peak_bytes, one.capacity_bytes);
  };
  std::vector<const Profile::Memory*> shown;
  for (const Profile::Memory& memory : profile.memories) {
    if (record.memories[static_cast<std::size_t>(memory.memory)].peak_bytes > 0) {
      shown.push_back(&memory);
    }
  }
  if (shown.empty()) return;
  // The memories that are nearest to their capacity come first.
  std::stable_sort(shown.begin(), shown.end(),
                   [&](const auto* a, const auto* b) { return full(a) > full(b); });
  *html +=
      "<section>\n<h2 id=\"memory\">Memories against their capacity</h2>\n<p class=\"dim\">Bytes "
      "in "
      "use over the run. The full height of a picture is the capacity of the memory, and the line "
      "is the peak. The fullest come first.</p>\n<div class=\"memories\">\n";
  const auto levels = allocated_bytes_over_time(profile, kLevelPoints);
  const std::size_t drawn = std::min(kMaxPictures, shown.size());
  // Folding a single picture would save no space.
  const std::size_t open = drawn <= kMaxOpenPictures + 1 ? drawn : kMaxOpenPictures;
  const auto picture = [&](std::size_t i) {
    add_picture(profile, *shown[i], levels[static_cast<std::size_t>(shown[i]->memory)], html);
  };
  for (std::size_t i = 0; i < open; ++i) picture(i);
  *html += "</div>\n";
  if (open < shown.size()) {
    *html += fmt::format(
        "<details><summary>and {} more, at most {} full</summary>\n<div "
        "class=\"memories\">\n",
        shown.size() - open, full_words(full(shown[open])));
    for (std::size_t i = open; i < drawn; ++i) picture(i);
    *html += "</div>\n";
    if (drawn < shown.size()) {
      *html += fmt::format("<p class=\"dim\">{} more are not drawn.</p>\n", shown.size() - drawn);
    }
    *html += "</details>\n";
  }
  std::string names;
  std::size_t empty = 0;
  for (const RunRecord::Memory& memory : record.memories) {
    if (memory.peak_bytes > 0) continue;
    if (empty++ < kMaxEmptyNames) names += (names.empty() ? "" : ", ") + html_text(name_of(memory));
  }
  if (empty > 0) {
    *html += fmt::format(
        "<details id=\"empty\"><summary>{} hold{} nothing</summary>\n<p class=\"dim\">{}{}</p>\n"
        "</details>\n",
        empty == 1 ? std::string("1 memory") : fmt::format("{} memories", empty),
        empty == 1 ? "s" : "", names, empty > kMaxEmptyNames ? ", ..." : "");
  }
  *html += "</section>\n";
}

}  // namespace groma::profile
