// Writes the profile of a run for a terminal of 80 columns: short tables with bars, the most
// important rows first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "groma/harmless.h"
#include "profile/words.h"

namespace groma {
namespace {

using namespace profile;

// The width of the text and the width of a bar, in terminal columns.
constexpr std::size_t kColumns = 80;
constexpr std::size_t kBar = 20;
// A row of a table begins with a quantity and its percentage. The text behind them begins at this
// column of the terminal.
constexpr std::size_t kIndent = 19;
// Limit on the rows of the more important tables.
constexpr std::size_t kListed = 5;
// The smallest and the largest width of the column with the names of tasks. A longer name makes the
// bar shorter.
constexpr std::size_t kTaskName = 13;
constexpr std::size_t kLongTaskName = 20;
// Limit on the rows of the less important tables.
constexpr std::size_t kFewListed = 3;

// Returns true if the byte is a continuation byte of a UTF-8 character.
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Returns the first `width` characters of a text, with control characters escaped. A text that is
// cut ends with `..`.
std::string cut(std::string_view text, std::size_t width) {
  std::string shown = harmless(text.substr(0, 4 * width + 4));
  std::size_t characters = 0, end = 0;
  for (; end < shown.size(); ++end) {
    if (!continues(shown[end]) && characters++ == width) break;
  }
  const bool whole = end == shown.size() && text.size() <= 4 * width + 4;
  if (whole || width < 3) return shown.substr(0, end);
  for (std::size_t drop = 2; drop > 0 && end > 0;) {
    if (!continues(shown[--end])) --drop;
  }
  return shown.substr(0, end) + "..";
}

// Removes namespaces from the front of a name until it has at most `width` bytes:
// `cupynumeric::BinaryOpTask` becomes `BinaryOpTask`.
std::string_view without_namespaces(std::string_view name, std::size_t width) {
  while (name.size() > width) {
    const std::size_t at = name.find("::");
    if (at == name.npos || at + 2 == name.size()) break;
    name.remove_prefix(at + 2);
  }
  return name;
}

// Returns a text of exactly `width` characters, cut or filled with spaces.
std::string padded(std::string_view text, std::size_t width) {
  std::string shown = cut(text, width);
  const auto characters = static_cast<std::size_t>(
      std::count_if(shown.begin(), shown.end(), [](char c) { return !continues(c); }));
  shown.append(width - std::min(width, characters), ' ');
  return shown;
}

// Formats a fraction as a percentage in five columns. A fraction above 0 but below 0.005 is written
// as "<1 %".
std::string percent(double part) {
  if (part > 0 && part < 0.005) return " <1 %";
  return fmt::format("{:3.0f} %", 100 * part);
}

// Writes the profile of a run as text. Each section of the text has its own member function.
class TextWriter {
 public:
  TextWriter(const Profile& profile, const ProfileWords& words, bool color)
      : profile_(profile), record_(*profile.record), words_(words), color_(color) {}

  std::string write() {
    head();
    path();
    tasks();
    processors();
    memories();
    moves();
    channels();
    notes();
    return std::move(text_);
  }

 private:
  // Appends a line to the text, without the spaces at its end.
  void line(std::string_view words) {
    std::string_view kept = words;
    while (kept.ends_with(' ')) kept.remove_suffix(1);
    text_ += kept;
    text_ += '\n';
  }
  // Appends an empty line and the title of a section to the text.
  void title(std::string_view words) {
    text_ += '\n';
    line(color_ ? fmt::format("\x1b[1m{}\x1b[0m", words) : std::string(words));
  }
  // Returns a bar of `#` whose length is the fraction `part` of `longest` columns. `color` is an
  // ANSI colour code.
  std::string bar(double part, std::string_view color = "36", std::size_t longest = kBar) const {
    const auto length = static_cast<std::size_t>(
        std::lround(std::clamp(part, 0.0, 1.0) * static_cast<double>(longest)));
    const std::string signs(length, '#');
    return color_ && length > 0 ? fmt::format("\x1b[{}m{}\x1b[0m", color, signs) : signs;
  }

  // Returns `words` followed by a mapping statement: "...; by a.mapper:8:1: Region * * GPU FBMEM".
  // If the line would be too long, the folders in front of the file's name are left out.
  std::string with_statement(const std::string& words, std::int32_t statement) const {
    const std::string by = describe_statement(words_, statement);
    std::string whole = words + "; by " + by;
    // Only a statement whose file is known can be shortened.
    if (whole.size() <= kColumns - kIndent || statement == 0 || !words_.statement) return whole;
    const std::size_t folders = words_.statement(statement).place.rfind('/');
    return folders == std::string::npos ? whole : words + "; by " + by.substr(folders + 1);
  }

