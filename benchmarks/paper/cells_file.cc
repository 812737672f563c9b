// Reads and writes the file of cells. The file may come from a stranger.
#include "paper/cells_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "groma/source.h"

namespace groma::paper {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
constexpr int kVersion = 1;

std::string first_line(const std::string& sources) {
  const nlohmann::ordered_json json = {{"groma_paper", kVersion}, {"sources", sources}};
  return json.dump() + "\n";
}

}  // namespace

Result<CellsFile> CellsFile::open(std::string path, std::string sources) {
  CellsFile file(std::move(path), std::move(sources));
  if (file.path_.empty()) return file;
  auto lock = FileLock::take(file.path_ + ".lock");
  if (!lock) return lock.error();
  file.lock_ = std::move(lock).value();
  std::error_code ignored;
  if (std::filesystem::exists(file.path_, ignored)) {
    auto text = read_file(file.path_, kMaxBytes);
    if (!text) return text.error();
    file.text_ = std::move(text).value();
  }
  if (file.text_.empty()) {
    file.text_ = first_line(file.sources_);
    if (auto error = write_file(file.path_, file.text_)) return *error;
  } else if (auto error = file.read(file.text_)) {
    return *error;
  }
  return file;
}

// Reads the lines of the file.
std::optional<Error> CellsFile::read(const std::string& text) {
  std::size_t number = 0;
  const auto wrong = [&](const std::string& why, const char* help = "") {
    return Error{Error::Code::kMalformed, fmt::format("`{}` line {}: {}", path_, number, why),
                 help};
  };
  for (std::size_t begin = 0; begin < text.size();) {
    ++number;
    const std::size_t end = text.find('\n', begin);
    if (end == text.npos) return wrong("the line does not end, so the file is not complete");
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (number == 1) {
      const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!json.is_object() || !json.contains("groma_paper")) {
        return wrong("this is not a file of cells of groma_paper");
      }
      if (line + "\n" != first_line(sources_)) {
        return wrong("the cells were made by other sources of Groma",
                     "name a new file with --cells; tables do not mix results of two versions");
      }
      continue;
    }
    Result<Cell> cell = read_cell(line);
    if (!cell) return wrong(cell.error().message);
    const CellSettings settings = cell->settings;
    if (!cells_.emplace(settings, std::move(cell).value()).second) {
      return wrong("an earlier line has the same cell");
    }
  }
  return std::nullopt;
}

const Cell* CellsFile::find(const CellSettings& settings) const {
  const auto found = cells_.find(settings);
  return found == cells_.end() ? nullptr : &found->second;
}

std::optional<Error> CellsFile::add(Cell cell) {
  const std::string line = to_json(cell) + "\n";
  const CellSettings settings = cell.settings;
  if (!cells_.emplace(settings, std::move(cell)).second) return std::nullopt;
  if (path_.empty()) return std::nullopt;
  text_ += line;
  return write_file(path_, text_);
}

}  // namespace groma::paper
