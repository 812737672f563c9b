// Runs chromium on a page in a file.
#include "support/browser.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace groma::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// A new folder, gone with it.
class Folder {
 public:
  Folder() : path_((fs::temp_directory_path() / "groma-page-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no folder " << path_;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace

std::string browser() {
  std::istringstream folders(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  std::vector<std::string> path;
  for (std::string folder; std::getline(folders, folder, ':');) path.push_back(folder);
  for (const char* name :
       {"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}) {
    for (const std::string& folder : path) {
      std::error_code ignored;
      if (fs::exists(fs::path(folder) / name, ignored)) return name;
    }
  }
  return "";
}

Json run_in_browser(const std::string& page, const std::string& probe, int width) {
  const Folder folder;
  const std::size_t end = page.rfind("</body>");
  const std::size_t body = page.find("<body>");
  // No window, no frames.
  const bool is_framed = width != 1000;
  std::ofstream(folder.file(is_framed ? "inner.html" : "page.html"))
      << page.substr(0, body) << "<script>requestAnimationFrame = f => setTimeout(f, 0);</script>"
      << page.substr(body, end - body)
      << "<pre id=\"answer\"></pre><script>const answer = {};\n(async () => {"
      << "const frame = () => new Promise(done => setTimeout(done, 20));\ntry {" << probe
      << "} catch (error) { answer.error = String(error); }\n"
      << "const coded = encodeURIComponent(JSON.stringify(answer));\n"
      << (is_framed ? "parent.postMessage(coded, '*');"
                    : "document.getElementById('answer').textContent = coded;")
      << "})();</script>" << page.substr(end);
  if (is_framed) {
    std::ofstream(folder.file("page.html"))
        << "<!doctype html><body><script>addEventListener('message', event => {"
           "document.getElementById('answer').textContent = event.data;});</script>"
        << "<pre id=\"answer\"></pre><iframe src=\"inner.html\" "
           "style=\"border:0;height:900px;width:"
        << width << "px\"></iframe></body>";
  }
  const std::string command = "timeout 120 " + browser() +
                              " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage" +
                              " --user-data-dir=" + folder.file("profile") +
                              " --window-size=" + std::to_string(std::max(width, 1000)) +
                              ",900 --virtual-time-budget=20000 --dump-dom file://" +
                              folder.file("page.html") + " 2>" + folder.file("errors");
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[1 << 16];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  EXPECT_EQ(pclose(pipe), 0);
  const std::string mark = "<pre id=\"answer\">";
  const std::size_t begin = text.find(mark), stop = text.find("</pre>", begin);
  if (begin == std::string::npos || stop == std::string::npos || begin + mark.size() == stop) {
    std::ifstream errors(folder.file("errors"));
    ADD_FAILURE() << "no answer: "
                  << std::string(std::istreambuf_iterator<char>(errors), {}).substr(0, 2000);
    return {};
  }
  const std::string coded = text.substr(begin + mark.size(), stop - begin - mark.size());
  std::string plain;
  for (std::size_t i = 0; i < coded.size(); ++i) {
    if (coded[i] != '%') {
      plain += coded[i];
    } else {
      plain += static_cast<char>(std::stoi(coded.substr(i + 1, 2), nullptr, 16));
      i += 2;
    }
  }
  return Json::parse(plain);
}

}  // namespace groma::test
