// Writes the profile of a run as one HTML file that needs no other file. The names in a profile
// come from other programs. They are escaped as text, or are part of JSON in which every `<` is
// escaped.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "profile/html.h"
#include "profile/json_text.h"
#include "profile/page_parts.h"
#include "profile/timeline.h"
#include "profile/words.h"

namespace groma {
namespace {

using namespace profile;

// Limit on the rows of each table of the page.
constexpr std::size_t kRows = 50;
// Limit on the rows and columns of the matrix that shows the bytes moved between memories.
constexpr std::size_t kMatrixEnds = 24;
// Limit on the points in the picture that shows the bytes in a memory over time.
constexpr std::size_t kLevelPoints = 600;
// Limit on the memories whose bytes over time are drawn.
constexpr std::size_t kPictures = 24;

// Writes the HTML page of one profile. Each section of the page has its own member function.
class ProfilePageWriter {
 public:
  ProfilePageWriter(const Profile& profile, const ProfileWords& words)
      : profile_(profile), record_(*profile.record), words_(words) {}

  // Returns the HTML page, which loads nothing.
  std::string write() {
    const std::string title = words_.title.empty() ? std::string("A run's profile") : words_.title;
    text_ = html_head(title, page_style());
    put("<h1>{}: {}</h1>\n", html_text(title), format_time(profile_.total));
    path();
    lanes();
    causes();
    moves();
    matrix();
    pictures();
    tasks();
    processors();
    channels();
    text_ += "</main>\n<script>";
    text_ += page_script();
    text_ += "</script>\n</body>\n</html>\n";
    return std::move(text_);
  }

 private:
  // Appends formatted text to the page. The caller must escape texts of other programs.
  template <typename... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  // ---- Tables

  // Begins an HTML table. In `columns`, the title of a column of numbers begins with `#`.
  void begin(std::string_view id, std::string_view title, std::string_view caption,
             std::initializer_list<std::string_view> columns) {
    put("<h2 id=\"{}\">{}</h2>\n<div class=\"scroll\"><table>\n<caption>{}</caption>\n<thead><tr>",
        id, title, caption);
    for (std::string_view column : columns) {
      const bool number = column.starts_with('#');
      put("<th scope=\"col\"{}>{}</th>", number ? " class=\"n\"" : "",
          number ? column.substr(1) : column);
    }
    text_ += "</tr></thead>\n<tbody>\n";
  }
  // Ends an HTML table. If it has more than kRows rows (`all`), adds how many rows are not shown.
  void end(std::size_t all) {
    text_ += "</tbody></table></div>\n";
    if (all > kRows) put("<p class=\"dim\">And {} more.</p>\n", all - kRows);
  }
  // Writes a table cell with text, which is escaped.
  void words_cell(std::string_view words) { put("<td class=\"wide\">{}</td>", html_text(words)); }
  // Writes a table cell with code, such as a mapping statement.
  void code_cell(std::string_view words) {
    put("<td class=\"wide\"><code>{}</code></td>", html_text(words));
  }
  template <typename Value>
  void number_cell(const Value& value) {
    put("<td class=\"n\">{}</td>", value);
  }
  // Writes two table cells that show a fraction: a percentage and a bar.
  void bar_cell(double part) {
    put("<td class=\"n\">{:.1f} %</td><td class=\"barcell\"><span class=\"bar\" "
        "style=\"width:{:.1f}%\"></span></td>",
        100 * part, 100 * std::clamp(part, 0.0, 1.0));
  }

  // Writes the critical path as a table: the time of each activity (task, copy, reduction, runtime)
  // for each reason why the next event waited.
  void path() {
    begin(
        "path", "What the time is made of",
        "The critical path: what each moment of the run waited for; the parts add up to all of it.",
        {"doing", "why the next waited", "#time", "#share", ""});
    for (std::size_t d = 0; d < profile_.path_time.size(); ++d) {
      for (std::size_t r = 0; r < profile_.path_time[d].size(); ++r) {
        const RunTime time = profile_.path_time[d][r];
        if (time == 0) continue;
        text_ += "<tr>";
        words_cell(name_of(static_cast<Profile::Doing>(d)));
        words_cell(words_of(static_cast<Profile::Reason>(r)));
        number_cell(format_time(time));
        bar_cell(fraction_of(time, profile_.total));
        text_ += "</tr>\n";
      }
    }
    end(0);
  }

