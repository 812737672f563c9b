// How fast the guide reads a log with all its rules, beside `grep -E` with the same patterns as
// plain groups. Both have to hit the same lines, in a log of one known line in a thousand.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>

#include "groma/guide.h"
#include "guide/rules.h"
#include "guide/scanner.h"

namespace groma {
namespace {

constexpr std::size_t kLogBytes = std::size_t{32} << 20;
constexpr int kOneIn = 1000;

// An RE2 pattern of ours in the language of `grep -E`: no named and no silent groups, no lazy
// repetition (which finds the same lines), classes by POSIX names.
class PosixPattern {
 public:
  explicit PosixPattern(const std::string& pattern) : in_(pattern) {
    while (at_ < in_.size()) item();
  }
  const std::string& text() const { return out_; }

 private:
  bool skip(std::string_view text) {
    if (in_.compare(at_, text.size(), text) != 0) return false;
    at_ += text.size();
    return true;
  }

  void item() {
    if (skip("(?i)")) {
      any_case_ = true;
    } else if (skip("(?:")) {
      out_ += '(';
    } else if (skip("(?P<")) {
      at_ = in_.find('>', at_) + 1;
      out_ += '(';
    } else if (skip("[^\\n]")) {
      out_ += '.';
    } else if (skip("[")) {
      bracket();
    } else if (skip("\\")) {
      escape();
    } else {
      literal(in_[at_++]);
    }
    const bool repeated = !out_.empty() && std::string("*+?}").find(out_.back()) != out_.npos;
    if (repeated && at_ < in_.size() && in_[at_] == '?') ++at_;  // lazy
  }

  void literal(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (any_case_ && std::isalpha(byte) != 0) {
      out_ += std::string("[") + c + static_cast<char>(byte ^ 0x20U) + ']';
    } else {
      out_ += c;
    }
  }

  void escape() {
    const char c = in_[at_++];
    switch (c) {
      case 'd':
        out_ += "[0-9]";
        break;
      case 's':
        out_ += "[[:space:]]";
        break;
      case 'S':
        out_ += "[^[:space:]]";
        break;
      case 'x':
        out_ += static_cast<char>(std::stoi(in_.substr(at_, 2), nullptr, 16));
        at_ += 2;
        break;
      case '"':
      case '\'':
        out_ += c;
        break;
      default:
        out_ += {'\\', c};
    }
  }

  void bracket() {
    out_ += '[';
    if (skip("^")) out_ += '^';
    while (in_[at_] != ']') {
      if (!skip("\\")) {
        out_ += in_[at_++];
        continue;
      }
      const char c = in_[at_++];
      out_ += c == 'w'   ? "[:alnum:]_"
              : c == 'd' ? "0-9"
              : c == 's' ? "[:space:]"
                         : std::string(1, c);
    }
    ++at_;
    out_ += ']';
  }

