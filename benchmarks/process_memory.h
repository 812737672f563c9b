// What this process takes of memory, as Linux says it.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

// In MB: "VmRSS:" now, "VmHWM:" at most so far; 0 where there is no /proc.
inline double process_memory_mb(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(what)) return std::atof(line.c_str() + what.size()) / 1024;
  }
  return 0;
}
