// Any bytes as a machine, both as JSON and as a line of counts: made or refused with a message, and
// what was made is written and read again as it was.
#include <cstddef>
#include <cstdint>
#include <string>

#include "groma/io.h"
#include "groma/machine.h"
#include "groma/result.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using groma::Machine;
using groma::Result;

bool is_ascii(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

void check(const Result<Machine>& made, bool ascii) {
  if (!made) {
    GROMA_CHECK(!made.error().message.empty());
    return;
  }
  const Machine& machine = made.value();
  GROMA_CHECK(machine.node_count() >= 1 && machine.node_count() <= groma::kMaxNodes);
  for (std::size_t k = 0; k < groma::kProcKindCount; ++k) {
    const auto kind = static_cast<groma::ProcKind>(k);
    GROMA_CHECK(machine.processors_per_node(kind) <= machine.processor_count(0, kind));
  }
  if (machine.node_count() > 4096 || !ascii) return;  // names that are not valid UTF-8 change
  const Result<Machine> again = groma::machine_from_json(groma::machine_to_json(machine), "again");
  GROMA_CHECK(again.ok());
  GROMA_CHECK(again.value() == machine);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  check(groma::machine_from_json(text, "fuzz"), is_ascii(text));
  if (text.find("nodes=") == std::string::npos || size < 256) {
    check(groma::make_machine(text), is_ascii(text));
  }
  return 0;
}