  // Writes a table of the causes with the most time on the critical path.
  void causes() {
    begin("causes", "The largest causes on the critical path", "By time.",
          {"what", "why the next waited", "because of", "#times", "#time", "#share", ""});
    for (std::size_t i = 0; i < std::min(kRows, profile_.path_causes.size()); ++i) {
      const Profile::PathCause& cause = profile_.path_causes[i];
      text_ += "<tr>";
      words_cell(words_of(profile_, cause));
      words_cell(cause.doing == Profile::Doing::kRuntime ? "" : words_of(cause.reason));
      code_cell(cause.move < 0
                    ? std::string()
                    : describe_statement(
                          words_, profile_.moves[static_cast<std::size_t>(cause.move)].statement));
      number_cell(cause.segments);
      number_cell(format_time(cause.time));
      bar_cell(fraction_of(cause.time, profile_.total));
      text_ += "</tr>\n";
    }
    end(profile_.path_causes.size());
  }

  // Writes a table of the data movements with the most bytes, each with the mapping statement that
  // caused it.
  void moves() {
    begin("moves", "What was moved, and why", "By bytes.",
          {"what", "because of", "#times", "#bytes", "#time of all", "#waited for channels",
           "#share", ""});
    for (std::size_t i = 0; i < std::min(kRows, profile_.moves.size()); ++i) {
      const Profile::CopyGroup& move = profile_.moves[i];
      text_ += "<tr>";
      words_cell(words_of(profile_, move));
      code_cell(describe_statement(words_, move.statement));
      number_cell(move.number);
      number_cell(format_bytes(move.bytes));
      number_cell(format_time(move.time));
      number_cell(format_time(move.waited));
      bar_cell(fraction_of(move.bytes, profile_.moved_bytes));
      text_ += "</tr>\n";
    }
    end(profile_.moves.size());
  }

  // Writes a table of the tasks that took the most time, summed over all their executions.
  void tasks() {
    begin("tasks", "Tasks", "By time.",
          {"task", "on", "#runs", "#time", "#mean", "#longest", "#waited for processors", "#share",
           ""});
    for (std::size_t i = 0; i < std::min(kRows, profile_.tasks.size()); ++i) {
      const Profile::Task& task = profile_.tasks[i];
      text_ += "<tr>";
      words_cell(task_name(record_, task.task));
      words_cell(task.kind);
      number_cell(task.runs);
      number_cell(format_time(task.time));
      number_cell(format_time(task.mean()));
      number_cell(format_time(task.longest));
      number_cell(format_time(task.waited));
      bar_cell(fraction_of(task.time, profile_.task_time));
      text_ += "</tr>\n";
    }
    end(profile_.tasks.size());
  }

  // Writes a table with one row for each processor kind, and one for each processor that was used.
  void processors() {
    begin("processors", "Processors", "How busy, of the whole time.",
          {"processor", "#runs", "#busy", "#idle", "#share", ""});
    for (const Profile::Kind& kind : profile_.kinds) {
      text_ += "<tr>";
      words_cell(fmt::format("all {}: {} of {} used, busiest {:.2f} times the mean", kind.kind,
                             kind.used, kind.processors, Profile::imbalance(kind)));
      number_cell(kind.runs);
      number_cell(format_time(kind.busy));
      number_cell(format_time(kind.idle));
      bar_cell(fraction_of(kind.busy, profile_.total) / static_cast<double>(kind.processors));
      text_ += "</tr>\n";
    }
    for (std::size_t i = 0; i < std::min(kRows, profile_.processors.size()); ++i) {
      const Profile::Processor& processor = profile_.processors[i];
      text_ += "<tr>";
      words_cell(name_of(record_.processors[static_cast<std::size_t>(processor.processor)]));
      number_cell(processor.runs);
      number_cell(format_time(processor.busy));
      number_cell(format_time(profile_.total - processor.busy));
      bar_cell(fraction_of(processor.busy, profile_.total));
      text_ += "</tr>\n";
    }
    end(profile_.processors.size());
  }

