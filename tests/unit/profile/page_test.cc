// The page: what it is made of, and in a browser without a window, where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/quantities.h"
#include "groma/profile_page.h"
#include "profile/page_lanes.h"
#include "support/browser.h"
#include "unit/profile/records.h"

namespace groma {
namespace {

using Json = nlohmann::json;
using test::browser;
using test::run_in_browser;
using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<RunRecord> hostile_run(std::int64_t events) {
  auto record = test::random_run(5, events);
  record->tasks.assign(test::kHostileNames, test::kHostileNames + 3);
  record->regions.assign(test::kHostileNames + 4, test::kHostileNames + 6);
  for (auto& link : record->links) link.channel = test::kHostileNames[1];
  for (auto& memory : record->memories) memory.kind = test::kHostileNames[0] + memory.kind;
  for (auto& processor : record->processors) processor.kind = test::kHostileNames[3];
  return record;
}

ProfileWords hostile_words() {
  return {test::kHostileNames[0], [](std::int32_t statement) {
            return StatementText{test::kHostileNames[static_cast<std::uint32_t>(statement) % 6],
                                 test::kHostileNames[4]};
          }};
}

RunSummary some_summary() {
  RunSummary summary;
  summary.application = "stencil";
  summary.machine = "p100x4";
  summary.mapping = "good.mapper";
  summary.simulated = true;
  summary.time = "12.3 ms";
  summary.time_of = "The measured phase, loop";
  summary.rate = "4.5 Gpoint/s";
  summary.explain = {"48 % of the time is task `step` on GPU."};
  summary.suggest = {"good.mapper: in line 2 write this function:\n      def f(Task t) {\n      }"};
  return summary;
}

// A record with a memory that is nearly empty, one that is half full, and one that holds nothing.
std::shared_ptr<RunRecord> run_with_memories() {
  auto record = std::make_shared<RunRecord>();
  record->memories = {
      {"SYSMEM", 0, 0, 1000, 16}, {"FBMEM", 0, 0, 1000, 500}, {"ZCMEM", 0, 0, 1000}};
  record->allocations = {{0, 0, 0, 16}, {10, 1, 0, 500}};
  record->end = 100;
  return record;
}

// ---- Without a browser

TEST(ProfilePage, NeedsNothingElse) {
  const std::string page =
      to_html(make_profile(test::simulated("p100x4", 16, 3, false)), {"a run", {}});
  EXPECT_FALSE(std::regex_search(page, std::regex("(src|href|url|import|fetch)\\s*[=(]")));
  EXPECT_THAT(page, Not(HasSubstr("http:")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* id : {"waited", "path", "time", "legend", "causes", "moves", "matrix", "memory",
                         "tasks", "processors", "channels"}) {
    EXPECT_THAT(page, HasSubstr("id=\"" + std::string(id) + "\"")) << id;
  }
}

TEST(ProfilePage, EscapesNames) {
  const std::string page = to_html(make_profile(hostile_run(300)), hostile_words());
  EXPECT_THAT(page, Not(HasSubstr("<script>document")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_THAT(page, Not(HasSubstr("' onmouseover")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\xff")));
  int scripts = 0;
  for (std::size_t at = 0; (at = page.find("</script>", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2);
}

TEST(ProfilePage, BeginsWithWhatTheRunWaitedForAndWhatToDo) {
  const Profile profile = make_profile(test::simulated("p100x4", 16, 3, false));
  ProfileWords words{"stencil on p100x4 by maps/good.mapper", {}};
  words.measured = "loop";
  const std::string page = to_html(profile, words, some_summary());
  const std::string head = page.substr(0, page.find("</header>"));
  EXPECT_THAT(head, HasSubstr("a <b>simulated</b> run"));
  EXPECT_THAT(head, HasSubstr("<h1>stencil: 12.3 ms simulated</h1>"));
  EXPECT_THAT(head, HasSubstr("On <b>p100x4</b>, mapped by <b>good.mapper</b>"));
  EXPECT_THAT(head, HasSubstr("<dt>The measured phase, loop</dt><dd>12.3 ms</dd>"));
  EXPECT_THAT(head, HasSubstr("simulated, 4.5 Gpoint/s"));
  EXPECT_THAT(head, HasSubstr("<dt>The whole run</dt>"));
  EXPECT_TRUE(std::regex_search(
      head,
      std::regex("Within the phase <code>loop</code>, which the application measures, the run "
                 "waited [0-9]+ % of its time for ")));
  EXPECT_THAT(head, HasSubstr("<li>48 % of the time is task <code>step</code> on GPU.</li>"));
  EXPECT_THAT(head, HasSubstr("write this function:\n      def f(Task t) {"));
  RunSummary measured = some_summary();
  measured.simulated = false;
  measured.suggest.clear();
  const std::string other = to_html(profile, words, measured);
  EXPECT_THAT(other, HasSubstr("a <b>measured</b> run"));
  EXPECT_THAT(other, Not(HasSubstr("simulated")));
  EXPECT_THAT(other, HasSubstr("No change of the mapping is suggested."));
}

TEST(ProfilePage, EscapesTheSummary) {
  RunSummary summary;
  summary.application = summary.machine = summary.mapping = summary.rate = test::kHostileNames[0];
  summary.time = summary.time_of = test::kHostileNames[1];
  summary.explain = summary.suggest = {test::kHostileNames, test::kHostileNames + 6};
  const std::string page = to_html(make_profile(hostile_run(50)), hostile_words(), summary);
  EXPECT_THAT(page, Not(HasSubstr("<script>document")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
}

TEST(ProfilePage, NamesFilesWithoutFolders) {
  const ProfileWords words = {"", [](std::int32_t) {
                                return StatementText{"Region * * GPU ZCMEM", "/a/b/c.mapper:2:1"};
                              }};
  const std::string page = to_html(make_profile(test::random_run(5, 300)), words);
  EXPECT_THAT(page, HasSubstr("<code>c.mapper:2:1: Region * * GPU ZCMEM</code>"));
  EXPECT_THAT(page, Not(HasSubstr("/a/b")));
}

TEST(ProfilePage, SortsTheRowsOfTables) {
  const std::string page = to_html(make_profile(test::random_run(5, 3000)), {"a run", {}});
  const std::regex row("<table|data-share=\"([0-9.]+)\"");
  double last = 2;
  int rows = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), row), end; at != end; ++at) {
    const std::string share = (*at)[1];
    const double value = share.empty() ? 2 : std::stod(share);
    EXPECT_TRUE(value <= last || share.empty()) << share;
    last = value;
    rows += share.empty() ? 0 : 1;
  }
  EXPECT_GT(rows, 20);
  EXPECT_TRUE(std::regex_search(page, std::regex("and [0-9]+ more, [0-9.]+ % together")));
}

// The tables say the same share of the largest cause as the sentence at the top.
TEST(ProfilePage, TablesAreAboutTheMeasuredPhase) {
  auto record = std::make_shared<RunRecord>();
  record->processors = {{"GPU", 0, 0}};
  record->tasks = {"init", "step"};
  for (const int task : {0, 1}) {
    RunRecord::Event event;
    event.kind = RunRecord::Event::Kind::kTask;
    event.name = task;
    event.where = 0;
    event.ready = event.start = task * 60'000'000;
    event.cause = task - 1;
    event.end = task == 0 ? 60'000'000 : 100'000'000;
    record->events.push_back(event);
  }
  record->phase_names = {"loop"};
  record->phases = {{0, 60'000'000, 100'000'000}};
  record->end = 100'000'000;
  ProfileWords words{"a run", {}};
  words.measured = "loop";
  const std::string page = to_html(make_profile(record), words);
  const std::size_t causes = page.find("id=\"causes\"");
  const std::string table = page.substr(causes, page.find("</section>", causes) - causes);
  EXPECT_THAT(table, HasSubstr("Within the measured phase <code>loop</code>, 40.0 us. "));
  EXPECT_THAT(table, HasSubstr("<td class=\"n\">100.0 %</td>"));
  EXPECT_THAT(table, HasSubstr("task step"));
  EXPECT_THAT(table, Not(HasSubstr("task init")));
  EXPECT_TRUE(std::regex_search(
      table, std::regex("outside the measured phase</td>.*<td class=\"n\">60.0 us</td>")))
      << table;
  const std::string whole = to_html(make_profile(record), {"a run", {}});
  EXPECT_THAT(whole, HasSubstr("Of the whole run, 100 us. Sorted by time."));
  EXPECT_THAT(whole, HasSubstr("task init"));
  EXPECT_THAT(whole, Not(HasSubstr("outside the measured phase")));
}

TEST(ProfilePage, CountsOnlyBusyProcessorsInTheMean) {
  auto record = std::make_shared<RunRecord>();
  record->tasks = {"step"};
  for (int i = 0; i < 8; ++i) record->processors.push_back({"CPU", 0, i});
  for (const int i : {0, 1}) {
    RunRecord::Event event;
    event.kind = RunRecord::Event::Kind::kTask;
    event.name = 0;
    event.where = i;
    event.end = 100 * (i + 1);
    record->events.push_back(event);
  }
  record->end = 200;
  EXPECT_THAT(to_html(make_profile(record), {"a run", {}}),
              HasSubstr("all CPU: 2 of 8 used, the busiest 1.33 times the mean of these"));
}

TEST(ProfilePage, ShowsTheLinesThatASuggestionChanges) {
  RunSummary summary = some_summary();
  summary.mapping = "/home/me/maps/good.mapper";
  summary.suggest = {"/home/me/maps/good.mapper: in line 2 write `Task a GPU` for `Task a CPU`.",
                     "Each was simulated by itself."};
  summary.changes = {{{{"Task a CPU;"}, {"Task <a> GPU;"}}}};
  summary.inputs = {{"machine", "p100x4:nodes=2"}, {"date", "2026-01-02"}};
  const std::string page = to_html(make_profile(run_with_memories()), {"a run", {}}, summary);
  EXPECT_THAT(page, HasSubstr("mapped by <b>good.mapper</b>"));
  EXPECT_THAT(page, HasSubstr("<li>good.mapper: in line 2 write"));
  EXPECT_THAT(page, HasSubstr("<del>- Task a CPU;</del>\n<ins>+ Task &lt;a&gt; GPU;</ins>"));
  EXPECT_THAT(page, Not(HasSubstr("/home/me")));
  const std::string foot = page.substr(page.find("<footer"));
  EXPECT_THAT(foot, HasSubstr("machine: <code>p100x4:nodes=2</code>. date: <code>2026-01-02"));
}

TEST(ProfilePage, DividesMovedBytesByNodes) {
  const auto record = test::simulated("p100x4:nodes=2", 32, 4, false);
  ASSERT_NE(record, nullptr);
  const Profile profile = make_profile(record);
  std::int64_t between = 0;
  for (const auto& move : profile.moves) between += move.other_node ? move.bytes : 0;
  ASSERT_GT(between, 0);
  ASSERT_LT(between, profile.moved_bytes);
  const std::string page = to_html(profile, {"a run", {}});
  EXPECT_THAT(page, HasSubstr("<dt>Moved between nodes</dt><dd>" + format_bytes(between) + "<"));
  EXPECT_THAT(page,
              HasSubstr("and " + format_bytes(profile.moved_bytes - between) + " within nodes"));
  EXPECT_THAT(to_html(make_profile(run_with_memories()), {"a run", {}}),
              HasSubstr("<dt>Moved data</dt>"));
}

// Eight GPU memories with the same peak have one picture, and those that are nearly empty a line.
TEST(ProfilePage, FoldsEqualAndNearlyEmptyMemories) {
  auto record = std::make_shared<RunRecord>();
  for (int i = 0; i < 4; ++i) {
    record->memories.push_back({"FBMEM", 0, i, 1000, 80});
    record->memories.push_back({"ZCMEM", 0, i, 100000, 16 + i});
    record->allocations.push_back({0, 2 * i, 0, 80});
    record->allocations.push_back({0, 2 * i + 1, 0, 16 + i});
  }
  record->end = 100;
  const std::string page = to_html(make_profile(record), {"a run", {}});
  EXPECT_THAT(page, HasSubstr("<b>FBMEM (0, 0)</b> 8.0 % full"));
  EXPECT_THAT(page, HasSubstr("the same peak in FBMEM (0, 1), FBMEM (0, 2), FBMEM (0, 3)"));
  EXPECT_THAT(page, Not(HasSubstr("<b>FBMEM (0, 1)</b>")));
  EXPECT_THAT(page, HasSubstr("4 ZCMEM: less than 0.1 % full <span class=\"dim\">(peak 19 B of"));
  EXPECT_THAT(page, Not(HasSubstr("<b>ZCMEM")));
  EXPECT_THAT(page, Not(HasSubstr("Fullest memory"))) << "8 % is not worth a tile";
  EXPECT_THAT(to_html(make_profile(run_with_memories()), {"a run", {}}),
              HasSubstr("<dt>Fullest memory</dt><dd>50.0 %</dd>"));
}

TEST(ProfilePage, DrawsMemoriesAgainstTheirCapacity) {
  const std::string page = to_html(make_profile(run_with_memories()), {"a run", {}});
  const std::size_t half = page.find("<b>FBMEM (0, 0)</b> 50.0 % full");
  const std::size_t little = page.find("<b>SYSMEM (0, 0)</b> 1.6 % full");
  ASSERT_NE(half, std::string::npos);
  ASSERT_NE(little, std::string::npos);
  EXPECT_LT(half, little) << "the fullest memory comes first";
  // The height of a picture is 100, and y points down.
  EXPECT_THAT(page.substr(little, 900), HasSubstr("y1=\"98.4\""));
  EXPECT_THAT(page.substr(half, 900), HasSubstr("L100.0 50.0"));
  EXPECT_THAT(page, HasSubstr("<summary>1 memory holds nothing</summary>"));
}

// Three copies inside one memory overlap. The time in which at least one runs counts once.
TEST(ProfilePage, FoldsLanesOfOneName) {
  auto record = run_with_memories();
  record->regions = {"grid"};
  record->routes = {{}};
  for (const RunTime start : {0, 10, 20, 60}) {
    RunRecord::Event copy;
    copy.kind = RunRecord::Event::Kind::kCopy;
    copy.where = copy.from = 1;
    copy.region = copy.route = 0;
    copy.bytes = 1024;
    copy.start = start;
    copy.end = start + 25;
    record->events.push_back(copy);
  }
  const Profile profile = make_profile(record);
  const auto groups = profile::page_lane_groups(profile, profile::make_timeline(profile, 100));
  ASSERT_EQ(groups.size(), 1U);
  ASSERT_EQ(groups[0].lanes.size(), 1U);
  const profile::PageLane& lane = groups[0].lanes[0];
  EXPECT_EQ(lane.name, "inside FBMEM (0, 0)");
  EXPECT_EQ(lane.busy, 45 + 25);
  EXPECT_EQ(lane.most, 3);
  RunTime last = 0;
  for (const profile::PageSpan& span : lane.spans) {
    EXPECT_GE(span.begin, last);
    last = span.end;
  }
  EXPECT_EQ(last, 85);
}

TEST(ProfilePage, SortsLanesByTheTimeBusy) {
  const Profile profile = make_profile(test::simulated("p100x4:nodes=2", 32, 4, false));
  const auto groups = profile::page_lane_groups(profile, profile::make_timeline(profile, 100000));
  ASSERT_GT(groups.size(), 2U);
  RunTime most = profile.total;
  for (const profile::PageLaneGroup& group : groups) {
    RunTime busiest = 0;
    for (const profile::PageLane& lane : group.lanes) busiest = std::max(busiest, lane.busy);
    EXPECT_LE(busiest, most);
    most = busiest;
    const auto percent = [&](RunTime time) {
      return std::llround(100 * static_cast<double>(time) / static_cast<double>(profile.total));
    };
    const profile::PageLane* last = &group.lanes.front();
    for (const profile::PageLane& lane : group.lanes) {
      EXPECT_LE(percent(lane.busy), percent(last->busy)) << lane.name;
      // Equal lanes keep their order. The nodes of this machine have less than ten of each.
      if (&lane != last && percent(lane.busy) == percent(last->busy) &&
          group.kind == profile::TimelineLane::Kind::kProcessor) {
        EXPECT_LT(last->name, lane.name);
      }
      last = &lane;
      EXPECT_EQ(lane.is_idle, static_cast<double>(lane.busy) <
                                  profile::kIdleBelow * static_cast<double>(profile.total))
          << lane.name;
    }
  }
}

// ---- In one

class BrowserPage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (browser().empty()) {
      GTEST_SKIP() << "there is no chromium-headless-shell, chromium or google-chrome on the PATH: "
                      "install one to test the page";
    }
  }
};

TEST_F(BrowserPage, DrawsTheRunAndZoomsAndPans) {
  const auto record = test::simulated("p100x4:nodes=2", 32, 4, false);
  ASSERT_NE(record, nullptr);
  const Profile profile = make_profile(record);
  const Json answer = run_in_browser(to_html(profile, {"a run", {}}), R"js(
    const canvas = document.querySelector('#lanes canvas');
    const at = () => [Number(canvas.dataset.from), Number(canvas.dataset.to)];
    const key = async name => {
      canvas.dispatchEvent(new KeyboardEvent('keydown', {key: name, cancelable: true}));
      await frame();
      return at();
    };
    const colors = () => {
      const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
      return seen.size;
    };
    answer.whole = at();
    answer.drawn = Number(canvas.dataset.drawn);
    answer.colors = colors();
    answer.near = await key('+');
    answer.right = await key('ArrowRight');
    answer.left = await key('ArrowLeft');
    answer.home = await key('Home');
    canvas.dispatchEvent(new WheelEvent('wheel',
        {deltaY: -300, ctrlKey: true, clientX: 600, clientY: 200, bubbles: true, cancelable: true}));
    await frame();
    answer.wheel = at();
    await key('Home');
    document.querySelector('#tools button[data-key="+"]').click();
    await frame();
    answer.button = at();
    await key('Home');
    const box = canvas.getBoundingClientRect();
    for (let x = 210; x < box.width && !answer.what; x += 3) {
      canvas.dispatchEvent(new PointerEvent('pointermove',
          {clientX: box.left + x, clientY: box.top + 52, bubbles: true}));
      const said = document.getElementById('what').textContent;
      if (said.includes('critical path')) answer.what = said;
    }
    answer.scrolls = document.getElementById('lanes').scrollHeight;
    answer.wide = document.documentElement.scrollWidth <= innerWidth;
    answer.rows = document.querySelectorAll('#path').length;
    answer.unnamed = [...document.querySelectorAll('th')].filter(th => !th.scope).length;
    answer.pictures = document.querySelectorAll('svg.level path').length;
  )js");
  EXPECT_FALSE(answer.contains("error")) << answer.at("error");
  const auto total = static_cast<double>(profile.total);
  const auto view = [&](const char* name) { return answer.at(name).get<std::vector<double>>(); };
  EXPECT_EQ(view("whole"), (std::vector<double>{0, total}));
  EXPECT_EQ(view("home"), (std::vector<double>{0, total}));
  EXPECT_NEAR(view("near")[0], total / 4, 1);
  EXPECT_NEAR(view("near")[1], total * 3 / 4, 1);
  EXPECT_NEAR(view("right")[0], total * 0.35, 1);
  EXPECT_NEAR(view("left")[0], total / 4, 1);
  EXPECT_LT(view("wheel")[1] - view("wheel")[0], total * 0.5);
  EXPECT_NEAR(view("button")[1] - view("button")[0], total / 2, 1);
  EXPECT_GT(answer.at("drawn"), 100);
  EXPECT_GT(answer.at("colors"), 8);
  EXPECT_THAT(answer.value("what", ""), HasSubstr("critical path"));
  EXPECT_TRUE(answer.at("wide").get<bool>()) << "the page is wider than the window";
  EXPECT_EQ(answer.at("unnamed"), 0);
  EXPECT_GT(answer.at("pictures"), 0);
}

TEST_F(BrowserPage, ShowsHostileNamesAsTheyAre) {
  const Json answer = run_in_browser(to_html(make_profile(hostile_run(300)), hostile_words()), R"js(
    answer.hacked = document.documentElement.dataset.hacked || '';
    answer.images = document.querySelectorAll('main img').length;
    answer.scripts = document.querySelectorAll('main script').length;
    answer.title = document.title;
    answer.handlers = [...document.querySelectorAll('main *')].filter(
        one => [...one.attributes].some(a => a.name.startsWith('on'))).length;
    answer.drawn = Number(document.querySelector('#lanes canvas').dataset.drawn);
    answer.text = document.body.innerText.includes("<img src=x onerror=");
  )js");
  EXPECT_FALSE(answer.contains("error")) << answer.at("error");
  EXPECT_EQ(answer.at("hacked"), "");
  EXPECT_EQ(answer.at("images"), 0);
  EXPECT_EQ(answer.at("scripts"), 1);
  EXPECT_EQ(answer.at("handlers"), 0);
  EXPECT_EQ(answer.at("title"), test::kHostileNames[0]);
  EXPECT_GT(answer.at("drawn"), 10);
  EXPECT_TRUE(answer.at("text").get<bool>());
}

TEST_F(BrowserPage, FoldsAndUnfolds) {
  const auto record = test::simulated("p100x4:nodes=2", 32, 4, false);
  ASSERT_NE(record, nullptr);
  ProfileWords words{"a run", {}};
  words.measured = "loop";
  const Json answer = run_in_browser(to_html(make_profile(record), words, some_summary()), R"js(
    const canvas = document.querySelector('#lanes canvas');
    const idle = document.getElementById('idle');
    answer.label = idle.parentElement.textContent.trim();
    answer.rows = [Number(canvas.dataset.rows)];
    for (let i = 0; i < 2; ++i) {
      idle.click();
      await frame();
      answer.rows.push(Number(canvas.dataset.rows));
    }
    const more = document.querySelector('.more');
    const rest = more.closest('tbody').nextElementSibling;
    answer.rest = [rest.offsetHeight];
    for (let i = 0; i < 2; ++i) {
      more.click();
      answer.rest.push(rest.offsetHeight);
    }
    answer.ticks = canvas.dataset.ticks.split('|');
    answer.legend = document.getElementById('legend').innerText;
    const swatch = document.querySelector('#legend .swatch');
    answer.swatch = getComputedStyle(swatch).backgroundColor;
    answer.empty = document.getElementById('empty').open;
    // What the tooltip says about everything that can be pointed at.
    const box = canvas.getBoundingClientRect(), said = new Set();
    for (let y = 30; y < box.height; y += 20) {
      for (let x = 325; x < box.width; x += 2) {
        canvas.dispatchEvent(new PointerEvent('pointermove',
            {clientX: box.left + x, clientY: box.top + y, bubbles: true}));
        said.add(document.getElementById('what').textContent);
      }
    }
    answer.said = [...said].join('\n');
    document.querySelector('[data-key=m]').click();
    await frame();
    answer.from = Number(canvas.dataset.from);
  )js");
  EXPECT_FALSE(answer.contains("error")) << answer.at("error");
  const auto rows = answer.at("rows").get<std::vector<int>>();
  EXPECT_GT(rows[1], rows[0]);
  EXPECT_EQ(rows[2], rows[0]);
  EXPECT_THAT(answer.at("label").get<std::string>(),
              ::testing::MatchesRegex("show .* idle lanes?"));
  const auto rest = answer.at("rest").get<std::vector<int>>();
  EXPECT_EQ(rest[0], 0);
  EXPECT_GT(rest[1], 10);
  EXPECT_EQ(rest[2], 0);
  EXPECT_EQ(answer.at("ticks").at(0), "0");
  for (const char* name : {"step", "copies", "the runtime", "measured phase loop"}) {
    EXPECT_THAT(answer.at("legend").get<std::string>(), HasSubstr(name));
  }
  EXPECT_THAT(answer.at("swatch").get<std::string>(), HasSubstr("rgb("));
  EXPECT_FALSE(answer.at("empty").get<bool>());
  EXPECT_THAT(answer.at("said").get<std::string>(), HasSubstr("step, point ("));
  EXPECT_THAT(answer.at("said").get<std::string>(),
              ::testing::ContainsRegex("copy of grid from .* to .*, .* [KM]iB"));
  EXPECT_GT(answer.at("from"), 0);
}

TEST_F(BrowserPage, FitsEveryWindow) {
  auto record = hostile_run(300);
  const std::string long_word(300, 'w');
  record->tasks[1] = record->regions[0] = long_word;
  RunSummary summary = some_summary();
  summary.application = summary.machine = summary.mapping = long_word;
  summary.explain = {long_word};
  for (const int width : {390, 1024, 1440}) {
    const Json answer = run_in_browser(to_html(make_profile(record), hostile_words(), summary),
                                       R"js(
      for (const button of document.querySelectorAll('.more')) button.click();
      for (const one of document.querySelectorAll('details')) one.open = true;
      document.getElementById('idle').click();
      await frame();
      answer.inner = innerWidth;
      answer.wide = document.documentElement.scrollWidth;
    )js",
                                       width);
    EXPECT_FALSE(answer.contains("error")) << answer.at("error");
    EXPECT_EQ(answer.at("inner"), width);
    EXPECT_LE(answer.at("wide"), width);
  }
}

// At full size the picture is made of pixels, not of events.
TEST_F(BrowserPage, DrawsAtMostAPixelForEachColumnOfALane) {
  const Json answer =
      run_in_browser(to_html(make_profile(test::random_run(2, 120000)), {"many", {}}), R"js(
    const canvas = document.querySelector('#lanes canvas');
    answer.drawn = Number(canvas.dataset.drawn);
    answer.ms = Number(canvas.dataset.ms);
    answer.lanes = Number(canvas.dataset.rows);
    answer.width = canvas.clientWidth;
  )js");
  EXPECT_FALSE(answer.contains("error")) << answer.at("error");
  EXPECT_GT(answer.at("drawn"), 1000);
  EXPECT_LE(answer.at("drawn"),
            answer.at("lanes").get<double>() * answer.at("width").get<double>());
  std::printf("drawn in %.1f ms\n", answer.at("ms").get<double>());
}

}  // namespace
}  // namespace groma
