// The options with which a search was begun. They are stored in the search's directory, so that the
// search can be resumed without repeating them. The directory may come from a person who is not
// trusted: its contents alone must not make Groma run a command or read without end (docs/tune.md).
#pragma once

#include <cstddef>
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

namespace groma::tuning {

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
  // For a search for another text than a mapping: the files of the text, what the text is and must
  // do, and facts about the machine (SearchProblem::about, ::hardware).
  std::vector<std::string> files = {};
  std::string about = {}, hardware = {};
  // The names, without folders, of the documents that the model is shown
  // (SearchProblem::knowledge).
  std::vector<std::string> knowledge = {};
  // The options with which texts are measured. Its `folder` is the folder in which the search
  // began. If its `command` is empty, mappings are simulated. Its `results` is not stored; the next
  // two members are stored instead.
  CommandEvaluatorOptions command = {};
  // True if what the command prints is compared with the output of the first text.
  bool compare_results = true;
  // The options with which outputs are compared. `measure` is not stored.
  ResultsOptions results = {};
  std::string proposer = {};
  // The level of feedback, as guide_detail() takes it.
  std::string feedback = "profile";
  TuneBudget budget = {};
  std::uint64_t seed = 0;
  // The value for TuneOptions::compare: true if the search serves to compare proposers.
  bool compare = false;
  // The value for TuneOptions::pareto. It needs several inputs.
  bool pareto = false;
  AskOptions ask = {};

  // Returns the number of inputs for which each text is evaluated.
  std::size_t input_count() const;
};

// Returns the setup as lines of text, for TuneOptions::fingerprint.
std::string to_text(const SearchSetup& setup);
// Reads what to_text() wrote. Fails (kMalformed) on any other text.
Result<SearchSetup> search_setup(const std::string& text);

// A search that was read from its directory.
struct StoredSearch {
  std::string directory;
  SearchSetup setup;
  // The fingerprint of the search, as TuneOptions::fingerprint.
  std::string fingerprint;
  // The text with which the search began.
  std::string start;
};

// Reads the options with which a search was begun. Fails if the directory has no search, if one of
// its files is a link, or if the search's fingerprint was not made by to_text().
Result<StoredSearch> stored_search(const std::string& directory);

// Returns an error (kMalformed) about the search in a directory: "the search in `tune` WHAT".
// `what` is the rest of the sentence.
Error unusable_search_error(const std::string& directory, const std::string& what,
                            std::string help);

// Returns the commands of a search in words, so that the user can judge them: "`make {file}` with
// `small`, `large` in `/home/user`".
std::string commands_of(const SearchSetup& setup);

// Returns an error if the search runs commands that its directory names. The user has to allow
// this, because the directory may come from someone else.
std::optional<Error> needs_trust(const StoredSearch& search);

// Returns an error if a name in the setup is not a file that can be read again: standard input, a
// pipe, a device, or a file that the system generates while it is read.
std::optional<Error> never_ending_input(const StoredSearch& search);

}  // namespace groma::tuning
