// groma::core from outside: a preset's machine, a program's text.
#include <cstdio>

#include "groma/geometry.h"
#include "groma/machine.h"
#include "groma/source.h"

int main() {
  const groma::Result<groma::Machine> machine = groma::make_machine("p100x4:nodes=2");
  if (!machine) {
    std::puts(machine.error().message.c_str());
    return 1;
  }
  const auto domain = groma::Rect::make({8, 4});
  const groma::Source source("a.mapper", "Task * GPU;\nRegion * * GPU FBMEM;\n");
  const bool right = machine->processors_per_node(groma::ProcKind::kGpu) == 4 && domain &&
                     domain->volume() == 32 && source.position(12).line == 2;
  return right ? 0 : 1;
}
