// join_edits(): combines two successive lists of edits of a text into one list.
#include <algorithm>
#include <utility>

#include "edit/mapping.h"

namespace groma::edit {

// Returns one list of edits that does what `first` followed by `second` does, or nothing if an edit
// of `second` conflicts with a text that `first` wrote.
std::optional<std::vector<Edit>> join_edits(std::vector<Edit> first,
                                            const std::vector<Edit>& second) {
  const auto by_begin = [](const Edit& a, const Edit& b) { return a.range.begin < b.range.begin; };
  std::stable_sort(first.begin(), first.end(), by_begin);
  const std::vector<Edit> written = first;
  // after[i] holds those edits of `second` that change text behind exactly i edits of `first`.
  std::vector<std::vector<Edit>> after(first.size() + 1);
  for (const Edit& edit : second) {
    const std::int64_t begin = edit.range.begin, end = edit.range.end;
    // The number of bytes by which the edits of `first` before this place have lengthened the text.
    std::int64_t shift = 0;
    std::size_t passed = 0;
    bool inside = false;
    for (; passed < written.size(); ++passed) {
      const Range range = written[passed].range;
      const std::int64_t from = range.begin + shift;
      const std::int64_t to = from + static_cast<std::int64_t>(written[passed].text.size());
      if (end <= from) break;
      if (begin >= to) {
        shift += to - from - static_cast<std::int64_t>(range.end - range.begin);
        continue;
      }
      // If an edit of `second` lies within a text that `first` wrote, it changes that text. This
      // can be done only once for each such text, because afterwards the offsets within the text
      // are not known.
      std::string& text = first[passed].text;
      if (begin < from || end > to || text != written[passed].text) return std::nullopt;
      text.replace(static_cast<std::size_t>(begin - from), static_cast<std::size_t>(end - begin),
                   edit.text);
      inside = true;
      break;
    }
    // The edit lies outside of the texts that `first` wrote. Translate its range to the original
    // text.
    if (inside) continue;
    after[passed].push_back(
        {{static_cast<std::uint32_t>(begin - shift), static_cast<std::uint32_t>(end - shift)},
         edit.text});
  }
  // apply_fixes keeps the order of edits that begin at the same place.
  std::vector<Edit> all;
  for (std::size_t i = 0; i < after.size(); ++i) {
    std::stable_sort(after[i].begin(), after[i].end(), by_begin);
    all.insert(all.end(), after[i].begin(), after[i].end());
    if (i < first.size()) all.push_back(std::move(first[i]));
  }
  return all;
}

}  // namespace groma::edit
