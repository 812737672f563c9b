// The page of a search: what it is made of, and in a browser without a window, where there is one.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "groma/search_report.h"
#include "support/browser.h"
#include "unit/search_report/searches.h"

namespace groma {
namespace {

using Json = nlohmann::json;
using test::first_line;
using test::forged_search;
using test::run_in_browser;
using test::step_line;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;
using tuning::read_search_report;

// Texts that would run, load or hide something if they were not escaped.
constexpr const char* kHostile[] = {
    "<script>document.documentElement.dataset.hacked = 1</script>",
    "</script><img src=x onerror=\"document.documentElement.dataset.hacked = 2\">",
    "' onmouseover='document.documentElement.dataset.hacked = 3",
    "</pre></details><!-- <script>",
    "\x1b[31mred\xff\xe2\x80\xae",
};

// A search whose every text is hostile.
std::string hostile_page(const TemporaryFolder& folder) {
  std::string lines = first_line(kHostile[0]);
  std::int64_t number = 0;
  for (const char* text : kHostile) {
    const std::string safe = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    lines += fmt::format(R"({{"asked":[{{"messages":[["user",{0}]]}}]}})"
                         "\n"
                         R"({{"reply":{{"of":0,"text":{0}}}}})"
                         "\n",
                         safe);
    ++number;
    lines += fmt::format(
        R"({{"step":{{"number":{0},"text":{1},"why":{1},"status":"ok","values":[1],"score":{2},)"
        R"("execution":{1},"explain":[{1}],"suggest":[{1}],"last_lines":[{1}],)"
        R"("profile":{{"causes":[[{1},{1},{1},{1},{1},{1},{1},true,0.5,0.1,false]]}}}}}})"
        "\n",
        number, safe, 10 - number);
  }
  auto report = read_search_report(forged_search(folder, lines));
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report->steps.size(), std::size(kHostile));
  report->notes.emplace_back(kHostile[1]);
  report->inputs = {kHostile[1]};
  report->proposer = report->unit = report->closing_words = kHostile[1];
  return to_html(*report);
}

// The page of a real search by a proposer that asks a model.
std::string real_page(const TemporaryFolder& folder, std::string_view proposer,
                      std::int64_t evaluations) {
  const std::string directory = folder.path() + "/found";
  test::search(folder, directory, proposer, evaluations);
  auto report = read_search_report(directory);
  EXPECT_TRUE(report.ok());
  const tuning::SearchProblem problem = test::cannon_problem();
  explain_best(*problem.machine, problem.inputs.front(), {}, &*report);
  return to_html(*report);
}

TEST(SearchPage, NeedsNothingElse) {
  const TemporaryFolder folder;
  const std::string page = real_page(folder, "anneal", 20);
  EXPECT_FALSE(std::regex_search(page, std::regex("(src|url|import|fetch|eval)\\s*[=(]")));
  EXPECT_FALSE(std::regex_search(page, std::regex("href=\"[^#]")));
  EXPECT_THAT(page, Not(HasSubstr("http:")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("times as fast as the start"));
  EXPECT_THAT(page, HasSubstr("simulated"));
  EXPECT_THAT(page, HasSubstr("its budget of 20 evaluations was used up"));
  for (const char* id : {"best", "trajectory", "steps", "compare", "plot", "list", "texts"}) {
    EXPECT_THAT(page, HasSubstr("id=\"" + std::string(id) + "\"")) << id;
  }
}

TEST(SearchPage, EscapesForeignTexts) {
  const TemporaryFolder folder;
  const std::string page = hostile_page(folder);
  EXPECT_THAT(page, Not(HasSubstr("<script>document")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  // Within the data for the script, quotes have no meaning.
  EXPECT_THAT(std::regex_replace(page, std::regex("<script[^>]*>[^<]*</script>"), ""),
              Not(HasSubstr("' onmouseover")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\xe2\x80\xae")));
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = page.find("</script>", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 3U);
}

TEST(SearchPage, OfSearchesWithoutAResult) {
  const TemporaryFolder folder;
  EXPECT_THAT(to_html(*read_search_report(forged_search(folder, first_line()))),
              HasSubstr("Nothing was tried yet"));
  EXPECT_THAT(
      to_html(*read_search_report(forged_search(folder, first_line() + step_line(1, 0, "a")))),
      HasSubstr("No step was valid"));
  EXPECT_THAT(to_html(*read_search_report(forged_search(
                  folder, first_line() + step_line(1, 5e-300, "a") + step_line(2, 5e-300, "a")))),
              HasSubstr("Nothing is better than the start"));
}

TEST(SearchPage, OfManyStepsIsSmall) {
  const TemporaryFolder folder;
  std::string lines = first_line();
  for (int i = 1; i <= 20000; ++i) lines += step_line(i, 1 + 1.0 / i, "Task * GPU;\n");
  const std::string page = to_html(*read_search_report(forged_search(folder, lines)));
  EXPECT_LT(page.size(), std::size_t{4} << 20);
  EXPECT_THAT(page, HasSubstr("Of 20,000 steps 500 are shown"));
}

// The limits hold for each text and for all of them.
TEST(SearchPage, OfAForgedJournalIsSmall) {
  const TemporaryFolder folder;
  std::string lines = first_line(), feedback = "[";
  for (int i = 0; i < 30; ++i) feedback += (i == 0 ? "\"" : ",\"") + std::string(300, '<') + "\"";
  feedback += "]";
  for (int i = 1; i <= 20000; ++i) {
    lines += fmt::format(
        R"({{"step":{{"number":{},"text":"{}","why":"","status":"ok","values":[],"score":{},)"
        R"("explain":{}}}}})"
        "\n",
        i, i % 50 == 0 ? std::string(20000, '<') : "", 1e6 - i, i % 50 == 0 ? feedback : "[]");
  }
  const std::string page = to_html(*read_search_report(forged_search(folder, lines)));
  EXPECT_LT(page.size(), std::size_t{40} << 20);
}

// ---- In a browser

class SearchPageInBrowser : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::browser().empty()) {
      GTEST_SKIP() << "there is no chromium-headless-shell, chromium or google-chrome on the PATH: "
                      "install one to test the page";
    }
  }
};

TEST_F(SearchPageInBrowser, ShowsHostileTextsAsTheyAre) {
  const TemporaryFolder folder;
  const Json answer = run_in_browser(hostile_page(folder), R"js(
    answer.hacked = document.documentElement.dataset.hacked || '';
    answer.images = document.querySelectorAll('main img').length;
    answer.scripts = document.querySelectorAll('main script').length;
    answer.handlers = [...document.querySelectorAll('main *')].filter(
        one => [...one.attributes].some(a => a.name.startsWith('on'))).length;
    document.querySelector('.step').open = true;
    answer.text = document.querySelector('.step .change').textContent;
    answer.options = document.querySelectorAll('#left option').length;
  )js");
  EXPECT_FALSE(answer.contains("error")) << answer.at("error");
  EXPECT_EQ(answer.at("hacked"), "");
  EXPECT_EQ(answer.at("images"), 0);
  EXPECT_EQ(answer.at("scripts"), 2);
  EXPECT_EQ(answer.at("handlers"), 0);
  EXPECT_EQ(answer.at("text"), kHostile[0]);
  EXPECT_EQ(answer.at("options"), std::size(kHostile));
}

TEST_F(SearchPageInBrowser, TellsStepsSortsThemAndComparesTwo) {
  const TemporaryFolder folder;
  const std::string directory = forged_search(
      folder, first_line("a\nb\nc\n") + step_line(1, 3, "a\nb\nc\n", "the start") +
                  step_line(2, 0, "a\n", "leave out") + step_line(3, 1, "a\nx\nc\n", "put x"));
  const Json answer = run_in_browser(to_html(*read_search_report(directory)), R"js(
    const plot = document.getElementById('plot'), line = document.getElementById('point');
    const key = name => {
      plot.dispatchEvent(new KeyboardEvent('keydown', {key: name, cancelable: true}));
      return line.textContent;
    };
    answer.last = key('End');
    answer.before = key('ArrowLeft');
    answer.home = key('Home');
    const box = plot.getBoundingClientRect();
    plot.dispatchEvent(new PointerEvent('pointermove',
        {clientX: box.left + box.width * .95, clientY: box.top + 9, bubbles: true}));
    answer.pointed = line.textContent;
    const order = () => [...document.querySelectorAll('.step')].map(step => step.id);
    const sort = name => {
      document.querySelector(`#sort button[data-key=${name}]`).click();
      return order();
    };
    answer.number = order();
    answer.value = sort('value');
    answer.turned = sort('value');
    answer.change = sort('change');
    const rows = () => [...document.querySelectorAll('.sides tr')].map(
        row => [...row.cells].map(cell => cell.textContent + '|' + cell.className));
    answer.compared = rows();
    const right = document.getElementById('right');
    right.value = document.getElementById('left').value;
    right.dispatchEvent(new Event('change'));
    answer.same = document.querySelector('#sides p').textContent;
    location.hash = '#step-2';
    await frame();
    answer.open = document.getElementById('step-2').open;
  )js");
  EXPECT_FALSE(answer.contains("error")) << answer.at("error");
  EXPECT_THAT(answer.at("last").get<std::string>(), HasSubstr("Step 3: 1 s"));
  EXPECT_THAT(answer.at("last").get<std::string>(), HasSubstr("put x"));
  EXPECT_THAT(answer.at("before").get<std::string>(), HasSubstr("Step 2: failed"));
  EXPECT_THAT(answer.at("home").get<std::string>(), HasSubstr("Step 1: 3 s"));
  EXPECT_THAT(answer.at("pointed").get<std::string>(), HasSubstr("Step 3"));
  EXPECT_EQ(answer.at("number"), (Json{"step-1", "step-2", "step-3"}));
  EXPECT_EQ(answer.at("value"), (Json{"step-3", "step-1", "step-2"}));
  EXPECT_EQ(answer.at("turned"), (Json{"step-2", "step-1", "step-3"}));
  EXPECT_EQ(answer.at("change"), (Json{"step-2", "step-3", "step-1"}));
  EXPECT_EQ(answer.at("compared"),
            Json::parse(R"([["a|", "a|"], ["b|del", "x|add"], ["c|", "c|"]])"));
  EXPECT_EQ(answer.at("same"), "Both texts are the same.");
  EXPECT_TRUE(answer.at("open").get<bool>());
}

// A window is at least 500 pixels wide, so the page is shown in frames of each width.
TEST_F(SearchPageInBrowser, FitsIntoAPhone) {
  const TemporaryFolder folder;
  const std::string page = real_page(folder, "trace", 12);
  const std::string outer =
      "<!doctype html><html><body>\n<script type=\"application/json\" "
      "id=\"page\">" +
      std::regex_replace(Json(page).dump(), std::regex("<"), "\\u003c") +
      "</script>\n</body></html>";
  const Json answer = run_in_browser(outer, R"js(
    answer.wide = {};
    for (const width of [1440, 1024, 390]) {
      const frame = document.createElement('iframe');
      frame.style.cssText = `width:${width}px;height:900px;border:0`;
      frame.srcdoc = JSON.parse(document.getElementById('page').textContent);
      await new Promise(done => { frame.onload = done; document.body.append(frame); });
      const inside = frame.contentDocument;
      for (const each of inside.querySelectorAll('details')) each.open = true;
      await new Promise(done => setTimeout(done, 50));
      const root = inside.documentElement;
      answer.wide[width] = [root.clientWidth, root.scrollWidth];
    }
  )js");
  EXPECT_FALSE(answer.contains("error")) << answer.at("error");
  EXPECT_EQ(answer.at("wide").size(), 3U);
  for (const auto& [width, sizes] : answer.at("wide").items()) {
    EXPECT_LE(sizes[1].get<int>(), sizes[0].get<int>()) << width;
  }
}

}  // namespace
}  // namespace groma