  // Writes a paler line below the words of a row.
  void remark(const std::string& words) {
    const std::string shown = cut(words, kColumns - kIndent);
    line(std::string(kIndent, ' ') + (color_ ? fmt::format("\x1b[2m{}\x1b[0m", shown) : shown));
  }

  // Writes how many of the `all` entries of a list are not shown, if there are more than `listed`.
  void more(std::size_t all, std::string_view what, std::size_t listed = kListed) {
    if (all > listed) line(fmt::format("  and {} more {}", all - listed, what));
  }

  // Writes the title of the profile, the time of the run, and the first phases of the run.
  void head() {
    const std::string time = format_time(profile_.total);
    const std::string name = cut(words_.title, kColumns - time.size() - 2);
    line(name.empty() ? time : fmt::format("{}: {}", name, time));
    for (std::size_t i = 0; i < std::min(kFewListed, profile_.phases.size()); ++i) {
      const Profile::Phase& phase = profile_.phases[i];
      line(fmt::format("  phase {} {:>9}  {}", padded(phase.name, 24), format_time(phase.time),
                       phase.times == 1 ? std::string() : fmt::format("{} times", phase.times)));
    }
    more(profile_.phases.size(), "phases", kFewListed);
  }

  // Writes the time that each activity takes on the critical path, and the largest causes there.
  void path() {
    title("What the time is made of (the critical path)");
    // The rows follow the order of Profile::Doing. Activities without time are left out.
    constexpr std::pair<Profile::Doing, std::string_view> kParts[] = {
        {Profile::Doing::kTask, "tasks"},
        {Profile::Doing::kCopy, "copies"},
        {Profile::Doing::kReduction, "reductions"},
        {Profile::Doing::kRuntime, "the runtime"}};
    for (const auto& [doing, name] : kParts) {
      const RunTime time = profile_.time_on_path(doing);
      if (time == 0) continue;
      const double part = fraction_of(time, profile_.total);
      line(fmt::format("  {} {:>9} {}  {}", padded(name, 30), format_time(time), percent(part),
                       bar(part)));
    }
    title("Its largest causes");
    for (std::size_t i = 0; i < std::min(kListed, profile_.path_causes.size()); ++i) {
      const Profile::PathCause& cause = profile_.path_causes[i];
      line(fmt::format("  {:>9} {}  {}", format_time(cause.time),
                       percent(fraction_of(cause.time, profile_.total)),
                       cut(words_of(profile_, cause), kColumns - kIndent)));
      if (cause.doing == Profile::Doing::kRuntime) continue;
      const std::string why(words_of(cause.doing, cause.reason));
      if (cause.move < 0) {
        remark(why);
        continue;
      }
      const auto& move = profile_.moves[static_cast<std::size_t>(cause.move)];
      const std::string both = with_statement(why, move.statement);
      if (both.size() <= kColumns - kIndent) {
        remark(both);
      } else {
        // The statement gets its own line, without the `; ` in front of it.
        remark(why);
        remark(both.substr(why.size() + 2));
      }
    }
    more(profile_.path_causes.size(), "causes");
  }

  // Writes the tasks that took the most time, summed over all their executions.
  void tasks() {
    if (profile_.tasks.empty()) return;
    const std::size_t listed = std::min(kListed, profile_.tasks.size());
    std::vector<std::string> names;
    std::size_t width = kTaskName;
    for (std::size_t i = 0; i < listed; ++i) {
      const std::string whole = task_name(record_, profile_.tasks[i].task);
      names.emplace_back(without_namespaces(whole, kTaskName));
      width = std::clamp(names.back().size(), width, kLongTaskName);
    }
    title(fmt::format("{} {:>9} {:>9} {:>9} {:>9} {}", padded("Tasks", width + 7), "runs", "time",
                      "mean", "longest", width > kTaskName ? "share" : "share of all tasks"));
    for (std::size_t i = 0; i < listed; ++i) {
      const Profile::Task& task = profile_.tasks[i];
      const double part = fraction_of(task.time, profile_.task_time);
      line(fmt::format("  {} {} {:>9} {:>9} {:>9} {:>9} {}", padded(names[i], width),
                       padded(task.kind, 4), task.runs, format_time(task.time),
                       format_time(task.mean()), format_time(task.longest),
                       bar(part, "36", kBar + kTaskName - width)));
    }
    more(profile_.tasks.size(), "tasks");
  }

