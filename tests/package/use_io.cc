// groma::io from outside: a machine to JSON and back, and the one that this runs on.
#include <cstdio>
#include <string>

#include "groma/io.h"

int main() {
  const groma::Result<groma::Machine> lassen = groma::make_machine("lassen:nodes=2");
  if (!lassen) return 1;
  const std::string json = groma::machine_to_json(*lassen);
  const groma::Result<groma::Machine> again = groma::machine_from_json(json, "lassen.json");
  if (!again || groma::machine_to_json(*again) != json) return 1;
  const groma::Result<groma::Machine> local = groma::local_machine();
  if (!local) {
    std::puts(local.error().message.c_str());
    return 1;
  }
  return local->has(groma::ProcKind::kCpu) ? 0 : 1;
}