  // Writes a table that shows how busy each channel between memories was. Writes nothing if the run
  // used no channel.
  void channels() {
    if (profile_.channels.empty()) return;
    begin("channels", "Channels", "How busy, of the whole time.",
          {"channel", "#copies", "#bytes", "#busy", "#share", ""});
    for (std::size_t i = 0; i < std::min(kRows, profile_.channels.size()); ++i) {
      const Profile::Channel& channel = profile_.channels[i];
      text_ += "<tr>";
      words_cell(name_of(record_.links[static_cast<std::size_t>(channel.link)]));
      number_cell(channel.copies);
      number_cell(format_bytes(channel.bytes));
      number_cell(format_time(channel.busy));
      bar_cell(fraction_of(channel.busy, profile_.total));
      text_ += "</tr>\n";
    }
    end(profile_.channels.size());
  }

  // ---- The matrix of memories

  // Returns the name of the group to which a memory belongs. At level 0 each memory is a group, at
  // level 1 the memories of one kind on a node, and at level 2 all memories of a kind.
  std::string end_name(std::int32_t memory, int level) const {
    const auto& one = record_.memories[static_cast<std::size_t>(memory)];
    if (level == 0) return name_of(one);
    return level == 1 ? fmt::format("{} of node {}", one.kind, one.node) : one.kind;
  }

  // Writes a matrix of the bytes that were moved between memories. Memories are grouped by node,
  // then by kind, until the matrix has at most kMatrixEnds rows. A deeper colour means more bytes.
  void matrix() {
    if (profile_.flows.empty()) return;
    std::vector<std::string> ends;
    std::map<std::string, std::size_t> numbers;
    // Finds the finest grouping of memories with at most kMatrixEnds rows.
    int level = 0;
    for (; level < 3; ++level) {
      ends.clear();
      numbers.clear();
      for (const Profile::Memory& memory : profile_.memories) {
        if (memory.in_bytes == 0 && memory.out_bytes == 0) continue;
        std::string name = end_name(memory.memory, level);
        if (numbers.emplace(name, ends.size()).second) ends.push_back(std::move(name));
      }
      if (ends.size() <= kMatrixEnds) break;
    }
    level = std::min(level, 2);
    std::vector<std::int64_t> bytes(ends.size() * ends.size());
    for (const Profile::Flow& flow : profile_.flows) {
      const auto from = numbers.find(end_name(flow.from, level));
      const auto to = numbers.find(end_name(flow.to, level));
      if (from == numbers.end() || to == numbers.end()) continue;
      add_saturating(bytes[from->second * ends.size() + to->second], flow.bytes);
    }
    const std::int64_t most = bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
    text_ +=
        "<h2 id=\"matrix\">Data moved between memories</h2>\n<div class=\"scroll\"><table>\n"
        "<caption>Bytes from the memory of the row to that of the column.</caption>\n"
        "<thead><tr><th scope=\"col\">from \\ to</th>";
    for (const std::string& name : ends) {
      put("<th scope=\"col\" class=\"n\">{}</th>", html_text(name));
    }
    text_ += "</tr></thead>\n<tbody>\n";
    for (std::size_t row = 0; row < ends.size(); ++row) {
      put("<tr><th scope=\"row\">{}</th>", html_text(ends[row]));
      for (std::size_t column = 0; column < ends.size(); ++column) {
        const std::int64_t value = bytes[row * ends.size() + column];
        // A cell without data stays empty, so that the others stand out.
        if (value == 0) {
          text_ += "<td></td>";
        } else {
          put("<td class=\"n\" style=\"background:rgb(var(--heat) / {:.2f})\">{}</td>",
              0.05 + 0.4 * fraction_of(value, most), format_bytes(value));
        }
      }
      text_ += "</tr>\n";
    }
    text_ += "</tbody></table></div>\n";
  }

  // ---- Memory over time

