// groma manual: the manual pages, written from the definitions and texts of `--help`.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "console.h"
#include "groma/spelling.h"
#include "groma/system.h"
#include "groma/version.h"
#include "help_formatter.h"
#include "roff.h"

namespace driver {
namespace {

using roff::bold;
using roff::escaped;
using roff::filled;
using roff::italic;

// Returns the names of the command and of those it belongs to: "groma", "domain", "show".
std::vector<std::string> path_of(const CLI::App& command) {
  std::vector<std::string> path;
  for (const CLI::App* each = &command; each != nullptr; each = each->get_parent()) {
    path.insert(path.begin(), each->get_name());
  }
  return path;
}

// Returns "groma-domain-show".
std::string page_name(const CLI::App& command) {
  return fmt::format("{}", fmt::join(path_of(command), "-"));
}

// Returns the day that the page bears. SOURCE_DATE_EPOCH sets it, for builds that can be repeated.
std::string date() {
  std::time_t now = std::time(nullptr);
  if (const char* said = std::getenv("SOURCE_DATE_EPOCH")) {
    const std::string_view text = said;
    std::int64_t seconds = 0;
    constexpr std::int64_t kYear10000 = 253402300800;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), seconds);
    const bool is_valid = error == std::errc() && end == text.end();
    if (is_valid && seconds >= 0 && seconds < kYear10000) now = seconds;
  }
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

// Returns the commands of this one that `--help` lists.
std::vector<const CLI::App*> listed_commands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

std::string in_capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string section(const std::string& title) {
  return fmt::format(".SH {}\n", escaped(in_capitals(title)));
}

// The list of manual pages shows "groma-check - print all diagnostics of mapping programs".
std::string name_section(const CLI::App& command) {
  std::string what = command.get_description();
  what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
  if (what.ends_with('.')) what.pop_back();
  return fmt::format(".SH NAME\n{} \\-\n{}", escaped(page_name(command)), filled(what));
}

// The line that `--help` calls usage: its first word is the label, then the command's name follows.
std::string synopsis_section(const CLI::App& command) {
  const HelpFormatter& formatter = help_formatter(command);
  const std::string name = fmt::format("{}", fmt::join(path_of(command), " "));
  const std::string usage = formatter.make_usage(&command, name);
  const std::size_t begin = usage.find(name) + name.size();
  const std::size_t end = usage.find_last_not_of('\n') + 1;
  return fmt::format(".SH SYNOPSIS\n{}\n{}", bold(name), filled(usage.substr(begin, end - begin)));
}

// An entry of a list of options: "--app APP" in the first line, the description below.
std::string option_entry(const CLI::Option& option, const HelpFormatter& formatter) {
  std::string names;
  if (option.get_positional()) {
    names = italic(option.get_name(true));
  } else {
    for (const std::string& name : CLI::detail::split_names(option.get_name(false, true))) {
      if (!names.empty()) names += ", ";
      names += bold(name);
    }
  }
  return fmt::format(".TP\n{}{}\n{}", names, escaped(formatter.make_option_opts(&option)),
                     filled(option.get_description()));
}

// The groups of options, as `--help` divides them. The first one needs no title of its own.
std::string options_section(const CLI::App& command) {
  const HelpFormatter& formatter = help_formatter(command);
  std::string arguments, options;
  for (const CLI::Option* each : command.get_options()) {
    if (each->get_positional() && !each->get_group().empty()) {
      arguments += option_entry(*each, formatter);
    }
  }
  for (const std::string& group : command.get_groups()) {
    if (group.empty()) continue;
    std::string entries;
    for (const CLI::Option* each : command.get_options()) {
      if (!each->nonpositional() || each->get_group() != group) continue;
      entries += option_entry(*each, formatter);
    }
    if (entries.empty()) continue;
    if (!options.empty()) options += fmt::format(".SS {}\n", escaped(group));
    options += entries;
  }
  if (!arguments.empty()) arguments = section("Arguments") + arguments;
  return arguments + (options.empty() ? "" : section("Options") + options);
}

std::string commands_section(const CLI::App& command) {
  std::string text;
  for (const CLI::App* each : listed_commands(command)) {
    text += fmt::format(".TP\n{}\n{}", bold(each->get_name()), filled(each->get_description()));
  }
  return text.empty() ? "" : section("Commands") + text;
}

// The footer of `--help` consists of paragraphs. A paragraph `Title:` with indented lines below is
// a section of lines that stay as they are. `Title: text` is a section with a text. The rest is
// text.
std::string footer_sections(const CLI::App& command) {
  std::string rest = command.get_footer(), text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find("\n\n"), rest.size());
    std::string paragraph = rest.substr(0, end);
    rest.erase(0, end + 2);
    const std::size_t colon = paragraph.find(':');
    const std::size_t line_end = std::min(paragraph.find('\n'), paragraph.size());
    if (colon + 1 == line_end) {
      text += section(paragraph.substr(0, colon));
      text += roff::verbatim(paragraph.substr(std::min(line_end + 1, paragraph.size())));
    } else if (colon < line_end && std::count(&paragraph[0], &paragraph[colon], ' ') <= 2) {
      text += section(paragraph.substr(0, colon)) + filled(paragraph.substr(colon + 2));
    } else {
      text += ".PP\n" + filled(paragraph);
    }
  }
  return text;
}

