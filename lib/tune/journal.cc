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

// The limit on the bytes of a line of the journal. A longer line counts as damage.
constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;
// The first line has a smaller limit than the others, because it is parsed before it is known
// whether the file is a journal of this search.
constexpr std::size_t kMaxFirstLineBytes = std::size_t{8} << 20;

// Returns an error about a failed system call: "cannot read `a`: permission denied". `code` is its
// errno.
Error cannot(const char* what, const std::string& path, int code) {
  return {Error::Code::kUnreadable,
          fmt::format("cannot {} `{}`: {}", what, path, std::strerror(code))};
}

// The beginning of the first line of every journal.
constexpr std::string_view kFirst = "{\"search\":";

// Returns true if a journal ends within its first line, because the process was killed or the disk
// was full. Such a journal holds nothing that could be lost, so a new search may replace it.
bool is_broken_off(const std::string& journal) {
  auto lines = JournalLineReader::open(journal);
  if (!lines) return false;
  std::string line;
  if (!lines->read_line(&line)) return true;
  return !lines->has_line_end() && !lines->too_long() &&
         (line.starts_with(kFirst) || kFirst.starts_with(line));
}

// Returns an error about a line of the journal, "PATH:LINE: WHY". Lines are counted from 1.
Error malformed(const std::string& path, std::int64_t line, std::string_view why,
                std::string help) {
  return {Error::Code::kMalformed, fmt::format("{}:{}: {}", path, line, why), std::move(help)};
}

// Returns the error for a line that Groma cannot have written. `what` is empty or begins with ": ".
Error damaged_line(const std::string& path, std::int64_t line, std::string_view what) {
  return malformed(path, line, fmt::format("the journal is damaged here{}", what),
                   fmt::format("what stands before line {} can be used: remove the rest", line));
}

// The mark in front of a text in which each byte was encoded as one character. It is U+10FFFD, a
// private-use character, which hardly any text begins with.
constexpr std::string_view kBytes = "\xF4\x8F\xBF\xBD";
// U+FFFD in UTF-8. JSON's dump() writes it in place of invalid UTF-8.
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Returns true if the line was written at the end of a search, and is not part of a replay.
bool is_skipped_by_replay(const Json& line) {
  return line.is_object() && (line.contains(kBesideStart) || line.contains(kEnded));
}

}  // namespace

// Encodes each byte as the character with the same number (U+0000 to U+00FF). A text that happens
// to begin with the mark is encoded too, so that decoding is unambiguous.
std::string encode_for_json(const std::string& bytes) {
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

// Decodes a text that encode_for_json() encoded: each character after the mark becomes one byte. A
// text without the mark is returned as it is.
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

// Returns an error if an input file of the search, such as the machine, has changed since the
// search began. `then` and `now` map the names of the files to hashes of their contents.
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

// Applies `change` to every text in the JSON, at any depth. Names of members stay.
template <typename Change>
void change_texts(Json& json, const Change& change) {
  if (json.is_string()) json = change(json.get_ref<const std::string&>());
  if (!json.is_structured()) return;
  for (Json& each : json) change_texts(each, change);
}

}  // namespace

// Checks the nesting depth first, because the JSON parser and change_texts() are recursive.
Json parse_journal_line(const std::string& line) {
  if (!within_json_bounds(line)) return {Json::value_t::discarded};
  Json json = Json::parse(line, nullptr, false);
  if (line.find(kBytes) != line.npos) change_texts(json, bytes_of);
  return json;
}

