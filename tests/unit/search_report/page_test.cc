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
        R"({3}"profile":{{"causes":[[{1},{1},{1},{1},{1},{1},{1},true,0.5,0.1,false]]}}}}}})"
        "\n",
        number, safe, 10 - number, number > 1 ? fmt::format(R"("parents":[{}],)", number - 1) : "");
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
  EXPECT_EQ(scripts, 4U);
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

// ---- The family tree

// A search of eight steps: 1 has the children 2, 3 and 5; 3 has 4 and 6; 6 has 7, the best, whose
// other parent is 2; step 8 was made from nothing.
std::string family_lines() {
  return first_line("a\n") + step_line(1, 8, "a\n", "the start") +
         step_line(2, 7, "a\nb\n", "add b", {1}) + step_line(3, 6, "a\nc\n", "add c", {1}) +
         step_line(4, 0, "a\nc\nd\n", "add d", {3}) + step_line(5, 9, "a\ne\n", "add e", {1}) +
         step_line(6, 5, "a\nc\nf\n", "add f", {3}) +
         step_line(7, 4, "a\nc\nf\nb\n", "add b", {6, 2}) + step_line(8, 20, "z\n", "other");
}

TEST(FamilyTree, IsOnThePageOfSearchesThatRecordIt) {
  const TemporaryFolder folder;
  const std::string without =
      to_html(*read_search_report(forged_search(folder, first_line() + step_line(1, 2, "a"))));
  EXPECT_THAT(without, Not(HasSubstr("id=\"lineage\"")));
  EXPECT_THAT(without, Not(HasSubstr("Made from")));
  const std::string page = to_html(*read_search_report(forged_search(folder, family_lines())));
  EXPECT_THAT(page, HasSubstr("id=\"lineage\""));
  EXPECT_THAT(page, HasSubstr("From step 1 to the best in 3 changes"));
  EXPECT_THAT(page, HasSubstr("Made from <a href=\"#step-6\">step 6</a> and <a "
                              "href=\"#step-2\">step 2</a>. <a href=\"#compare-6-7\">Compare it "
                              "with step 6</a>"));
  EXPECT_THAT(page, HasSubstr("<span class=\"from\">from 6, 2</span>"));
  EXPECT_THAT(
      page, HasSubstr("Step 7, generation 3: 4 s, -20.0 % against step 6; also made from step 2"));
}

// The page explains dashed lines only if the picture has one: to a step on the line of the best.
TEST(FamilyTree, ExplainsDashedLinesIfThereAreSome) {
  const TemporaryFolder folder;
  const std::string words = "A dashed line comes from another parent.";
  EXPECT_THAT(to_html(*read_search_report(forged_search(folder, family_lines()))),
              HasSubstr(words));
  // Step 4 has two parents, but it is not on the line of the best.
  const std::string aside = first_line() + step_line(1, 8, "a") + step_line(2, 4, "b", "", {1}) +
                            step_line(3, 5, "c", "", {1}) + step_line(4, 6, "d", "", {1, 3});
  EXPECT_THAT(to_html(*read_search_report(forged_search(folder, aside))), Not(HasSubstr(words)));
}

TEST(FamilyTree, OfAnEvolvedMapping) {
  const TemporaryFolder folder;
  const std::string page = real_page(folder, "evolve", 12);
  EXPECT_THAT(page, HasSubstr("id=\"lineage\""));
  EXPECT_THAT(page, HasSubstr(", generation 1: "));
  EXPECT_FALSE(std::regex_search(page, std::regex("href=\"[^#]")));
}

// One line of 100,000 steps, each made from the one before.
TEST(FamilyTree, OfManyStepsIsSmallAndSaysWhatIsLeftOut) {
  const TemporaryFolder folder;
  std::string lines = first_line() + step_line(1, 2, "a");
  for (int i = 2; i <= 100000; ++i) lines += step_line(i, 1 + 1.0 / i, "a", "b", {i - 1});
  const auto report = read_search_report(forged_search(folder, lines));
  EXPECT_EQ(report->line_of_best.size(), 100000U);
  const std::string page = to_html(*report);
  EXPECT_LT(page.size(), std::size_t{4} << 20);
  EXPECT_THAT(page, HasSubstr("Of 100,000 steps 500 are in the tree; a dotted line"));
  EXPECT_THAT(page, HasSubstr("the start, ancestors of the best, the last improvements"));
  EXPECT_THAT(page, HasSubstr("99,960 steps are left out"));
  EXPECT_THAT(page, HasSubstr("Step 100000, generation 99999"));
  const Json json = Json::parse(to_json(*report, "page"));
  EXPECT_EQ(json.at("lineage").at("line_of_best").size(), tuning::kMaxTreeSteps);
  EXPECT_EQ(json.at("lineage").at("left_out"), 100000U - tuning::kMaxTreeSteps);
}