  // Writes how busy the processors of each kind were, and how busy the busiest runtime processor
  // was.
  void processors() {
    if (profile_.kinds.empty()) return;
    title("Processors, busy of the whole time");
    for (const Profile::Kind& kind : profile_.kinds) {
      const auto of = [&](RunTime time) { return fraction_of(time, profile_.total); };
      // The mean is over all processors of the kind, including those that ran nothing.
      const double mean = of(kind.busy) / static_cast<double>(kind.processors);
      line(fmt::format("  {} {:>20}  {}, the least {}, the most {}  {}", padded(kind.kind, 5),
                       fmt::format("{} of {} used", kind.used, kind.processors), percent(mean),
                       percent(of(kind.least)), percent(of(kind.most)), bar(mean, "32")));
    }
    if (profile_.runtimes.empty()) return;
    const auto busiest =
        std::max_element(profile_.runtimes.begin(), profile_.runtimes.end(),
                         [](const auto& a, const auto& b) { return a.busy < b.busy; });
    const double part = fraction_of(busiest->busy, profile_.total);
    line(fmt::format("  {} {:>14}  {}                                   {}",
                     padded("the runtime", 11), fmt::format("on node {}", busiest->node),
                     percent(part), bar(part, "32")));
  }

  // Writes the memories that were fullest relative to their capacity.
  void memories() {
    std::vector<const Profile::Memory*> fullest;
    for (const Profile::Memory& memory : profile_.memories) fullest.push_back(&memory);
    const auto fill = [&](const Profile::Memory& memory) {
      const auto& one = record_.memories[static_cast<std::size_t>(memory.memory)];
      return fraction_of(one.peak_bytes, one.capacity_bytes);
    };
    std::stable_sort(fullest.begin(), fullest.end(),
                     [&](const auto* a, const auto* b) { return fill(*a) > fill(*b); });
    if (fullest.empty()) return;
    title("Memories at their fullest");
    for (std::size_t i = 0; i < std::min(kFewListed, fullest.size()); ++i) {
      const auto& one = record_.memories[static_cast<std::size_t>(fullest[i]->memory)];
      const double part = fill(*fullest[i]);
      line(fmt::format("  {} {:>9} of {:>9} {}  {}", padded(name_of(one), 19),
                       format_bytes(one.peak_bytes), format_bytes(one.capacity_bytes),
                       percent(part), bar(part, "33")));
    }
    more(fullest.size(), "memories", kFewListed);
  }

  // Writes the data movements with the most bytes, each with the mapping statement that caused it.
  void moves() {
    if (profile_.moves.empty()) return;
    title(fmt::format("Moved: {} by {} copies and {} reductions",
                      format_bytes(profile_.moved_bytes), profile_.copies, profile_.reductions));
    for (std::size_t i = 0; i < std::min(kFewListed, profile_.moves.size()); ++i) {
      const Profile::CopyGroup& move = profile_.moves[i];
      line(fmt::format("  {:>9} {}  {}", format_bytes(move.bytes),
                       percent(fraction_of(move.bytes, profile_.moved_bytes)),
                       cut(words_of(profile_, move), kColumns - kIndent)));
      remark(with_statement(
          fmt::format("{} times {}", move.number, format_time(move.time / move.number)),
          move.statement));
    }
    more(profile_.moves.size(), "causes", kFewListed);
  }

  // Writes the channels between memories that were busy for the longest time.
  void channels() {
    std::vector<const Profile::Channel*> busiest;
    for (const Profile::Channel& channel : profile_.channels) busiest.push_back(&channel);
    std::stable_sort(busiest.begin(), busiest.end(),
                     [](const auto* a, const auto* b) { return a->busy > b->busy; });
    if (busiest.empty()) return;
    title("Channels, busy of the whole time");
    for (std::size_t i = 0; i < std::min(kFewListed, busiest.size()); ++i) {
      const Profile::Channel& channel = *busiest[i];
      const double part = fraction_of(channel.busy, profile_.total);
      line(fmt::format("  {} {:>11}  {}  {}",
                       padded(name_of(record_.links[static_cast<std::size_t>(channel.link)]), 30),
                       format_bytes(channel.bytes), percent(part), bar(part, "35")));
    }
    more(busiest.size(), "channels", kFewListed);
  }

  // Writes what the record of the run leaves out, such as events beyond a limit.
  void notes() {
    if (record_.notes.empty()) return;
    title("What is not in it");
    for (std::size_t i = 0; i < std::min(kListed, record_.notes.size()); ++i) {
      line("  " + harmless(record_.notes[i]));
    }
  }

  const Profile& profile_;
  const RunRecord& record_;
  const ProfileWords& words_;
  bool color_;
  std::string text_;
};

}  // namespace

std::string draw(const Profile& profile, const ProfileWords& words, bool color) {
  return TextWriter(profile, words, color).write();
}

}  // namespace groma
