// groma explain: shows every decision about an application and the statement that made it.
#include "groma/explain.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "commands.h"
#include "console.h"
#include "groma/evaluate.h"
#include "groma/explain_log.h"
#include "groma/inspect.h"
#include "inputs.h"

namespace driver {
namespace {

// The values of the options of `groma explain`.
struct ExplainArguments {
  std::string file, machine = "p100x4", app, log;
  groma::ExplainQuery query;
  groma::LayoutOverrides override_layouts;
  bool as_mapping = false;
  bool json = false;
};

// Fails with wrong usage if options contradict each other.
void check_usage(const ExplainArguments& options) {
  if (options.as_mapping && options.json) {
    throw CLI::ValidationError("--as-mapping",
                               "with --as-mapping the output is a mapping program, not JSON");
  }
  if (!options.as_mapping && options.file.empty()) throw CLI::RequiredError("FILE");
  if (options.app.empty() && options.log.empty()) throw CLI::RequiredError("--app");
  for (const auto& [name, of] :
       {std::pair("--task", options.query.task), std::pair("--region", options.query.region)}) {
    if (of.empty() || !options.app.empty()) continue;
    throw CLI::ValidationError(
        name, "only valid with --app; without it all statements of the log are printed");
  }
  if (options.as_mapping && !options.log.empty()) {
    throw CLI::ValidationError("--log", "not valid with --as-mapping, which reads no mapping");
  }
  check_standard_input({options.file, options.machine, options.app, options.log});
}

// Limit on the bytes of a line of a log. A longer line cannot come from a log. The limit bounds the
// memory for an endless line.
constexpr std::size_t kMostLineBytes = std::size_t{16} << 20;

// Adds the log file to `reader`. Returns false, with the reason on standard error, if the file
// cannot be read or is not a log.
bool add_log(const std::string& path, groma::MapperLogReader& reader) {
  std::size_t line_bytes = 0;
  bool endless = false;
  // `line_bytes` is the length of the line that is not complete yet.
  const auto hear = [&](std::string_view piece) {
    const std::size_t end = piece.rfind('\n');
    line_bytes = end == piece.npos ? line_bytes + piece.size() : piece.size() - end - 1;
    endless = line_bytes > kMostLineBytes;
    if (!endless) reader.read(piece);
    return !endless;
  };
  if (!read_pieces(path, hear)) return false;
  if (endless) {
    refuse({groma::Error::Code::kTooLarge,
            fmt::format("`{}`: a line of more than {} bytes, which is not a log", shown_name(path),
                        kMostLineBytes)});
  }
  return !endless;
}

// Reads the log of a run and the logs of its other processes: `LOG.1`, `LOG.2` and so on. Returns
// nothing, with the reason on standard error, if there is no log.
std::optional<groma::MapperLog> read_log(const std::string& path) {
  groma::MapperLogReader reader;
  if (!add_log(path, reader)) return std::nullopt;
  std::int64_t absent = 0;
  // The log says how many processes the run had. Logs beside the first one are read if they exist.
  const std::int64_t others = reader.missing_processes();
  // Standard input has the log of one process only.
  for (std::int64_t n = 1; n <= others && path != "-"; ++n) {
    const std::string other = fmt::format("{}.{}", path, n);
    std::error_code code;
    if (!std::filesystem::exists(other, code)) {
      ++absent;
    } else if (!add_log(other, reader)) {
      return std::nullopt;
    }
  }
  if (path == "-") absent = others;
  if (absent > 0) {
    print_error(fmt::format(
        "note: the logs of {} of the {} processes of the run are missing; they belong beside `{}` "
        "(`{}.1` and so on). The decisions of those processes are not known\n",
        absent, others + 1, shown_name(path), shown_name(path)));
  }
  auto log = reader.finish();
  if (log) return std::move(log).value();
  groma::Error error = log.error();
  error.message = fmt::format("`{}`: {}", shown_name(path), error.message);
  refuse(error);
  return std::nullopt;
}

// Explains only a log. No application is known, and the machine is the one of the log.
int explain_log_alone(const ExplainArguments& options) {
  std::optional<groma::Diagnostics> diags;
  const auto log = read_log(options.log);
  if (!log) return kWrongInput;
  if (!read_source(options.file, &diags)) return fail(*diags, options.json);
  const groma::Program program = groma::compile(diags->source(), *diags);
  if (diags->has_errors()) return fail(*diags, options.json);
  const auto made = groma::explain_log(program, *log, shown_name(options.log), nullptr, *diags);
  if (!options.json) show_diagnostics(*diags);
  const int printed = print_painted(options.json ? groma::to_json(made, nullptr, program, *diags)
                                                 : groma::draw(made, program, color_on_stdout()));
  return diags->has_errors() ? kWrongInput : printed;
}

// Prints all decisions of the mapping and, with --log, of a run. With --as-mapping, prints the
// default mapper's decisions as a mapping. Returns the exit code.
int run(const ExplainArguments& options) {
  check_usage(options);
  if (options.app.empty()) return explain_log_alone(options);
  std::optional<groma::Diagnostics> diags;
  const auto with = read_inputs(options.machine, options.app, &diags,
                                {.override_layouts = options.override_layouts});
  if (!with) return fail(*diags, options.json);
  // --as-mapping needs only the default mapper.
  if (options.as_mapping) {
    if (!options.file.empty()) {
      print_error(fmt::format(
          "note: `{}` was not read, because --as-mapping prints what the default mapper decides\n",
          options.file));
    }
    diags.emplace(groma::Source(options.app, ""));
    const auto text =
        groma::default_mapping(*with->workload, *with->machine, options.query, *diags);
    return text ? print(*text) : fail(*diags, false);
  }
  const auto bound = read_mapping(options.file, *with->machine, &diags);
  if (!bound) return fail(*diags, options.json);
  const auto explanation = groma::explain(*bound, *with->workload, options.query, *diags);
  if (!explanation) return fail(*diags, options.json);
  const groma::Program& program = bound->program();
  // With --log, the decisions of the simulated run and those of the real run are shown one after
  // the other.
  std::optional<groma::LogExplanation> logged;
  if (!options.log.empty()) {
    const auto log = read_log(options.log);
    if (!log) return kWrongInput;
    logged = groma::explain_log(program, *log, shown_name(options.log), &*with->workload, *diags);
  }
  const bool failed = diags->has_errors();
  if (options.json) {
    const std::string text = logged ? groma::to_json(*logged, &*explanation, program, *diags)
                                    : groma::to_json(*explanation, program, *diags);
    if (print(text) != kFine) return kWrongInput;
  } else {
    show_diagnostics(*diags);
    std::string text = groma::draw(*explanation, program, color_on_stdout());
    if (logged) text += "\n" + groma::draw(*logged, program, color_on_stdout());
    if (print_painted(text) != kFine) return kWrongInput;
  }
  return failed ? kWrongInput : kFine;
}

}  // namespace

void add_explain(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<ExplainArguments>();
  CLI::App* command = app.add_subcommand(
      "explain", "Print every decision about an application, and the statement behind it");
  command->add_option("FILE", options->file, "A mapping program; `-` is standard input")
      ->type_name(kMappingType);
  add_machine_option(*command, &options->machine);
  add_app_option(*command, &options->app);
  add_override_layouts_flag(*command, &options->override_layouts);
  command
      ->add_option("--task", options->query.task,
                   "Print the decisions about this task only, or about the tasks of a pattern: "
                   "'calc_*'")
      ->type_name(kTaskType);
  command->add_option("--region", options->query.region,
                      "Print the decisions about this region only: its name, or its position among "
                      "the region requirements");
  command->add_flag(
      "--as-mapping", options->as_mapping,
      "Print instead what the default mapper decides, as a mapping program. FILE is not read");
  command
      ->add_option("--log", options->log,
                   "The log of a run's mappers, from `groma run --log` or Legion's LoggingWrapper. "
                   "Prints what each statement did in that run; without --app, only that")
      ->type_name(kFileType)
      ->check(not_empty);
  add_json_flag(*command, &options->json);
  command->footer(
      "Examples:\n"
      "  groma explain my.mapper --machine p100x4 --app my.json\n"
      "  groma explain my.mapper --app my.json --task init --region ghosts\n"
      "  groma explain my.mapper --log run.log     of `groma run --map my.mapper --log run.log`\n"
      "  groma explain --as-mapping --machine lassen:nodes=16 --app my.json > start.mapper");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
