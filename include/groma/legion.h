// Groma in a Legion program: one line before Legion::Runtime::start.
//
//   int main(int argc, char** argv) {
//     ...
//     if (auto error = groma::legion::use_file("my.mapper")) { ... }
//     return Legion::Runtime::start(argc, argv);
//   }
//
// Every processor then has a mapper of the program's in place of Legion's default mapper. Hooks
// that a mapping cannot decide (inline mappings, copies, partitions, sources) are Legion's
// DefaultMapper's, whose flags (-dm:...), tags and tunables keep their meaning.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "groma/layout_overrides.h"
#include "groma/log.h"
#include "groma/mapper.h"
#include "groma/program.h"
#include "groma/result.h"

namespace Realm {
class Processor;
}
namespace Legion {
class Runtime;
namespace Mapping {
class Mapper;
}
}  // namespace Legion

namespace groma::legion {

// Makes the mapper of one processor, in the thread that starts the runtime. Null: that processor
// keeps Legion's default mapper. `site.machine` is the machine as Legion sees it, called `legion`:
// nodes are address spaces, processors and memories are numbered in the order of their ids,
// memories without capacity left out.
using MapperFactory = std::function<std::unique_ptr<Mapper>(const MapperSite& site)>;

struct Options {
  // Under which id the mapper is registered. 0: as the default mapper.
  unsigned mapper_id = 0;
  // Gets warnings, prints of the program and errors; called from any thread, must live until the
  // runtime has stopped. Null: they go to standard error.
  LogSink* log = nullptr;
  // The tasks whose Layout statements may contradict what a mapper of the program's own asks for
  // (wrapper); `{{"*"}}`: those of all tasks. For other tasks such a statement ends the process
  // with `layout-demanded`, since the task may rely on it.
  LayoutOverrides override_layouts = {};
};

// Call these before Legion::Runtime::start, once for each mapper id, with the same arguments on
// every node. A mistake that only the machine shows (a global that divides by its number of GPUs,
// say) ends the process with exit code 1 and the message when the runtime starts; so does, at any
// time, an answer that Legion could not carry out, which it would meet with a silent abort or for
// ever.
void use(MapperFactory factory, const Options& options = {});
void use(const Program& program, const Options& options = {});
// Reads and checks the file. The error's message has all diagnostics, as `groma check` prints them.
std::optional<Error> use_file(const std::string& path, const Options& options = {});

// For a program with mappers of its own, instead of use():
//
//   const groma::legion::Wrap wrap = groma::legion::wrapper(program);
//   ...  // in a registration callback
//   runtime->replace_default_mapper(wrap(runtime, processor, new MyMapper(...)), processor);
//
// Each hook asks `own` first; then the mapping changes what its statements decide (docs/legion.md,
// "Above a mapper of the program's own"). A Layout statement that contradicts what `own` asked for
// ends the process, unless Options::override_layouts has the task. What cannot be changed safely
// stays, which is logged once.
//
// compile() reports errors of the mapping: a `program` for which Diagnostics::has_errors is true is
// not to be wrapped. What only the machine or the run shows (a global that fails to compute, a
// refused layout) ends the process with exit code 1; its message goes to Options::log, as warnings
// do. No file says what the mappers decide, as that of `groma run --log` does: Legion's
// LoggingWrapper around what Wrap returns writes lines that `groma explain --log` reads.
//
// What Legion is to get, and then owns, in place of `own`, which ends with it. `processor` is what
// it is registered for, NO_PROC all of this node: then one mapper of ours serves them, too. A null
// `own`: the mapping alone. On a processor that no mapping names `own` comes back. Thread-safe.
using Wrap = std::function<Legion::Mapping::Mapper*(
    Legion::Runtime* runtime, const Realm::Processor& processor, Legion::Mapping::Mapper* own)>;
Wrap wrapper(const Program& program, const Options& options = {});

}  // namespace groma::legion
