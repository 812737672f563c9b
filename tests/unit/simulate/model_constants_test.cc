// The table of constants, and that each constant changes what a run takes.
#include "groma/model_constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "groma/app_builder.h"
#include "groma/program_mapper.h"

namespace groma {
namespace {

// Returns how long a GPU task runs that makes one access of 32 bytes to zero-copy memory `accesses`
// times, in seconds, without its launch latency and the latency of the memory. The accesses are
// spread over `elements` elements of 4 bytes.
double seconds_of_accesses(Access access, std::int64_t accesses, std::int64_t elements = 10'000'000,
                           const std::string& layout = "") {
  AppBuilder builder("accesses");
  builder.region("r", {std::to_string(elements)}).fields({"x", "y", "z", "w"}, 4);
  builder.task("touch").variant(gpu().leaf().traffic(0, 32 * accesses, access)).writes("r", {"x"});
  builder.task("main").variant(cpu().inner()).body({launch("touch")});
  const auto workload = Workload::make(builder.top_level("main").done());
  EXPECT_TRUE(workload) << workload.error().message;
  const auto machine = make_machine("p100x4");
  const Source source("host.mapper", "Task * GPU, CPU;\nRegion * * GPU ZCMEM;\n" + layout);
  Diagnostics diags(source);
  const auto bound = bind(compile(source, diags), *machine, diags);
  EXPECT_TRUE(bound) << render(diags);
  const auto shared = ProgramMapper::share(*bound);
  SimulateOptions options;
  options.record = true;
  const RunResult result = simulate(
      *workload, bound->shared_machine(),
      [&](const Processor& local) {
        return std::make_unique<ProgramMapper>(shared, MapperSite{bound->shared_machine(), local});
      },
      options);
  EXPECT_TRUE(result.ok()) << result.raw;
  for (const RunRecord::Event& event : result.record->events) {
    if (event.kind != RunRecord::Event::Kind::kTask || event.name != 0) continue;
    return static_cast<double>(event.end - event.start) * kPicosecond - 6.6e-6 - 1e-6;
  }
  return 0;
}

// 10.5 GB/s are 328 million accesses of 32 bytes a second, and 143 million of scattered ones.
TEST(HostMemory, AtomicUpdatesAreSlowerThanScatteredReads) {
  EXPECT_NEAR(seconds_of_accesses(Access::kScatter, 1'000'000), 2.3 * 3.048e-3, 1e-6);
  // The reference gives 50 to 100 million updates a second.
  const double updates_a_second = 1e6 / seconds_of_accesses(Access::kAtomic, 1'000'000);
  EXPECT_GT(updates_a_second, 50e6);
  EXPECT_LT(updates_a_second, 100e6);
}

// 992 elements of 4 bytes are 31 lines of 128 bytes, and touch one more. In each line, an update
// takes the latency of 1 us.
TEST(HostMemory, AtomicUpdatesOfOneLineHappenOneAfterTheOther) {
  EXPECT_NEAR(seconds_of_accesses(Access::kAtomic, 1'000'000, 992), 1e6 / 32 * 1e-6, 1e-6);
  // 96 structures of 16 bytes are 12 lines, and touch one more.
  EXPECT_NEAR(seconds_of_accesses(Access::kAtomic, 1'000'000, 96, "Layout * * * AOS;\n"),
              1e6 / 13 * 1e-6, 1e-6);
  // Reads do not wait for each other.
  EXPECT_NEAR(seconds_of_accesses(Access::kScatter, 1'000'000, 992),
              seconds_of_accesses(Access::kScatter, 1'000'000), 1e-6);
}

bool same(const ModelSetting& a, const ModelSetting& b) {
  return *a.machine == *b.machine && a.costs == b.costs && a.model == b.model;
}

TEST(ModelConstants, TheDefaultSettingIsThatOfARun) {
  const auto setting = model_setting();
  ASSERT_TRUE(setting.ok());
  const auto machine = make_machine("p100x4");
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(*setting->machine, *machine);
  EXPECT_EQ(setting->costs, RuntimeCosts{});
  EXPECT_EQ(setting->model, TimeModel{});
  EXPECT_EQ(SimulateOptions{}.model, TimeModel{});
}

TEST(ModelConstants, EachHasARangeAndASource) {
  std::set<std::string_view> names;
  for (const ModelConstant& constant : model_constants()) {
    EXPECT_TRUE(names.insert(constant.name).second) << constant.name;
    EXPECT_GT(constant.lowest, 0) << constant.name;
    EXPECT_LE(constant.lowest, constant.value * (1 + 1e-12)) << constant.name;
    EXPECT_GE(constant.highest, constant.value * (1 - 1e-12)) << constant.name;
    EXPECT_LT(constant.lowest, constant.highest) << constant.name;
    EXPECT_FALSE(constant.source.empty()) << constant.name;
    EXPECT_FALSE(constant.range_source.empty()) << constant.name;
  }
}

TEST(ModelConstants, EachChangesItsOwnGroup) {
  const auto usual = model_setting();
  ASSERT_TRUE(usual.ok());
  for (std::size_t i = 0; i < model_constants().size(); ++i) {
    const ModelConstant& constant = model_constants()[i];
    for (const double value : {constant.lowest, constant.highest}) {
      const ConstantChange change{i, value};
      const auto setting = model_setting({&change, 1});
      ASSERT_TRUE(setting.ok()) << constant.name;
      const bool is_value = std::abs(value / constant.value - 1) < 1e-9;
      EXPECT_EQ(same(*setting, *usual), is_value) << constant.name << " at " << value;
      EXPECT_TRUE(constant.group == ConstantGroup::kMachine ||
                  *setting->machine == *usual->machine);
      EXPECT_TRUE(constant.group == ConstantGroup::kRuntime || setting->costs == usual->costs);
      EXPECT_TRUE(constant.group == ConstantGroup::kModel || setting->model == usual->model);
    }
    // The value itself gives the default setting.
    const ConstantChange back[] = {{i, constant.highest}, {i, constant.value}};
    const auto setting = model_setting(back);
    ASSERT_TRUE(setting.ok());
    if (constant.group == ConstantGroup::kModel) {
      EXPECT_EQ(setting->model, usual->model);
    }
  }
}

TEST(ModelConstants, RefusesWhatIsNotAConstantOrNotAMachine) {
  const ConstantChange unknown{model_constants().size(), 1};
  EXPECT_FALSE(model_setting({&unknown, 1}).ok());
  const ConstantChange negative{0, -1};
  ASSERT_EQ(model_constants()[0].name, "core peak FP64");
  EXPECT_FALSE(model_setting({&negative, 1}).ok());
}

}  // namespace
}  // namespace groma