  const std::string& in_;
  std::size_t at_ = 0;
  bool any_case_ = false;
  std::string out_;
};

// What both read. Files are there for as long as the process.
class Fixture {
 public:
  Fixture() : rules_(std::move(GuideRules::make()).value()) {
    folder_ = std::filesystem::temp_directory_path() /
              ("groma-guide-benchmark-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
    std::ofstream patterns(folder_ / "patterns");
    for (const guide::Rule& rule : rules_.set().rules) {
      if (rule.regex == nullptr) continue;
      patterns << PosixPattern(rule.pattern).text() << '\n';
      known_.push_back(rule.example);
    }
    write_log();
  }
  ~Fixture() { std::filesystem::remove_all(folder_); }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  const GuideRules& rules() const { return rules_; }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::int64_t planted() const { return planted_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  void write_log() {
    std::mt19937_64 draw(1);
    std::ofstream log(folder_ / "log", std::ios::binary);
    for (std::int64_t line = 0; bytes_ < static_cast<std::int64_t>(kLogBytes); ++line) {
      std::string text = line % kOneIn == 0 ? known_[draw() % known_.size()] : usual(line, draw);
      planted_ += line % kOneIn == 0 ? 1 : 0;
      text += '\n';
      bytes_ += static_cast<std::int64_t>(text.size());
      log << text;
    }
  }

  // What long logs are made of.
  static std::string usual(std::int64_t line, std::mt19937_64& draw) {
    char text[256];
    const auto a = static_cast<unsigned long long>(draw() >> 8);
    const auto b = static_cast<unsigned long long>(draw() >> 4);
    const double seconds = static_cast<double>(line) * 1e-5;
    switch (draw() % 4) {
      case 0:
        std::snprintf(text, sizeof(text),
                      "[0 - 7f17a9abc000]  %10.6f {2}{task}: task 0x%llx created: func=%llu "
                      "proc=1d00000000000001 arglen=0 before=0 after=%llx",
                      seconds, a, b % 2000, b);
        break;
      case 1:
        std::snprintf(text, sizeof(text),
                      "[0 - 7f7353a8f000]  %10.6f {2}{inst}: instance created: inst=%llx "
                      "bytes=%llu ready=0",
                      seconds, a, b % 1000000000);
        break;
      case 2:
        std::snprintf(text, sizeof(text),
                      "[0 - 7f7353a8f000]  %10.6f {2}{dma}: copy of region requirement %llu of "
                      "task work from memory 1e00000000000000 to memory 1e00000000000003",
                      seconds, a % 8);
        break;
      default:
        std::snprintf(text, sizeof(text),
                      "iteration %lld: residual %.6e, step %.4f s, largest wave speed %.3f",
                      static_cast<long long>(line), static_cast<double>(a % 1000) * 1e-9,
                      static_cast<double>(b % 1000) * 1e-4, static_cast<double>(a % 100));
    }
    return text;
  }

  GuideRules rules_;
  std::filesystem::path folder_;
  std::vector<std::string> known_;
  std::int64_t planted_ = 0, bytes_ = 0;
};

const Fixture& fixture() {
  static const Fixture kFixture;
  return kFixture;
}

// Lines that the rules hit.
std::int64_t read_by_guide() {
  guide::LogScanner scanner(fixture().rules().set());
  std::ifstream log(fixture().path("log"), std::ios::binary);
  const auto buffer = std::make_unique<char[]>(guide::kBlockBytes);
  while (log.read(buffer.get(), guide::kBlockBytes) || log.gcount() > 0) {
    scanner.read({buffer.get(), static_cast<std::size_t>(log.gcount())});
  }
  scanner.finish_log();
  std::int64_t hit = 0;
  for (const guide::RuleMatches& found : scanner.matches_by_rule()) hit += found.count;
  return hit;
}

std::int64_t read_by_grep() {
  const std::string command =
      "LC_ALL=C grep -c -a -E -f " + fixture().path("patterns") + " " + fixture().path("log");
  FILE* output = ::popen(command.c_str(), "r");
  long long hit = -1;
  if (output == nullptr || std::fscanf(output, "%lld", &hit) != 1) hit = -1;
  if (output != nullptr) ::pclose(output);
  return hit;
}

void report(benchmark::State& state, std::int64_t hit) {
  if (hit != fixture().planted()) {
    state.SkipWithError(
        ("hit " + std::to_string(hit) + " lines instead of " + std::to_string(fixture().planted()))
            .c_str());
  }
  state.SetBytesProcessed(state.iterations() * fixture().bytes());
}

void BM_Guide(benchmark::State& state) {
  std::int64_t hit = 0;
  fixture();
  for (auto _ : state) hit = read_by_guide();
  report(state, hit);
}
BENCHMARK(BM_Guide)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_Grep(benchmark::State& state) {
  std::int64_t hit = 0;
  fixture();
  for (auto _ : state) hit = read_by_grep();
  report(state, hit);
}
BENCHMARK(BM_Grep)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_Load(benchmark::State& state) {
  for (auto _ : state) {
    const auto rules = GuideRules::make();
    benchmark::DoNotOptimize(rules->size());
  }
}
BENCHMARK(BM_Load)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace groma
