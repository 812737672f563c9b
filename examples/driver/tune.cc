// groma tune: searches for a faster mapping, or for a better text of any other kind.
#include "groma/tune.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include "commands.h"
#include "console.h"
#include "groma/evaluators.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "llm.h"

namespace driver {
namespace {

// Unless told otherwise: a simulated run takes milliseconds.
constexpr std::int64_t kSimulatedEvaluations = 100, kMeasuredEvaluations = 10;

struct Options {
  std::string machine = "p100x4";
  std::vector<std::string> apps;
  std::string proposer = "guided", start, feedback = "profile", out, resume;
  groma::TuneOptions tune;
  std::string file, about;
  groma::CommandEvaluatorOptions command;
  ChatArguments chat;
  groma::AskOptions ask;
  std::optional<std::int64_t> evaluations, tokens;  // as given
  std::optional<double> seconds, money;
  bool json = false;
};

// In one line, and back.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
  return line;
}
std::string on_its_lines(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool escaped = line[i] == '\\' && i + 1 < line.size();
    text += !escaped ? line[i] : line[++i] == 'n' ? '\n' : line[i];
  }
  return text;
}

// What a search is begun with, a line each, so that --resume needs nothing else but the model.
std::string words_of(const Options& options) {
  std::string words;
  const auto add = [&words](const char* name, const auto& value) {
    words += fmt::format("{} {}\n", name, on_one_line(fmt::format("{}", value)));
  };
  if (options.file.empty()) {
    add("machine", options.machine);
    for (const std::string& app : options.apps) add("app", app);
  } else {
    add("file", options.file);
    add("about", options.about);
    add("command", options.command.command);
    add("check-command", options.command.check_command);
    for (const std::string& input : options.command.inputs) add("input", input);
    add("metric", options.command.metric_pattern);
    add("metric-json", options.command.metric_pointer);
    add("unit", options.command.unit);
    add("higher-is-better", options.command.higher_is_better ? 1 : 0);
    add("repeats", options.command.repeats);
    add("warmup", options.command.warmup);
    add("timeout", options.command.timeout_ms);
    add("memory", options.command.memory_bytes);
  }
  const groma::TuneBudget& budget = options.tune.budget;
  add("evaluations", budget.evaluations);
  add("time", budget.seconds);
  add("tokens", budget.tokens);
  add("money", budget.money);
  return words +
         fmt::format(
             "proposer {}\nseed {}\nfeedback {}\ncompare {}\nconstrain {}\nreply-tokens {}\n",
             options.proposer, options.tune.seed, options.feedback, options.tune.compare ? 1 : 0,
             options.ask.constrain ? 1 : 0, options.ask.max_tokens);
}

// The inverse.
void read_words(const std::string& words, Options* options) {
  options->apps.clear();
  std::istringstream lines(words);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (space == line.npos) continue;
    const std::string name = line.substr(0, space), value = on_its_lines(line.substr(space + 1));
    groma::CommandEvaluatorOptions& command = options->command;
    if (name == "machine") options->machine = value;
    if (name == "app") options->apps.push_back(value);
    if (name == "file") options->file = value;
    if (name == "about") options->about = value;
    if (name == "command") command.command = value;
    if (name == "check-command") command.check_command = value;
    if (name == "input") command.inputs.push_back(value);
    if (name == "metric") command.metric_pattern = value;
    if (name == "metric-json") command.metric_pointer = value;
    if (name == "unit") command.unit = value;
    if (name == "higher-is-better") command.higher_is_better = value == "1";
    if (name == "repeats") command.repeats = std::atoi(value.c_str());
    if (name == "warmup") command.warmup = std::atoi(value.c_str());
    if (name == "timeout") command.timeout_ms = std::atoll(value.c_str());
    if (name == "memory") command.memory_bytes = std::atoll(value.c_str());
    if (name == "proposer") options->proposer = value;
    if (name == "seed") options->tune.seed = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "feedback") options->feedback = value;
    groma::TuneBudget& budget = options->tune.budget;
    if (name == "evaluations") budget.evaluations = std::atoll(value.c_str());
    if (name == "time") budget.seconds = std::atof(value.c_str());
    if (name == "tokens") budget.tokens = std::atoll(value.c_str());
    if (name == "money") budget.money = std::atof(value.c_str());
    if (name == "compare") options->tune.compare = value == "1";
    if (name == "constrain") options->ask.constrain = value == "1";
    if (name == "reply-tokens") options->ask.max_tokens = std::atoi(value.c_str());
  }
}

