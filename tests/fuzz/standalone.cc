// A main for fuzz bodies where there is no libFuzzer: feeds them every file of the folders named as
// arguments, then variations of these from a fixed seed (GROMA_FUZZ_RUNS of them, 2000 unless
// told). With a file as argument it feeds that file alone: how a finding is repeated.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestInput = std::size_t{64} << 10;

void feed(const std::string& input) {
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Removes, doubles, changes or borrows a piece, a few times.
class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& seeds) : seeds_(seeds) {}

  std::string next() {
    std::string text = pick_seed();
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) edit(&text);
    if (text.size() > kLongestInput) text.resize(kLongestInput);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  const std::string& pick_seed() { return seeds_[below(seeds_.size())]; }

  std::string piece_of(const std::string& text) {
    const std::size_t begin = below(text.size() + 1);
    return text.substr(begin, 1 + below(16));
  }

  void edit(std::string* text) {
    const std::size_t at = below(text->size() + 1);
    switch (below(4)) {
      case 0:
        text->erase(at, 1 + below(8));
        break;
      case 1:
        text->insert(at, piece_of(*text));
        break;
      case 2:
        text->insert(at, piece_of(pick_seed()));
        break;
      default:
        if (at < text->size()) (*text)[at] = static_cast<char>(below(256));
    }
  }

  const std::vector<std::string>& seeds_;
  std::mt19937_64 random_{20240229};
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> seeds;
  bool folders = false;
  for (const std::string& argument : std::vector<std::string>(argv + 1, argv + argc)) {
    if (!fs::is_directory(argument)) {
      feed(read(argument));
      continue;
    }
    folders = true;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(argument)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) seeds.push_back(read(file));
  }
  if (!folders) return 0;
  if (seeds.empty()) {
    std::fputs("no seeds: the corpus is empty\n", stderr);
    return 1;
  }

  for (const std::string& seed : seeds) feed(seed);
  const char* choice = std::getenv("GROMA_FUZZ_RUNS");
  const long runs = choice == nullptr ? 2000 : std::strtol(choice, nullptr, 10);
  Mutator mutator(seeds);
  for (long run = 0; run < runs; ++run) feed(mutator.next());
  std::printf("%zu seeds, %ld variations\n", seeds.size(), runs);
  return 0;
}