// The pages of the command above, and of those below.
std::string related_section(const CLI::App& command) {
  std::vector<const CLI::App*> related = listed_commands(command);
  if (command.get_parent() != nullptr) related.insert(related.begin(), command.get_parent());
  if (related.empty()) return "";
  std::string text = section("See also");
  for (const CLI::App* each : related) {
    text +=
        fmt::format(".BR {} (1){}\n", escaped(page_name(*each)), each == related.back() ? "" : ",");
  }
  return text;
}

std::string page(const CLI::App& command) {
  const std::string head = fmt::format(
      ".\\\" Made by groma manual from the texts of --help.\n"
      ".TH {} 1 {} \"groma {}\" \"Groma\"\n.nh\n.ad l\n",
      escaped(in_capitals(page_name(command))), date(), groma::kVersion);
  std::string description = command.get_description();
  if (!description.ends_with('.')) description += '.';
  return head + name_section(command) + synopsis_section(command) + section("Description") +
         filled(description) + commands_section(command) + options_section(command) +
         footer_sections(command) + related_section(command);
}

// Writes the page of the command and those of its commands to the folder.
std::optional<groma::Error> write_pages(const CLI::App& command,
                                        const std::filesystem::path& folder) {
  const auto file = folder / (page_name(command) + ".1");
  if (auto error = groma::write_file(file.string(), page(command))) return error;
  for (const CLI::App* each : listed_commands(command)) {
    if (auto error = write_pages(*each, folder)) return error;
  }
  return std::nullopt;
}

// The values of the arguments of `groma manual`.
struct ManualArguments {
  std::vector<std::string> command;
  std::string out;
};

int run(const CLI::App& root, const ManualArguments& arguments) {
  const CLI::App* command = &root;
  for (const std::string& name : arguments.command) {
    const CLI::App* const next = find_command(*command, name);
    if (next == nullptr) {
      std::vector<std::string_view> names;
      for (const CLI::App* each : listed_commands(*command)) names.push_back(each->get_name());
      const auto near = groma::near_names(name, names);
      return refuse(fmt::format("`{}` has no command `{}`",
                                fmt::format("{}", fmt::join(path_of(*command), " ")), name),
                    near.empty() ? fmt::format("it has {}", groma::join_names(names, "and"))
                                 : fmt::format("did you mean {}?", groma::join_names(near)));
    }
    command = next;
  }
  if (arguments.out.empty()) return print(page(*command));
  std::error_code error;
  std::filesystem::create_directories(arguments.out, error);
  const auto failed = write_pages(*command, arguments.out);
  return failed ? refuse(*failed) : kFine;
}

}  // namespace

void add_manual(CLI::App& root, int* exit_code) {
  auto arguments = std::make_shared<ManualArguments>();
  CLI::App* command = root.add_subcommand(
      "manual", "Print the manual page of a command, or write the pages of all commands");
  command->add_option("COMMAND", arguments->command, "The command (default: groma itself)")
      ->type_name(kCommandType);
  command
      ->add_option("--out", arguments->out,
                   "Write the page, and the pages of the commands below it, to this folder")
      ->type_name(kFolderType)
      ->check(not_empty);
  command->footer(
      "Examples:\n"
      "  groma manual tune | man -l -                   shows the page\n"
      "  groma manual domain show > groma-domain-show.1\n"
      "  groma manual --out ~/.local/share/man/man1     all pages\n\n"
      "The variable SOURCE_DATE_EPOCH sets the date of the pages, as seconds since 1970.");
  command->callback([=, &root] { *exit_code = run(root, *arguments); });
}

}  // namespace driver
