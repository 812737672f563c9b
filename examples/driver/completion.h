// What may stand at the end of a command line, for the completion of shells. complete() finds it
// from the same definitions as `--help`; `groma completion` prints it for the scripts of
// packaging/completion.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace driver {

// A word that may stand there, and what it means in a few words.
struct Candidate {
  std::string word, meaning;
};

// The names of files that may stand there too. The shell finds them.
enum class Paths { kNone, kFiles, kFolders, kProgram };

struct Completion {
  std::vector<Candidate> candidates = {};
  Paths paths = Paths::kNone;
  // The endings of the files, such as `mapper`. Empty: all files.
  std::vector<std::string_view> endings = {};
  // kFiles and kFolders: the number of bytes of the last word that come before the path, as in
  // `--out=path`. kProgram: the number of words that come before the program.
  std::size_t start = 0;
};

// Returns what may stand in place of the last of the words. The words are those after `groma`.
// Every candidate begins with the last word.
Completion complete(const CLI::App& root, std::vector<std::string> words);

// What completion_values.cc must know about the words before a value.
struct KnownWords {
  // The last values of the types APP and DOMAINFILE, or empty strings.
  std::string app, domain_file;
};
// Returns the values of this type that begin with `typed`. Reads the files that KnownWords names,
// for at most a second, and reports no errors.
Completion complete_value(std::string_view type, const std::string& typed, const KnownWords& known);

// Adds `groma completion`. `root` is the whole command line, `behind` the words after `--`.
void add_completion(CLI::App& root, const std::vector<std::string>& behind, int* exit_code);

}  // namespace driver
