// Arguments of the benchmark programs that are not Google Benchmark's: --help, and what is refused.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace groma::bench {

// Prints `usage` and ends the program if it was started with --help or -h.
inline void help_if_asked(int argc, char** argv, std::string_view usage) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument != "--help" && argument != "-h") continue;
    std::fwrite(usage.data(), 1, usage.size(), stdout);
    std::exit(0);
  }
}

// Says what is wrong with the arguments and ends the program with exit code 2.
[[noreturn]] inline void refuse(const std::string& what, std::string_view usage) {
  std::fprintf(stderr, "%s\n%.*s", what.c_str(), static_cast<int>(usage.size()), usage.data());
  std::exit(2);
}

// The arguments of a program without options; `-` is an argument like any other.
inline std::vector<std::string> arguments_of(int argc, char** argv, std::string_view usage) {
  help_if_asked(argc, argv, usage);
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  for (const std::string& argument : arguments) {
    if (argument.size() > 1 && argument.front() == '-') {
      refuse("there is no option `" + argument + "`", usage);
    }
  }
  return arguments;
}

// The text as a whole number from `least` on; anything else is refused.
inline std::int64_t number_of(std::string_view what, std::string_view text, std::int64_t least,
                              std::string_view usage) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < least) {
    refuse(std::string(what) + " is a whole number from " + std::to_string(least) + ", not `" +
               std::string(text) + "`",
           usage);
  }
  return value;
}

}  // namespace groma::bench
