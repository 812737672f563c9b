// The page: what it is made of, and in a browser without a window, where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <regex>

#include "groma/profile.h"
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

// ---- Without a browser

TEST(ProfilePage, NeedsNothingElse) {
  const std::string page =
      to_html(make_profile(test::simulated("p100x4", 16, 3, false)), {"a run", {}});
  EXPECT_FALSE(std::regex_search(page, std::regex("(src|href|url|import|fetch)\\s*[=(]")));
  EXPECT_THAT(page, Not(HasSubstr("http:")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* id : {"path", "time", "causes", "moves", "matrix", "memory", "tasks"}) {
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
    for (let x = 180; x < box.width && !document.getElementById('what').textContent; x += 3) {
      canvas.dispatchEvent(new PointerEvent('pointermove',
          {clientX: box.left + x, clientY: box.top + 32, bubbles: true}));
    }
    answer.what = document.getElementById('what').textContent;
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
  EXPECT_THAT(answer.at("what").get<std::string>(), HasSubstr("critical path"));
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

// At full size the picture is made of pixels, not of events.
TEST_F(BrowserPage, DrawsAtMostAPixelForEachColumnOfALane) {
  const Json answer =
      run_in_browser(to_html(make_profile(test::random_run(2, 120000)), {"many", {}}), R"js(
    const canvas = document.querySelector('#lanes canvas');
    answer.drawn = Number(canvas.dataset.drawn);
    answer.ms = Number(canvas.dataset.ms);
    answer.lanes = JSON.parse(document.getElementById('run').textContent).lanes.length;
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