// harmless_lines() replaces characters that could change a terminal when someone prints the
// journal.
std::string to_journal_line(const Json& json) {
  return harmless_lines(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

// On success the stream owns the file descriptor and closes it.
Result<JournalLineReader> JournalLineReader::open(const std::string& path) {
  const auto file = open_regular_file(path, "read", O_RDONLY);
  if (!file) return file.error();
  JournalLineReader lines;
  lines.file_.reset(fdopen(*file, "r"));
  if (lines.file_ != nullptr) return lines;
  const int code = errno;
  close(*file);
  return cannot("read", path, code);
}

// Reads byte by byte up to a line feed, the limit, or the end of the file.
bool JournalLineReader::read_line(std::string* line) {
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

// Looks at the next byte and puts it back.
bool JournalLineReader::at_end() {
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
  std::swap(ended_, other.ended_);
  return *this;
}

// For a new search, creates the file and writes the first line. For a resumed one, compares the
// first line with `search`, finds the end of the last whole line, and cuts off what follows.
Result<Journal> Journal::open(const std::string& path, const Json& search, bool resume,
                              const std::function<bool()>& stop) {
  Journal journal;
  journal.path_ = path;
  struct stat status {};
  // A journal that ends within its first line is replaced; any other file is an error.
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

  // `number` counts the whole lines, `left_out` those among them that a replay skips. An incomplete
  // last line is what a killed process leaves, and is dropped. An unreadable line before the end is
  // damage.
  std::int64_t number = 0, left_out = 0;
  if (resume) {
    auto lines = JournalLineReader::open(path);
    if (!lines) return lines.error();
    for (std::string line; lines->read_line(&line); ++number) {
      if (stop && stop()) {
        return Error{Error::Code::kStopped,
                     fmt::format("`{}` was not read to its end, at line {}", path, number + 1),
                     "nothing is lost: resume it again, with more time"};
      }
      if (lines->too_long()) {
        return damaged_line(path, number + 1, ": the line is too long");
      }
      if (!lines->has_line_end()) break;
      const Json read = parse_journal_line(line);
      if (!read.is_object() || read.empty()) {
        if (lines->at_end()) break;
        return damaged_line(path, number + 1, "");
      }
      // A search that another version began cannot be replayed: that version may have proposed
      // other texts.
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
      if (read.contains(kBesideStart)) journal.beside_start_ = read[kBesideStart];
      if (read.contains(kEnded)) journal.ended_ = read[kEnded];
      if (is_skipped_by_replay(read)) ++left_out;
      journal.size_ += static_cast<std::int64_t>(line.size()) + 1;
    }
    if (ftruncate(journal.file_, journal.size_) != 0) return cannot("write", path, errno);
  }
  // The first line is written if the file is empty or ends within that line.
  if (number == 0) {
    if (auto error = journal.append_line("search", search, true)) {
      // Removes the new file, so that the search can be started again.
      if (!resume) unlink(path.c_str());
      return *error;
    }
    const int code = system::sync_folder(std::filesystem::path(path).parent_path());
    if (code != 0) return cannot("write", path, code);
    number = 1;
  }
  journal.recorded_ = number - 1 - left_out;
  // Reopens the file for the replay, and skips the first line, which was compared above.
  if (journal.recorded_ > 0) {
    auto lines = JournalLineReader::open(path);
    if (!lines) return lines.error();
    journal.lines_ = std::move(lines).value();
    std::string first;
    journal.lines_->read_line(&first);
  }
  return journal;
}

Result<Json> Journal::next_recorded_value(const char* about) {
  std::string line;
  Json read;
  while (lines_->read_line(&line)) {
    read = parse_journal_line(line);
    if (!is_skipped_by_replay(read)) break;
    ++left_out_;
  }
  ++replayed_;
  if (!read.is_object() || !read.contains(about)) {
    return different_search_error(fmt::format("the search now comes to `{}` here", about));
  }
  return Json(std::move(read[about]));
}

// Returns the error with the number of the line, which counts the first line and the skipped lines.
Error Journal::damaged_line_error(std::string_view what) const {
  return damaged_line(path_, replayed_ + left_out_ + 1, fmt::format(": {}", what));
}

// The most likely cause is an evaluator or a proposer that has changed since the search began.
Error Journal::different_search_error(std::string_view what) const {
  return malformed(path_, replayed_ + left_out_ + 1, what,
                   "it was begun by another version, or what it evaluates has changed");
}

// Appends a line to the journal. Texts that are not UTF-8 are encoded by encode_for_json(). If the
// line cannot be written whole, for example on a full disk, its beginning is removed from the file
// again.
std::optional<Error> Journal::append_line(const char* about, const Json& value, bool lasting) {
  if (file_ < 0) return std::nullopt;
  std::string line = to_journal_line({{about, value}});
  if (line.find(kReplacement) != line.npos || line.find(kBytes) != line.npos) {
    Json bytes = {{about, value}};
    change_texts(bytes, encode_for_json);
    line = to_journal_line(bytes);
  }
  const std::size_t most = size_ == 0 ? kMaxFirstLineBytes : kMaxLineBytes;
  // Journal::open() could not read a line that is longer than the limit.
  if (line.size() > most) {
    return Error{
        Error::Code::kTooLarge,
        fmt::format("`{}` cannot hold a text that takes more than {} MB in it", path_, most >> 20)};
  }
  // ::write() may write less than asked, or be interrupted by a signal.
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

// Returns true if the journal in the directory ends within its first line. Used before a new search
// begins in a directory that exists already.
bool holds_no_search_yet(const std::string& directory) {
  return is_broken_off(directory + "/journal.jsonl");
}

// Reads only the first line of the journal, so that a long journal takes no time. A missing file is
// reported as a directory without a search.
Result<RecordedSearch> recorded_search(const std::string& directory) {
  const std::string path = directory + "/journal.jsonl";
  auto lines = JournalLineReader::open(path);
  std::error_code code;
  if (!lines && (std::filesystem::exists(path, code) || code)) return lines.error();
  std::string line;
  if (lines && lines->read_line(&line) && lines->too_long()) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("the search in `{}` says in more than {} MB what it is", directory,
                             kMaxFirstLineBytes >> 20)};
  }
  const Json first = parse_journal_line(line);
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
