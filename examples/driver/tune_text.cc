// Reads the files of a search for another text than a mapping, the documents that a model is shown,
// and what a command says about the machine.
#include "tune_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "console.h"
#include "groma/source.h"
#include "groma/system.h"
#include "groma/text_files.h"
#include "inputs.h"

namespace driver {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 1 << 20, kMaxDocumentBytes = 4 << 20, kMaxDocuments = 32;
constexpr std::size_t kMaxProbeBytes = 4'000;
constexpr std::int64_t kProbeMs = 60'000;
// Limits on the tokens of a reply that the size of a text decides. A token has some three bytes,
// and a reply may repeat the whole text.
constexpr std::size_t kMaxReplyTokens = 32'768, kBytesOfToken = 3;

std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

// Returns the file's content. Fails if it is not a text.
groma::Result<groma::NamedText> read_named_text(const std::string& path, std::size_t most) {
  auto text = groma::read_file(path, most);
  if (!text) return text.error();
  // A text has no NUL and few other control characters. A PDF may look like one.
  const auto controls = std::count_if(text->begin(), text->end(), [](unsigned char c) {
    return c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f';
  });
  if (text->find('\0') != text->npos || text->starts_with("%PDF-") ||
      20 * static_cast<std::size_t>(controls) > text->size()) {
    return groma::Error{groma::Error::Code::kMalformed,
                        fmt::format("`{}` is not a text", shown_name(path)),
                        "convert it first, a PDF for example with `pdftotext`"};
  }
  return groma::NamedText{name_of(path), std::move(text).value()};
}

// Returns an error if the documents are not those with which a resumed search began.
std::optional<groma::Error> wrong_documents(const TuneArguments& arguments) {
  const std::vector<std::string>& recorded = arguments.setup.knowledge;
  std::vector<std::string> given;
  for (const std::string& path : arguments.knowledge) given.push_back(name_of(path));
  if (!arguments.resumes() || given == recorded) return std::nullopt;
  return groma::tuning::unusable_search_error(
      arguments.resume,
      recorded.empty() ? std::string("has no documents")
                       : fmt::format("has the documents {}",
                                     visible(fmt::format("{}", fmt::join(recorded, ", ")))),
      recorded.empty() ? "leave out `--knowledge`"
                       : "give them again, in this order, with `--knowledge`");
}

}  // namespace

std::optional<groma::Error> complete_text_setup(TuneArguments* arguments) {
  groma::tuning::SearchSetup& setup = arguments->setup;
  for (const std::string& path : arguments->knowledge) setup.knowledge.push_back(name_of(path));
  if (!arguments->has_reply_tokens) {
    std::size_t bytes = 0;
    std::error_code ignored;
    for (const std::string& path : setup.files) {
      const auto size = fs::file_size(path, ignored);
      if (!ignored) bytes += std::min<std::size_t>(size, kMaxFileBytes);
    }
    const auto wanted = static_cast<std::size_t>(setup.ask.max_tokens) + bytes / kBytesOfToken;
    setup.ask.max_tokens = static_cast<int>(std::min(wanted, kMaxReplyTokens));
  }
  if (arguments->probe.empty()) return std::nullopt;
  groma::Command command;
  command.words = {"sh", "-c", arguments->probe};
  command.environment = {"GROMA_API_KEY"};
  command.deadline_ms = kProbeMs;
  command.stop = interrupted;
  const auto outcome = groma::run_command(command);
  if (!outcome) return outcome.error();
  setup.hardware = outcome->out.text.substr(0, kMaxProbeBytes);
  if (outcome->ended_well() && !setup.hardware.empty()) return std::nullopt;
  return groma::Error{
      groma::Error::Code::kUnknown,
      fmt::format(
          "the command of `--probe` {}",
          outcome->ended_well()
              ? std::string("printed nothing")
              : fmt::format("failed{}", outcome->err.text.empty()
                                            ? std::string()
                                            : ": " + visible(outcome->err.text.substr(
                                                         0, outcome->err.text.find('\n'))))),
      "it shall print facts about the machine and end with exit code 0 within a minute"};
}

std::optional<groma::Error> read_text(const TuneArguments& arguments,
                                      groma::tuning::SearchProblem* problem) {
  const groma::tuning::SearchSetup& setup = arguments.setup;
  problem->about = setup.about;
  problem->hardware = setup.hardware;
  problem->file = shown_name(setup.files.front());
  if (auto error = wrong_documents(arguments)) return error;
  if (arguments.knowledge.size() > kMaxDocuments) {
    return groma::Error{groma::Error::Code::kTooLarge,
                        fmt::format("`--knowledge` has more than {} documents", kMaxDocuments)};
  }
  for (const std::string& path : arguments.knowledge) {
    auto document = read_named_text(path, kMaxDocumentBytes);
    if (!document) return document.error();
    problem->knowledge.push_back(std::move(document).value());
  }
  if (arguments.resumes()) return std::nullopt;
  std::vector<groma::NamedText> files;
  for (const std::string& path : setup.files) {
    auto file = read_named_text(path, kMaxFileBytes);
    if (!file) return file.error();
    files.push_back(std::move(file).value());
  }
  if (files.size() == 1) {
    problem->start = std::move(files.front().text);
    return std::nullopt;
  }
  auto joined = groma::join_files(files);
  if (!joined) return joined.error();
  problem->start = std::move(joined).value();
  return std::nullopt;
}

std::vector<std::string> notes_about_prompts(const TuneArguments& arguments,
                                             const groma::tuning::SearchProblem& problem) {
  std::vector<std::string> notes;
  const groma::tuning::SearchSetup& setup = arguments.setup;
  if (problem.about.size() > groma::tuning::kMaxAboutBytes) {
    notes.push_back(fmt::format("`--about` has {} bytes, the model gets the first {} of them",
                                problem.about.size(), groma::tuning::kMaxAboutBytes));
  }
  // A prompt shows a text of up to half its bytes as a whole.
  if (!problem.is_mapping() && problem.start.size() > setup.ask.prompt_bytes / 2) {
    notes.push_back(fmt::format(
        "the text has {} bytes, so a prompt of at most {} shows parts of it, chosen by what is "
        "changed; `--prompt-bytes {}` would show all of it",
        problem.start.size(), setup.ask.prompt_bytes, 2 * problem.start.size() + 20'000));
  }
  return notes;
}

}  // namespace driver
