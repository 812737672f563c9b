// What preload.cc loads into a Legion program: the mapping that the environment hands over, over
// the mappers that the program registers, and alone where it registers none.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "groma/legion.h"
#include "legion/preload.h"
#include "legion/wrapped.h"

namespace groma::legion {
namespace {

using LegionMapper = Legion::Mapping::Mapper;

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "groma: not mapped: %s\n", why.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

Source source() {
  const char* const given = std::getenv(kMappingVariable);
  const std::string value = given == nullptr ? "" : given;
  const std::size_t line_end = value.find('\n');
  if (line_end != value.npos) return Source(value.substr(0, line_end), value.substr(line_end + 1));
  auto read = Source::read(value);
  if (!read) refuse(read.error().message);
  return std::move(read).value();
}

Program program() {
  Diagnostics diags(source());
  Program compiled = compile(diags.source(), diags);
  std::fputs(render(diags).c_str(), stderr);
  if (diags.has_errors()) refuse("`" + diags.source().name() + "` has errors");
  return compiled;
}

// `groma run` and people learn from this line that the program is mapped.
void announce(const Program& program) {
  Legion::Machine::ProcessorQuery here(Legion::Machine::get_machine());
  here.local_address_space();
  if (here.first().address_space() != 0) return;
  std::fprintf(stderr, "groma: mapped by %s, Legion %s\n", program.source().name().c_str(),
               LEGION_VERSION);
}

// Of the process.
struct Takeover {
  const Wrap wrap = [] {
    const Program compiled = program();
    announce(compiled);
    return wrapper(compiled);
  }();
  std::mutex mutex;
  std::set<Legion::Processor> replaced;  // whose default mapper the program's is; NO_PROC: all
};

Takeover& takeover() {
  static Takeover* const one = new Takeover;  // Legion may use it until the process ends
  return *one;
}

thread_local bool ours = false;  // what this thread registers

LegionMapper* wrap(Legion::Runtime* runtime, Legion::MapperID id, LegionMapper* mapper,
                   Legion::Processor processor) {
  if (ours) return mapper;
  if (id == 0) {
    const std::lock_guard lock(takeover().mutex);
    takeover().replaced.insert(processor);
  }
  return takeover().wrap(runtime, processor, mapper);
}

LegionMapper* unwrap(LegionMapper* mapper) {
  LegionMapper* const own = own_of(mapper);
  return own == nullptr ? mapper : own;
}

void replace_rest(const Legion::RegistrationCallbackArgs& args) {
  const auto has_own = [](Legion::Processor p) {
    const std::lock_guard lock(takeover().mutex);
    const auto& replaced = takeover().replaced;
    return replaced.contains(p) || replaced.contains(Legion::Processor::NO_PROC);
  };
  ours = true;
  for (const Legion::Processor p : args.local_procs) {
    if (has_own(p)) continue;
    LegionMapper* const mapper = takeover().wrap(args.runtime, p, nullptr);
    if (mapper != nullptr) args.runtime->replace_default_mapper(mapper, p);
  }
  ours = false;
}

void begin() {
  Legion::Runtime::add_registration_callback(replace_rest, Legion::UntypedBuffer(), false);
}

}  // namespace
}  // namespace groma::legion

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): a symbol that is looked up by its name
extern const groma::legion::PreloadMapper groma_preload_mapper;
const groma::legion::PreloadMapper groma_preload_mapper = {
    groma::legion::begin, groma::legion::wrap, groma::legion::unwrap};
// NOLINTEND(readability-identifier-naming)
}
