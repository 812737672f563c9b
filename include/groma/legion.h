// Uses Groma in a Legion program, with one line before Legion::Runtime::start:
//
//   int main(int argc, char** argv) {
//     ...
//     if (auto error = groma::legion::use_file("my.mapper")) { ... }
//     return Legion::Runtime::start(argc, argv);
//   }
//
// Every processor then has a mapper of the mapping program instead of Legion's default mapper.
// Hooks that a mapping cannot decide (inline mappings, copies, partitions, sources) are those of
// Legion's DefaultMapper. Its flags (-dm:...), tags and tunables keep their meaning.
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
// keeps Legion's default mapper. `site.machine` is the machine as Legion sees it, with the name
// `legion`. Nodes are address spaces; processors and memories are numbered in the order of their
// ids; memories without capacity are left out.
using MapperFactory = std::function<std::unique_ptr<Mapper>(const MapperSite& site)>;

struct Options {
  // The id under which the mapper is registered. 0: it replaces the default mapper.
  unsigned mapper_id = 0;
  // The sink that receives warnings, prints of the mapping program and errors. It is called from
  // any thread and must live until the runtime has stopped. Null: they go to standard error.
  LogSink* log = nullptr;
  // The tasks whose Layout statements may contradict what a mapper of the program's own asks for
  // (wrapper); `{{"*"}}`: those of all tasks. For other tasks such a statement ends the process
  // with `layout-demanded`, since the task may rely on it.
  LayoutOverrides override_layouts = {};
};

// Call these before Legion::Runtime::start, once for each mapper id, with the same arguments on
// every node. An error that only the machine shows (for example, a global that divides by its
// number of GPUs) ends the process when the runtime starts, with exit code 1 and the message. An
// answer that Legion could not carry out ends the process too, at any time; Legion itself would
// abort silently or wait for ever.
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
// Each hook asks `own` first. Then the mapping changes what its statements decide (docs/legion.md,
// "Above a mapper of the program's own"). A Layout statement that contradicts what `own` asked for
// ends the process, unless Options::override_layouts has the task. Decisions that cannot be changed
// safely stay, which is logged once.
//
// Errors of a mapping: compile() reports them, and a `program` with errors
// (Diagnostics::has_errors) must not be wrapped. An error that only the machine or the run shows (a
// global that fails to compute, a refused layout) ends the process with exit code 1. Its message,
// like warnings, goes to Options::log. There is no counterpart of `groma run --log`: put Legion's
// LoggingWrapper around the result of Wrap, whose lines `groma explain --log` reads.
//
// A Wrap returns the mapper to give to Legion, which then owns it, instead of `own`. It deletes
// `own` at its end. `processor` is the processor for which the mapper is registered. NO_PROC stands
// for all processors of this node, which then share one mapper. A null `own` means the mapping
// alone. On a processor of a kind that no mapping names, `own` is returned. Thread-safe.
using Wrap = std::function<Legion::Mapping::Mapper*(
    Legion::Runtime* runtime, const Realm::Processor& processor, Legion::Mapping::Mapper* own)>;
Wrap wrapper(const Program& program, const Options& options = {});

}  // namespace groma::legion
