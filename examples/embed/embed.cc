// Groma in a program of one's own: load a mapping, bind it to a machine, ask where points go.
//   groma_embed FILE.mapper TASK
#include <cstdio>
#include <string>

#include "groma/evaluate.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FILE.mapper TASK\n", argv[0]);
    return 2;
  }
  const std::string task_name = argv[2];
  auto source = groma::Source::read(argv[1]);
  if (!source) {
    std::fprintf(stderr, "%s\n", source.error().message.c_str());
    return 1;
  }
  groma::Diagnostics diags(*source);
  const groma::Program program = groma::compile(*source, diags);
  auto machine = groma::make_machine("p100x4:nodes=2");
  const auto bound = groma::bind(program, *machine, diags);
  const auto decision = program.index_function(task_name, groma::ProcKind::kGpu);
  if (bound && !decision) std::fprintf(stderr, "nothing maps `%s`\n", task_name.c_str());

  if (bound && decision) {
    groma::Evaluator evaluator(*bound);
    groma::TaskPoint task;
    task.name = task_name;
    task.domain = *groma::Rect::make({8});
    task.point = task.domain.lower;
    do {
      const auto placed = evaluator.place(decision->function, task, groma::ProcKind::kGpu, diags);
      if (!placed) break;
      const groma::Processor& first = placed->processors.front();
      std::printf("point %lld: node %lld, GPU %lld\n", static_cast<long long>(task.point[0]),
                  static_cast<long long>(first.node), static_cast<long long>(first.index));
    } while (groma::next_point(task.domain, &task.point));
  }
  std::fputs(groma::render(diags).c_str(), stderr);
  return diags.has_errors() || !decision ? 1 : 0;
}
