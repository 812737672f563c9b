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
#include "llm.h"

namespace driver {
namespace {

struct Options {
  std::string machine = "p100x4";
  std::vector<std::string> apps;
  std::string proposer = "guided", start, feedback = "profile", out, resume;
  groma::TuneOptions tune;
  groma::SimulateOptions simulate;
  ChatArguments chat;
  bool json = false;
};

int say_error(const groma::Error& error) {
  print_error(fmt::format("groma: {}\n", error.message));
  if (!error.help.empty()) print_error(fmt::format("help: {}\n", error.help));
  return kWrongInput;
}

// What a search is begun with, a line each, so that --resume needs nothing else. Budgets and the
// model may be others then.
std::string words_of(const Options& options) {
  std::string words = fmt::format("machine {}\n", options.machine);
  for (const std::string& app : options.apps) words += fmt::format("app {}\n", app);
  return words + fmt::format("proposer {}\nseed {}\nfeedback {}\ncompare {}\n", options.proposer,
                             options.tune.seed, options.feedback, options.tune.compare ? 1 : 0);
}

// The inverse. What is given beside --resume must be what the search was begun with.
void read_words(const std::string& words, Options* options) {
  options->apps.clear();
  std::istringstream lines(words);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (space == line.npos) continue;
    const std::string name = line.substr(0, space), value = line.substr(space + 1);
    if (name == "machine") options->machine = value;
    if (name == "app") options->apps.push_back(value);
    if (name == "proposer") options->proposer = value;
    if (name == "seed") options->tune.seed = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "feedback") options->feedback = value;
    if (name == "compare") options->tune.compare = value == "1";
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
      if (event.is_best) say_better(*event.step);
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

  void say_better(const groma::Step& step) {
    clear();
    const double score = step.evaluation.score;
    fine_ = print(fmt::format("{:>5}  {:.4g} {}  {}\n", step.number,
                              evaluator_.higher_is_better() ? 1 / score : score, evaluator_.unit(),
                              step.proposal.why)) == kFine &&
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

int run(Options options) {
  std::vector<std::string> inputs = options.apps;
  inputs.push_back(options.machine);
  inputs.push_back(options.start);
  check_standard_input(inputs);
  catch_interrupts();
  groma::Problem problem;
  if (!options.resume.empty()) {
    const auto before = groma::recorded_search(options.resume);
    if (!before) return say_error(before.error());
    read_words(before->fingerprint, &options);
    problem.start = before->start;
  } else if (options.apps.empty()) {
    throw CLI::RequiredError("--app");
  }
  std::optional<groma::Diagnostics> diags;
  for (const std::string& app : options.apps) {
    const auto with = read_inputs(options.machine, app, &diags);
    if (!with) return fail(*diags, options.json);
    if (!problem.machine) problem.machine = std::make_shared<const groma::Machine>(*with->machine);
    problem.inputs.push_back(*with->workload);
  }
  if (!options.start.empty()) {
    if (!read_source(options.start, &diags)) return fail(*diags, options.json);
    problem.start = std::string(diags->source().text());
  }
  auto evaluator =
      groma::make_simulated_evaluator(problem.machine, problem.inputs, options.simulate);
  auto proposer = groma::make_proposer(options.proposer, problem, options.tune.seed);
  if (!proposer) {
    throw CLI::ValidationError("--proposer",
                               proposer.error().message + "; " + proposer.error().help);
  }
  const auto infos = groma::proposers();
  const bool asks = std::any_of(infos.begin(), infos.end(), [&](const groma::ProposerInfo& info) {
    return info.name == options.proposer && info.asks_model;
  });
  std::optional<groma::ChatClient> model;
  if (asks) {
    groma::ChatOptions chat;
    chat.max_tokens = options.tune.budget.tokens;
    chat.max_money = options.tune.budget.money;
    auto client = make_chat_client(options.chat, std::move(chat));
    if (!client) return say_error(client.error());
    model = std::move(client).value();
  }
  options.tune.feedback = *groma::guide_detail(options.feedback);
  options.tune.resume = !options.resume.empty();
  options.tune.directory = options.tune.resume   ? options.resume
                           : options.out.empty() ? fresh_directory()
                                                 : options.out;
  options.tune.fingerprint = words_of(options);
  if (options.tune.compare) options.tune.evaluate_start = !problem.start.empty();
  Display display(*evaluator, options.json);
  options.tune.on_event = [&](const groma::TuneEvent& event) { display(event); };
  options.tune.stop = [] { return interrupted(); };
  const auto outcome = groma::tune(problem, *evaluator, **proposer, model ? &*model : nullptr,
                                   nullptr, options.tune);
  display.clear();
  if (!outcome) return say_error(outcome.error());
  std::string text;
  if (options.json) {
    text = groma::to_json(*outcome);
  } else {
    text =
        "\n" + groma::draw(*outcome, *evaluator) +
        fmt::format("in     {}: best.mapper, report.txt, journal.jsonl\n", options.tune.directory);
  }
  const bool fine = print(text) == kFine && display.fine();
  if (outcome->end == groma::TuneOutcome::End::kStopped && interrupted()) return kInterrupted;
  const bool failed = outcome->end == groma::TuneOutcome::End::kModel ||
                      outcome->end == groma::TuneOutcome::End::kRejected;
  return fine && outcome->best && !failed ? kFine : kWrongInput;
}

}  // namespace

void add_tune(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("tune", "Searches for a faster mapping");
  add_chat_options(*command, &options->chat);
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
      ->add_option("--evaluations", options->tune.budget.evaluations,
                   "At most so many evaluations; 0: no bound")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--time", options->tune.budget.seconds, "At most so many seconds")
      ->check(CLI::PositiveNumber);
  command->add_option("--tokens", options->tune.budget.tokens, "At most so many of the model")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--money", options->tune.budget.money,
                   "At most so much for the model; needs --price")
      ->check(CLI::PositiveNumber)
      ->needs("--price");
  command->add_option("--seed", options->tune.seed, "Of the proposer")->capture_default_str();
  command
      ->add_option("--feedback", options->feedback,
                   "How much the proposer sees of a run's feedback")
      ->check(CLI::IsMember({"none", "execution", "explain", "suggest", "profile"}))
      ->capture_default_str();
  auto* start = command->add_option("--start", options->start,
                                    "A mapping to begin with; without one the default mapper");
  command->add_flag("--compare", options->tune.compare,
                    "Every proposal counts, none is repaired, and nothing is known at first");
  auto* out = command->add_option("--out", options->out,
                                  "A new directory for best.mapper, report and journal");
  command
      ->add_option(
          "--resume", options->resume,
          "Goes on with the search in this directory, as it was begun; budgets may be others")
      ->excludes(out)
      ->excludes(start);
  add_json_flag(*command, &options->json);
  command->footer(
      "Examples:\n"
      "  groma tune --app solomonik                     ten evaluations, no model\n"
      "  groma tune --app circuit --machine lassen:nodes=4 --evaluations 100 --out circuit\n"
      "  groma tune --resume circuit --evaluations 200  goes on\n"
      "  groma tune --app pennant --proposer trace --endpoint http://127.0.0.1:8080/v1");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
