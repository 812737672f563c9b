// The tables and the matrix of the page of a run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>

#include "base/append_format.h"
#include "profile/data_streams.h"
#include "profile/html.h"
#include "profile/page_sections.h"
#include "profile/words.h"

namespace groma::profile {
namespace {

// Limit on the rows of each table of the page, folded ones included.
constexpr std::size_t kMaxTableRows = 50;
// A table shows at most this many rows. The others are folded, and so is each row with a smaller
// share than kSmallRow, except the first kAlwaysShownRows rows.
constexpr std::size_t kMaxOpenRows = 10, kAlwaysShownRows = 3;
constexpr double kSmallRow = 0.01;
// Limit on the rows and columns of the matrix that shows the bytes moved between memories.
constexpr std::size_t kMatrixEnds = 24;

// One row of a table: its cells as HTML behind the share, and the share, which sorts the rows.
struct TableRow {
  std::string cells;
  double share = 0;
};

// Return a table cell with text, with code, and with a number.
std::string words_cell(std::string_view words) {
  return fmt::format("<td class=\"wide\">{}</td>", html_text(words));
}
std::string code_cell(std::string_view words) {
  return fmt::format("<td class=\"wide\"><code>{}</code></td>", html_text(words));
}
template <typename Value>
std::string number_cell(const Value& value) {
  return fmt::format("<td class=\"n\">{}</td>", value);
}
std::string time_cell(RunTime time) { return number_cell(time == 0 ? "0" : format_time(time)); }
// Returns two cells that show a fraction: a percentage and a bar.
std::string bar_cells(double part) {
  return fmt::format(
      "<td class=\"n\">{:.1f} %</td><td class=\"barcell\"><span class=\"bar\" "
      "style=\"width:{:.1f}%\"></span></td>",
      100 * part, 100 * std::clamp(part, 0.0, 1.0));
}

// Returns a share as a whole number of the unit in which the page shows it. Rows that show the same
// share must not be sorted by digits that nobody sees.
std::int64_t shown_share(double share) { return std::llround(1000 * share); }

// What a table consists of beside its rows.
struct Table {
  std::string_view id, title;
  // The sentence below the title, as HTML.
  std::string caption;
  // The titles of the columns behind the share. The title of a column of numbers begins with `#`.
  std::vector<std::string_view> columns;
  // True if the shares of all rows add up to 1, so that a sum of them says something.
  bool adds_up = true;
  // Rows that stay above the sorted ones.
  std::vector<TableRow> first = {};
  // The cells of a row below all others, which has no share. Empty: there is none.
  std::string last_cells = {};
};

// Appends a table. The first two columns show the share of each row. Rows are sorted by the share
// that is shown, the largest first, and keep their order where it is the same. Small rows are
// folded into one that says how many they are.
void add_table(const Table& table, std::vector<TableRow> rows, std::string* html) {
  append_format(
      html,
      "<section>\n<h2 id=\"{}\">{}</h2>\n<p class=\"dim\">{}</p>\n<div class=\"scroll\"><table>\n"
      "<thead><tr>",
      table.id, table.title, table.caption);
  *html += "<th scope=\"col\" class=\"n\">share</th><th scope=\"col\" class=\"barcell\"></th>";
  for (const std::string_view column : table.columns) {
    const bool number = column.starts_with('#');
    append_format(html, "<th scope=\"col\"{}>{}</th>", number ? " class=\"n\"" : "",
                  number ? column.substr(1) : column);
  }
  *html += "</tr></thead>\n<tbody>\n";
  for (const TableRow& row : table.first) {
    append_format(html, "<tr class=\"all\">{}{}</tr>\n", bar_cells(row.share), row.cells);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const TableRow& a, const TableRow& b) {
    return shown_share(a.share) > shown_share(b.share);
  });
  std::size_t open = 0;
  while (open < std::min(kMaxOpenRows, rows.size()) &&
         (open < kAlwaysShownRows || rows[open].share >= kSmallRow)) {
    ++open;
  }
  // Folding a single row would save no space.
  if (open + 1 == rows.size()) ++open;
  const auto row = [&](const TableRow& one) {
    append_format(html, "<tr data-share=\"{:.3f}\">{}{}</tr>\n", one.share, bar_cells(one.share),
                  one.cells);
  };
  for (std::size_t i = 0; i < open; ++i) row(rows[i]);
  *html += "</tbody>\n";
  if (open < rows.size()) {
    double rest = 0;
    for (std::size_t i = open; i < rows.size(); ++i) rest += rows[i].share;
    const std::string how_much = table.adds_up
                                     ? fmt::format("{:.1f} % together", 100 * rest)
                                     : fmt::format("at most {:.1f} % each", 100 * rows[open].share);
    append_format(
        html,
        "<tbody><tr><td colspan=\"{}\"><button class=\"more\" aria-expanded=\"false\">and {} more, "
        "{}</button></td></tr></tbody>\n<tbody class=\"rest\" hidden>\n",
        table.columns.size() + 2, rows.size() - open, how_much);
    for (std::size_t i = open; i < std::min(kMaxTableRows, rows.size()); ++i) row(rows[i]);
    if (rows.size() > kMaxTableRows) {
      append_format(html,
                    "<tr><td colspan=\"{}\" class=\"dim\">{} more rows are not listed.</td></tr>\n",
                    table.columns.size() + 2, rows.size() - kMaxTableRows);
    }
    *html += "</tbody>\n";
  }
  if (!table.last_cells.empty()) {
    append_format(html,
                  "<tbody><tr class=\"all\"><td></td><td class=\"barcell\"></td>{}</tr></tbody>\n",
                  table.last_cells);
  }
  *html += "</table></div>\n</section>\n";
}

// The critical path within the measured phase, or all of it if no phase is measured.
struct PathPart {
  // For each of Profile::path_causes, its time and the number of its segments in this part.
  std::vector<std::pair<RunTime, std::int64_t>> causes;
  // The time of the part, and the rest of the run.
  RunTime time = 0, outside = 0;
};
PathPart path_part(const Profile& profile, const std::string& measured) {
  const std::vector<TimeSpan> spans = measured_spans(profile, measured);
  PathPart part;
  part.causes.resize(profile.path_causes.size());
  for (const Profile::Segment& segment : profile.path) {
    const RunTime time = time_within(spans, segment.begin, segment.end);
    if (time <= 0 || !is_index_of(segment.cause, part.causes)) continue;
    auto& [sum, segments] = part.causes[static_cast<std::size_t>(segment.cause)];
    add_saturating(sum, time);
    ++segments;
    add_saturating(part.time, time);
  }
  part.outside = std::max<RunTime>(0, profile.total - part.time);
  return part;
}

// Returns what happened on the critical path, in the plural.
std::string_view words_of_doing(Profile::Doing doing) {
  constexpr std::string_view kNames[] = {"tasks ran", "copies", "reductions",
                                         "the runtime launched and mapped"};
  return kNames[static_cast<std::size_t>(doing)];
}

void add_moves(const Profile& profile, const ProfileWords& words, std::string* html) {
  std::vector<TableRow> rows;
  for (const Profile::CopyGroup& move : profile.moves) {
    const double share = fraction_of(move.time, profile.copy_time);
    rows.push_back({words_cell(words_of(profile, move)) +
                        code_cell(describe_statement(words, move.statement)) +
                        number_cell(move.number) + number_cell(format_bytes(move.bytes)) +
                        time_cell(move.time) + time_cell(move.waited),
                    share});
  }
  add_table({"moves",
             "What was moved, and why",
             "In the whole run. Sorted by the time of all copies together, including concurrent "
             "ones.",
             {"what", "because of", "#times", "#bytes", "#time of all", "#waited for channels"}},
            std::move(rows), html);
}

void add_tasks(const Profile& profile, std::string* html) {
  std::vector<TableRow> rows;
  for (const Profile::Task& task : profile.tasks) {
    const double share = fraction_of(task.time, profile.task_time);
    rows.push_back({words_cell(task_name(*profile.record, task.task)) + words_cell(task.kind) +
                        number_cell(task.runs) + time_cell(task.time) + time_cell(task.mean()) +
                        time_cell(task.longest) + time_cell(task.waited),
                    share});
  }
  add_table({"tasks",
             "Tasks",
             "In the whole run. Sorted by the time of all runs of the task together.",
             {"task", "on", "#runs", "#time", "#mean", "#longest", "#waited for processors"}},
            std::move(rows), html);
}

// Returns how many processors of a kind ran tasks, and how evenly: "GPU: 3 of 4 used, the busiest
// 1.50 times the mean of these".
std::string words_of(const Profile::Kind& kind) {
  std::string words = fmt::format("all {}: {} of {} used", kind.kind, kind.used, kind.processors);
  if (kind.used < 2 || kind.busy <= 0) return words;
  // Idle processors do not count, because a mapping may leave them idle on purpose.
  const double mean = static_cast<double>(kind.busy) / static_cast<double>(kind.used);
  return words + fmt::format(", the busiest {:.2f} times the mean of these",
                             static_cast<double>(kind.most) / mean);
}

// Writes a table with one row for each processor kind, and one for each processor that was used.
void add_processors(const Profile& profile, std::string* html) {
  Table table = {"processors",
                 "Processors",
                 "The share of the whole run in which each was busy.",
                 {"processor", "#runs", "#busy", "#idle"},
                 false};
  std::vector<TableRow> rows;
  for (const Profile::Kind& kind : profile.kinds) {
    const double share = fraction_of(kind.busy, profile.total) /
                         static_cast<double>(std::max<std::int64_t>(1, kind.processors));
    table.first.push_back({words_cell(words_of(kind)) + number_cell(kind.runs) +
                               time_cell(kind.busy) + time_cell(kind.idle),
                           share});
  }
  for (const Profile::Processor& one : profile.processors) {
    const double share = fraction_of(one.busy, profile.total);
    rows.push_back(
        {words_cell(name_of(profile.record->processors[static_cast<std::size_t>(one.processor)])) +
             number_cell(one.runs) + time_cell(one.busy) + time_cell(profile.total - one.busy),
         share});
  }
  add_table(table, std::move(rows), html);
}

void add_channels(const Profile& profile, std::string* html) {
  if (profile.channels.empty()) return;
  std::vector<TableRow> rows;
  for (const Profile::Channel& one : profile.channels) {
    const double share = fraction_of(one.busy, profile.total);
    rows.push_back({words_cell(name_of(profile.record->links[static_cast<std::size_t>(one.link)])) +
                        number_cell(one.copies) + number_cell(format_bytes(one.bytes)) +
                        time_cell(one.busy),
                    share});
  }
  add_table({"channels",
             "Channels",
             "The share of the whole run in which each was busy.",
             {"channel", "#copies", "#bytes", "#busy"},
             false},
            std::move(rows), html);
}

// Returns the name of the group to which a memory belongs. At level 0 each memory is a group, at
// level 1 the memories of one kind on a node, and at level 2 all memories of a kind.
std::string matrix_end_name(const RunRecord::Memory& memory, int level) {
  if (level == 0) return name_of(memory);
  return level == 1 ? fmt::format("{} of node {}", memory.kind, memory.node) : memory.kind;
}

}  // namespace

