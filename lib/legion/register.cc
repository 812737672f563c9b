// Registers mappings with Legion. A program registers its mapping before the runtime starts; Legion
// calls back when it starts, and the callback then makes one mapper object for each processor.
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/one_diagnostic.h"
#include "groma/evaluate.h"
#include "groma/legion.h"
#include "groma/legion_c.h"
#include "groma/program_mapper.h"
#include "legion/adapter.h"
#include "legion/default_flags.h"
#include "legion/overlay.h"
#include "legion/preload.h"

namespace groma::legion {
namespace {

// Registers the sharding functors of the mapping, once. They do not depend on the processor, so the
// functors of the first mapper serve all mappers. Every process registers the same functors under
// the same ids.
void register_functors(Registration& registration, Legion::Runtime* runtime, const Mapper& mapper) {
  const auto functors = mapper.sharding_functors();
  if (functors.empty() || registration.functors.is_set()) return;
  registration.functors.set(runtime, "groma" + std::to_string(registration.options.mapper_id),
                            functors, registration.points_for(mapper));
}

// The log for programs that set none. It writes to standard error.
class StandardError final : public LogSink {
 public:
  void log(LogLevel, std::string_view line) override {
    const bool ends = !line.empty() && line.back() == '\n';
    std::fprintf(stderr, "%.*s%s", static_cast<int>(line.size()), line.data(), ends ? "" : "\n");
  }
};

// Returns the log that the program set, or a log for standard error if `log` is null.
LogSink* log_or_standard_error(LogSink* log) {
  static StandardError standard_error;
  return log == nullptr ? &standard_error : log;
}

// Returns true if the program runs under `groma run --map`. The mapping of that command then stands
// above the program's own mapping, which decides only what the other one leaves open.
bool is_below() { return std::getenv(kMappingVariable) != nullptr; }

// Makes an adapter for each processor of this process. With the mapper id 0, it replaces Legion's
// default mapper.
void make_mappers(const std::shared_ptr<Registration>& registration,
                  const Legion::RegistrationCallbackArgs& args) {
  for (Legion::Processor p : args.local_procs) {
    Adapter* adapter = make_adapter(registration, args.runtime, args.machine, p);
    if (adapter == nullptr) continue;
    if (registration->options.mapper_id == 0) {
      args.runtime->replace_default_mapper(adapter, p);
    } else {
      args.runtime->add_mapper(registration->options.mapper_id, adapter, p);
    }
  }
}

// The data for Legion's registration callback. Legion copies these bytes, so they hold a pointer.
// The registration lives as long as the process, because Legion may call back more than once.
struct CallbackData {
  const std::shared_ptr<Registration>* registration;
};

void callback(const Legion::RegistrationCallbackArgs& args) {
  make_mappers(*static_cast<const CallbackData*>(args.buffer.get_ptr())->registration, args);
}

}  // namespace

LogSink* Registration::log() const { return log_or_standard_error(options.log); }

// Makes the adapter of a processor. The first call reads the machine. A machine that Groma cannot
// describe ends the process.
Adapter* make_adapter(const std::shared_ptr<Registration>& registration, Legion::Runtime* runtime,
                      const Legion::Machine& machine, Legion::Processor processor, bool in_turn) {
  if (registration->machine == nullptr) {
    auto map = MachineMap::make();
    if (!map) {
      registration->fail(diagnostic_without_source(DiagId::kBadMachine, map.error().message), {},
                         nullptr);
    }
    registration->machine = *map;
  }
  const auto local = registration->machine->processor(processor);
  if (!local) return nullptr;
  const MapperSite site{registration->machine->machine(), *local,
                        default_settings(runtime->get_mapper_runtime(), machine, processor),
                        registration->log()};
  auto mapper = registration->factory(site);
  if (mapper == nullptr) return nullptr;
  register_functors(*registration, runtime, *mapper);
  return new Adapter(registration, runtime->get_mapper_runtime(), machine, processor,
                     std::move(mapper), in_turn);
}

// Returns a factory of mappers for a program. The program is bound when the first mapper is made,
// since only then the machine is known. All mappers share the bound program.
MapperFactory factory_of(const Program& program, LogSink* sink, bool warns) {
  LogSink* const log = log_or_standard_error(sink);
  // The program is bound to the machine once for all processors, when the machine is known.
  auto shared = std::make_shared<std::shared_ptr<ProgramMapper::Shared>>();
  return [program, shared, log, warns](const MapperSite& site) -> std::unique_ptr<Mapper> {
    if (*shared == nullptr) {
      Diagnostics diags(program.source());
      const auto bound = bind(program, *site.machine, diags, log);
      if (!bound) {
        log->log(LogLevel::kError, render(diags));
        std::fflush(nullptr);
        std::_Exit(1);
      }
      for (const Diagnostic& warning : diags.sorted()) {
        if (warning.severity == Severity::kNote || !warns) continue;
        log->log(LogLevel::kWarning, render(program.source(), warning));
      }
      *shared = ProgramMapper::share(*bound, log);
    }
    // The bound program has its own copy of the machine, which equals `site.machine`. The mapper
    // gets this copy.
    return std::make_unique<ProgramMapper>(
        *shared, MapperSite{ProgramMapper::machine_of(**shared), site.local, site.settings, log});
  };
}

// Registers a mapping for when Legion starts. Nothing happens until Legion calls back.
void use(MapperFactory factory, const Options& options) {
  auto registration = std::make_shared<Registration>();
  registration->factory = std::move(factory);
  registration->options = options;
  registration->is_below_run_mapping = is_below();
  const CallbackData kept{new std::shared_ptr<Registration>(std::move(registration))};
  Legion::Runtime::add_registration_callback(callback, Legion::UntypedBuffer(&kept, sizeof kept),
                                             false);
}

void use(const Program& program, const Options& options) {
  use(factory_of(program, options.log, !is_below()), options);
}

// Registers the mapping in a file. A mistake in the file is returned as one message. Warnings go to
// the log.
std::optional<Error> use_file(const std::string& path, const Options& options) {
  auto source = Source::read(path);
  if (!source) return source.error();
  Diagnostics diags(*source);
  const Program program = compile(*source, diags);
  if (diags.has_errors()) {
    std::string text = render(diags);
    while (text.ends_with('\n')) text.pop_back();
    return Error{Error::Code::kMalformed, std::move(text)};
  }
  for (const Diagnostic& warning : diags.sorted()) {
    // Only `groma check` prints notes.
    if (warning.severity == Severity::kNote) continue;
    log_or_standard_error(options.log)->log(LogLevel::kWarning, render(*source, warning));
  }
  use(program, options);
  return std::nullopt;
}

namespace {

// Makes the adapter of one processor. If a program registers one mapper for all processors
// (NO_PROC), it is the adapter of the first processor of this process that can have one. Returns
// null if there is none.
Adapter* adapter_for(const std::shared_ptr<Registration>& registration, Legion::Runtime* runtime,
                     Legion::Processor processor, bool in_turn) {
  const Legion::Machine machine = Legion::Machine::get_machine();
  if (processor.exists()) return make_adapter(registration, runtime, machine, processor, in_turn);
  Legion::Machine::ProcessorQuery here(machine);
  here.local_address_space();
  for (const Legion::Processor p : here) {
    Adapter* const adapter = make_adapter(registration, runtime, machine, p, in_turn);
    if (adapter != nullptr) return adapter;
  }
  return nullptr;
}

}  // namespace

Wrap wrapper(const Program& program, const Options& options) {
  return wrapper(program, options, RecordMemoryOrigin(), nullptr);
}

// Returns a function that puts a mapping above a mapper of the program. Several threads may call
// that function, so it makes one adapter at a time.
Wrap wrapper(const Program& program, const Options& options, RecordMemoryOrigin heard,
             std::shared_ptr<RequestedInstances> asked) {
  auto registration = std::make_shared<Registration>();
  registration->factory = factory_of(program, options.log);
  registration->options = options;
  registration->record_memory_origin = std::move(heard);
  registration->instance_requests =
      asked != nullptr ? std::move(asked) : std::make_shared<RequestedInstances>();
  // What the program says about each task is known when it is bound to the machine, because of its
  // `when` blocks.
  auto mentions = std::make_shared<std::shared_ptr<const StatementsByTask>>();
  auto one_at_a_time = std::make_shared<std::mutex>();
  return [=](Legion::Runtime* runtime, const Realm::Processor& processor,
             Legion::Mapping::Mapper* own) -> Legion::Mapping::Mapper* {
    const std::lock_guard lock(*one_at_a_time);
    std::unique_ptr<Adapter> adapter(
        adapter_for(registration, runtime, processor, own != nullptr && is_concurrent(*own)));
    if (adapter == nullptr) return own;
    if (own == nullptr) return adapter.release();
    adapter->set_above_program_mapper(requests_default_layouts(*own));
    if (*mentions == nullptr) {
      // The factory has reported all diagnostics.
      Diagnostics ignored(program.source());
      const auto bound = bind(program, *registration->machine->machine(), ignored);
      *mentions = std::make_shared<const StatementsByTask>(bound ? bound->program() : program);
    }
    return make_overlay(own, std::move(adapter), *mentions).release();
  };
}

}  // namespace groma::legion

int groma_legion_use_file(const char* path) {
  const auto error = groma::legion::use_file(path);
  if (!error) return 0;
  std::fprintf(stderr, "%s\n", error->message.c_str());
  return 1;
}