  // Draws the allocated bytes over time for each of the kPictures fullest memories.
  void pictures() {
    std::vector<const Profile::Memory*> shown;
    for (const Profile::Memory& memory : profile_.memories) {
      if (record_of(memory).peak_bytes > 0) shown.push_back(&memory);
    }
    if (shown.empty()) return;
    const auto fill = [&](const Profile::Memory* memory) {
      return fraction_of(record_of(*memory).peak_bytes, record_of(*memory).capacity_bytes);
    };
    // The memories that are nearest to their capacity come first.
    std::stable_sort(shown.begin(), shown.end(),
                     [&](const auto* a, const auto* b) { return fill(a) > fill(b); });
    text_ += "<h2 id=\"memory\">Memory over time</h2>\n";
    const auto levels = allocated_bytes_over_time(profile_, kLevelPoints);
    for (std::size_t i = 0; i < std::min(kPictures, shown.size()); ++i) {
      const RunRecord::Memory& one = record_of(*shown[i]);
      put("<figure><figcaption>{}: at most {} of {} ({:.1f} %), at {}</figcaption>\n",
          html_text(name_of(one)), format_bytes(one.peak_bytes), format_bytes(one.capacity_bytes),
          100 * fill(shown[i]), format_time(shown[i]->peak_time));
      picture(one, levels[static_cast<std::size_t>(shown[i]->memory)]);
      text_ += "</figure>\n";
    }
    if (shown.size() > kPictures) {
      put("<p class=\"dim\">And {} more, less full.</p>\n", shown.size() - kPictures);
    }
  }

  // Returns the record's description of a memory.
  const RunRecord::Memory& record_of(const Profile::Memory& memory) const {
    return record_.memories[static_cast<std::size_t>(memory.memory)];
  }

  // Draws the allocated bytes in a memory over time as an SVG path of steps.
  void picture(const RunRecord::Memory& memory, const std::vector<AllocatedBytesAtTime>& levels) {
    put("<svg class=\"level\" viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" "
        "aria-label=\"bytes in {} over time\"><path d=\"M0 100",
        html_text(name_of(memory)));
    std::int64_t last = 0;
    // The y axis of SVG points down. The peak takes 95 % of the height.
    const auto y = [&](std::int64_t bytes) {
      return 100 - 95 * fraction_of(bytes, memory.peak_bytes);
    };
    for (const AllocatedBytesAtTime& level : levels) {
      // Each level gives a horizontal and a vertical line, because the number of bytes changes
      // instantly.
      const double x = 1000 * fraction_of(level.time, profile_.total);
      put("L{:.1f} {:.1f}L{:.1f} {:.1f}", x, y(last), x, y(level.bytes));
      last = level.bytes;
    }
    text_ += "L1000 100Z\"/></svg>\n";
  }

  // ---- The time line

  // Writes the timeline of the run: its controls, a canvas, and the data for the script.
  void lanes() {
    const Timeline all = make_timeline(profile_, kMaxPageEvents);
    text_ +=
        "<h2 id=\"time\">Time line</h2>\n"
        "<p class=\"dim\">Drag to move; Ctrl and wheel, or + and -, to zoom; a double click shows "
        "one task. What is not on the critical path is pale.";
    if (all.left_out > 0) {
      put(" Of {} tasks and copies the {} longest are drawn; none of the rest takes longer than "
          "{}.",
          record_.events.size(), static_cast<std::int64_t>(record_.events.size()) - all.left_out,
          format_time(all.longest_left_out));
    }
    for (const std::string& note : record_.notes) put(" Not in it: {}.", html_text(note));
    text_ +=
        "</p>\n<div id=\"tools\"><button data-key=\"ArrowLeft\" aria-label=\"earlier\">&larr;"
        "</button><button data-key=\"ArrowRight\" aria-label=\"later\">&rarr;</button>"
        "<button data-key=\"+\" aria-label=\"zoom in\">+</button>"
        "<button data-key=\"-\" aria-label=\"zoom out\">&minus;</button>"
        "<button data-key=\"Home\">whole run</button>"
        "<label><input type=\"checkbox\" id=\"only\" checked> show the critical "
        "path</label></div>\n"
        "<div id=\"lanes\"><canvas tabindex=\"0\" role=\"img\" aria-label=\"Time line of "
        "processors and channels; the tables on this page give the same in numbers\"></canvas>"
        "<div id=\"spacer\"></div></div>\n<p id=\"what\" aria-live=\"polite\"></p>\n"
        "<noscript><p>The time line needs JavaScript.</p></noscript>\n"
        "<script type=\"application/json\" id=\"run\">";
    data(all);
    text_ += "</script>\n";
  }

