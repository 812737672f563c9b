// What the tests of `groma record` share: a folder of their own, and the command.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "command/run.h"
#include "groma/io.h"

namespace groma::test {

class Record : public testing::Test {
 protected:
  Record() { setenv("XDG_CACHE_HOME", (folder_.path() + "/cache").c_str(), 1); }

  std::string out() const { return folder_.path() + "/app.json"; }
  // `groma record OPTIONS --out app.json -- WORDS`
  Outcome record(const std::string& words, const std::string& options = "") const {
    return run("groma record " + options + " --out " + out() + " -- " + words);
  }
  Application recorded() const {
    auto app = load_application(out());
    EXPECT_TRUE(app.ok()) << app.error().message;
    return *std::move(app);
  }
  TemporaryFolder folder_;
};

}  // namespace groma::test
