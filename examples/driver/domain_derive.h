// groma domain derive: finds a domain from its first points.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "groma/domain_derivation.h"
#include "llm.h"

namespace driver {

// The values of the options of `groma domain derive`.
struct DeriveArguments {
  // The file with the samples, or the known domain that they are taken from.
  std::string samples, of;
  std::optional<std::size_t> first;
  std::string name = "derived", out, gplearn;
  bool unordered = false, json = false, table = false, genetic = false;
  // The points that are compared with a known domain.
  std::int64_t points = 1'000'000;
  groma::domains::GeneticOptions evolution;
  ChatArguments chat;
  groma::domains::ModelOptions model;

  // Returns true if a model shall be asked.
  bool asks_model() const {
    return !chat.endpoint.empty() || !chat.model.empty() || !chat.replay.empty();
  }
};

// Prints the table of the paper: six domains, three numbers of samples, and the methods. Returns
// the exit code.
int print_derivation_table(const DeriveArguments& arguments);

// Makes the known domain with at least `points` points.
std::optional<groma::domains::Domain> make_known(const std::string& name, std::int64_t points);
// Returns the first points of a domain.
groma::domains::Samples first_samples(const groma::domains::Domain& domain, std::size_t count);

}  // namespace driver
