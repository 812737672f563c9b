// What the parts of `groma domain` share: the domain that an option names, and words for it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "commands.h"
#include "groma/domain.h"

namespace driver {

// Returns the declarations of the file, or those that Groma knows if `file` is empty. Returns null
// after an error, which is in `*diags`. This function creates `*diags`.
std::shared_ptr<const groma::domains::DomainLibrary> read_domains(
    const std::string& file, std::optional<groma::Diagnostics>* diags);

// The domain that a command was asked for.
struct ChosenDomain {
  groma::domains::Declaration declaration;
  groma::domains::ParameterValues values;
  groma::domains::Domain domain;
};
// Makes the domain that NAME or NAME:n=100,w=3 names. Fails with wrong usage if the text is not of
// this form. Returns nullopt after an error, whose exit code is in *exit_code. `option` is the
// option that names the file.
std::optional<ChosenDomain> choose_domain(const std::string& name, const std::string& file,
                                          bool json, int* exit_code,
                                          std::string_view option = "--file");

// Adds NAME, --file and --json, which all parts have that look at one domain.
void add_domain_options(CLI::App& part, std::string* name, std::string* file, bool* json);

// Returns the kind of a proof in one or two words.
std::string_view proof_words(groma::domains::Proof::Kind kind);
// Returns "(3, 4)".
std::string point_words(const groma::Point& point);

// The parts of the command that are in files of their own. Each adds its subcommand.
void add_domain_bench(CLI::App& command, int* exit_code);
void add_domain_check(CLI::App& command, int* exit_code);
void add_domain_derive(CLI::App& command, int* exit_code);
void add_domain_draw(CLI::App& command, int* exit_code);
void add_domain_emit(CLI::App& command, int* exit_code);

}  // namespace driver
