// CellsFile: the finished cells, kept in a file so that an interrupted run can be resumed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "groma/result.h"
#include "groma/system.h"
#include "paper/cell.h"

namespace groma::paper {

// The finished cells. Use it in one thread at a time. The file has a line with the version and the
// sources, then a line for each cell. It is replaced as a whole after each new cell, so it is
// complete at every moment.
class CellsFile {
 public:
  // Reads the file, or begins a new one if there is none. `sources` identifies the sources of
  // Groma. An empty path keeps the cells only in memory. Fails if another process uses the file, if
  // it cannot be read, if it was made by other sources, or if a line is wrong. The message has the
  // line.
  static Result<CellsFile> open(std::string path, std::string sources);

  // Returns the cell with these settings, or null.
  const Cell* find(const CellSettings& settings) const;
  // Adds a cell, and writes the file. Returns the error if it cannot be written.
  [[nodiscard]] std::optional<Error> add(Cell cell);

 private:
  CellsFile(std::string path, std::string sources)
      : path_(std::move(path)), sources_(std::move(sources)) {}
  std::optional<Error> read(const std::string& text);

  std::string path_, sources_;
  std::optional<FileLock> lock_;
  std::map<CellSettings, Cell> cells_;
  // The content of the file.
  std::string text_;
};

}  // namespace groma::paper