void add_page_path_tables(const Profile& profile, const ProfileWords& words, std::string* html) {
  const PathPart part = path_part(profile, words.measured);
  const std::string of = part.outside > 0
                             ? fmt::format("Within the measured phase <code>{}</code>, {}",
                                           html_text(words.measured), format_time(part.time))
                             : fmt::format("Of the whole run, {}", format_time(part.time));
  Table table = {
      "path",
      "What the time is made of",
      fmt::format("{}. The critical path: what each moment of this time waited for. The parts "
                  "add up to all of it.",
                  of),
      {"what happened", "why the run waited for it", "#time"}};
  Table largest = {"causes",
                   "The largest causes on the critical path",
                   of + ". Sorted by time.",
                   {"what", "why the run waited for it", "because of", "#times", "#time"}};
  if (part.outside > 0) {
    const std::string outside = words_cell("outside the measured phase") + words_cell("");
    table.last_cells = outside + time_cell(part.outside);
    largest.last_cells = outside + words_cell("") + number_cell("") + time_cell(part.outside);
  }
  std::array<std::array<RunTime, Profile::kReasons>, 4> times = {};
  std::vector<TableRow> rows, causes;
  for (std::size_t i = 0; i < profile.path_causes.size(); ++i) {
    const Profile::PathCause& cause = profile.path_causes[i];
    const auto& [time, segments] = part.causes[i];
    if (time <= 0) continue;
    add_saturating(
        times[static_cast<std::size_t>(cause.doing)][static_cast<std::size_t>(cause.reason)], time);
    const std::string statement =
        cause.move < 0 ? std::string()
                       : describe_statement(
                             words, profile.moves[static_cast<std::size_t>(cause.move)].statement);
    causes.push_back({words_cell(words_of(profile, cause)) +
                          words_cell(words_of(cause.doing, cause.reason)) + code_cell(statement) +
                          number_cell(segments) + time_cell(time),
                      fraction_of(time, part.time)});
  }
  for (std::size_t d = 0; d < times.size(); ++d) {
    for (std::size_t r = 0; r < times[d].size(); ++r) {
      if (times[d][r] == 0) continue;
      const auto doing = static_cast<Profile::Doing>(d);
      rows.push_back({words_cell(words_of_doing(doing)) +
                          words_cell(words_of(doing, static_cast<Profile::Reason>(r))) +
                          time_cell(times[d][r]),
                      fraction_of(times[d][r], part.time)});
    }
  }
  // The causes are in the order of their times in the whole run.
  std::stable_sort(causes.begin(), causes.end(),
                   [](const TableRow& a, const TableRow& b) { return a.share > b.share; });
  add_table(table, std::move(rows), html);
  add_table(largest, std::move(causes), html);
}

