// groma_paper: repeats the evaluation of the paper (Wei et al., section 5 and A.4) in the embedded
// runtime, with any language model or with none. docs/benchmarks.md is the manual.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <thread>

#include "console.h"
#include "groma/benchmarks.h"
#include "groma/spelling.h"
#include "inputs.h"
#include "llm.h"
#include "paper/report.h"
#include "paper/run_cell.h"
#include "paper_sources.h"

namespace {

using namespace groma::paper;

constexpr const char* kProgram = "groma_paper";
constexpr int kMaxRuns = 1000, kMaxJobs = 1024;

struct PaperArguments {
  std::string artefact, cells, svg;
  PlanOptions plan;
  driver::ChatArguments chat;
  groma::tuning::AskOptions ask;
  std::int64_t tokens = 0;
  double money = 0;
  int jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  bool json = false;
};

// Prints why the program cannot go on. Returns the exit code for wrong input.
int refuse(const groma::Error& error) {
  driver::print_error(fmt::format("{}: {}\n", kProgram, error.message));
  if (!error.help.empty()) driver::print_error(fmt::format("help: {}\n", error.help));
  return driver::kWrongInput;
}

// Returns an error message unless the text can be the name of a file.
std::string is_file_name(const std::string& text) {
  return text.empty() || text == "-" ? "it is not the name of a file" : "";
}

// Returns an error message unless the text is the name of a benchmark.
std::string is_benchmark(const std::string& name) {
  if (groma::find_benchmark(name) != nullptr) return "";
  std::vector<std::string_view> names;
  for (const groma::Benchmark& benchmark : groma::benchmarks()) names.push_back(benchmark.name);
  const auto near = groma::near_names(name, names);
  return fmt::format("no benchmark is named `{}`; {}", name,
                     near.empty() ? "the benchmarks are " + groma::join_names(names, "and")
                                  : fmt::format("did you mean {}?", groma::join_names(near)));
}

void add_model_options(CLI::App& app, PaperArguments* arguments) {
  driver::add_chat_options(app, &arguments->chat);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_name().starts_with("--") && option != app.get_help_ptr()) {
      option->group("A language model");
    }
  }
  const auto add = [&](const char* name, auto& value, const char* what) {
    return app.add_option(name, value, what)->group("A language model");
  };
  add("--reply-tokens", arguments->ask.max_tokens, "Limit the tokens of one reply")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str();
  add("--prompt-bytes", arguments->ask.prompt_bytes, "Limit the bytes of one prompt of a search")
      ->check(CLI::Range(groma::tuning::AskOptions::kMinPromptBytes, std::size_t{1} << 24))
      ->capture_default_str();
  add("--tokens", arguments->tokens, "Stop before the model reads and writes more tokens than this")
      ->check(driver::is_count)
      ->check(driver::is_above_0);
  add("--money", arguments->money, "Stop before the model costs more, in the currency of --price")
      ->check(driver::is_above_0)
      ->needs("--price");
}

void add_options(CLI::App& app, PaperArguments* arguments) {
  std::vector<std::string> names;
  std::string what = "The table or figure:";
  for (const ArtefactInfo& info : kArtefacts) {
    names.emplace_back(info.name);
    what += fmt::format("\n{}: {}", info.name, info.what);
  }
  add_model_options(app, arguments);
  app.add_option("ARTEFACT", arguments->artefact, what)
      ->required()
      ->check(CLI::IsMember(names).description(""));
  app.add_option("--apps", arguments->plan.apps,
                 "The benchmarks, with commas between them (default: those of the paper)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(is_benchmark, ""));
  app.add_option("--size", arguments->plan.size, "The size of the benchmarks")
      ->check(CLI::IsMember({"small", "middle", "large"}))
      ->capture_default_str();
  app.add_option("--runs", arguments->plan.runs,
                 "The runs of each search (default: 5; table2: 1; random: 10 mappings)")
      ->check(CLI::Range(1, kMaxRuns));
  app.add_option("--iterations", arguments->plan.iterations,
                 "The iterations of each search, or the questions for one strategy (default: 10; "
                 "fig5: 1000, at most 10 of them with a model)")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--cells", arguments->cells,
                 "Keep finished searches in this file. The same command resumes them")
      ->check(is_file_name);
  app.add_option("--svg", arguments->svg, "Draw the picture into this file")->check(is_file_name);
  app.add_option("-j,--jobs", arguments->jobs,
                 "Limit the number of searches at the same time (default: the number of cores)")
      ->check(CLI::Range(1, kMaxJobs));
  app.add_flag("--json", arguments->json, "Print one JSON document instead of tables");
}

// Fails with wrong usage if options contradict each other.
void check_options(const PaperArguments& arguments, bool has_model) {
  const bool table2 = arguments.artefact == "table2", random = arguments.artefact == "random";
  if (random && arguments.plan.iterations) {
    throw CLI::ValidationError("--iterations", "random mappings have no iterations; give --runs");
  }
  if (table2 && !arguments.plan.apps.empty()) {
    throw CLI::ValidationError("--apps", "table2 has the ten strategies of the paper instead");
  }
  if (!has_model && !arguments.chat.record.empty()) {
    throw CLI::ValidationError("--record", "only valid with --endpoint or --model");
  }
  std::vector<std::string> sorted = arguments.plan.apps;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw CLI::ValidationError("--apps", "a benchmark stands twice");
  }
  driver::check_written(
      {{"--cells", arguments.cells}, {"--svg", arguments.svg}, {"--record", arguments.chat.record}},
      {arguments.chat.replay});
}

