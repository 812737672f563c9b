// groma::emit from outside: a mapping as C++.
#include "groma/emit.h"

int main() {
  groma::Diagnostics diags(groma::Source("my.mapper", "Task * CPU;\n"));
  const auto text = groma::emit(groma::compile(diags.source(), diags), {}, diags);
  return text && text->find("use_my_mapper") != std::string::npos ? 0 : 1;
}
