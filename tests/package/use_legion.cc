// A Legion program with a mapping linked in: prints `top runs`, and Groma reports the task
// `missing` of my.mapper.
#include <cstdio>
#include <vector>

#include "groma/legion.h"
#include "legion.h"

namespace {

void top(const Legion::Task* /*task*/, const std::vector<Legion::PhysicalRegion>& /*regions*/,
         Legion::Context /*context*/, Legion::Runtime* /*runtime*/) {
  std::puts("top runs");
}

}  // namespace

int main(int argc, char** argv) {
  Legion::TaskVariantRegistrar registrar(1, "top");
  registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
  Legion::Runtime::preregister_task_variant<top>(registrar, "top");
  Legion::Runtime::set_top_level_task_id(1);
  if (auto error = groma::legion::use_file("my.mapper")) {
    std::fprintf(stderr, "%s\n", error->message.c_str());
    return 1;
  }
  return Legion::Runtime::start(argc, argv);
}
