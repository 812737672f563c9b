// Hover: what a word of a mapping means, what its statement decides, and where points go.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "groma/program.h"
#include "groma/source.h"
#include "language_server/background.h"
#include "language_server/symbols.h"

namespace groma::language_server {

// Limits on what a hover shows: lines of a picture or an explanation, and points that are placed.
inline constexpr std::size_t kMaxHoverLines = 40;
inline constexpr std::int64_t kMaxHoverPoints = 4096;

// What is known about a document at the time of the question.
struct HoverKnowledge {
  const Source& source;
  const Program& program;
  const Symbols& symbols;
  // The last result about this text or, if it has errors, about an earlier one. May be null.
  const BackgroundResult* result = nullptr;
};

struct Hover {
  // The word at which the hover is shown.
  Range range;
  std::string markdown;
};

// Returns what is known about the word at `offset`, or nullopt if there is nothing.
std::optional<Hover> hover_at(const HoverKnowledge& knowledge, std::size_t offset);

// Returns `text` as a code block of Markdown. No text can end the block.
std::string code_block(std::string_view text, std::string_view language = "");

}  // namespace groma::language_server
