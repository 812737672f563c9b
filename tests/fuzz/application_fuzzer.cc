// Any bytes as an application: read or refused with a message; what was read is the same again when
// it is written and read, it is explained, and the default mapper's program for it compiles.
#include <cstddef>
#include <cstdint>
#include <string>

#include "groma/explain.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/machine.h"
#include "groma/result.h"
#include "groma/workload.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void check_default_mapping(const groma::Workload& app, const groma::Machine& machine) {
  groma::Diagnostics asked{groma::Source("app", "")};
  const auto text = groma::default_mapping(app, machine, {}, asked);
  GROMA_CHECK(text.has_value());
  groma::Diagnostics diags{groma::Source("default.mapper", *text)};
  GROMA_CHECK(groma::check(diags.source(), &machine, diags).has_value());
}

void check_explanation(const groma::Workload& app, std::size_t tasks,
                       const groma::Machine& machine) {
  groma::Diagnostics diags{groma::Source("a.mapper",
                                         "Task * GPU, OMP, CPU\n"
                                         "Region * * GPU SOCKMEM, FBMEM\n"
                                         "Region * 0 * VIRTUAL\n"
                                         "Layout * * * C_order AOS\n"
                                         "CollectMemory * *\n"
                                         "m = Machine(GPU)\n"
                                         "def f(Task task) { return m[0, task.ipoint[0] % 2] }\n"
                                         "IndexTaskMap GPU f\n")};
  const auto bound = groma::check(diags.source(), &machine, diags);
  GROMA_CHECK(bound.has_value());
  const auto explanation = groma::explain(*bound, app, {}, diags);
  GROMA_CHECK(explanation.has_value() && explanation->tasks.size() == tasks);
  GROMA_CHECK(!groma::draw(*explanation, bound->program()).empty());
  GROMA_CHECK(!groma::to_json(*explanation, bound->program(), diags).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto app =
      groma::application_from_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!app) {
    GROMA_CHECK(!app.error().message.empty());
    return 0;
  }
  const auto again = groma::application_from_json(groma::application_to_json(*app), "again");
  GROMA_CHECK(again.ok() && *again == *app);
  const auto workload = groma::Workload::make(*app);
  GROMA_CHECK(workload.ok());
  const auto machine = groma::make_machine("p100x4:nodes=2");
  check_default_mapping(*workload, machine.value());
  check_explanation(*workload, app->tasks.size(), machine.value());
  return 0;
}