void add_page_tables(const Profile& profile, const ProfileWords& words, std::string* html) {
  add_tasks(profile, html);
  add_processors(profile, html);
  add_moves(profile, words, html);
  add_channels(profile, html);
}

// Memories are grouped by node, then by kind, until the matrix has at most kMatrixEnds rows. A
// deeper colour means more bytes.
void add_page_matrix(const Profile& profile, std::string* html) {
  if (profile.flows.empty()) return;
  const RunRecord& record = *profile.record;
  std::vector<std::string> ends;
  std::map<std::string, std::size_t> numbers;
  const auto end_name = [&](std::int32_t memory, int level) {
    return matrix_end_name(record.memories[static_cast<std::size_t>(memory)], level);
  };
  // Finds the finest grouping of memories with at most kMatrixEnds rows.
  int level = 0;
  for (; level < 3; ++level) {
    ends.clear();
    numbers.clear();
    for (const Profile::Memory& memory : profile.memories) {
      if (memory.in_bytes == 0 && memory.out_bytes == 0) continue;
      std::string name = end_name(memory.memory, level);
      if (numbers.emplace(name, ends.size()).second) ends.push_back(std::move(name));
    }
    if (ends.size() <= kMatrixEnds) break;
  }
  level = std::min(level, 2);
  std::vector<std::int64_t> bytes(ends.size() * ends.size());
  for (const Profile::Flow& flow : profile.flows) {
    const auto from = numbers.find(end_name(flow.from, level));
    const auto to = numbers.find(end_name(flow.to, level));
    if (from == numbers.end() || to == numbers.end()) continue;
    add_saturating(bytes[from->second * ends.size() + to->second], flow.bytes);
  }
  const std::int64_t most = bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
  *html +=
      "<section>\n<h2 id=\"matrix\">Data moved between memories</h2>\n"
      "<p class=\"dim\">Bytes from the memory of the row to that of the column.</p>\n"
      "<div class=\"scroll framed\" tabindex=\"0\"><table class=\"matrix\">\n"
      "<thead><tr><th scope=\"col\">from \\ to</th>";
  for (const std::string& name : ends) {
    *html += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", html_text(name));
  }
  *html += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < ends.size(); ++row) {
    *html += fmt::format("<tr><th scope=\"row\">{}</th>", html_text(ends[row]));
    for (std::size_t column = 0; column < ends.size(); ++column) {
      const std::int64_t value = bytes[row * ends.size() + column];
      // A cell without data stays empty, so that the others stand out.
      *html += value == 0
                   ? std::string("<td></td>")
                   : fmt::format(
                         "<td class=\"n\" style=\"background:rgb(var(--heat) / {:.2f})\">{}</td>",
                         0.05 + 0.4 * fraction_of(value, most), format_bytes(value));
    }
    *html += "</tr>\n";
  }
  *html += "</tbody></table></div>\n</section>\n";
}

}  // namespace groma::profile
