// groma run --map FILE -- PROGRAM ARGS...: a Legion program under a mapping.
#pragma once

#include <string>
#include <vector>

namespace driver {

struct MapArguments {
  std::string file;                // the mapping
  std::vector<std::string> words;  // the program and its arguments
  std::string library;             // empty: the one that belongs to this command
  std::string checks = "first";
  double timeout_s = 600;
  bool json = false;
};

// The exit code.
int run_under_mapping(const MapArguments& arguments);

}  // namespace driver
