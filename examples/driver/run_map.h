// groma run --map FILE -- PROGRAM ARGS... and groma run --on legion --app A: a Legion program under
// a mapping.
#pragma once

#include <string>
#include <vector>

#include "groma/workload.h"

namespace driver {

struct MapArguments {
  std::string file;                // the mapping; empty: none, so that the default mapper decides
  std::vector<std::string> words;  // the program and its arguments
  std::string library;             // empty: the one that belongs to this command
  std::string checks = "first";
  double timeout_s = 600;
  const groma::Workload* app = nullptr;  // that the program is; null: nobody knows
  bool json = false;
};

// The exit code.
int run_under_mapping(const MapArguments& arguments);

}  // namespace driver
