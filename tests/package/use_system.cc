// groma::system from outside: a file written whole.
#include <cstdio>

#include "groma/system.h"

int main() {
  const char* path = "use_system.txt";
  if (groma::write_file(path, "whole")) return 1;
  std::FILE* file = std::fopen(path, "r");
  char text[8] = {};
  const bool right = file != nullptr && std::fread(text, 1, sizeof text, file) == 5;
  if (file != nullptr) std::fclose(file);
  return right && std::string_view(text) == "whole" ? 0 : 1;
}