// Returns the model and the options that change its replies, for CellSettings::model.
std::string model_words(const PaperArguments& arguments, const groma::llm::ChatClient& client) {
  const groma::llm::ChatOptions& options = client.options();
  std::string words = options.model.empty() ? options.endpoint : options.model;
  const groma::tuning::AskOptions ask;
  if (arguments.chat.temperature)
    words += fmt::format(" temperature={}", *arguments.chat.temperature);
  if (arguments.ask.max_tokens != ask.max_tokens) {
    words += fmt::format(" reply-tokens={}", arguments.ask.max_tokens);
  }
  if (arguments.ask.prompt_bytes != ask.prompt_bytes) {
    words += fmt::format(" prompt-bytes={}", arguments.ask.prompt_bytes);
  }
  return words;
}

// Makes the missing cells. Returns the exit code.
int make_cells(const Plan& plan, const RunContext& context, int jobs, bool keeps,
               CellsFile* cells) {
  const std::vector<CellSettings> all = plan.cells();
  std::vector<CellSettings> missing;
  std::copy_if(all.begin(), all.end(), std::back_inserter(missing),
               [&](const CellSettings& settings) { return cells->find(settings) == nullptr; });
  const auto total = static_cast<std::int64_t>(all.size());
  const std::int64_t before = total - static_cast<std::int64_t>(missing.size());
  std::size_t finished = 0;
  std::optional<groma::Error> error;
  {
    driver::ProgressLine line(kProgram);
    error = run_cells(missing, context, jobs, cells, [&](std::size_t done) {
      finished = done;
      line.update(before + static_cast<std::int64_t>(done), total);
    });
  }
  if (!error && finished == missing.size()) return driver::kFine;
  if (error) refuse(*error);
  driver::print_error(fmt::format("{} of {} searches are finished{}\n",
                                  before + static_cast<std::int64_t>(finished), total,
                                  keeps ? "; the same command makes the others" : ""));
  return error ? driver::kWrongInput : driver::kInterrupted;
}

// Says on standard error what the model has cost.
void report_spending(const groma::llm::ChatClient& client) {
  const groma::llm::ChatSpending spent = client.spent();
  if (spent.requests == 0) return;
  driver::print_error(fmt::format("{} questions, {}{} tokens", spent.requests,
                                  spent.estimated ? "about " : "",
                                  spent.input_tokens + spent.output_tokens));
  if (client.options().price) driver::print_error(fmt::format(", costs {:.4g}", spent.money));
  driver::print_error("\n");
}

int run(PaperArguments& arguments, bool has_model) {
  driver::catch_interrupts();
  std::optional<groma::llm::ChatClient> client;
  if (has_model) {
    groma::llm::ChatOptions options;
    options.max_tokens = arguments.tokens;
    options.max_money = arguments.money;
    auto made = driver::make_chat_client(arguments.chat, std::move(options));
    if (!made) return refuse(made.error());
    client = std::move(made).value();
    arguments.plan.model = model_words(arguments, *client);
  }
  arguments.ask.temperature = arguments.chat.temperature;
  // As in the paper, an iteration of `opro` is one reply.
  arguments.ask.samples = 1;
  const auto* info = std::find_if(kArtefacts.begin(), kArtefacts.end(), [&](const auto& each) {
    return each.name == arguments.artefact;
  });
  const Plan plan = make_plan(*info, arguments.plan);
  if (auto error = driver::first_unwritable_file({{"--svg", arguments.svg}})) return refuse(*error);
  auto cells = CellsFile::open(arguments.cells, kSourcesHash);
  if (!cells) return refuse(cells.error());
  const RunContext context{client ? &*client : nullptr, arguments.ask,
                           [] { return driver::interrupted(); }};
  const int code =
      make_cells(plan, context, arguments.jobs, !arguments.cells.empty(), &cells.value());
  if (client) report_spending(*client);
  if (code != driver::kFine) return code;
  const Report report = make_report(plan, cells.value());
  if (!arguments.svg.empty()) {
    if (auto error = groma::write_file(arguments.svg, to_svg(report))) return refuse(*error);
  }
  return driver::print(arguments.json ? to_json(report, plan, cells.value()) : to_markdown(report));
}

}  // namespace

int main(int argc, char** argv) {
  PaperArguments arguments;
  CLI::App app(
      "Repeats the evaluation of the paper in the embedded runtime. All times are simulated. "
      "Without a model it makes the columns that need none.",
      kProgram);
  add_options(app, &arguments);
  app.footer(
      "Examples:\n"
      "  groma_paper fig4                               the columns without a model\n"
      "  groma_paper a1 --endpoint http://127.0.0.1:8080/v1 --cells paper.cells\n"
      "                                                 five searches of each benchmark; resumes\n"
      "  GROMA_API_KEY=... groma_paper table2 --model gpt-4o --record table2.jsonl\n"
      "  groma_paper table2 --replay table2.jsonl --model gpt-4o\n"
      "  groma_paper fig6 --endpoint 'exec:python3 my_model.py' --apps circuit --runs 1\n"
      "  groma_paper fig5 --cells paper.cells --svg fig5.svg\n\n"
      "Exit codes: 0 fine, 1 the input is wrong or the model fails, 2 wrong usage, 130 after "
      "Ctrl-C.");
  const driver::ChatArguments& chat = arguments.chat;
  const auto has_model = [&chat] {
    return !chat.endpoint.empty() || !chat.model.empty() || !chat.replay.empty() ||
           !chat.key_file.empty();
  };
  try {
    app.parse(argc, argv);
    check_options(arguments, has_model());
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const bool asked = app.exit(error, out, err) == 0;
    if (asked) return driver::print(out.str());
    driver::print_error(fmt::format("{}: {}", kProgram, err.str()));
    return driver::kWrongUsage;
  }
  return run(arguments, has_model());
}