// On a terminal one line that is written over: best, trajectory, what is tried, what it cost.
class Display {
 public:
  Display(const groma::Evaluator& evaluator, bool json) : evaluator_(evaluator), json_(json) {
    live_ = !json && isatty(STDERR_FILENO) != 0;
  }
  ~Display() { clear(); }
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  void operator()(const groma::TuneEvent& event) {
    using Kind = groma::TuneEvent::Kind;
    if (json_) {
      fine_ = print(groma::to_json(event)) == kFine && fine_;
      return;
    }
    if (event.kind == Kind::kEvaluated) {
      scores_.push_back(event.step->evaluation.score);
      if (scores_.size() > kShown) scores_.erase(scores_.begin());
      if (event.is_best || event.within_noise) say_better(event);
    }
    if (!live_) return;
    std::string doing = event.kind == Kind::kAsking     ? "asking the model"
                        : event.kind == Kind::kProposed ? event.proposal->why
                                                        : event.text;
    std::string line = fmt::format("{} {} ", groma::sparkline(scores_, kShown), cost(event.spent));
    const std::size_t used = scores_.size() + cost(event.spent).size() + 2;
    const auto columns = static_cast<std::size_t>(std::max(terminal_columns(), 20));
    std::replace(doing.begin(), doing.end(), '\n', ' ');
    if (used < columns) line += doing.substr(0, columns - used - 1);
    print_error("\r\x1b[K" + line);
    shown_ = true;
  }

  void clear() {
    if (shown_) print_error("\r\x1b[K");
    shown_ = false;
  }
  bool fine() const { return fine_; }

 private:
  static constexpr std::size_t kShown = 30;

  static std::string cost(const groma::TuneSpending& spent) {
    std::string words = fmt::format("{} evaluations", spent.evaluations);
    if (spent.model_calls > 0) {
      words += fmt::format(", {} questions, {} tokens", spent.model_calls, spent.tokens);
    }
    if (spent.money > 0) words += fmt::format(", {:.4f}", spent.money);
    return words + fmt::format(", {:.0f} s", spent.seconds);
  }

  void say_better(const groma::TuneEvent& event) {
    clear();
    const groma::Step& step = *event.step;
    fine_ = print(fmt::format(
                "{:>5}  {:.4g} {}  {}{}\n", step.number, evaluator_.value_of(step.evaluation.score),
                evaluator_.unit(), step.proposal.why,
                event.within_noise ? " (not taken: within the noise)" : "")) == kFine &&
            fine_;
  }

  const groma::Evaluator& evaluator_;
  bool json_, live_, shown_ = false, fine_ = true;
  std::vector<double> scores_;
};

// A directory of the search's own, where none was named: "tune", "tune.2", ...
std::string fresh_directory() {
  for (int i = 1;; ++i) {
    std::string name = i == 1 ? "tune" : fmt::format("tune.{}", i);
    std::error_code ignored;
    if (!std::filesystem::exists(name, ignored)) return name;
  }
}

// What is searched and who judges it.
struct Subject {
  groma::Problem problem;
  std::vector<std::pair<std::string, std::string>> marks;  // of TuneOptions
  std::unique_ptr<groma::Evaluator> evaluator;
};

std::string mark_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return fmt::format("{:016x}", hash);
}

// Nothing, with the reason said and *exit_code set.
std::optional<Subject> read_subject(const Options& options, const std::string& recorded_start,
                                    int* exit_code) {
  *exit_code = kWrongInput;
  Subject subject;
  std::optional<groma::Diagnostics> diags;
  const std::string& start = options.file.empty() ? options.start : options.file;
  if (options.tune.resume) {
    subject.problem.start = recorded_start;
  } else if (!start.empty()) {
    if (!read_source(start, &diags)) {
      fail(*diags, options.json);
      return std::nullopt;
    }
    subject.problem.start = std::string(diags->source().text());
  }
  std::optional<groma::Diagnostics> start_diags = std::move(diags);
  if (!options.file.empty()) {
    subject.problem.about = options.about;
    groma::CommandEvaluatorOptions command = options.command;
    command.file_suffix = std::filesystem::path(options.file).extension().string();
    auto evaluator = groma::make_command_evaluator(std::move(command));
    if (!evaluator) {
      refuse(evaluator.error());
      return std::nullopt;
    }
    subject.evaluator = std::move(evaluator).value();
    return subject;
  }
  for (const std::string& app : options.apps) {
    const auto with = read_inputs(options.machine, app, &diags);
    if (!with) {
      fail(*diags, options.json);
      return std::nullopt;
    }
    if (!subject.problem.machine) {
      subject.problem.machine = std::make_shared<const groma::Machine>(*with->machine);
      subject.marks.emplace_back(options.machine, mark_of(groma::machine_to_json(*with->machine)));
    }
    subject.marks.emplace_back(app, mark_of(groma::application_to_json(*with->app)));
    subject.problem.inputs.push_back(*with->workload);
    if (!start_diags) continue;
    groma::check(start_diags->source(), &*with->machine, &*with->workload, *start_diags);
    if (start_diags->has_errors()) {
      fail(*start_diags, options.json);
      return std::nullopt;
    }
    start_diags->clear();
  }
  subject.evaluator =
      groma::make_simulated_evaluator(subject.problem.machine, subject.problem.inputs);
  return subject;
}

