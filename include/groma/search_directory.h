// The directory of a search (TuneOptions::directory): makes it, and checks it before a search
// begins or is resumed. The files in such a directory may come from a person who is not trusted
// (docs/tune.md).
#pragma once

#include <array>
#include <optional>
#include <string>

#include "groma/result.h"

namespace groma::tuning {

// The files that a search and the verification of its mappings leave in the directory, except
// `lock`.
inline constexpr const char* kVerifiedFile = "verified.mapper";
inline constexpr std::array kSearchFiles = {"best.mapper",   "best.txt",   "findings.txt",
                                            "journal.jsonl", "report.txt", "steps.txt",
                                            kVerifiedFile};

// The folder in the directory that has the texts of the Pareto front (TuneOptions::pareto).
inline constexpr const char* kFrontFolder = "front";

// Returns the content of the file of a mapping: its text, or a comment for the default mapper,
// whose text is empty, so that the file does not look like a failed write.
std::string mapping_file_content(const std::string& text);

// Creates a directory with a new name in the current folder: `tune`, `tune.2`, ... Returns its
// name. Several processes that call this at once get different directories. If the directory cannot
// be created, tune() says why.
std::string make_search_directory();

// Returns an error if the path exists and is not a directory. The message does not name the option
// that gave the path.
std::optional<Error> not_a_directory(const std::string& path);

// Returns an error if one of the search's files in the directory, or `front`, is a link, because a
// person who is not trusted may have chosen its target. Call this before a search begins or is
// resumed.
std::optional<Error> error_if_search_has_links(const std::string& directory);

// Returns an error if a new search would replace a file in the directory, or if there is a `front`.
// A journal that ends within its first line may be replaced (holds_no_search_yet).
std::optional<Error> error_if_search_replaces(const std::string& directory);

}  // namespace groma::tuning
