// The reference card: a description of the mapping language for a model that never saw it.
#include <fmt/format.h>

#include <iterator>

#include "model/prompt.h"
#include "syntax/methods.h"

namespace groma::tuning {
namespace {

// Returns the lines of the reference card about the operations on machine views, one for each
// operation that the card describes.
std::string operations_text() {
  std::string text = "   Views of a machine; n is the extent of dimension d:";
  for (const syntax::MethodInfo& method : syntax::kMethods) {
    if (!method.on_reference_card) continue;
    fmt::format_to(std::back_inserter(text), "\n   {}: {}", signature_of(method),
                   method.description);
  }
  return text;
}

// Returns the parts of the reference card. Parts about rarely used statements have a stage at which
// they are removed from a prompt that is too long.
std::vector<LanguageCardPart> make_card() {
  return {
      {R"(MAPPING LANGUAGE - REFERENCE CARD
Every statement ends with `;`. Comments start with `#`. `*` stands for all, `calc_*` for all names
that begin so, `main > step` for step launched by main, `step[dim=2]` for its 2-D launches. Upper
and lower case differ. Use only tasks and regions that stand below.

1) Task <task,..|*> <KIND>, ..;
   KIND: GPU, CPU, OMP. In order of preference: the first that machine and task have.
    Task * GPU, OMP, CPU;

2) Region <task,..|*> <region,..|position,..|*> <KIND|*> <MEMORY>, ..;
   MEMORY: FBMEM (a GPU's own, fast for it), ZCMEM (host memory that GPUs reach too, slow for
   them), SYSMEM (the node's), SOCKMEM (a socket's, near its cores). GPUs reach FBMEM and ZCMEM;
   CPUs and OMPs reach SYSMEM, SOCKMEM and ZCMEM. The first that has room is taken; lists of (task,
   region), (task, *), (*, region), (*, *) follow one another. A position counts the task's
   regions from 0.
    Region * 0 GPU FBMEM, ZCMEM;
    Region * * * SOCKMEM, SYSMEM;

3) Layout <task,..|*> <region,..|position,..|*> <KIND|MEMORY|*> <constraint> ..;
   constraint: SOA (each field by itself) or AOS (the fields of a point side by side: a task that
   uses some of them streams all), F_order or C_order, Align==<power of two>, Compact, Exact. One
   statement counts, the most specific. Some library tasks demand an order.
    Layout * * * AOS C_order Align==128;

4) InstanceLimit <task,..> <n>; at most n instances mapped and unfinished on a processor; with
   SAME_NODE or Machine behind n, of a node, of the machine. Saves memory, costs time.

5) Functions say where the points of an index launch go:
    m = Machine(GPU);
    def by_rows(Task task) {
      flat = m.merge(0, 1);
      return flat[task.ipoint[0] * flat.size[0] / task.ispace[0]];
    }
    IndexTaskMap GPU by_rows;
   `IndexTaskMap <task,..|KIND|*> f;`. m is a grid of m.volume processors: m.size[0] nodes by
   m.size[1] in each.
   task.ipoint is the point, counted from 0; task.ispace the launch's extents.
   Both are tuples: t[i], t.len, arithmetic item by item. task.irank counts the points
   before this one, task.ivolume all. Braces, no colon; assignments, then one
   `return m[i, j];` or `m[*tuple]`. Operators + - * / % < <= > >= == != && || ! and c ? a : b;
   whole numbers only, `/` truncates. No if, no loop, no recursion. Every index must be in range:
   `x % m.size[0]`. The machine's kind must be that of the task.
)"},
      {operations_text() + R"(
    def by_blocks(Task task) {
      grid = m.merge(0, 1).decompose(0, task.ispace);
      return grid[*(task.ipoint * grid.size / task.ispace)];
    }
    def in_turn(Task task) {
      p = task.ipoint[0];
      return m[p % m.size[0], p / m.size[0] % m.size[1]];
    }
)",
       RemovalStage::kCard},
      {R"(
6) Single tasks: SingleTaskMap <task,..|KIND|*> f; f may use task.parent, but not task.ipoint.
   Functions of IndexTaskMap may use task.ipoint, but not task.parent.
    def with_parent(Task task) { return m[*task.parent.processor(m)]; }
    SingleTaskMap GPU with_parent;
)"},
      {R"(
7) Seldom: CollectMemory <task,..|*> <region,..|*>; frees a read-only instance as soon as its task
   is done. ControlReplicate <top-level task>; each node then launches and maps its own share of the
   points. TaskSteal <task,..|*> <KIND> SAME_NODE; `when m.volume > 8 { Task * GPU; }` acts only on
   such machines.
)",
       RemovalStage::kCard},
      {R"(
`main > step` counts before step, a name before a pattern, that before a KIND, that before `*`. Of
two statements about the same task, region and kind the first counts. What nothing decides the
default mapper does. A mapping never changes results, only the speed and whether the program runs.
)"},
  };
}

}  // namespace

std::span<const LanguageCardPart> language_card() {
  static const std::vector<LanguageCardPart> card = make_card();
  return card;
}

}  // namespace groma::tuning
