// Prints values as the statement `print` of the mapping language does. Part of the code that `groma
// emit` writes (lib/emit/parts.cc).
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "emit/parts/grid.h"
#include "emit/parts/task.h"

namespace groma::emit {

inline std::string text_of(Int value) { return std::to_string(value.value()); }
inline std::string text_of(bool value) { return value ? "true" : "false"; }
inline std::string text_of(std::string_view value) { return std::string(value); }
inline std::string text_of(ProcKind kind) { return std::string(name_of(kind)); }
inline std::string text_of(MemKind kind) { return std::string(name_of(kind)); }
std::string text_of(const Processor& processor);
std::string text_of(const Grid& grid);
template <typename T>
std::string text_of(const List<T>& items) {
  std::string text = "(";
  for (const T& item : items) text += (text.size() == 1 ? "" : ", ") + text_of(item);
  return text + (items.count() == 1 ? ",)" : ")");
}
inline std::string text_of(const Processor& processor) { return text_of(processor.pair()); }
inline std::string text_of(const Grid& grid) {
  return text_of(grid.kind()) + " " + text_of(grid.size());
}

inline std::string text_of_set(const Processors& processors) {
  std::string text = "{";
  for (const Processor& each : processors) text += (text.size() == 1 ? "" : ", ") + text_of(each);
  return text + "}";
}
inline std::string text_of(const Task& task) { return std::string(task.name); }
inline std::string text_of(const Parent&) { return "parent"; }

// Prints the text with each `{}` replaced by a value.
template <typename... Values>
void print(std::string text, const Values&... values) {
  std::size_t at = 0;
  [[maybe_unused]] const auto fill = [&](const std::string& value) {
    at = text.find("{}", at);
    if (at == std::string::npos) return;
    text.replace(at, 2, value);
    at += value.size();
  };
  (fill(text_of(values)), ...);
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace groma::emit
