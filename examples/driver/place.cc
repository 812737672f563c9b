// groma place: shows where every point of a launch goes.
#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <memory>

#include "commands.h"
#include "console.h"
#include "domain_inputs.h"
#include "groma/evaluate.h"
#include "groma/explain.h"
#include "groma/inspect.h"
#include "groma/system.h"
#include "inputs.h"

namespace driver {
namespace {

// The values of the options of `groma place`. An empty text means that the option is not given.
struct PlaceArguments {
  std::string file, machine = "p100x4", app, domain, domains, lower, task, function, from, parent,
                    svg;
  bool trace = false;
  bool json = false;
};

// Parses integers that are separated by `separator`. Fails with wrong usage for anything else.
std::vector<std::int64_t> parse_numbers(const std::string& option, std::string_view text,
                                        char separator) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (true) {
    std::int64_t number = 0;
    const auto [next, status] = std::from_chars(at, end, number);
    if (status != std::errc()) break;
    numbers.push_back(number);
    if (next == end) return numbers;
    if (*next != separator) break;
    at = next + 1;
  }
  throw CLI::ValidationError(option, fmt::format("`{}` is not of the form {}", text,
                                                 separator == 'x' ? "8x4" : "NODE,PROCESSOR"));
}

// Returns the launch domain that --domain and --lower give. Fails with wrong usage if they do not
// fit together.
groma::Rect parse_domain(const PlaceArguments& options) {
  const auto extents = parse_numbers("--domain", options.domain, 'x');
  auto lower = std::vector<std::int64_t>(extents.size(), 0);
  if (!options.lower.empty()) lower = parse_numbers("--lower", options.lower, 'x');
  if (extents.size() > groma::kMaxDimensions) {
    throw CLI::ValidationError("--domain", fmt::format("a launch has at most {} dimensions, not {}",
                                                       groma::kMaxDimensions, extents.size()));
  }
  if (lower.size() != extents.size()) {
    throw CLI::ValidationError(
        "--lower", fmt::format("the corner has {} coordinates, but the domain has {}", lower.size(),
                               extents.size()));
  }
  for (std::int64_t extent : extents) {
    if (extent < 0) throw CLI::ValidationError("--domain", "an extent is negative");
  }
  // A domain that overflows is too large to draw; place() reports that.
  const auto rect = groma::Rect::make(groma::Point(lower), groma::Point(extents));
  if (!rect) {
    throw CLI::ValidationError(
        "--domain", "the domain has more than 2^63-1 points, or a coordinate above 2^63-1");
  }
  return *rect;
}

// Returns true if --domain names a domain that is not a box, such as triangle:n=8.
bool names_domain(const std::string& text) {
  return !text.empty() && (std::isalpha(static_cast<unsigned char>(text.front())) != 0);
}

// Sets the query to the points of the domain that --domain names. Returns the exit code after an
// error.
std::optional<int> find_domain(const PlaceArguments& options, groma::PlaceQuery& query) {
  if (!options.lower.empty()) {
    throw CLI::ValidationError("--lower", "a named domain has its own corner");
  }
  int exit_code = kFine;
  const auto chosen =
      choose_domain(options.domain, options.domains, options.json, &exit_code, "--domains");
  if (!chosen) return exit_code;
  const groma::domains::Domain& domain = chosen->domain;
  if (domain.count() > groma::kMaxPlacePoints) {
    return refuse(
        fmt::format("`{}` has {} points", options.domain, domain.count()),
        fmt::format("at most {} can be placed: give smaller parameters", groma::kMaxPlacePoints));
  }
  const auto box = groma::Rect::make(domain.bounds().lower, domain.bounds().extents);
  if (!box || box->volume() > 16 * groma::kMaxPlacePoints) {
    return refuse(fmt::format("the box around `{}` is too large to be drawn", options.domain),
                  "give smaller parameters");
  }
  std::vector<groma::Point> points;
  domain.for_each(0, domain.count(),
                  [&](std::int64_t, const groma::Point& point) { points.push_back(point); });
  query.domain.box = domain.bounds();
  if (points.empty()) return std::nullopt;
  auto set = groma::PointSet::from_points(points);
  if (!set) return refuse(set.error());
  query.domain.points = *std::move(set);
  return std::nullopt;
}

// Returns the query that the options describe, without a domain that --domain names.
groma::PlaceQuery parse_query(const PlaceArguments& options) {
  groma::PlaceQuery query;
  if (const auto error = groma::set_task(options.task, &query)) {
    throw CLI::ValidationError("--task", error->message + "; " + error->help);
  }
  query.function = options.function;
  if (!options.from.empty()) query.from = groma::find_proc_kind(options.from);
  if (!options.parent.empty()) {
    const auto numbers = parse_numbers("--parent", options.parent, ',');
    if (numbers.size() != 2) throw CLI::ValidationError("--parent", "expected NODE,PROCESSOR");
    query.parent = {numbers[0], numbers[1]};
  } else if (options.domain.empty() && options.app.empty()) {
    throw CLI::RequiredError("--domain (or --parent, or --app)");
  } else if (!options.domain.empty() && !names_domain(options.domain)) {
    query.domain = parse_domain(options);
  }
  return query;
}

// Sets the query to the application's first index launch of the task, on the processor kind that
// the launch has there. If there is none, reports the reason and returns the exit code.
std::optional<int> find_launch(const groma::BoundProgram& bound, const groma::Workload& workload,
                               const std::string& path, bool json, groma::PlaceQuery& query,
                               groma::Diagnostics& diags) {
  // The first call of explain() may add warnings about other tasks. They go to `of_others`, which
  // is dropped.
  groma::Diagnostics of_others(diags.source());
  const groma::ExplainQuery task{path, ""};
  const auto explained = groma::explain(bound, workload, task, of_others);
  if (!explained) {
    // explain() is called again with `diags`, so that `diags` gets the error that tells why the
    // task cannot be explained.
    static_cast<void>(groma::explain(bound, workload, task, diags));
    return fail(diags, json);
  }
  // The task that launches the queried task. Set only if some launch of the queried task is a
  // single launch and not at the top level.
  std::optional<std::string> parent;
  for (const groma::ExplainedTask& each : explained->tasks) {
    for (const groma::ExplainedLaunch& launch : each.launches) {
      if (!launch.is_index && launch.depth > 0) parent = launch.parent;
      if (!launch.domain) continue;
      query.domain = *launch.domain;
      query.parents = each.above;
      // The launch runs on the kind that the mapping gives the task, unless --from names another
      // one.
      if (!query.from) query.from = each.kind.kind;
      return std::nullopt;
    }
  }
  if (parent) {
    const std::string launching =
        parent->empty() ? "the top-level task" : fmt::format("`{}`", *parent);
    return refuse(fmt::format("`{}` launches `{}` only as a single task, which has no domain",
                              workload.name(), query.task),
                  fmt::format("name the node and the processor where {} runs, which launches "
                              "`{}`: --parent 0,0",
                              launching, query.task));
  }
  return refuse(fmt::format("`{}` does not say over which domain `{}` is launched", workload.name(),
                            query.task),
                "name the domain, such as --domain 8x4, instead of --app");
}

// Finds the processor of every point and prints the result. Returns the exit code.
int run(const PlaceArguments& options) {
  check_standard_input({options.file, options.machine, options.app, options.domains});
  if (options.svg == "-" && options.json) {
    throw CLI::ValidationError("--svg",
                               "with --json, the picture needs a file name instead of `-`");
  }
  check_written({{"--svg", options.svg}}, {options.file, options.machine, options.app});
  groma::PlaceQuery query = parse_query(options);
  if (options.parent.empty() && names_domain(options.domain)) {
    if (const auto failed = find_domain(options, query)) return *failed;
  }
  std::optional<groma::Diagnostics> diags;
  const auto with = read_inputs(options.machine, options.app, &diags);
  if (!with) return fail(*diags, options.json);
  const auto bound = read_mapping(options.file, *with->machine, &diags);
  if (!bound) return fail(*diags, options.json);
  // With --app, the launch domain is taken from the application.
  const bool launched = options.domain.empty() && options.parent.empty();
  if (launched) {
    const auto failed =
        find_launch(*bound, *with->workload, options.task, options.json, query, *diags);
    if (failed) return *failed;
  }
  catch_interrupts();
  std::optional<groma::Placement> placement;
  {
    ProgressLine line("placing");
    groma::LogSink* sink = options.trace ? &log() : nullptr;
    placement =
        groma::place(*bound, query, *diags, sink, [&line](std::int64_t done, std::int64_t all) {
          line.update(done, all);
          return !interrupted();
        });
  }
  if (interrupted()) return kInterrupted;
  if (!placement) return fail(*diags, options.json);
  if (!options.svg.empty()) {
    const std::string svg = groma::draw_svg(*placement, *bound);
    // A picture on standard output replaces the other output.
    if (options.svg == "-") return print(svg);
    if (const auto error = groma::write_file(options.svg, svg)) {
      print_error(fmt::format("groma: {}\n", error->message));
      return kWrongInput;
    }
  }
  if (options.json) return print(groma::to_json(*placement, *diags));
  show_diagnostics(*diags);
  groma::DrawOptions draw_options;
  draw_options.color = color_on_stdout();
  draw_options.columns = terminal_columns();
  return print_painted(groma::draw(*placement, *bound, draw_options));
}

}  // namespace

