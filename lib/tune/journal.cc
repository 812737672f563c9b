// The journal of a search: reading, writing and replaying its lines.
#include "tune/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/json_bounds.h"
#include "base/regular_file.h"
#include "groma/harmless.h"
#include "llm/text.h"
#include "system/sync.h"
#include "tune/recorded.h"

namespace groma::tuning {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;
// The first line has a smaller limit than the others, because it is parsed before it is known
// whether the file is a journal of this search.
constexpr std::size_t kMaxFirstLineBytes = std::size_t{8} << 20;

// Returns an error about a system call: "cannot read `a`: permission denied".
Error cannot(const char* what, const std::string& path, int code) {
  return {Error::Code::kUnreadable,
          fmt::format("cannot {} `{}`: {}", what, path, std::strerror(code))};
}

constexpr std::string_view kFirst = "{\"search\":";

// Returns true if a journal ends within its first line, because the process ended or the disk was
// full.
bool is_broken_off(const std::string& journal) {
  auto lines = Lines::open(journal);
  if (!lines) return false;
  std::string line;
  if (!lines->next(&line)) return true;
  return !lines->whole() && !lines->too_long() &&
         (line.starts_with(kFirst) || kFirst.starts_with(line));
}

Error malformed(const std::string& path, std::int64_t line, std::string_view why,
                std::string help) {
  return {Error::Code::kMalformed, fmt::format("{}:{}: {}", path, line, why), std::move(help)};
}

Error damaged_line(const std::string& path, std::int64_t line, std::string_view what) {
  return malformed(path, line, fmt::format("the journal is damaged here{}", what),
                   fmt::format("what stands before line {} can be used: remove the rest", line));
}

// Stands before a text that was encoded with one character for each byte: U+10FFFD, a private-use
// character.
constexpr std::string_view kBytes = "\xF4\x8F\xBF\xBD";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

// Encodes each byte as the character with the same number (U+0000 to U+00FF).
std::string characters_of(const std::string& bytes) {
  if (!bytes.starts_with(kBytes) && llm::valid_utf8(bytes) == bytes) return bytes;
  std::string text(kBytes);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(0xC0U | byte >> 6U);
    text += byte < 0x80 ? c : static_cast<char>(0x80U | (byte & 0x3FU));
  }
  return text;
}

namespace {

// Undoes characters_of().
std::string bytes_of(const std::string& text) {
  if (!text.starts_with(kBytes)) return text;
  std::string bytes;
  for (std::size_t i = kBytes.size(); i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0x80 || i + 1 == text.size()) {
      bytes += text[i];
    } else {
      bytes +=
          static_cast<char>((first & 3U) << 6U | (static_cast<unsigned char>(text[++i]) & 63U));
    }
  }
  return bytes;
}

// Returns an error if a file that the search depends on, such as the machine, has changed since the
// search began.
std::optional<Error> changed(const std::string& path, const Json& then, const Json& now) {
  for (const auto& [name, mark] : now.items()) {
    const Json& before = member(then, name.c_str());
    if (!before.is_string() || before == mark) continue;
    return malformed(
        path, 1,
        fmt::format("`{}` is not what it was when this search began", visible(bytes_of(name))),
        "what was found would not be about it: begin another search");
  }
  return std::nullopt;
}

template <typename Change>
void change_texts(Json& json, const Change& change) {
  if (json.is_string()) json = change(json.get_ref<const std::string&>());
  if (!json.is_structured()) return;
  for (Json& each : json) change_texts(each, change);
}

}  // namespace

Json parsed(const std::string& line) {
  if (!within_json_bounds(line)) return {Json::value_t::discarded};
  Json json = Json::parse(line, nullptr, false);
  if (line.find(kBytes) != line.npos) change_texts(json, bytes_of);
  return json;
}

