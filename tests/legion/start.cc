#include "legion/start.h"

#include <gtest/gtest.h>

#include <vector>

namespace groma::legion_test {
namespace {

// Beyond what the tests use.
constexpr Legion::TaskID kTopLevel = 1'000'000;

Legion::Context top_context = nullptr;
Legion::Runtime* top_runtime = nullptr;

// A function's own variable, since it is used while others are being initialised.
std::vector<void (*)()>& callbacks() {
  static std::vector<void (*)()> list;
  return list;
}

void run_tests(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&,
               Legion::Context context, Legion::Runtime* runtime) {
  top_context = context;
  top_runtime = runtime;
  Legion::Runtime::set_return_code(RUN_ALL_TESTS());
}

}  // namespace

BeforeStart::BeforeStart(void (*f)()) { callbacks().push_back(f); }

Legion::Context context() { return top_context; }
Legion::Runtime* runtime() { return top_runtime; }

int start(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (void (*f)() : callbacks()) f();
  Legion::TaskVariantRegistrar registrar(kTopLevel, "run_tests");
  registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
  Legion::Runtime::preregister_task_variant<run_tests>(registrar, "run_tests");
  Legion::Runtime::set_top_level_task_id(kTopLevel);
  return Legion::Runtime::start(argc, argv);
}

}  // namespace groma::legion_test

int main(int argc, char** argv) { return groma::legion_test::start(argc, argv); }
