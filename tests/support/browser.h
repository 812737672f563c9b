// Shows an HTML page in a browser without a window, where one is installed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace groma::test {

// Returns the name of the browser on the PATH; empty if there is none.
std::string browser();

// Returns what the page has become once its scripts ran. The script `probe` is put at its end, and
// may leave an object in `answer`, which comes back. The window is `width` pixels wide. A browser
// has a least width, so the page is in a frame of that width in a wide window if `width` is not
// 1000.
nlohmann::json run_in_browser(const std::string& page, const std::string& probe, int width = 1000);

}  // namespace groma::test
