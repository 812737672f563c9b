// groma write: lets a language model write a mapping from a sentence.
#include "groma/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "commands.h"
#include "console.h"
#include "groma/inspect.h"
#include "groma/system.h"
#include "inputs.h"
#include "llm.h"

namespace driver {
namespace {

using groma::tuning::WritingOptions;
using groma::tuning::WritingProblem;
using groma::tuning::WrittenMapping;

// The values of the options of `groma write`.
struct WriteArguments {
  std::string sentence, machine, app, start, out;
  ChatArguments chat;
  WritingOptions writing;
  groma::LayoutOverrides override_layouts;
  bool force = false, json = false;
};

// Passes log lines on, each below the progress line.
class BelowProgressLine final : public groma::LogSink {
 public:
  void log(groma::LogLevel level, std::string_view line) override {
    if (can_rewrite_lines()) rewrite_line("");
    driver::log().log(level, line);
  }
};

// Fails with wrong usage if the same file is read and written, or standard input is read twice.
void check_usage(const WriteArguments& arguments) {
  check_standard_input(
      {arguments.sentence == "-" ? "-" : "", arguments.machine, arguments.app, arguments.start});
  check_written({{"--output", arguments.out}, {"--record", arguments.chat.record}},
                {arguments.machine, arguments.app, arguments.start, arguments.chat.key_file,
                 arguments.chat.replay});
}

// Returns the error if the output file cannot be written, or exists and must not be replaced.
std::optional<groma::Error> find_output_error(const WriteArguments& arguments) {
  std::error_code code;
  const bool is_file = !arguments.out.empty() && arguments.out != "-";
  if (is_file && !arguments.force && std::filesystem::exists(arguments.out, code)) {
    return groma::Error{groma::Error::Code::kUnreadable,
                        fmt::format("`{}` exists already", arguments.out),
                        "--force replaces the file"};
  }
  return first_unwritable_file({{"--output", arguments.out}});
}

// Returns the sentence, which `-` reads from standard input. Fails if it is empty or too long.
groma::Result<std::string> read_sentence(const std::string& given) {
  constexpr std::size_t kMaxBytes = groma::tuning::kMaxSentenceBytes;
  auto sentence = given == "-" ? groma::read_file("-", kMaxBytes) : groma::Result(given);
  if (!sentence) return sentence.error();
  if (sentence->size() > kMaxBytes) {
    return groma::Error{groma::Error::Code::kTooLarge,
                        fmt::format("the sentence has {} bytes; at most {} are allowed",
                                    sentence->size(), kMaxBytes)};
  }
  if (sentence->find_first_not_of(" \t\r\n") == std::string::npos) {
    return groma::Error{groma::Error::Code::kMalformed, "the sentence is empty",
                        "say what the mapping shall do, for example 'Place all tasks onto GPUs'"};
  }
  return sentence;
}

// Returns "2 rounds, 3000 + 95 tokens", with the cost if the price is known.
std::string cost_words(const WrittenMapping& written) {
  std::string words =
      fmt::format("{} round{}, {}{} + {} tokens", written.rounds, written.rounds == 1 ? "" : "s",
                  written.usage.estimated ? "about " : "", written.usage.input_tokens,
                  written.usage.output_tokens);
  if (written.money) words += fmt::format(", costs {:.2g}", *written.money);
  return words;
}

// Reports on standard error why there is no mapping without errors.
int report_failure(const WrittenMapping& written) {
  if (!written.text.empty()) show_diagnostics(written.diags);
  if (written.error) return refuse(written.error->message, written.error->help);
  const std::string why = written.text.empty()
                              ? fmt::format("the model wrote no mapping: {}", written.refusal)
                              : "the model's last mapping has errors";
  return refuse(fmt::format("{} ({})", why, cost_words(written)),
                "say it in other words, name another model, or allow more --repairs");
}

// Reports why nothing could be written, as text or as JSON. Returns kWrongInput.
int refuse_to_write(const groma::Error& error, bool json) {
  if (!json) return refuse(error);
  static_cast<void>(print(groma::llm::to_json(error)));
  return kWrongInput;
}

// Prints or stores the mapping, and prints what it decides on standard error. Returns the exit
// code.
int report(const WriteArguments& arguments, const WrittenMapping& written) {
  const bool to_file = !arguments.out.empty() && arguments.out != "-";
  if (written.ok() && to_file) {
    if (const auto error = groma::write_file(arguments.out, written.text)) return refuse(*error);
  }
  if (arguments.json) {
    const int printed = print(to_json(written));
    return written.ok() ? printed : kWrongInput;
  }
  if (!written.ok()) return report_failure(written);
  show_diagnostics(written.diags);
  print_error(fmt::format("{}({})\n", draw(written), cost_words(written)));
  if (arguments.app.empty()) print_error("help: --app names the application\n");
  // The mapping is good, but the model could not be told about a warning.
  if (written.error) print_error(fmt::format("note: {}\n", written.error->message));
  return to_file ? kFine : print(written.text);
}

// Reads the inputs, lets the model write, and reports the result. Returns the exit code.
int run(WriteArguments arguments) {
  check_usage(arguments);
  catch_interrupts();
  if (const auto error = find_output_error(arguments)) {
    return refuse_to_write(*error, arguments.json);
  }
  // An application is mapped to a machine, so there is always one.
  if (!arguments.app.empty() && arguments.machine.empty()) arguments.machine = "p100x4";
  std::optional<groma::Diagnostics> diags;
  const auto with = read_inputs(arguments.machine, arguments.app, &diags,
                                {[] { return interrupted(); }, arguments.override_layouts});
  if (interrupted()) return kInterrupted;
  if (!with) return fail(*diags, arguments.json);
  WritingProblem problem;
  if (with->machine) problem.machine = std::make_shared<const groma::Machine>(*with->machine);
  if (with->workload) problem.app = &*with->workload;
  if (!arguments.start.empty()) {
    if (!read_source(arguments.start, &diags)) return fail(*diags, arguments.json);
    problem.start = diags->source().text();
  }
  auto sentence = read_sentence(arguments.sentence);
  if (!sentence) return refuse_to_write(sentence.error(), arguments.json);
  problem.sentence = std::move(sentence).value();
  // Few attempts are made, because a person waits for the result.
  groma::llm::ChatOptions chat;
  chat.attempts = 3;
  auto client = make_chat_client(arguments.chat, std::move(chat));
  if (!client) return refuse_to_write(client.error(), arguments.json);

  BelowProgressLine sink;
  std::optional<ProgressLine> line("asking the model");
  WritingOptions& options = arguments.writing;
  options.temperature = arguments.chat.temperature.value_or(options.temperature);
  options.log = &sink;
  options.check.stop = [] { return interrupted(); };
  const auto stop = [&line] {
    line->update("");
    return interrupted();
  };
  WrittenMapping written =
      groma::tuning::write_mapping(client.value(), problem, options, {stop, {}});
  line.reset();
  if (interrupted()) return kInterrupted;
  if (written.ok() && problem.app != nullptr) {
    groma::check_nodes(*problem.machine, *with->app, written.diags);
  }
  return report(arguments, written);
}

}  // namespace

void add_write(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<WriteArguments>();
  CLI::App* command = app.add_subcommand(
      "write", "Let a language model write a mapping from a sentence, and say what it decides");
  command
      ->add_option("SENTENCE", arguments->sentence,
                   "What the mapping shall do, in any words; `-` reads it from standard input")
      ->required()
      ->check(not_empty);
  add_app_option(*command, &arguments->app,
                 "The application: a name that `groma apps` lists, or a JSON file; with values for "
                 "its parameters such as cannon:n=8000,repeats=2. Without it, the model knows no "
                 "names, and only the text of the mapping is checked");
  add_machine_option(*command, &arguments->machine,
                     "The machine (default with --app: p100x4; without --app: none)");
  command
      ->add_option("--start", arguments->start,
                   "A mapping that the sentence changes; `-` is standard input")
      ->type_name(kMappingType)
      ->check(not_empty);
  command
      ->add_option("--repairs", arguments->writing.repairs,
                   "Limit the rounds after the first one, in which the model repairs its mapping")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command
      ->add_option("-o,--output", arguments->out,
                   "The file to write (default: standard output). A file that exists is not "
                   "replaced")
      ->type_name(kFileType)
      ->check(not_empty);
  command->add_flag("--force", arguments->force, "Replace the file of --output");
  constexpr const char* kModelGroup = "A language model";
  const auto before = command->get_options();
  add_chat_options(*command, &arguments->chat);
  command->add_flag("--constrain", arguments->writing.constrain,
                    "Let the endpoint force the reply into the grammar, if it can");
  command
      ->add_option("--reply-tokens", arguments->writing.reply_tokens,
                   "Limit the tokens of one reply")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str();
  for (CLI::Option* option : command->get_options()) {
    const bool is_older = std::find(before.begin(), before.end(), option) != before.end();
    if (!is_older) option->group(kModelGroup);
  }
  add_override_layouts_flag(*command, &arguments->override_layouts);
  add_memory_option(*command, &arguments->writing.check.max_bytes,
                    "Limit the memory of the check for run-time failures, in MiB");
  add_json_flag(*command, &arguments->json);
  command->footer(
      "Examples:\n"
      "  groma write 'Place the ghost regions in zero-copy memory' --app circuit \\\n"
      "      --endpoint http://127.0.0.1:8080 > my.mapper\n"
      "  groma write - --app my.json --machine lassen:nodes=4 -o my.mapper < wishes.txt\n"
      "  groma write 'Use at most 8 instances of work' --app my.json --start my.mapper\n"
      "                                                 changes a mapping\n\n"
      "Exit codes: 0 fine, 1 there is no mapping without errors, 2 wrong usage, 130 after Ctrl-C.");
  command->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace driver
