#include "domain_emission/dialect.h"

#include <fmt/format.h>

#include <algorithm>

namespace groma::domains {

Width width_for(Int128 bound) {
  if (bound < Int128{1} << 31) return Width::k32;
  return bound < Int128{1} << 63 ? Width::k64 : Width::k128;
}

std::string Dialect::integer(Width width) const {
  switch (width) {
    case Width::k32:
      return is_opencl() ? "int" : "std::int32_t";
    case Width::k64:
      return is_opencl() ? "long" : "std::int64_t";
    case Width::k128:
      break;
  }
  return name_ + "_int128";
}

std::string Dialect::unsigned_integer(Width width) const {
  if (is_opencl()) return width == Width::k32 ? "uint" : "ulong";
  return width == Width::k32 ? "std::uint32_t" : "std::uint64_t";
}

std::string Dialect::real(bool is_float) const {
  if (is_opencl()) return name_ + "_real";
  return is_float ? "float" : "double";
}

std::string Dialect::cast(const std::string& type, const std::string& value) const {
  return is_opencl() ? fmt::format("({})({})", type, value)
                     : fmt::format("static_cast<{}>({})", type, value);
}

std::string Dialect::function() const {
  switch (language_) {
    case Language::kCpp:
      return "inline ";
    case Language::kCuda:
      return "__host__ __device__ inline ";
    case Language::kOpencl:
      break;
  }
  return "static inline ";
}

int Dialect::item_bytes(const std::vector<std::int64_t>& items) {
  const auto [low, high] = std::minmax_element(items.begin(), items.end());
  const auto fits = [&](int bits) {
    return *low >= -(std::int64_t{1} << (bits - 1)) && *high < std::int64_t{1} << (bits - 1);
  };
  if (*low >= 0 && *high <= UINT8_MAX) return 1;
  if ((*low >= 0 && *high <= UINT16_MAX) || fits(16)) return 2;
  return fits(32) ? 4 : 8;
}

std::string Dialect::table(const std::string& table, const std::vector<std::int64_t>& items) const {
  const int bytes = item_bytes(items);
  const bool is_unsigned =
      bytes == 1 || (bytes == 2 && *std::min_element(items.begin(), items.end()) >= 0);
  static constexpr const char* kOpencl[] = {"char", "short", "int", "long"};
  const int power = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  const std::string type = is_opencl()
                               ? std::string(is_unsigned ? "u" : "") + kOpencl[power]
                               : fmt::format("std::{}int{}_t", is_unsigned ? "u" : "", 8 * bytes);
  constexpr std::size_t kColumns = 100;
  std::string list;
  std::size_t column = kColumns;
  for (const std::int64_t item : items) {
    const std::string text = fmt::format("{},", item);
    if (column + text.size() + 1 > kColumns) {
      list += "\n    ";
      column = 4;
    } else {
      list += ' ';
      ++column;
    }
    list += text;
    column += text.size();
  }
  list += '\n';
  switch (language_) {
    case Language::kCpp:
      return fmt::format("inline constexpr {} {}[{}] = {{{}}};\n", type, table, items.size(), list);
    case Language::kCuda:
      // A static variable of a function is in the memory of the side that calls it.
      return fmt::format(
          "__host__ __device__ inline {0} {1}(std::uint32_t index) {{\n"
          "  static const {0} items[{2}] = {{{3}  }};\n  return items[index];\n}}\n",
          type, table, items.size(), list);
    case Language::kOpencl:
      break;
  }
  return fmt::format("__constant {} {}[{}] = {{{}}};\n", type, table, items.size(), list);
}

std::string Dialect::table_item(const std::string& table, const std::string& index) const {
  return is_cuda() ? fmt::format("{}({})", table, index) : fmt::format("{}[{}]", table, index);
}

}  // namespace groma::domains
