// What `groma emit` wrote of a program, compiled: asked in Groma's own words.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/evaluate.h"
#include "groma/machine.h"
#include "groma/program.h"

namespace groma::testing {

class Emitted {
 public:
  virtual ~Emitted() = default;

  // Computes the globals on a machine; why not, if it fails.
  virtual std::string bind(const Machine& machine) = 0;

  struct Answer {
    bool mapped = false;  // by a function
    std::vector<Processor> processors;
    std::string error;
  };
  virtual Answer place(bool index, const LaunchedTask& task, ProcKind kind,
                       const TaskPoint& point) const = 0;

  virtual std::vector<ProcKind> kinds(const LaunchedTask& task) const = 0;
  virtual std::vector<MemKind> memories(const LaunchedTask& task, const RegionNames& region,
                                        ProcKind kind) const = 0;
  virtual std::optional<StatedLayout> layout(const LaunchedTask& task, const RegionNames& region,
                                             ProcKind kind, MemKind memory) const = 0;
  virtual bool collects(const LaunchedTask& task, const RegionNames& region) const = 0;
  virtual std::int64_t limit(const LaunchedTask& task, ProcKind kind) const = 0;
  virtual LimitScope limit_scope(const LaunchedTask& task, ProcKind kind) const = 0;
  virtual bool replicates(const LaunchedTask& task) const = 0;
  virtual std::optional<StealScope> steal(const LaunchedTask& task, ProcKind kind) const = 0;
};

struct EmittedProgram {
  std::string_view name, text;
  std::unique_ptr<Emitted> (*make)();
};
// Those that write_programs wrote.
std::vector<EmittedProgram> emitted_programs();

}  // namespace groma::testing
