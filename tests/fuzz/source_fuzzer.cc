// Byte offsets to positions and back, over any bytes: the way that every message's location goes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "groma/result.h"
#include "groma/source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;  // the loop below is quadratic
  const groma::Source source("fuzz", std::string(data, data + size));
  for (std::uint32_t offset = 0; offset <= size; ++offset) {
    const groma::Position position = source.position(offset);
    std::uint32_t back = 0;
    GROMA_CHECK(source.offset(position, &back));
    GROMA_CHECK(source.position(back).line == position.line);

    const groma::Range line = source.line_at(offset);
    GROMA_CHECK(line.begin <= line.end && line.end <= size && line.begin <= offset);
    GROMA_CHECK(source.text(line).find('\n') == std::string_view::npos);
  }
  return 0;
}
