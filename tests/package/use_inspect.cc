// groma::inspect from outside: where the points of a launch go, as a picture.
#include <cstdio>
#include <utility>

#include "groma/inspect.h"

int main() {
  const groma::Source source("a.mapper",
                             "Task * GPU;\n"
                             "mgpu = Machine(GPU);\n"
                             "def by_node(Task task) {\n"
                             "  return mgpu[task.ipoint[0] % mgpu.size[0], 0];\n"
                             "}\n"
                             "IndexTaskMap * by_node;\n");
  groma::Diagnostics diags(source);
  groma::Result<groma::Machine> machine = groma::make_machine("p100x4:nodes=2");
  if (!machine) return 1;
  const auto bound = groma::bind(groma::compile(source, diags), std::move(machine).value(), diags);
  const auto domain = groma::Rect::make(groma::Point{4});
  if (!bound || !domain) {
    std::fputs(groma::render(diags).c_str(), stderr);
    return 1;
  }
  groma::PlaceQuery query;
  query.task = "work";
  query.domain = *domain;
  const auto placement = groma::place(*bound, query, diags);
  if (!placement) {
    std::fputs(groma::render(diags).c_str(), stderr);
    return 1;
  }
  std::fputs(groma::draw(*placement, *bound).c_str(), stdout);
  return placement->points[3].node == 1 ? 0 : 1;
}
