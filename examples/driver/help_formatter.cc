// The texts of `--help` that differ from those of CLI11.
#include "help_formatter.h"

#include <string_view>
#include <utility>

namespace driver {

HelpFormatter::HelpFormatter(std::string behind) : behind_(std::move(behind)) {}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = CLI::Formatter::make_usage(app, std::move(name));
  if (behind_.empty()) return usage;
  const std::size_t end = usage.find_last_not_of('\n') + 1;
  return usage.insert(end, " " + behind_);
}

// The text of CLI11 begins with a space and the type: " TEXT:{ebnf,gbnf}=ebnf REQUIRED". What
// stands before the choice says nothing more.
std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  std::string text = CLI::Formatter::make_option_opts(option);
  const std::string type = option->get_type_name();
  if (text.empty() || !std::string_view(text).substr(1).starts_with(type)) return text;
  if (const auto choice = type.find(":{"); choice != std::string::npos) {
    return " " + text.substr(choice + 2);
  }
  const bool repeats_name = option->get_positional() && type == option->get_name(true);
  return repeats_name ? text.substr(type.size() + 1) : text;
}

const HelpFormatter& help_formatter(const CLI::App& command) {
  static const HelpFormatter kUsual;
  const auto* own = dynamic_cast<const HelpFormatter*>(command.get_formatter().get());
  return own != nullptr ? *own : kUsual;
}

const CLI::App* find_command(const CLI::App& command, const std::string& name) {
  for (const CLI::App* each : command.get_subcommands({})) {
    if (each->check_name(name)) return each;
  }
  return nullptr;
}

}  // namespace driver
