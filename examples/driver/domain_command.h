// What the parts of `groma domain` share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "groma/domain.h"

namespace driver {

// A domain with its parameters, the words that name it on the command line, and its declaration.
struct NamedDomain {
  groma::domains::Domain domain;
  std::string title, declaration;
};

// Makes the domain NAME or NAME:n=100,w=3 from the declarations of `file`, or from the known ones
// if `file` is empty. Returns nullopt after an error, which is shown and whose exit code is in
// *exit_code.
std::optional<NamedDomain> read_named_domain(const std::string& name, const std::string& file,
                                             int* exit_code);

// Each adds a part to `groma domain`.
void add_domain_bench(CLI::App& domain, int* exit_code);
void add_domain_emit(CLI::App& domain, int* exit_code);

}  // namespace driver
