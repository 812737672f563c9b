// groma tune: searches for a faster mapping, or for a better text of any other kind.
#include "tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "console.h"
#include "groma/proposers.h"
#include "groma/search_directory.h"
#include "groma/tune.h"
#include "inputs.h"
#include "tune_display.h"
#include "tune_subject.h"
#include "tune_text.h"
#include "tune_verify.h"

namespace driver {
namespace {

namespace fs = std::filesystem;
using groma::Error;
using End = groma::tuning::TuneOutcome::End;

// Default limits for the number of evaluations. A simulated run takes only milliseconds.
constexpr std::int64_t kSimulatedEvaluations = 100, kMeasuredEvaluations = 10;

// The time in seconds for a search if reading its inputs used up all of --time.
constexpr double kLeastSeconds = 1e-3;
// A mapping is recommended only if it gains at least this share of the start's time.
constexpr double kLeastGain = 0.02;

// Returns the proposer with this name, or null.
const groma::tuning::ProposerInfo* info_of(std::string_view proposer) {
  const auto infos = groma::tuning::proposers();
  const auto found = std::find_if(
      infos.begin(), infos.end(),
      [proposer](const groma::tuning::ProposerInfo& info) { return info.name == proposer; });
  return found == infos.end() ? nullptr : &*found;
}

// Returns the exit code for the way in which the search ended.
int exit_code_of(const groma::tuning::TuneOutcome& outcome) {
  if (outcome.end == End::kStopped) return kInterrupted;
  if (!outcome.best || outcome.end == End::kModel) return kWrongInput;
  const bool is_start = outcome.start && outcome.start->number == outcome.best->number;
  return outcome.end == End::kRejected && is_start ? kWrongInput : kFine;
}

// Fails with wrong usage if an input is given twice, or if the options do not say what is searched.
void check_usage(const TuneArguments& arguments) {
  const groma::tuning::SearchSetup& setup = arguments.setup;
  std::vector<std::string> inputs = setup.apps;
  for (const std::string& input : {setup.machine, arguments.start}) inputs.push_back(input);
  for (const auto* files : {&setup.files, &arguments.knowledge}) {
    inputs.insert(inputs.end(), files->begin(), files->end());
  }
  check_standard_input(inputs);
  for (auto app = setup.apps.begin(); app != setup.apps.end(); ++app) {
    if (std::find(setup.apps.begin(), app, *app) != app) {
      throw CLI::ValidationError("--app", fmt::format("`{}` is given twice", visible(*app)));
    }
  }
  if (arguments.resumes()) return;
  if (setup.apps.empty() && setup.files.empty()) {
    throw CLI::ValidationError("--app, --file", "give only one of them");
  }
  if (!setup.apps.empty() && !setup.files.empty()) {
    throw CLI::ValidationError("--app, --file",
                               "with `--app` the search is for a mapping, which starts from "
                               "`--start`; `--file` is for other texts");
  }
  if (setup.pareto && setup.input_count() < 2) {
    throw CLI::ValidationError(
        "--pareto", fmt::format("needs at least two inputs: give `{}` again, with another {}",
                                setup.command.command.empty() ? "--app" : "--input",
                                setup.command.command.empty() ? "size" : "value of `{input}`"));
  }
}

// Fills in the values that no option sets. A resumed search keeps its stored setup, except for the
// budgets that the command line gives.
void complete(TuneArguments* arguments) {
  groma::tuning::SearchSetup& setup = arguments->setup;
  groma::tuning::TuneBudget& budget = setup.budget;
  if (!arguments->resumes()) {
    std::error_code ignored;
    setup.command.folder = fs::current_path(ignored).string();
    setup.ask.temperature = arguments->chat.temperature;
    setup.override_layouts = arguments->program.override_layouts;
    setup.compare_results = arguments->program.checks != "never";
    setup.results = results_options(arguments->program);
    budget.evaluations =
        setup.command.command.empty() ? kSimulatedEvaluations : kMeasuredEvaluations;
    if (setup.proposer.empty()) setup.proposer = setup.files.empty() ? "guided" : "marks";
    // As in its paper, `scientist` sees only timings of runs that worked, unless the user asks for
    // more.
    if (setup.proposer == "scientist" && !arguments->has_feedback) setup.feedback = "explain";
  }
  if (arguments->evaluations) budget.evaluations = *arguments->evaluations;
  if (arguments->seconds) budget.seconds = *arguments->seconds;
  if (arguments->tokens) budget.tokens = *arguments->tokens;
  if (arguments->money) budget.money = *arguments->money;
}

// Makes the proposer. Fails with wrong usage if a new search cannot have it, or if it asks no model
// but a budget is given for one.
groma::Result<std::unique_ptr<groma::tuning::Proposer>> make_proposer(
    const TuneArguments& arguments, const groma::tuning::SearchProblem& problem) {
  const std::string& name = arguments.setup.proposer;
  auto proposer =
      groma::tuning::make_proposer(name, problem, arguments.setup.seed, arguments.setup.ask);
  // Some proposers work only on mappings.
  const groma::tuning::ProposerInfo* info = info_of(name);
  const bool usable = info != nullptr && (problem.is_mapping() || !info->mappings_only) &&
                      // The proposer `marks` cannot begin with an empty text.
                      !(problem.is_mapping() && problem.start.empty() && info->name == "marks");
  if (!usable && !arguments.resumes()) {
    throw CLI::ValidationError("--proposer",
                               proposer.error().message + "; " + proposer.error().help);
  }
  if (!proposer) return proposer;
  for (const auto& [option, given] : {std::pair("--tokens", arguments.tokens.has_value()),
                                      {"--money", arguments.money.has_value()}}) {
    if (info->asks_model || !given) continue;
    throw CLI::ValidationError(option,
                               fmt::format("the proposer `{}` does not use a model", info->name));
  }
  return proposer;
}

// Makes the client of the model. Fails if the search is resumed and nobody named a model.
groma::Result<groma::llm::ChatClient> make_model(const TuneArguments& arguments) {
  if (arguments.resumes() && !names_model(arguments)) {
    return groma::tuning::unusable_search_error(
        arguments.resume, "uses a model",
        "name it with `--endpoint` or `--model`, or give `--trust` "
        "to use the public address of the API");
  }
  const groma::tuning::TuneBudget& budget = arguments.setup.budget;
  if (budget.money > 0 && arguments.chat.price.empty()) {
    throw CLI::ValidationError("--price", "the search has a limit on cost, which needs the price");
  }
  groma::llm::ChatOptions chat;
  chat.max_tokens = budget.tokens;
  chat.max_money = budget.money;
  return make_chat_client(arguments.chat, std::move(chat));
}

// Returns an error if nobody answers at the endpoint of the model, or if the endpoint refuses the
// key. So a wrong address is found before the start is measured. A server that answers anything
// else is asked later: some have no list of models.
std::optional<Error> unreachable_model(const ChatArguments& arguments) {
  if (!arguments.replay.empty()) return std::nullopt;
  ChatArguments without_record = arguments;
  without_record.record.clear();
  groma::llm::ChatOptions options;
  options.attempts = 1;
  options.total_timeout_ms = options.connect_timeout_ms;
  auto client = make_chat_client(without_record, std::move(options));
  if (!client) return client.error();
  const auto models = client->models(chat_watch());
  using Code = groma::llm::ChatError::Code;
  if (models) return std::nullopt;
  const groma::llm::ChatError& error = models.error();
  const bool is_final = error.code == Code::kUnreachable || error.code == Code::kCertificate ||
                        error.code == Code::kKey;
  if (!is_final) return std::nullopt;
  return Error{Error::Code::kUnreadable, "the model cannot be asked: " + error.message, error.help};
}

// Returns the evaluator that gives estimates in the search; null if there are none. The simulator
// estimates what a command measures. For simulated runs, rehearsals do so for `guided`; other
// proposers would ask a model more often.
groma::tuning::Evaluator* estimator_for(const Subject& subject,
                                        const groma::tuning::TuneBudget& budget,
                                        std::string_view proposer) {
  if (budget.estimates == 0 || !subject.problem.is_mapping()) return nullptr;
  if (subject.command) return subject.runtime.get();
  return proposer == "guided" ? subject.rehearsed.get() : nullptr;
}

// Returns the options of the search, without its directory.
groma::tuning::TuneOptions tune_options(const TuneArguments& arguments, const Subject& subject) {
  const groma::tuning::SearchSetup& setup = arguments.setup;
  groma::tuning::TuneOptions options;
  options.budget = setup.budget;
  options.seed = setup.seed;
  options.feedback = *groma::guide_detail(setup.feedback);
  options.threads = arguments.jobs;
  options.compare = setup.compare;
  options.pareto = setup.pareto;
  if (subject.problem.is_mapping() && !setup.compare && !setup.pareto) {
    options.least_gain = kLeastGain;
  }
  if (options.compare) options.evaluate_start = !subject.problem.start.empty();
  options.resume = arguments.resumes();
  options.fingerprint = options.resume ? arguments.fingerprint : groma::tuning::to_text(setup);
  options.marks = subject.marks;
  options.stop = [] { return interrupted(); };
  return options;
}

// Sets `*directory` to the directory of the search. Creates a new directory if neither --out nor
// --resume names one. Returns an error if the search would replace a file in the directory.
std::optional<Error> choose_directory(const TuneArguments& arguments, std::string* directory) {
  *directory = arguments.resumes()     ? arguments.resume
               : arguments.out.empty() ? groma::tuning::make_search_directory()
                                       : arguments.out;
  if (arguments.resumes()) return std::nullopt;
  if (auto error = groma::tuning::error_if_search_has_links(*directory)) return error;
  return groma::tuning::error_if_search_replaces(*directory);
}

// Returns true if no budget ends the search.
bool is_unbounded(const groma::tuning::TuneBudget& budget) {
  return budget.evaluations == 0 && budget.tokens == 0 && !(budget.seconds > 0) &&
         !(budget.money > 0);
}

// Returns true if a search of --file found a best text that is not the start, and neither compared
// results nor a check command has checked that text.
bool is_unchecked(const groma::tuning::SearchSetup& setup,
                  const groma::tuning::TuneOutcome& outcome) {
  const bool is_other =
      outcome.best && outcome.start && outcome.best->number != outcome.start->number;
  const bool is_checked = !setup.results.same.empty() || !setup.command.check_command.empty();
  return is_other && !setup.files.empty() && !is_checked;
}

// Returns the last lines of the output: the outcome of the search, the directory and its files, and
// the command that resumes the search.
std::string end_words(const groma::tuning::TuneOutcome& outcome, const Subject& subject,
                      const std::string& directory, bool asks_model) {
  std::string left;
  if (outcome.best) left = subject.problem.is_mapping() ? "best.mapper, " : "best.txt, ";
  if (outcome.best && subject.problem.has_several_files()) left = "best.FILE for each file, ";
  if (!outcome.front.empty()) left += fmt::format("{}/, ", groma::tuning::kFrontFolder);
  std::string text =
      fmt::format("\n{}{}in     {}: {}report.txt, steps.txt, journal.jsonl\n",
                  groma::tuning::draw(outcome, subject.evaluator()),
                  groma::tuning::draw_front(outcome, subject.evaluator()), directory, left);
  const bool stopped = outcome.end == End::kStopped;
  if (!stopped && !outcome.spent_before) return text;
  // `outcome.budget` is the name of the option that sets the budget which ended the search.
  const std::string more = stopped ? "" : fmt::format(" --{} N, with a larger N", outcome.budget);
  // The directory stores neither the documents nor the model.
  std::string again = subject.command ? " --trust" : "";
  if (!subject.problem.knowledge.empty()) again += " --knowledge ...";
  if (asks_model) again += " --endpoint ...";
  return text + fmt::format("go on  groma tune --resume {}{}{}\n", directory, again, more);
}

}  // namespace

std::optional<groma::Error> no_directory(const char* option, const std::string& name) {
  auto error = groma::tuning::not_a_directory(name);
  if (!error) return std::nullopt;
  error->message = fmt::format("{}: {}", option, error->message);
  error->help += fmt::format(": {} DIR", option);
  return error;
}

// The steps are: read the inputs, make the model and the proposer, search, report, verify.
int run_tune(TuneArguments arguments) {
  check_usage(arguments);
  catch_interrupts();
  const bool json = arguments.json;
  if (const auto error = no_directory("--out", arguments.out)) return refuse_search(*error, json);
  std::string recorded_start;
  if (arguments.resumes()) {
    if (const auto error = read_search(&arguments, &recorded_start)) {
      return refuse_search(*error, json);
    }
  } else if (arguments.setup.on_legion) {
    if (const auto error = begin_on_legion(&arguments.setup)) return refuse_search(*error, json);
  }
  complete(&arguments);
  if (!arguments.resumes() && !arguments.setup.files.empty()) {
    if (const auto error = complete_text_setup(&arguments)) return refuse_search(*error, json);
  }
  if (arguments.setup.files.empty() && !arguments.knowledge.empty()) {
    throw CLI::ValidationError("--knowledge", "only valid for a search with --file");
  }
  // The name may be that of no proposer, which make_proposer() reports.
  const groma::tuning::ProposerInfo* info = info_of(arguments.setup.proposer);
  const bool asks_model = info != nullptr && info->asks_model;
  const bool names_endpoint = !arguments.setup.files.empty() && !arguments.chat.endpoint.empty();
  if (!asks_model && !arguments.resumes() && (names_endpoint || !arguments.knowledge.empty())) {
    throw CLI::ValidationError(names_endpoint ? "--endpoint" : "--knowledge",
                               fmt::format("the proposer `{}` does not use a model; name one that "
                                           "does with `--proposer`, such as `scientist`",
                                           arguments.setup.proposer));
  }
  if (interrupted()) return kInterrupted;
  const groma::tuning::SearchSetup& setup = arguments.setup;
  // The time for reading and checking the inputs counts, too.
  const Deadline deadline(setup.budget.seconds > 0 ? setup.budget.seconds : HUGE_VAL);
  arguments.simulate.stop = [&deadline] { return interrupted() || deadline.over(); };
  std::error_code ignored;
  const fs::path here = fs::current_path(ignored);
  // The paths of the machine and application files are relative to the folder in which the search
  // began.
  fs::current_path(setup.command.folder, ignored);
  auto subject = read_subject(arguments, recorded_start);
  fs::current_path(here, ignored);
  if (interrupted()) return kInterrupted;
  if (!subject) return kWrongInput;
  const auto proposer = make_proposer(arguments, subject->problem);
  if (!proposer) return refuse_search(proposer.error(), json);
  std::optional<groma::llm::ChatClient> model;
  if (asks_model) {
    auto client = make_model(arguments);
    if (!client) return refuse_search(client.error(), json);
    model = std::move(client).value();
    if (!arguments.resumes()) {
      if (const auto error = unreachable_model(arguments.chat)) return refuse_search(*error, json);
      if (interrupted()) return kInterrupted;
    }
  }
  // With --verify, the program is run once before the search, so that a wrong program is found
  // early.
  std::vector<std::string> warnings;
  if (arguments.verify) {
    auto looked = look_at_program(arguments, *subject);
    if (interrupted()) return kInterrupted;
    if (!looked) return refuse_search(looked.error(), json);
    warnings = std::move(looked).value();
  }
  groma::tuning::TuneOptions options = tune_options(arguments, *subject);
  if (const auto error = choose_directory(arguments, &options.directory)) {
    return refuse_search(*error, json);
  }
  if (model) {
    for (const std::string& note : notes_about_prompts(arguments, subject->problem)) {
      print_error(fmt::format("groma: {}\n", note));
    }
  }
  if (is_unbounded(setup.budget) && !json) {
    print_error(
        "groma: the search has no limit: Ctrl-C ends it and keeps the best result so far\n");
  }
  Display display(subject->evaluator(), std::move(subject->notes), json);
  groma::tuning::BestSteps best;
  // The best mappings are kept, because --verify runs several of them.
  options.on_event = [&](const groma::tuning::TuneEvent& event) {
    display(event);
    if (event.kind == groma::tuning::TuneEvent::Kind::kEvaluated) best.add(*event.step);
  };
  // Reading the inputs used a part of the time. The rest must stay above 0, because 0 would mean no
  // limit.
  if (options.budget.seconds > 0) {
    options.budget.seconds = std::max(kLeastSeconds, deadline.seconds_left());
  }
  const auto outcome = groma::tuning::tune(
      subject->problem, subject->evaluator(), **proposer, model ? &*model : nullptr,
      estimator_for(*subject, options.budget, (*proposer)->name()), options);
  display.clear();
  if (!outcome) {
    // A directory that this command made stays only if something is in it.
    if (!arguments.resumes() && arguments.out.empty()) fs::remove(options.directory, ignored);
    return refuse_search(outcome.error(), json);
  }
  display.say(json ? groma::tuning::to_json(*outcome)
                   : end_words(*outcome, *subject, options.directory, asks_model));
  if (!display.fine()) return kWrongInput;
  if (is_unchecked(setup, *outcome) && !json) {
    print_error(
        "groma: nothing checked whether the results are right: use `--same RE` for output lines "
        "that must not change, or `--check-command` to check a text\n");
  }
  // A complete search that was measured with Legion programs is compared with runs without a
  // mapping.
  const int code = exit_code_of(*outcome);
  if (setup.on_legion && outcome->best && !outcome->spent_before && code == kFine &&
      !deadline.over()) {
    return compare_without_mapping(arguments, *outcome, *subject);
  }
  if (!arguments.verify || code == kInterrupted || !outcome->best) return code;
  return verify_search(arguments, *outcome, best, *subject, options.directory, warnings);
}

}  // namespace driver
