// Any bytes as what a search's journal holds after its first line: resumed, or refused with a
// message.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "groma/tune.h"
#include "support/tune_round.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace groma;

// Estimates what it proposes, one less than the last, after asking a model.
class Down : public tuning::Proposer {
 public:
  std::string_view name() const override { return "down"; }
  GuideDetail reads() const override { return GuideDetail::kProfile; }
  std::vector<tuning::Proposal> propose(tuning::SearchRound& round) override {
    llm::ChatRequest request;
    request.messages.push_back({llm::ChatMessage::Role::kUser, "?"});
    const auto replies = round.ask({&request, 1});
    if (!replies.front()) round.reject(replies.front().error().message);
    const std::string text = std::to_string(--last_);
    round.estimate({&text, 1}, GuideDetail::kNone);
    return {{text, replies.front() ? replies.front()->text : ""}};
  }

 private:
  int last_ = 5;
};

class Folder {
 public:
  Folder() { GROMA_CHECK(mkdtemp(path_.data()) != nullptr); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "groma-fuzz-XXXXXX").string();
};

Result<tuning::TuneOutcome> search(const std::string& directory, bool resume) {
  testing::FakeEvaluator numbers([](const std::string& text) { return std::stod(text); });
  Down proposer;
  tuning::TuneOptions options;
  options.directory = directory;
  options.resume = resume;
  options.budget.evaluations = resume ? 3 : 1;
  return tuning::tune({"5", nullptr, {}, ""}, numbers, proposer, nullptr, &numbers, options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder kFolder;
  static const std::string kPath = kFolder.path() + "/journal.jsonl";
  static const std::string kFirst = [] {
    GROMA_CHECK(search(kFolder.path(), false).ok());
    std::ifstream file(kPath, std::ios::binary);
    std::string line;
    std::getline(file, line);
    return line + "\n";
  }();
  std::ofstream(kPath, std::ios::binary) << kFirst << std::string(data, data + size);
  const auto outcome = search(kFolder.path(), true);
  GROMA_CHECK(outcome.ok() || !outcome.error().message.empty());
  return 0;
}
