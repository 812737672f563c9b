// SearchSetup: the settings with which a search began. The search's directory stores them, so that
// the search can be resumed without stating them again. The directory may come from a stranger:
// nothing in it may decide what is run, or make the search read without end (docs/tune.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "groma/evaluators.h"
#include "groma/layout_overrides.h"
#include "groma/result.h"
#include "groma/results.h"
#include "groma/search.h"
#include "groma/tune.h"

namespace groma {

// All settings with which a search begins, except the model.
struct SearchSetup {
  // For mappings: the machine and the applications, as load_machine() and load_application() take
  // them.
  std::string machine = "p100x4";
  std::vector<std::string> apps = {};
  // True: the applications are benchmarks that run as Legion programs, with these flags of Legion.
  bool on_legion = false;
  std::vector<std::string> flags = {};
  LayoutOverrides override_layouts = {};
  // For any other text: its file, and what it is and must do.
  std::string file = {}, about = {};
  // How texts are measured. `command.folder` is the folder in which the search began. If
  // `command.command` is empty, mappings are simulated. `command.results` is not stored;
  // `compare_results` and `results` are stored instead.
  CommandEvaluatorOptions command = {};
  bool compare_results = true;  // compare what the command prints with the output of the first text
  ResultsOptions results = {};  // how outputs are compared; `measure` is not stored
  std::string proposer = {};
  std::string feedback = "profile";  // as guide_detail() takes it
  TuneBudget budget = {};
  std::uint64_t seed = 0;
  bool compare = false;  // as in TuneOptions
  AskOptions ask = {};
};

// Returns the setup as lines of text, for TuneOptions::fingerprint.
std::string to_text(const SearchSetup& setup);
// Reads what to_text() wrote. Fails (kMalformed) on any other text.
Result<SearchSetup> search_setup(const std::string& text);

// A search that is in a directory.
struct StoredSearch {
  std::string directory;
  SearchSetup setup;
  std::string fingerprint;  // the value for TuneOptions::fingerprint
  std::string start;        // the text with which the search began
};

// Reads what a search was begun with. Fails if the directory has no search, has a link in place of
// one of its files, or if the search was not begun with to_text().
Result<StoredSearch> stored_search(const std::string& directory);

// Returns an error (kMalformed) about the search in a directory: "the search in `tune` WHAT".
// `what` is the rest of the sentence.
Error wrong_search(const std::string& directory, const std::string& what, std::string help);

// Returns the commands of a search in words, so that the user can judge them: "`make {file}` with
// `small`, `large` in `/home/user`".
std::string commands_of(const SearchSetup& setup);

// Returns an error if the search runs commands of its directory, which only a user who trusts the
// directory may allow.
std::optional<Error> needs_trust(const StoredSearch& search);

// Returns an error if a name in the setup is not a file that can be read again: standard input, a
// pipe, a device, or a file that the system generates while it is read.
std::optional<Error> never_ending_input(const StoredSearch& search);

}  // namespace groma
