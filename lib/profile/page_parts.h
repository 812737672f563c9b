// The parts of the page that no run changes.
#pragma once

#include <string_view>

namespace groma::profile {

// Style sheet and script of the page, without their tags. The script reads the element `run`: JSON
// with `total` (the length of the run), `labels` (names of spans) and `lanes`, each with `name` and
// `spans`, flat: for each span the gap since the one before, its length, its label, 1 on the
// critical path, its event. Lanes with `path` have, in the labels' place, words of their own.
std::string_view page_style();
std::string_view page_script();

}  // namespace groma::profile
