// What all subcommands share to read and write: the inputs that options name, checks of option
// values, and the files that a command writes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/layout_overrides.h"
#include "groma/machine.h"
#include "groma/result.h"
#include "groma/workload.h"

namespace driver {

// Reads the source at `path` into `*diags`, which is created for it. Returns false, with the
// diagnostic kUnreadableFile in `*diags`, if the file cannot be read.
bool read_source(const std::string& path, std::optional<groma::Diagnostics>* diags);
// Reads the file (`-`: standard input) piece by piece and passes each piece to `hear`. Stops at the
// end of the file, on Ctrl-C, or when `hear` returns false. Returns false, with the reason on
// standard error, if the file cannot be read.
bool read_pieces(const std::string& path, const std::function<bool(std::string_view)>& hear);
// Returns the name for messages about an input. `-`, and for an application also `-:n=4`, is shown
// as standard input.
std::string shown_name(const std::string& spec);
// The inputs that `--machine M` and `--app A` name. Each is empty if its option is empty.
struct Inputs {
  std::optional<groma::Machine> machine;
  // The application, before its parameters get values.
  std::optional<groma::Application> app;
  // The application with the values of its parameters.
  std::optional<groma::Workload> workload;
};
// Options of read_inputs() for reading an application.
struct ReadOptions {
  // Called repeatedly while the application is read. Reading stops when it returns true. An empty
  // function never stops it.
  std::function<bool()> stop = {};
  // Names the tasks for which Layout statements may contradict the application. What the program's
  // own mapper demands for the layouts of these tasks is dropped.
  groma::LayoutOverrides override_layouts = {};
};
// Reads the machine and the application that the two options name. Returns nullopt, with the reason
// in `*diags`, if an input cannot be read. This function creates `*diags`.
std::optional<Inputs> read_inputs(const std::string& machine, const std::string& app,
                                  std::optional<groma::Diagnostics>* diags,
                                  const ReadOptions& options = {});

// Returns the program at `path`, bound to the machine. Returns nullopt, with the reason in
// `*diags`, if that fails. This function creates `*diags`. The program's `print` statements go to
// log().
std::optional<groma::BoundProgram> read_mapping(const std::string& path,
                                                const groma::Machine& machine,
                                                std::optional<groma::Diagnostics>* diags);

// Returns an empty program, which stands for the default mapper.
std::optional<groma::BoundProgram> bind_default(const groma::Machine& machine,
                                                std::optional<groma::Diagnostics>* diags);

// Checks for option values. Each returns an error message, or an empty string if the value is
// valid.
std::string not_empty(const std::string& text);
// Returns an error message if the text is `nan`, which would pass every range check.
std::string is_number(const std::string& text);
// Returns an error message unless the text is an integer from 0 to below 10^18.
std::string is_count(const std::string& text);
// Returns an error message unless the text is an unsigned integer of 64 bits.
std::string is_seed(const std::string& text);
// Returns an error message unless the text is a finite number above 0.
std::string is_above_0(const std::string& text);

// Fails with wrong usage if more than one input is standard input, which can be read only once.
// Standard input is written `-`, or also `-:n=4` for an application.
void check_standard_input(const std::vector<std::string>& inputs);

// A file that a command writes, and the option that names the file. The paths `-` and empty do not
// stand for a file.
struct WrittenFile {
  const char* option;
  std::string path;
};
// Fails with wrong usage if one of the written files is also read or is written twice. For an
// application with parameter values, the part before the colon is compared. An entry of `read` need
// not be the name of a file.
void check_written(const std::vector<WrittenFile>& written, const std::vector<std::string>& read);
// Returns the error for the first file that cannot be written, if any. Call this before a long run.
std::optional<groma::Error> first_unwritable_file(const std::vector<WrittenFile>& written);

}  // namespace driver