bool asks_model(const std::string& proposer) {
  const auto infos = groma::proposers();
  return std::any_of(infos.begin(), infos.end(), [&](const groma::ProposerInfo& info) {
    return info.name == proposer && info.asks_model;
  });
}

// What a script reads of how it ended.
int exit_code_of(const groma::TuneOutcome& outcome) {
  using End = groma::TuneOutcome::End;
  if (outcome.end == End::kStopped) return kInterrupted;
  return outcome.best && outcome.end != End::kModel ? kFine : kWrongInput;
}

int run(Options options) {
  std::vector<std::string> inputs = options.apps;
  for (const std::string& input : {options.machine, options.start, options.file}) {
    inputs.push_back(input);
  }
  check_standard_input(inputs);
  catch_interrupts();
  std::string recorded_start;
  options.tune.resume = !options.resume.empty();
  if (options.tune.resume) {
    const auto before = groma::recorded_search(options.resume);
    if (!before) return refuse(before.error());
    read_words(before->fingerprint, &options);
    options.tune.fingerprint = before->fingerprint;
    recorded_start = before->start;
  } else if (options.apps.empty() == options.file.empty()) {
    throw CLI::ValidationError("--app, --file", "one of them says what is searched");
  }
  groma::TuneBudget& budget = options.tune.budget;
  if (!options.tune.resume) {
    budget.evaluations = options.file.empty() ? kSimulatedEvaluations : kMeasuredEvaluations;
  }
  if (options.evaluations) budget.evaluations = *options.evaluations;
  if (options.seconds) budget.seconds = *options.seconds;
  if (options.tokens) budget.tokens = *options.tokens;
  if (options.money) budget.money = *options.money;
  int exit_code = kFine;
  auto subject = read_subject(options, recorded_start, &exit_code);
  if (!subject) return exit_code;
  auto proposer =
      groma::make_proposer(options.proposer, subject->problem, options.tune.seed, options.ask);
  if (!proposer) {
    throw CLI::ValidationError("--proposer",
                               proposer.error().message + "; " + proposer.error().help);
  }
  std::optional<groma::ChatClient> model;
  if (asks_model(options.proposer)) {
    groma::ChatOptions chat;
    chat.max_tokens = options.tune.budget.tokens;
    chat.max_money = options.tune.budget.money;
    auto client = make_chat_client(options.chat, std::move(chat));
    if (!client) return refuse(client.error());
    model = std::move(client).value();
  }
  options.tune.feedback = *groma::guide_detail(options.feedback);
  options.tune.directory = options.tune.resume   ? options.resume
                           : options.out.empty() ? fresh_directory()
                                                 : options.out;
  if (!options.tune.resume) options.tune.fingerprint = words_of(options);
  if (options.tune.compare) options.tune.evaluate_start = !subject->problem.start.empty();
  options.tune.marks = subject->marks;
  Display display(*subject->evaluator, options.json);
  options.tune.on_event = [&](const groma::TuneEvent& event) { display(event); };
  options.tune.stop = [] { return interrupted(); };
  const auto outcome = groma::tune(subject->problem, *subject->evaluator, **proposer,
                                   model ? &*model : nullptr, nullptr, options.tune);
  display.clear();
  if (!outcome) return refuse(outcome.error());
  std::string left;
  if (outcome->best) left = subject->problem.is_mapping() ? "best.mapper, " : "best.txt, ";
  const bool fine = print(options.json ? groma::to_json(*outcome)
                                       : fmt::format("\n{}in     {}: {}report.txt, journal.jsonl\n",
                                                     groma::draw(*outcome, *subject->evaluator),
                                                     options.tune.directory, left)) == kFine;
  return fine && display.fine() ? exit_code_of(*outcome) : kWrongInput;
}

}  // namespace

