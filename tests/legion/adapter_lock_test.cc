// Turns: of the calls of a concurrent mapper, one at a time has the turn, and each gets it.
#include "legion/adapter_lock.h"

#include <gtest/gtest.h>
#include <mappers/default_mapper.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include "legion/start.h"

namespace groma::legion_test {
namespace {

using Legion::Mapping::MapperContext;

constexpr Legion::MapperID kConcurrent = 51;
constexpr int kCalls = 3;
std::atomic<int> begun = 0, inside = 0, most_inside = 0;

template <typename Done>
bool wait_until(const Done& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!done() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return done();
}

// Legion calls it from several threads at once. It takes the turn whenever it is asked for a
// tunable, whose value is 1 if all calls had begun by the end of its turn.
class Concurrent final : public Legion::Mapping::DefaultMapper {
 public:
  using DefaultMapper::DefaultMapper;

  MapperSyncModel get_mapper_sync_model() const override { return CONCURRENT_MAPPER_MODEL; }
  void select_tunable_value(MapperContext context, const Legion::Task&, const SelectTunableInput&,
                            SelectTunableOutput& output) override {
    ++begun;
    output.value = std::malloc(sizeof(int));
    output.size = sizeof(int);
    *static_cast<int*>(output.value) = has_turn(context) ? 1 : 0;
  }

 private:
  bool has_turn(MapperContext context) {
    const legion::AdapterLockGuard turn(&turns_, context);
    const int here = ++inside;
    if (here > most_inside) most_inside = here;
    const bool all_begun = wait_until([] { return begun == kCalls; });
    // The other calls ask for the turn meanwhile.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    --inside;
    return all_begun;
  }

  legion::AdapterLock turns_{runtime, *this};
};

void register_mappers(Legion::Machine machine, Legion::Runtime* runtime,
                      const std::set<Legion::Processor>& local) {
  for (const Legion::Processor p : local) {
    runtime->add_mapper(kConcurrent,
                        new Concurrent(runtime->get_mapper_runtime(), machine, p, "concurrent"));
  }
}

const BeforeStart kSetUp([] { Legion::Runtime::add_registration_callback(register_mappers); });

TEST(AdapterLock, OneCallHasTheTurnAndTheOthersWaitForIt) {
  begun = inside = most_inside = 0;
  std::vector<Legion::Future> values;
  for (int i = 0; i < kCalls; ++i) {
    values.push_back(
        runtime()->select_tunable_value(context(), Legion::TunableLauncher(1, kConcurrent)));
  }
  for (const Legion::Future& value : values) {
    ASSERT_TRUE(wait_until([&] { return value.is_ready(true); })) << "a call did not get the turn";
    EXPECT_EQ(value.get_result<int>(), 1) << "no other call began meanwhile";
  }
  EXPECT_EQ(begun, kCalls);
  EXPECT_EQ(most_inside, 1);
}

}  // namespace
}  // namespace groma::legion_test
