// How the command line is described: the formatter of `--help`, whose words the manual pages use
// too.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace driver {

// The formatter of CLI11, with two changes. The `Usage:` line ends with `behind`, the words that
// may follow `--`. The type of a value is left out where it would only repeat a name.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string behind = "");
  // Returns the words that may follow `--`, or an empty string if the command takes none.
  const std::string& behind() const { return behind_; }

  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option_opts(const CLI::Option* option) const override;

 private:
  std::string behind_;
};

// Returns the formatter of the command, or one without changes if the command has another one.
const HelpFormatter& help_formatter(const CLI::App& command);

// Returns the command of this name below `command`, or null.
const CLI::App* find_command(const CLI::App& command, const std::string& name);

}  // namespace driver