// All children of one step, and steps whose parents are not in the journal.
TEST(FamilyTree, OfForgedJournalsIsSmall) {
  const TemporaryFolder folder;
  std::string wide = first_line() + step_line(1, 2, "a"), orphans = first_line();
  for (int i = 2; i <= 20000; ++i) {
    wide += step_line(i, 1 + 1.0 / i, "a", "b", {1, 2 + i / 2, 3 + i / 2});
    orphans += step_line(2 * i, i % 2, "a", "b", {i % 3 == 0 ? 2 * i - 2 : 2 * i - 1});
  }
  for (const std::string& lines : {wide, orphans}) {
    const std::string page = to_html(*read_search_report(forged_search(folder, lines)));
    EXPECT_THAT(page, HasSubstr("id=\"lineage\""));
    EXPECT_LT(page.size(), std::size_t{4} << 20);
  }
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
  EXPECT_EQ(answer.at("scripts"), 3);
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

TEST_F(SearchPageInBrowser, ShowsTheFamilyTree) {
  const TemporaryFolder folder;
  const std::string page = to_html(*read_search_report(forged_search(folder, family_lines())));
  const Json answer = run_in_browser(page, R"js(
    const tree = document.getElementById('tree'), said = document.getElementById('kin');
    const points = JSON.parse(document.getElementById('tree-data').textContent);
    const at = number => points.find(point => point[0] === number);
    answer.points = points.length;
    answer.parents = points.map(point => point[3] < 0 ? 0 : points[point[3]][0]);
    answer.line = [1, 3, 6, 7].map(number => at(number)[1]);
    answer.below = points.every(point => point[3] < 0 || points[point[3]][2] < point[2]);
    answer.apart = points.every((a, i) => points.every(
        (b, j) => i === j || Math.hypot(a[1] - b[1], a[2] - b[2]) >= 15));
    const box = () => tree.querySelector('svg').getBoundingClientRect();
    const send = (name, number, type) => tree.querySelector('svg').dispatchEvent(
        new PointerEvent(name, {clientX: box().left + at(number)[1] + 3, bubbles: true,
          clientY: box().top + at(number)[2] - 3, pointerType: type, cancelable: true}));
    const opened = number => document.getElementById('step-' + number).open;
    send('pointermove', 7, 'mouse');
    answer.hovered = said.textContent;
    answer.ancestors = document.getElementById('kin-line').getAttribute('d').split('M').length - 1;
    answer.others = document.getElementById('kin-other').getAttribute('d').split('M').length - 1;
    send('pointerdown', 4, 'touch');
    send('click', 4, 'touch');
    answer.tapped = [said.textContent, opened(4)];
    send('pointerdown', 4, 'touch');
    send('click', 4, 'touch');
    answer.again = opened(4);
    send('pointermove', 5, 'mouse');
    send('pointerdown', 5, 'mouse');
    send('click', 5, 'mouse');
    answer.clicked = opened(5);
    const key = name => {
      tree.dispatchEvent(new KeyboardEvent('keydown', {key: name, cancelable: true}));
      return said.textContent.split(',')[0];
    };
    answer.keys = ['Home', 'ArrowDown', 'ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp'].map(key);
    location.hash = '#compare-6-7';
    await frame();
    answer.compared = [...document.querySelectorAll('.sides tr')].map(
        row => [...row.cells].map(cell => cell.className));
    answer.title = document.getElementById('left').selectedOptions[0].textContent;
    document.querySelector('#step-3 .body a[href="#step-1"]').click();
    await frame();
    answer.parent = opened(1);
  )js");
  EXPECT_FALSE(answer.contains("error")) << answer.at("error");
  EXPECT_EQ(answer.at("points"), 8);
  EXPECT_EQ(answer.at("parents"), (Json{0, 1, 1, 3, 1, 3, 6, 0}));
  for (const Json& x : answer.at("line")) EXPECT_EQ(x, answer.at("line")[0]);
  EXPECT_TRUE(answer.at("below").get<bool>());
  EXPECT_TRUE(answer.at("apart").get<bool>());
  EXPECT_THAT(answer.at("hovered").get<std::string>(), HasSubstr("Step 7, generation 3: 4 s"));
  EXPECT_THAT(answer.at("hovered").get<std::string>(), HasSubstr("add b"));
  EXPECT_EQ(answer.at("ancestors"), 3);
  EXPECT_EQ(answer.at("others"), 1);
  EXPECT_THAT(answer.at("tapped")[0].get<std::string>(), HasSubstr("Step 4, generation 2: failed"));
  EXPECT_FALSE(answer.at("tapped")[1].get<bool>());
  EXPECT_TRUE(answer.at("again").get<bool>());
  EXPECT_TRUE(answer.at("clicked").get<bool>());
  EXPECT_EQ(answer.at("keys"), (Json{"Step 1", "Step 3", "Step 2", "Step 3", "Step 6", "Step 3"}));
  EXPECT_EQ(answer.at("compared"), Json::parse(R"([["",""],["",""],["",""],["none","add"]])"));
  EXPECT_THAT(answer.at("title").get<std::string>(), HasSubstr("step 6"));
  EXPECT_TRUE(answer.at("parent").get<bool>());
}

// A window is at least 500 pixels wide, so the page is shown in frames of each width.
TEST_F(SearchPageInBrowser, FitsIntoAPhone) {
  const TemporaryFolder folder;
  const std::string page = real_page(folder, "evolve", 30);
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
