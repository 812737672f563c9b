#include "domain_derive.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands.h"
#include "console.h"
#include "domain_inputs.h"
#include "groma/system.h"
#include "inputs.h"

namespace driver {
namespace {

using groma::domains::Derivation;
using groma::domains::Domain;
using groma::domains::Grade;
using groma::domains::ModelAnswer;
using groma::domains::Samples;
using groma::domains::Support;
using Json = nlohmann::ordered_json;

// Where the samples come from, and what is known behind them.
struct DeriveInput {
  // The samples that are used, and all that the file has.
  Samples used, all;
  // The known domain of --of.
  std::optional<Domain> truth;
};

// What the command found.
struct DeriveOutcome {
  std::vector<Derivation> derivations;
  double seconds = 0;
  // The samples that were held out, and the points of the known domain.
  std::optional<Grade> held_out, compared;
};

// A formula of a model or of the genetic programme, and how good it is.
struct FormulaOutcome {
  std::string by, text, refusal;
  Grade samples;
  std::optional<Grade> held_out, compared;
  // What the model answered. nullopt: the genetic programme made the formula.
  std::optional<ModelAnswer> model;
};

std::optional<DeriveInput> read_input(const DeriveArguments& arguments, int* exit_code) {
  DeriveInput input;
  if (!arguments.of.empty()) {
    input.truth = make_known(arguments.of, arguments.points);
    if (!input.truth) {
      *exit_code = refuse(fmt::format("no domain is named `{}`", arguments.of),
                          "`groma domain list` shows those that Groma knows");
      return std::nullopt;
    }
    constexpr std::size_t kUsualCount = 100;
    input.all = first_samples(*input.truth, arguments.first.value_or(kUsualCount));
  } else {
    std::optional<groma::Diagnostics> diags;
    std::optional<Samples> samples;
    if (read_source(arguments.samples, &diags)) samples = groma::domains::read_samples(*diags);
    if (!samples) {
      *exit_code = fail(*diags, arguments.json);
      return std::nullopt;
    }
    input.all = std::move(*samples);
  }
  input.used = input.all.first(arguments.first.value_or(input.all.points.size()));
  return input;
}

// Compares a map with the samples that were not used.
std::optional<Grade> grade_held_out(const groma::domains::PointFunction& answer,
                                    const DeriveInput& input) {
  const auto first = static_cast<std::int64_t>(input.used.points.size());
  const auto count = static_cast<std::int64_t>(input.all.points.size()) - first;
  if (count == 0) return std::nullopt;
  return groma::domains::grade_answer(
      [&](std::int64_t k) { return answer(first + k); },
      [&](std::int64_t k) {
        return std::optional(input.all.points[static_cast<std::size_t>(first + k)]);
      },
      count);
}

std::optional<Grade> grade_compared(const groma::domains::PointFunction& answer,
                                    const DeriveInput& input, std::int64_t points) {
  if (!input.truth) return std::nullopt;
  return groma::domains::grade_answer(answer, groma::domains::point_function(*input.truth),
                                      std::min(points, input.truth->count()),
                                      [] { return interrupted(); });
}

DeriveOutcome find_domain(const DeriveArguments& arguments, const DeriveInput& input) {
  DeriveOutcome outcome;
  const auto begin = std::chrono::steady_clock::now();
  outcome.derivations = groma::domains::derive_domain(
      input.used, {arguments.name, /*is_ordered=*/!arguments.unordered});
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (outcome.derivations.empty() || arguments.unordered) return outcome;
  const auto count = std::max<std::int64_t>(static_cast<std::int64_t>(input.all.points.size()),
                                            input.truth ? arguments.points : 0);
  const auto domain = groma::domains::make_domain(outcome.derivations.front(), count);
  if (!domain) return outcome;
  const auto map = groma::domains::point_function(*domain);
  outcome.held_out = grade_held_out(map, input);
  outcome.compared = grade_compared(map, input, arguments.points);
  return outcome;
}

// ---- Text

std::string count_words(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string grade_words(const Grade& grade) {
  return fmt::format("{} of {} in order, {} in any order{}", grade.in_order,
                     count_words(grade.points, "point"), grade.in_any_order,
                     grade.is_cut_off ? " (cut off)" : "");
}

std::string evidence_words(const Derivation& derivation) {
  return fmt::format("{}: {} for {}", name_of(derivation.support),
                     count_words(derivation.evidence, "confirming equation"),
                     count_words(derivation.description, "number"));
}

void add_grades(const std::optional<Grade>& held_out, const std::optional<Grade>& compared,
                const std::string& of, std::string* text) {
  if (held_out) *text += fmt::format("# samples that were held out: {}\n", grade_words(*held_out));
  if (compared) *text += fmt::format("# compared with {}: {}\n", of, grade_words(*compared));
}

// Returns the outcome as a text with declarations, in which everything else is a comment.
std::string render(const DeriveArguments& arguments, const DeriveInput& input,
                   const DeriveOutcome& outcome) {
  const Derivation& best = outcome.derivations.front();
  std::string text = fmt::format(
      "# from {}; {}\n", count_words(static_cast<std::int64_t>(input.used.points.size()), "sample"),
      evidence_words(best));
  if (!best.size_parameter.empty() && !arguments.unordered) {
    text += fmt::format("# the samples do not show how large {} is\n", best.size_parameter);
  }
  if (best.support == Support::kGuess) text += "# a guess: compare it with more points\n";
  for (const std::string& remark : best.remarks) text += fmt::format("# note: {}\n", remark);
  add_grades(outcome.held_out, outcome.compared, arguments.of, &text);
  for (std::size_t i = 1; i < outcome.derivations.size(); ++i) {
    const Derivation& other = outcome.derivations[i];
    constexpr std::size_t kMaxShown = 120;
    std::string shown = other.declaration;
    if (shown.size() > kMaxShown) shown = shown.substr(0, kMaxShown) + " ...";
    text += fmt::format("# also possible ({}): {}\n", evidence_words(other), shown);
  }
  return text + "\n" + best.declaration + "\n";
}

std::string render(const FormulaOutcome& formula, const std::string& of) {
  std::string text = fmt::format("\n# by {}: ", formula.by);
  if (formula.text.empty()) return text + formula.refusal + "\n";
  text += fmt::format("{}\n# samples: {}\n", formula.text, grade_words(formula.samples));
  // A formula of several lines stays a comment.
  for (std::size_t at = 1; (at = text.find('\n', at)) + 1 < text.size(); ++at) {
    if (text[at + 1] != '#') text.insert(at + 1, "#   ");
  }
  add_grades(formula.held_out, formula.compared, of, &text);
  return text;
}

// ---- JSON

Json grade_json(const std::optional<Grade>& grade) {
  if (!grade) return nullptr;
  return {{"points", grade->points},
          {"in_order", grade->in_order},
          {"in_any_order", grade->in_any_order},
          {"cut_off", grade->is_cut_off}};
}

Json derivation_json(const Derivation& derivation) {
  return {{"declaration", derivation.declaration},
          {"support", name_of(derivation.support)},
          {"evidence", derivation.evidence},
          {"description", derivation.description},
          {"remarks", derivation.remarks}};
}

Json formula_json(const FormulaOutcome& formula) {
  Json json = {{"formula", formula.text.empty() ? Json() : Json(formula.text)},
               {"refusal", formula.refusal.empty() ? Json() : Json(formula.refusal)},
               {"samples", grade_json(formula.samples)},
               {"held_out", grade_json(formula.held_out)},
               {"compared", grade_json(formula.compared)}};
  if (!formula.model) return json;
  const ModelAnswer& model = *formula.model;
  json["rounds"] = model.rounds;
  json["tokens"] = {{"input", model.usage.input_tokens},
                    {"output", model.usage.output_tokens},
                    {"estimated", model.usage.estimated}};
  json["money"] = model.money ? Json(*model.money) : Json();
  return json;
}

Json outcome_json(const DeriveInput& input, const DeriveOutcome& outcome) {
  Json json = {
      {"samples", input.used.points.size()},
      {"numbers", input.used.points.size() * input.used.names.size()},
      {"found",
       outcome.derivations.empty() ? Json() : derivation_json(outcome.derivations.front())},
      {"others", Json::array()},
      {"held_out", grade_json(outcome.held_out)},
      {"compared", grade_json(outcome.compared)},
      {"seconds", outcome.seconds}};
  for (std::size_t i = 1; i < outcome.derivations.size(); ++i) {
    json["others"].push_back(derivation_json(outcome.derivations[i]));
  }
  return json;
}

// ---- The other methods

FormulaOutcome grade_formula(const DeriveArguments& arguments, const DeriveInput& input,
                             std::string by, std::string text,
                             const groma::domains::PointFunction& map) {
  FormulaOutcome outcome;
  outcome.by = std::move(by);
  outcome.text = std::move(text);
  const auto count = static_cast<std::int64_t>(input.used.points.size());
  outcome.samples = groma::domains::grade_answer(
      map,
      [&](std::int64_t k) { return std::optional(input.used.points[static_cast<std::size_t>(k)]); },
      count);
  outcome.held_out = grade_held_out(map, input);
  outcome.compared = grade_compared(map, input, arguments.points);
  return outcome;
}

FormulaOutcome run_genetic(const DeriveArguments& arguments, const DeriveInput& input) {
  const std::string text = groma::domains::evolve_formula(input.used, arguments.evolution);
  groma::Diagnostics diags(groma::Source("formula", text));
  auto formula = groma::domains::Formula::read(diags, input.used.dimensions());
  GROMA_CHECK(formula.has_value());
  return grade_formula(arguments, input, "the genetic programme", text,
                       [&](std::int64_t k) { return formula->point(k); });
}

// Asks the model. Returns nullopt, with the exit code set, if nobody can be asked.
std::optional<FormulaOutcome> run_model(const DeriveArguments& arguments, const DeriveInput& input,
                                        int* exit_code) {
  groma::llm::ChatOptions chat;
  // Few attempts are made, because a person waits for the result.
  chat.attempts = 3;
  auto client = make_chat_client(arguments.chat, std::move(chat));
  if (!client) {
    *exit_code = refuse(client.error());
    return std::nullopt;
  }
  groma::domains::ModelOptions options = arguments.model;
  options.temperature = arguments.chat.temperature.value_or(options.temperature);
  std::optional<ProgressLine> line("asking the model");
  ModelAnswer answer = groma::domains::ask_for_map(client.value(), input.used, options,
                                                   {[&line] {
                                                      line->update("");
                                                      return interrupted();
                                                    },
                                                    {}});
  line.reset();
  if (answer.error && answer.text.empty()) {
    *exit_code = interrupted() ? kInterrupted : refuse(answer.error->message, answer.error->help);
    return std::nullopt;
  }
  FormulaOutcome outcome;
  outcome.by = "the model";
  outcome.refusal = answer.refusal;
  if (answer.point) {
    outcome = grade_formula(arguments, input, "the model", answer.text, answer.point);
  }
  outcome.model = std::move(answer);
  return outcome;
}

int run_derive(const DeriveArguments& arguments) {
  catch_interrupts();
  check_written({{"--out", arguments.out}, {"--record", arguments.chat.record}},
                {arguments.samples, arguments.chat.key_file, arguments.chat.replay});
  if (const auto error = first_unwritable_file({{"--out", arguments.out}})) return refuse(*error);
  if (arguments.table) return print_derivation_table(arguments);
  int exit_code = kFine;
  const auto input = read_input(arguments, &exit_code);
  if (!input) return exit_code;
  const DeriveOutcome outcome = find_domain(arguments, *input);
  std::vector<FormulaOutcome> formulas;
  if (arguments.genetic) formulas.push_back(run_genetic(arguments, *input));
  if (arguments.asks_model()) {
    auto formula = run_model(arguments, *input, &exit_code);
    if (!formula) return exit_code;
    formulas.push_back(std::move(*formula));
  }
  if (interrupted()) return kInterrupted;
  const bool is_found = !outcome.derivations.empty();
  std::string text = is_found ? render(arguments, *input, outcome) : "";
  for (const FormulaOutcome& formula : formulas) text += render(formula, arguments.of);
  if (!arguments.out.empty() && is_found) {
    if (const auto error = groma::write_file(arguments.out, text)) return refuse(*error);
  }
  if (arguments.json) {
    Json json = outcome_json(*input, outcome);
    for (const FormulaOutcome& formula : formulas) {
      json[formula.model ? "model" : "genetic"] = formula_json(formula);
    }
    const int printed = print(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    return is_found ? printed : kWrongInput;
  }
  if (arguments.out.empty() || !is_found) exit_code = print(text);
  if (is_found) return exit_code;
  const std::string refusal = fmt::format(
      "no nested loops and no self-similar set yield these {} samples", input->used.points.size());
  if (arguments.unordered) return refuse(refusal, "the samples must be all points of the domain");
  const auto near = groma::domains::find_near_fit(input->used);
  return refuse(refusal, near ? groma::domains::words_of(*near)
                              : "give more samples, or --unordered if the samples are all points "
                                "in any order");
}

}  // namespace

std::optional<Domain> make_known(const std::string& name, std::int64_t points) {
  const auto declaration = groma::domains::known_domains()->find(name);
  if (!declaration) return std::nullopt;
  Derivation derivation;
  derivation.declaration = declaration->text();
  if (!derivation.declaration.ends_with(';')) derivation.declaration += ';';
  const auto parameters = declaration->parameters();
  if (!parameters.empty()) derivation.size_parameter = parameters.front().first;
  return groma::domains::make_domain(derivation, points);
}

Samples first_samples(const Domain& domain, std::size_t count) {
  Samples samples;
  for (const char* name : {"x", "y", "z"}) samples.names.emplace_back(name);
  if (domain.dimensions() == 4) samples.names.insert(samples.names.begin(), "w");
  samples.names.resize(static_cast<std::size_t>(domain.dimensions()));
  const auto some = std::min<std::int64_t>(static_cast<std::int64_t>(count), domain.count());
  for (std::int64_t k = 0; k < some; ++k) samples.points.push_back(domain.point(k));
  return samples;
}

void add_domain_derive(CLI::App& command, int* exit_code) {
  auto arguments = std::make_shared<DeriveArguments>();
  CLI::App* part =
      command.add_subcommand("derive", "Find a domain from its first points, without a model");
  CLI::Option* file =
      part->add_option("SAMPLES", arguments->samples,
                       "A CSV file with a line for each point, with the columns k,x,y,... or only "
                       "x,y,...; `-` is standard input")
          ->type_name(kFileType)
          ->check(not_empty);
  CLI::Option* of = part->add_option("--of", arguments->of,
                                     "Take the samples from this known domain, and compare the "
                                     "result with its further points")
                        ->type_name(kDomainType)
                        ->check(not_empty)
                        ->excludes(file);
  part->add_option("--samples", arguments->first,
                   "Use only the first N samples, and compare the result with the others")
      ->check(CLI::Range(std::size_t{1}, groma::domains::kMaxSamples));
  part->add_flag("--unordered", arguments->unordered,
                 "The samples are all points of the domain, in any order");
  part->add_option("--name", arguments->name, "The name of the derived domain")
      ->check([](const std::string& name) {
        groma::Diagnostics diags(
            groma::Source("", fmt::format("domain {} = x in loops x < 1;", name)));
        return groma::domains::DomainLibrary::read(diags) ? ""
                                                          : "it cannot be the name of a domain";
      })
      ->capture_default_str();
  part->add_option("--out", arguments->out, "Write the declaration to this file")
      ->type_name(kFileType)
      ->check(not_empty);
  part->add_flag("--genetic", arguments->genetic,
                 "Also evolve a formula by a genetic programme, for comparison");
  part->add_option("--generations", arguments->evolution.generations,
                   "Limit the generations of the genetic programme")
      ->check(CLI::Range(0, 10000))
      ->capture_default_str();
  CLI::Option* table =
      part->add_flag("--table", arguments->table,
                     "Print a table: six domains from 20, 50 and 100 samples, by all methods")
          ->excludes(file)
          ->excludes(of);
  part->add_option("--points", arguments->points,
                   "How many points are compared with --of and --table")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 24))
      ->capture_default_str();
  part->add_option("--gplearn", arguments->gplearn,
                   "The results of benchmarks/peers/run_gplearn.py, for the table")
      ->type_name(kFileType)
      ->check(not_empty)
      ->needs(table);
  add_json_flag(*part, &arguments->json);
  const auto before = part->get_options();
  add_chat_options(*part, &arguments->chat);
  part->add_option("--reply-tokens", arguments->model.reply_tokens, "Limit the tokens of one reply")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str();
  part->add_option("--repairs", arguments->model.repairs,
                   "Limit the questions after the first one, in which the model repairs its answer")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  for (CLI::Option* option : part->get_options()) {
    const bool is_older = std::find(before.begin(), before.end(), option) != before.end();
    if (!is_older) option->group("A language model, which is also asked with these options");
  }
  part->footer(
      "Examples:\n"
      "  groma domain derive points.csv\n"
      "  groma domain derive points.csv --samples 50 --name mine --out my.domain\n"
      "  groma domain derive --of menger --samples 21\n"
      "  groma domain derive points.csv --endpoint http://127.0.0.1:8080/v1\n"
      "  groma domain derive --table\n\n"
      "Exit codes: 0 found, 1 nothing found or the input is wrong, 2 wrong usage, 130 after "
      "Ctrl-C.");
  part->callback([arguments, file, of, exit_code] {
    if (file->count() + of->count() == 0 && !arguments->table) {
      throw CLI::RequiredError("SAMPLES, --of or --table");
    }
    *exit_code = run_derive(*arguments);
  });
}

}  // namespace driver