std::string line_of(const Json& json) {
  return harmless_lines(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

Result<Lines> Lines::open(const std::string& path) {
  const auto file = open_regular_file(path, "read", O_RDONLY);
  if (!file) return file.error();
  Lines lines;
  lines.file_.reset(fdopen(*file, "r"));
  if (lines.file_ != nullptr) return lines;
  const int code = errno;
  close(*file);
  return cannot("read", path, code);
}

// Reads byte by byte up to a line feed, the limit, or the end of the file.
bool Lines::next(std::string* line) {
  line->clear();
  whole_ = too_long_ = false;
  const std::size_t most = std::exchange(is_first_, false) ? kMaxFirstLineBytes : kMaxLineBytes;
  for (int c = 0; !whole_ && !too_long_ && (c = getc_unlocked(file_.get())) != EOF;) {
    whole_ = c == '\n';
    too_long_ = !whole_ && line->size() == most;
    if (!whole_ && !too_long_) *line += static_cast<char>(c);
  }
  return whole_ || too_long_ || !line->empty();
}

bool Lines::at_end() {
  const int c = getc_unlocked(file_.get());
  if (c != EOF) std::ungetc(c, file_.get());
  return c == EOF;
}

Journal::~Journal() {
  if (file_ >= 0) close(file_);
}

Journal::Journal(Journal&& other) noexcept { *this = std::move(other); }

Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(size_, other.size_);
  std::swap(lines_, other.lines_);
  std::swap(replayed_, other.replayed_);
  std::swap(recorded_, other.recorded_);
  std::swap(left_out_, other.left_out_);
  std::swap(beside_start_, other.beside_start_);
  return *this;
}

// Checks the first line, finds the end of the last whole line and cuts off the rest.
Result<Journal> Journal::open(const std::string& path, const Json& search, bool resume,
                              const std::function<bool()>& stop) {
  Journal journal;
  journal.path_ = path;
  struct stat status {};
  if (!resume && lstat(path.c_str(), &status) == 0) {
    if (!is_broken_off(path)) {
      return Error{Error::Code::kUnreadable, fmt::format("`{}` holds a search already", path),
                   "resume it, or name another directory"};
    }
    unlink(path.c_str());
  }
  const auto file = open_regular_file(path, resume ? "read" : "write",
                                      O_RDWR | O_APPEND | (resume ? 0 : O_CREAT | O_EXCL));
  if (!file) return file.error();
  journal.file_ = *file;

  std::int64_t number = 0, left_out = 0;
  if (resume) {
    auto lines = Lines::open(path);
    if (!lines) return lines.error();
    for (std::string line; lines->next(&line); ++number) {
      if (stop && stop()) {
        return Error{Error::Code::kStopped,
                     fmt::format("`{}` was not read to its end, at line {}", path, number + 1),
                     "nothing is lost: resume it again, with more time"};
      }
      if (lines->too_long()) {
        return damaged_line(path, number + 1, ": the line is too long");
      }
      if (!lines->whole()) break;
      const Json read = parsed(line);
      if (!read.is_object() || read.empty()) {
        if (lines->at_end()) break;
        return damaged_line(path, number + 1, "");
      }
      const Json& begun_by = member(member(read, "search"), "version");
      if (number == 0 && begun_by.is_string() && begun_by != search["version"]) {
        return malformed(path, 1,
                         fmt::format("version {} began this search, this is {}",
                                     harmless(begun_by.get_ref<const std::string&>()),
                                     search["version"].get_ref<const std::string&>()),
                         "go on with that version, which searches as it did, or begin another");
      }
      if (number == 0) {
        if (auto error = changed(path, member(member(read, "search"), "marks"), search["marks"])) {
          return *error;
        }
      }
      if (number == 0 && read != Json{{"search", search}}) {
        return malformed(path, 1, "this is the journal of another search",
                         "resume with the options that it was begun with");
      }
      if (read.contains(kBesideStart)) {
        journal.beside_start_ = read[kBesideStart];
        ++left_out;
      }
      journal.size_ += static_cast<std::int64_t>(line.size()) + 1;
    }
    if (ftruncate(journal.file_, journal.size_) != 0) return cannot("write", path, errno);
  }
  if (number == 0) {  // the file is empty or ends within its first line
    if (auto error = journal.write("search", search, true)) {
      if (!resume) unlink(path.c_str());  // so that the search can be started again
      return *error;
    }
    const int code = system::sync_folder(std::filesystem::path(path).parent_path());
    if (code != 0) return cannot("write", path, code);
    number = 1;
  }
  journal.recorded_ = number - 1 - left_out;
  if (journal.recorded_ > 0) {
    auto lines = Lines::open(path);
    if (!lines) return lines.error();
    journal.lines_ = std::move(lines).value();
    std::string first;
    journal.lines_->next(&first);
  }
  return journal;
}

// Skips lines that are not part of the replay.
Result<Json> Journal::next(const char* about) {
  std::string line;
  Json read;
  while (lines_->next(&line)) {
    read = parsed(line);
    if (!read.is_object() || !read.contains(kBesideStart)) break;
    ++left_out_;
  }
  ++replayed_;
  if (!read.is_object() || !read.contains(about)) {
    return search_differs(fmt::format("the search now comes to `{}` here", about));
  }
  return Json(std::move(read[about]));
}

Error Journal::damaged(std::string_view what) const {
  return damaged_line(path_, replayed_ + left_out_ + 1, fmt::format(": {}", what));
}

Error Journal::search_differs(std::string_view what) const {
  return malformed(path_, replayed_ + left_out_ + 1, what,
                   "it was begun by another version, or what it evaluates has changed");
}

// Encodes texts that JSON cannot hold. Removes the line again if it could not be written whole.
std::optional<Error> Journal::write(const char* about, const Json& value, bool lasting) {
  if (file_ < 0) return std::nullopt;
  std::string line = line_of({{about, value}});
  if (line.find(kReplacement) != line.npos || line.find(kBytes) != line.npos) {
    Json bytes = {{about, value}};
    change_texts(bytes, characters_of);
    line = line_of(bytes);
  }
  const std::size_t most = size_ == 0 ? kMaxFirstLineBytes : kMaxLineBytes;
  if (line.size() > most) {  // open() could not read such a line
    return Error{
        Error::Code::kTooLarge,
        fmt::format("`{}` cannot hold a text that takes more than {} MB in it", path_, most >> 20)};
  }
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = ::write(file_, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int code = errno;
      if (ftruncate(file_, size_) != 0) return cannot("write", path_, errno);
      return cannot("write", path_, code);
    }
    done += static_cast<std::size_t>(count);
  }
  if (lasting && fdatasync(file_) != 0 && errno != EINVAL) return cannot("write", path_, errno);
  size_ += static_cast<std::int64_t>(line.size());
  return std::nullopt;
}

bool holds_no_search_yet(const std::string& directory) {
  return is_broken_off(directory + "/journal.jsonl");
}

// Reads only the first line of the journal.
Result<RecordedSearch> recorded_search(const std::string& directory) {
  const std::string path = directory + "/journal.jsonl";
  auto lines = Lines::open(path);
  std::error_code code;
  if (!lines && (std::filesystem::exists(path, code) || code)) return lines.error();
  std::string line;
  if (lines && lines->next(&line) && lines->too_long()) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("the search in `{}` says in more than {} MB what it is", directory,
                             kMaxFirstLineBytes >> 20)};
  }
  const Json first = parsed(line);
  const Json& search = member(first, "search");
  if (!search.is_object()) {
    const bool begins = holds_no_search_yet(directory);
    return Error{
        Error::Code::kUnreadable, fmt::format("there is no search in `{}`", directory),
        begins ? "it ended before it had begun: begin it again, in the same directory" : ""};
  }
  const auto text = [&](const char* name) {
    const Json& found = member(search, name);
    return found.is_string() ? found.get<std::string>() : std::string();
  };
  return RecordedSearch{text("of"), text("start")};
}

}  // namespace groma::tuning
