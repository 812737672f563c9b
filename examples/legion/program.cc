#include "program.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>

namespace program {

using namespace Legion;

bool read_parameters(int argc, char** argv, std::initializer_list<Parameter> parameters) {
  for (int i = 1; i < argc; ++i) {
    for (const Parameter& parameter : parameters) {
      if (argv[i][0] != '-' || std::strcmp(argv[i] + 1, parameter.name) != 0) continue;
      const char* const text = i + 1 < argc ? argv[i + 1] : "";
      const char* const end = text + std::strlen(text);
      const auto [stop, error] = std::from_chars(text, end, *parameter.value);
      if (error != std::errc() || stop != end || *parameter.value < parameter.least ||
          *parameter.value > parameter.most) {
        std::fprintf(stderr, "%s: -%s takes a number from %lld to %lld, not `%s`\n", argv[0],
                     parameter.name, static_cast<long long>(parameter.least),
                     static_cast<long long>(parameter.most), text);
        return false;
      }
      ++i;
      break;
    }
  }
  return true;
}

LayoutConstraintID column_order() {
  static const LayoutConstraintID id = [] {
    LayoutConstraintRegistrar layout(FieldSpace::NO_SPACE, "column_order");
    layout.add_constraint(
        OrderingConstraint({LEGION_DIM_X, LEGION_DIM_Y, LEGION_DIM_F}, /*contiguous=*/false));
    return Runtime::preregister_layout(layout);
  }();
  return id;
}

TaskVariantRegistrar registrar(TaskID id, const char* name, Processor::Kind processor, Kind kind) {
  TaskVariantRegistrar variant(id, name);
  variant.add_constraint(ProcessorConstraint(processor));
  variant.set_leaf(kind == Kind::kLeaf);
  variant.set_inner(kind == Kind::kInner);
  variant.set_replicable(kind == Kind::kReplicable);
  return variant;
}

void nothing(const Task*, const std::vector<PhysicalRegion>&, Context, Runtime*) {}

void wait_for_all(Context context, Runtime* runtime) {
  runtime->issue_execution_fence(context).wait();
}

long long time_after_all(Context context, Runtime* runtime) {
  return runtime->get_current_time_in_nanoseconds(context, runtime->issue_execution_fence(context))
      .get_result<long long>();
}

void report(Context context, Runtime* runtime, long long nanoseconds, std::int64_t wrong) {
  char text[100];
  if (wrong > 0) {
    std::snprintf(text, sizeof text, "wrong: %lld results are not those of the serial reference\n",
                  static_cast<long long>(wrong));
    runtime->print_once(context, stderr, text);
    Runtime::set_return_code(1);
    return;
  }
  std::snprintf(text, sizeof text, "elapsed %.3f ms\n", static_cast<double>(nanoseconds) * 1e-6);
  runtime->print_once(context, stdout, text);
}

}  // namespace program