void add_place(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<PlaceArguments>();
  CLI::App* command =
      app.add_subcommand("place", "Show which processor runs each point of an index launch");
  command->add_option("FILE", options->file, "A mapping program; `-` is standard input")
      ->type_name(kMappingType)
      ->required();
  add_machine_option(*command, &options->machine);
  CLI::Option* const domain = command
                                  ->add_option("--domain", options->domain,
                                               "The extents of the launch domain, such as 8x4; "
                                               "or a domain that is not a box, such as "
                                               "triangle:n=8 (`groma domain list`)")
                                  ->type_name(kDomainType);
  command
      ->add_option("--domains", options->domains,
                   "Take the domain that --domain names from this file of declarations")
      ->type_name(kDomainFileType)
      ->needs(domain);
  command->add_option("--lower", options->lower,
                      "The lower corner of the launch domain (default: 0 in each dimension)");
  auto* task = command
                   ->add_option("--task", options->task,
                                "The task of the launch; its IndexTaskMap statement decides. "
                                "'main > step' is the task `step` that `main` launches")
                   ->type_name(kTaskType);
  auto* function = command->add_option("--function", options->function,
                                       "Use this mapping function, whatever task it is bound to");
  task->excludes(function);
  add_app_option(*command, &options->app,
                 "Take the launch domain from this application's first index launch of the task, "
                 "instead of --domain")
      ->excludes(domain)
      ->needs(task);
  command
      ->add_option("--from", options->from,
                   "The processor kind of the task, if the program does not decide it")
      ->check(CLI::IsMember(
          std::vector<std::string>(groma::kProcKindNames.begin(), groma::kProcKindNames.end())));
  command->add_option("--parent", options->parent,
                      "Map a single task instead of an index launch; its parent runs on "
                      "NODE,PROCESSOR. The domain is then ignored");
  command->add_flag("--trace", options->trace,
                    "Execute `print` in mapping functions; the output goes to standard error");
  command->add_flag("--json", options->json, "Print one JSON document instead of a picture");
  command
      ->add_option("--svg", options->svg,
                   "Also write the picture to this SVG file (`-`: print the SVG)")
      ->type_name(kFileType);
  command->footer(
      "Examples:\n"
      "  groma place my.mapper --machine p100x4:nodes=2 --task task_1 --domain 8x4\n"
      "  groma place my.mapper --app circuit --task calculate_new_currents\n"
      "  groma place my.mapper --machine nodes=4,gpu=2 --function block --domain 64 --json\n"
      "  groma place dsl/mappers/cholesky.mapper --task update --domain triangle:n=8\n"
      "  groma place my.mapper --task init --parent 0,1\n"
      "  groma place my.mapper --task task_1 --domain 16x16x4 --svg launch.svg");
  command->callback([options, task, function, exit_code] {
    if (task->count() + function->count() == 0) throw CLI::RequiredError("--task or --function");
    *exit_code = run(*options);
  });
}

}  // namespace driver