  // Writes the data of the timeline as JSON, in the format that page_parts.h describes. The labels
  // of the spans are the names of the tasks, "copy of" each region, "reduction of" each region, and
  // `?` for anything unknown.
  void data(const Timeline& all) {
    put("{{\"total\":{},\"labels\":[", profile_.total);
    for (const std::string& name : record_.tasks) put("{},", script_json(name));
    for (const std::string_view what : {"copy", "reduction"}) {
      for (const std::string& name : record_.regions) {
        put("{},", script_json(fmt::format("{} of {}", what, name)));
      }
    }
    text_ += "\"?\"],\"lanes\":[";
    path_lane();
    for (const TimelineLane& lane : all.lanes) {
      put(",\n{{\"name\":{},\"spans\":[", script_json(lane.name));
      RunTime at = 0;
      // The begin of a span is written as the gap since the previous span, which keeps the numbers
      // short.
      for (const EventSpan& span : lane.spans) {
        // A span in the row of a runtime processor is the mapping of a task. It is never marked as
        // part of the critical path, because the row of the critical path itself shows the time of
        // the runtime.
        const bool on_path = all.on_path[static_cast<std::size_t>(span.event)] &&
                             lane.kind != TimelineLane::Kind::kRuntime;
        put("{}{},{},{},{:d},{}", &span == lane.spans.data() ? "" : ",", span.begin - at,
            span.end - span.begin, label_of(span.event), on_path, span.event);
        at = span.end;
      }
      text_ += "]}";
    }
    text_ += "]}";
  }

  // Returns the index of an event's label in the list of labels that data() writes.
  std::size_t label_of(std::int64_t event) const {
    const RunRecord::Event& one = record_.events[static_cast<std::size_t>(event)];
    const std::size_t tasks = record_.tasks.size(), regions = record_.regions.size();
    const auto number = [](std::int32_t n) { return static_cast<std::size_t>(n); };
    // The last label stands for anything that the record does not name.
    const std::size_t unknown = tasks + 2 * regions;
    if (one.kind == RunRecord::Event::Kind::kTask) {
      return one.name >= 0 && number(one.name) < tasks ? number(one.name) : unknown;
    }
    if (one.region < 0 || number(one.region) >= regions) return unknown;
    const bool copy = one.kind == RunRecord::Event::Kind::kCopy;
    return tasks + (copy ? 0 : regions) + number(one.region);
  }

  // Writes the timeline row of the critical path. Its labels are activities instead of tasks.
  void path_lane() {
    text_ += "{\"name\":\"critical path\",\"labels\":[";
    for (std::size_t i = 0; i < profile_.path_time.size(); ++i) {
      put("{}\"{}\"", i == 0 ? "" : ",", name_of(static_cast<Profile::Doing>(i)));
    }
    text_ += "],\"spans\":[";
    RunTime at = 0;
    bool first = true;
    for (std::size_t i : longest_path_segments(profile_, kMaxPageEvents)) {
      const Profile::Segment& segment = profile_.path[i];
      put("{}{},{},{},1,{}", first ? "" : ",", segment.begin - at, segment.end - segment.begin,
          static_cast<int>(segment.doing), segment.event);
      at = segment.end;
      first = false;
    }
    text_ += "]}";
  }

  const Profile& profile_;
  const RunRecord& record_;
  const ProfileWords& words_;
  std::string text_;
};

}  // namespace

// The HTML page is complete: it needs no server and no other file.
std::string to_html(const Profile& profile, const ProfileWords& words) {
  return ProfilePageWriter(profile, words).write();
}

}  // namespace groma