namespace {

// Of any text with marked segments.
void add_command_options(CLI::App& command, Options* options) {
  constexpr const char* kGroup = "Any other text";
  groma::CommandEvaluatorOptions& how = options->command;
  auto* file = command.add_option("--file", options->file,
                                  "A text with `groma: begin NAME` and `groma: end` in lines "
                                  "around each segment that may be changed");
  auto* run = command.add_option("--command", how.command,
                                 "For sh: builds and measures `{file}`, with one of `--input` as "
                                 "`{input}`");
  file->group(kGroup)->needs(run);
  run->group(kGroup)->needs(file);
  const auto add = [&](const char* name, auto& value, const char* what) {
    return command.add_option(name, value, what)->group(kGroup)->needs(file);
  };
  add("--about", options->about, "What the text is and must do, in words for a model");
  add("--check-command", how.check_command, "Run first: unless it exits with 0 the text is wrong");
  add("--input", how.inputs, "What `{input}` stands for; several make a vector");
  auto* metric = add("--metric", how.metric_pattern,
                     "A regular expression with one group, the value, in what the command prints; "
                     "without one the seconds it takes");
  add("--metric-json", how.metric_pointer, "A JSON pointer to the value in what it prints")
      ->excludes(metric);
  add("--unit", how.unit, "Of the value")->capture_default_str();
  command.add_flag("--higher-is-better", how.higher_is_better, "Of the value")
      ->group(kGroup)
      ->needs(file);
  add("--repeats", how.repeats, "Runs of which the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add("--warmup", how.warmup, "Runs before, which do not count")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command
      .add_option_function<double>(
          "--timeout",
          [&how](double seconds) { how.timeout_ms = static_cast<std::int64_t>(1000 * seconds); },
          "Seconds after which a run is ended; 600 unless given")
      ->check(CLI::Range(0.001, 1e6))
      ->group(kGroup)
      ->needs(file);
  command
      .add_option_function<std::int64_t>(
          "--memory", [&how](std::int64_t megabytes) { how.memory_bytes = megabytes << 20; },
          "MiB that each process of a run may have")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
      ->group(kGroup)
      ->needs(file);
}

}  // namespace

void add_tune(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "tune", "Searches for a faster mapping, or for a better text of another kind");
  add_chat_options(*command, &options->chat);
  command->add_flag("--constrain", options->ask.constrain,
                    "Has the endpoint keep replies to their form, where it can");
  command
      ->add_option("--reply-tokens", options->ask.max_tokens, "At most so many tokens of a reply")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str();
  for (CLI::Option* option : command->get_options([](const CLI::Option* each) {
         return each->get_lnames() != std::vector<std::string>{"help"};
       })) {
    option->group("A language model");
  }
  add_machine_option(*command, &options->machine);
  command->add_option("--app", options->apps,
                      "The application, as of `groma run`; several make a vector of inputs, which "
                      "count alike");
  std::string names;
  for (const groma::ProposerInfo& info : groma::proposers()) {
    names += fmt::format("\n{}: {}", info.name, info.what);
  }
  command->add_option("--proposer", options->proposer, "Who proposes what to try:" + names)
      ->capture_default_str();
  command
      ->add_option("--evaluations", options->evaluations,
                   "At most so many runs; what was tried before and what is refused without a run "
                   "are further steps, and free; 0: no bound. 100 unless given, 10 of a command")
      ->check([](const std::string& text) {
        const bool fits = text.size() < 18 && text.find_first_not_of("0123456789") == text.npos;
        return fits ? "" : "it is no count";
      });
  command->add_option("--time", options->seconds, "At most so many seconds")
      ->check(CLI::PositiveNumber);
  command->add_option("--tokens", options->tokens, "At most so many of the model")
      ->check(CLI::PositiveNumber);
  command->add_option("--money", options->money, "At most so much for the model; needs --price")
      ->check(CLI::PositiveNumber)
      ->needs("--price");
  command->add_option("--seed", options->tune.seed, "Of the proposer")->capture_default_str();
  command
      ->add_option("--feedback", options->feedback,
                   "How much the proposer sees of a run's feedback")
      ->check(CLI::IsMember({"none", "execution", "explain", "suggest", "profile"}))
      ->capture_default_str();
  command->add_option("--start", options->start,
                      "A mapping to begin with; without one the default mapper");
  command->add_flag("--compare", options->tune.compare,
                    "Every proposal counts, none is repaired, and nothing is known at first");
  command->add_option("--out", options->out, "A new directory for best.mapper, report and journal");
  CLI::Option* resume = command->add_option("--resume", options->resume,
                                            "Goes on with the search in this directory, as it was "
                                            "begun; budgets may be others, the model's endpoint is "
                                            "given again");
  for (const char* said : {"--out", "--start", "--machine", "--app", "--proposer", "--seed",
                           "--feedback", "--compare", "--constrain", "--reply-tokens"}) {
    resume->excludes(said);
  }
  command->add_flag("--json", options->json, "A line of JSON for each event instead of text");
  add_command_options(*command, options.get());
  command->footer(
      "Examples:\n"
      "  groma tune --app solomonik                     ten evaluations, no model\n"
      "  groma tune --app circuit --machine lassen:nodes=4 --evaluations 100 --out circuit\n"
      "  groma tune --resume circuit --evaluations 200  goes on\n"
      "  groma tune --app pennant --proposer trace --endpoint http://127.0.0.1:8080/v1\n"
      "  groma tune --file kernel.cc --command 'g++ -O2 {file} -o {file}.out && {file}.out' \\\n"
      "      --metric '([0-9.]+) GFLOPS' --higher-is-better --proposer evolve");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
