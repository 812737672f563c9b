// The section about memories on the page of a run. All pictures have the capacity of the memory as
// their full height, so that they can be compared.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "base/append_format.h"
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
// Limits on the names of empty memories that are listed, and on those below a picture.
constexpr std::size_t kMaxEmptyNames = 200, kMaxEqualNames = 8;
// A memory of which less than this fraction is ever in use has no picture.
constexpr double kDrawnFrom = 0.01;

// Returns a fraction of a capacity as a percentage. A small one does not look like nothing.
std::string full_words(double full) {
  return full < 0.001 ? std::string("less than 0.1 %") : fmt::format("{:.1f} %", 100 * full);
}

// Returns the same for the fullest of several memories.
std::string at_most(double full) { return (full < 0.001 ? "" : "at most ") + full_words(full); }

// Memories of one kind that show the same capacity and the same peak, in the order of the record.
using EqualMemories = std::vector<const Profile::Memory*>;

// Returns words that follow the caption of the first memory: which others have the same peak.
std::string equal_words(const RunRecord& record, const EqualMemories& memories) {
  if (memories.size() < 2) return "";
  std::string names;
  for (std::size_t i = 1; i < std::min(kMaxEqualNames + 1, memories.size()); ++i) {
    const auto& memory = record.memories[static_cast<std::size_t>(memories[i]->memory)];
    names += (i == 1 ? "" : ", ") + html_text(name_of(memory));
  }
  return fmt::format("<br>the same peak in {}{}", names,
                     memories.size() > kMaxEqualNames + 1
                         ? fmt::format(" and {} more", memories.size() - kMaxEqualNames - 1)
                         : "");
}

// Appends the picture of one memory over time, as an SVG path of steps. The other memories are only
// named.
void add_picture(const Profile& profile, const EqualMemories& memories,
                 const std::vector<AllocatedBytesAtTime>& levels, std::string* html) {
  const Profile::Memory& memory = *memories.front();
  const RunRecord::Memory& one = profile.record->memories[static_cast<std::size_t>(memory.memory)];
  const double full = fraction_of(one.peak_bytes, one.capacity_bytes);
  append_format(html,
                "<figure class=\"memory\" data-full=\"{:.6f}\"><figcaption><b>{}</b> {} full<br>"
                "<span class=\"dim\">peak {} of {}, at {}{}</span></figcaption>\n",
                full, html_text(name_of(one)), full_words(full), format_bytes(one.peak_bytes),
                format_bytes(one.capacity_bytes), format_time(memory.peak_time),
                equal_words(*profile.record, memories));
  // The y axis of SVG points down.
  const auto y = [&](std::int64_t bytes) {
    return 100 - 100 * std::clamp(fraction_of(bytes, one.capacity_bytes), 0.0, 1.0);
  };
  append_format(
      html,
      "<svg class=\"level\" viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"bytes in {} over time; the height of the picture is its capacity\">"
      "<path d=\"M0 100",
      html_text(name_of(one)));
  std::int64_t last = 0;
  for (const AllocatedBytesAtTime& level : levels) {
    // Each level gives a horizontal and a vertical line, because the number of bytes changes
    // instantly.
    const double x = 1000 * fraction_of(level.time, profile.total);
    append_format(html, "L{:.1f} {:.1f}L{:.1f} {:.1f}", x, y(last), x, y(level.bytes));
    last = level.bytes;
  }
  append_format(
      html,
      "L1000 100Z\"/><line x1=\"0\" x2=\"1000\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/></svg></figure>\n",
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
  // The memories that are nearest to their capacity come first. Those that show the same percentage
  // stay in the order of the record.
  std::stable_sort(shown.begin(), shown.end(), [&](const auto* a, const auto* b) {
    return std::llround(1000 * full(a)) > std::llround(1000 * full(b));
  });
  std::vector<EqualMemories> groups;
  std::map<std::string, std::size_t> numbers;
  // The memories without a picture, by their kind.
  std::map<std::string, EqualMemories> little;
  for (const Profile::Memory* memory : shown) {
    const auto& one = record.memories[static_cast<std::size_t>(memory->memory)];
    if (full(memory) < kDrawnFrom) {
      little[one.kind].push_back(memory);
      continue;
    }
    const std::string key = fmt::format("{} of {} in {}", format_bytes(one.peak_bytes),
                                        format_bytes(one.capacity_bytes), one.kind);
    const auto [group, is_new] = numbers.try_emplace(key, groups.size());
    if (is_new) groups.emplace_back();
    groups[group->second].push_back(memory);
  }
  *html += "<section>\n<h2 id=\"memory\">Memories against their capacity</h2>\n";
  if (!groups.empty()) {
    *html +=
        "<p class=\"dim\">Bytes in use over the run. The full height of a picture is the capacity "
        "of the memory, and the line is the peak. The fullest come first.</p>\n"
        "<div class=\"memories\">\n";
    const auto levels = allocated_bytes_over_time(profile, kLevelPoints);
    const std::size_t drawn = std::min(kMaxPictures, groups.size());
    // Folding a single picture would save no space.
    const std::size_t open = drawn <= kMaxOpenPictures + 1 ? drawn : kMaxOpenPictures;
    const auto picture = [&](std::size_t i) {
      add_picture(profile, groups[i], levels[static_cast<std::size_t>(groups[i].front()->memory)],
                  html);
    };
    for (std::size_t i = 0; i < open; ++i) picture(i);
    *html += "</div>\n";
    if (open < groups.size()) {
      *html += fmt::format(
          "<details><summary>and {} more, {} full</summary>\n<div "
          "class=\"memories\">\n",
          groups.size() - open, at_most(full(groups[open].front())));
      for (std::size_t i = open; i < drawn; ++i) picture(i);
      *html += "</div>\n";
      if (drawn < groups.size()) {
        *html +=
            fmt::format("<p class=\"dim\">{} more are not drawn.</p>\n", groups.size() - drawn);
      }
      *html += "</details>\n";
    }
  }
  for (const auto& [kind, memories] : little) {
    const auto fullest =
        std::max_element(memories.begin(), memories.end(),
                         [&](const auto* x, const auto* y) { return full(x) < full(y); });
    const auto& one = record.memories[static_cast<std::size_t>((*fullest)->memory)];
    *html += fmt::format(
        "<p class=\"little\">{} {}: {} full <span class=\"dim\">(peak {} "
        "of {})</span></p>\n",
        memories.size(), html_text(kind), at_most(full(*fullest)), format_bytes(one.peak_bytes),
        format_bytes(one.capacity_bytes));
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
