// The completion scripts of packaging/completion, embedded by cmake/embed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace driver {

struct CompletionScript {
  // The name of the shell: bash, fish, zsh.
  std::string_view shell;
  std::string_view text;
};

std::span<const CompletionScript> completion_scripts();

}  // namespace driver
