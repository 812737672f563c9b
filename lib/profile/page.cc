// Writes the page of a run as one HTML file that needs no other file: its head, the timeline, and
// the order of the sections. The names in a profile come from other programs. They are escaped as
// text, or are part of JSON in which every `<` is escaped.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/append_format.h"
#include "groma/harmless.h"
#include "groma/version.h"
#include "profile/html.h"
#include "profile/page_lanes.h"
#include "profile/page_parts.h"
#include "profile/page_sections.h"
#include "profile/words.h"

namespace groma {
namespace profile {
namespace {

// The sentence about what the run waited for names at most this many causes, each with at least
// this fraction of the time.
constexpr std::size_t kWaitedCauses = 3;
constexpr double kWaitedShare = 0.05;
// The fullest memory has a tile if at least this fraction of it was in use.
constexpr double kNotableFullness = 0.1;
// Limit on the lines that are shown as changed by one suggestion.
constexpr std::size_t kMaxChangedLines = 20;

// Returns for what the run waited while a cause of its critical path lasted, with names in
// backticks.
std::string waited_for(const Profile& profile, const Profile::PathCause& cause) {
  if (cause.doing == Profile::Doing::kRuntime) {
    return cause.reason == Profile::Reason::kStart
               ? "tasks or copies that were ready but had not started"
               : "the runtime to launch and map tasks";
  }
  if (cause.move < 0) return fmt::format("task `{}`", task_name(*profile.record, cause.task));
  const auto& move = profile.moves[static_cast<std::size_t>(cause.move)];
  // words_of() begins with "copy of REGION".
  const std::string region = region_name(*profile.record, move.region);
  const std::string what = move.reduction ? "reductions" : "copies";
  if (move.same_memory) return fmt::format("{} of `{}` within one {}", what, region, move.to);
  return fmt::format("{} of `{}` from {} to {}{}", what, region,
                     move.from.empty() ? "?" : move.from, move.to.empty() ? "?" : move.to,
                     move.other_node ? " of another node" : "");
}

// Returns the fullest memory relative to its capacity, or null.
const RunRecord::Memory* fullest_memory(const RunRecord& record) {
  const RunRecord::Memory* fullest = nullptr;
  double most = 0;
  for (const RunRecord::Memory& memory : record.memories) {
    const double full = fraction_of(memory.peak_bytes, memory.capacity_bytes);
    if (full > most) {
      most = full;
      fullest = &memory;
    }
  }
  return fullest;
}

// Appends a tile with the bytes that were moved. Copies between nodes are far slower than others,
// so a run on several nodes has both numbers.
void add_moved_tile(const Profile& profile, std::string* html) {
  const RunRecord& record = *profile.record;
  std::int64_t between = 0;
  for (const Profile::CopyGroup& move : profile.moves) {
    if (move.other_node) add_saturating(between, move.bytes);
  }
  const bool has_nodes =
      std::any_of(record.memories.begin(), record.memories.end(),
                  [&](const auto& memory) { return memory.node != record.memories.front().node; });
  const std::string number =
      fmt::format("{} copies, {} reductions", profile.copies, profile.reductions);
  if (!has_nodes) {
    add_html_tile("Moved data", format_bytes(profile.moved_bytes), number, html);
    return;
  }
  add_html_tile(
      "Moved between nodes", format_bytes(between),
      fmt::format("and {} within nodes; {}",
                  format_bytes(std::max<std::int64_t>(0, profile.moved_bytes - between)), number),
      html);
}

// Appends the lines that a suggestion changes, as the lines of a `diff`.
void add_changes(const std::vector<RunSummary::LineChange>& changes, std::string* html) {
  if (changes.empty()) return;
  *html += "<pre class=\"diff\">";
  std::size_t lines = 0;
  for (const RunSummary::LineChange& change : changes) {
    for (const std::string& line : change.before) {
      if (lines++ < kMaxChangedLines) append_format(html, "<del>- {}</del>\n", html_text(line));
    }
    for (const std::string& line : change.after) {
      if (lines++ < kMaxChangedLines) append_format(html, "<ins>+ {}</ins>\n", html_text(line));
    }
  }
  if (lines > kMaxChangedLines) append_format(html, "{} more lines\n", lines - kMaxChangedLines);
  *html += "</pre>";
}

// Returns the sentence with the name of the mapping's file instead of its whole path.
std::string with_short_name(std::string sentence, const std::string& path) {
  const std::string_view name = without_folders(path);
  if (name.size() == path.size()) return sentence;
  for (std::size_t at = sentence.find(path); at != sentence.npos;
       at = sentence.find(path, at + name.size())) {
    sentence.replace(at, path.size(), name);
  }
  return sentence;
}

// Appends the suggestions of the guide, each with the lines that it changes.
void add_suggestions(const RunSummary& summary, std::string* html) {
  *html += "<p class=\"label\">Suggest</p>\n";
  if (summary.suggest.empty()) {
    *html += "<p class=\"dim\">No change of the mapping is suggested.</p>\n";
    return;
  }
  *html += "<ul>\n";
  for (std::size_t i = 0; i < summary.suggest.size(); ++i) {
    append_format(html, "<li>{}",
                  html_sentence(with_short_name(summary.suggest[i], harmless(summary.mapping))));
    if (i < summary.changes.size()) add_changes(summary.changes[i], html);
    *html += "</li>\n";
  }
  *html += "</ul>\n";
}

// Returns an entry of the legend.
std::string legend_entry(std::size_t color, std::string_view name) {
  return fmt::format("<span><i class=\"swatch\" style=\"background:var(--c{})\"></i>{}</span>\n",
                     color, html_text(name));
}

// Appends what each colour of the timeline means. Only colours that occur are explained.
void add_legend(const Profile& profile, const Timeline& timeline, const std::string& measured,
                std::string* html) {
  const RunRecord& record = *profile.record;
  const std::vector<std::size_t> colors = task_colors(profile);
  std::map<std::size_t, std::string> tasks;
  std::set<std::int32_t> others;
  bool has_copies = false, has_reductions = false;
  for (const TimelineLane& lane : timeline.lanes) {
    for (const EventSpan& span : lane.spans) {
      const RunRecord::Event& event = record.events[static_cast<std::size_t>(span.event)];
      has_copies = has_copies || event.kind == RunRecord::Event::Kind::kCopy;
      has_reductions = has_reductions || event.kind == RunRecord::Event::Kind::kReduction;
      if (event.kind != RunRecord::Event::Kind::kTask) continue;
      const bool is_known = event.name >= 0 && static_cast<std::size_t>(event.name) < colors.size();
      const std::size_t color =
          is_known ? colors[static_cast<std::size_t>(event.name)] : kOtherTasksColor;
      if (color == kOtherTasksColor) {
        others.insert(event.name);
      } else {
        tasks.try_emplace(color, task_name(record, event.name));
      }
    }
  }
  *html += "<div class=\"legend\" id=\"legend\">\n";
  for (const auto& [color, name] : tasks) *html += legend_entry(color, name);
  if (!others.empty()) {
    *html += legend_entry(kOtherTasksColor, fmt::format("{} other task{}", others.size(),
                                                        others.size() == 1 ? "" : "s"));
  }
  if (has_copies) *html += legend_entry(kCopyColor, "copies");
  if (has_reductions) *html += legend_entry(kReductionColor, "reductions");
  *html += legend_entry(kRuntimeColor, "the runtime");
  *html += "<span><i class=\"swatch under\"></i>on the critical path</span>\n";
  if (!measured.empty()) {
    append_format(html,
                  "<span><i class=\"swatch phase\"></i>measured phase <code>{}</code></span>\n",
                  html_text(measured));
  }
  *html += "</div>\n";
}

}  // namespace

std::string waited_sentence(const Profile& profile, const std::string& measured) {
  std::vector<RunTime> times;
  if (!measured.empty()) times = profile.path_times_in_phase(measured);
  RunTime all = 0;
  for (const RunTime time : times) add_saturating(all, time);
  const bool has_phase = all > 0;
  if (!has_phase) all = profile.total;
  std::map<std::string, RunTime> by_words;
  for (std::size_t i = 0; i < profile.path_causes.size(); ++i) {
    const Profile::PathCause& cause = profile.path_causes[i];
    add_saturating(by_words[waited_for(profile, cause)], has_phase ? times[i] : cause.time);
  }
  std::vector<std::pair<RunTime, std::string>> causes;
  for (const auto& [words, time] : by_words) causes.emplace_back(time, words);
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string sentence;
  std::size_t named = 0;
  double rest = 1;
  for (const auto& [time, words] : causes) {
    const double share = fraction_of(time, all);
    if (named == kWaitedCauses || (named > 0 && share < kWaitedShare) || time <= 0) break;
    if (named++ == 0) {
      sentence = fmt::format(
          "{} waited {:.0f} % of its time for {}",
          has_phase ? fmt::format("Within the phase `{}`, which the application measures, the run",
                                  measured)
                    : std::string("The run"),
          100 * share, words);
    } else {
      sentence += fmt::format(", {:.0f} % for {}", 100 * share, words);
    }
    rest -= share;
  }
  if (sentence.empty()) return "";
  return rest < kWaitedShare ? sentence + "."
                             : fmt::format("{}, and {:.0f} % for the rest.", sentence, 100 * rest);
}

void add_page_head(const Profile& profile, const ProfileWords& words, const RunSummary& summary,
                   std::string* html) {
  const bool has_summary = !summary.application.empty();
  const std::string whole = format_time(profile.total);
  const std::string_view how = summary.simulated ? "simulated" : "measured";
  *html += "<header>\n";
  if (has_summary) {
    append_format(html, "<p class=\"dim\">The profile of a <b>{}</b> run{}</p>\n", how,
                  summary.simulated ? ": it does not predict the time on a clock" : "");
    append_format(html, "<h1>{}: {} {}</h1>\n", html_text(summary.application),
                  html_text(summary.time), how);
    append_format(html, "<p class=\"lead\">On <b>{}</b>, mapped by {}</p>\n",
                  html_text(summary.machine),
                  summary.mapping.empty()
                      ? std::string("the default mapper")
                      : fmt::format("<b>{}</b>", html_text(without_folders(summary.mapping))));
  } else {
    append_format(html, "<h1>{}: {}</h1>\n",
                  words.title.empty() ? std::string("A run's profile") : html_text(words.title),
                  whole);
  }
  *html += "<dl class=\"tiles\">\n";
  if (has_summary && !summary.time_of.empty()) {
    add_html_tile(summary.time_of, summary.time,
                  fmt::format("{}{}{}", how, summary.rate.empty() ? "" : ", ", summary.rate), html);
  }
  add_html_tile(profile.record->is_beginning ? "The recorded beginning" : "The whole run", whole,
                has_summary ? how : "", html);
  add_html_tile("Tasks", fmt::format("{}", profile.task_runs), "", html);
  add_moved_tile(profile, html);
  const auto* fullest = fullest_memory(*profile.record);
  const double full =
      fullest == nullptr ? 0 : fraction_of(fullest->peak_bytes, fullest->capacity_bytes);
  if (full >= kNotableFullness) {
    add_html_tile("Fullest memory", fmt::format("{:.1f} %", 100 * full),
                  fmt::format("of {}", name_of(*fullest)), html);
  }
  *html += "</dl>\n";
  const std::string waited = waited_sentence(profile, words.measured);
  if (!waited.empty()) {
    append_format(html, "<p class=\"lead\" id=\"waited\">{}</p>\n", html_sentence(waited));
  }
  if (has_summary) {
    *html += "<div class=\"columns\" id=\"advice\">\n<div>\n";
    std::vector<std::string> explain;
    for (const std::string& sentence : summary.explain) {
      explain.push_back(with_short_name(sentence, harmless(summary.mapping)));
    }
    add_html_list("Explain", explain, html);
    *html += "</div>\n<div>\n";
    add_suggestions(summary, html);
    *html += "</div>\n</div>\n";
  }
  *html += "</header>\n";
}

void add_page_timeline(const Profile& profile, const std::string& measured, std::string* html) {
  const RunRecord& record = *profile.record;
  const Timeline timeline = make_timeline(profile, kMaxPageEvents);
  const std::vector<PageLaneGroup> groups = page_lane_groups(profile, timeline);
  *html += "<section>\n<h2 id=\"time\">Time line</h2>\n";
  add_legend(profile, timeline, measured, html);
  std::size_t idle = 0;
  for (const PageLaneGroup& group : groups) {
    idle += static_cast<std::size_t>(std::count_if(
        group.lanes.begin(), group.lanes.end(), [](const PageLane& lane) { return lane.is_idle; }));
  }
  *html +=
      "<div class=\"tools\" id=\"tools\"><button data-key=\"ArrowLeft\" aria-label=\"earlier\">"
      "&larr;</button><button data-key=\"ArrowRight\" aria-label=\"later\">&rarr;</button>"
      "<button data-key=\"+\" aria-label=\"zoom in\">+</button>"
      "<button data-key=\"-\" aria-label=\"zoom out\">&minus;</button>"
      "<button data-key=\"Home\">whole run</button>\n";
  if (!measured.empty()) *html += "<button data-key=\"m\">measured phase</button>\n";
  append_format(
      html,
      "<label><input type=\"checkbox\" id=\"only\" checked> show the critical path</label>\n"
      "<label{}><input type=\"checkbox\" id=\"idle\"> show {} idle lane{}</label></div>\n",
      idle == 0 ? " hidden" : "", idle, idle == 1 ? "" : "s");
  *html +=
      "<div id=\"lanes\"><canvas tabindex=\"0\" role=\"img\" aria-label=\"Time line of "
      "processors and channels; the tables on this page give the same in numbers\"></canvas>"
      "<div id=\"spacer\"></div></div>\n"
      "<p id=\"what\" aria-live=\"polite\">Point at a task or a copy.</p>\n"
      "<noscript><p>The time line needs JavaScript.</p></noscript>\n"
      "<p class=\"dim\">Lanes of each kind are sorted by the share of the run in which they were "
      "busy. An idle lane was busy for less than 1 %. What is not on the critical path is pale. "
      "A lane with &times; 3 has up to three copies at once, and the height of a bar is their "
      "number. Where tasks or copies are too short to be told apart, the height is the part of the "
      "time in which the lane was busy: zoom in to see each. Drag to move; Ctrl and wheel, or + "
      "and -, to zoom; a double click shows one task.";
  if (timeline.left_out > 0) {
    append_format(
        html,
        " Of {} tasks and copies the {} longest are drawn; none of the rest takes longer than "
        "{}.",
        record.events.size(), static_cast<std::int64_t>(record.events.size()) - timeline.left_out,
        format_time(timeline.longest_left_out));
  }
  for (const std::string& note : record.notes) {
    append_format(html, " Not in it: {}.", html_text(note));
  }
  append_format(html,
                "</p>\n<script type=\"application/json\" id=\"run\">{}</script>\n</section>\n",
                page_lanes_json(profile, measured, timeline, groups));
}

}  // namespace profile

std::string to_html(const Profile& profile, const ProfileWords& words, const RunSummary& summary) {
  using namespace profile;
  // The page names files without their folders.
  ProfileWords short_words = words;
  if (words.statement) {
    short_words.statement = [&words](std::int32_t statement) {
      StatementText text = words.statement(statement);
      text.place = without_folders(text.place);
      return text;
    };
  }
  const std::string title =
      !summary.application.empty()
          ? fmt::format("{} on {}: {}", summary.application, summary.machine, summary.time)
      : words.title.empty() ? std::string("A run's profile")
                            : words.title;
  std::string html = html_head(title, page_style());
  add_page_head(profile, short_words, summary, &html);
  add_page_timeline(profile, words.measured, &html);
  add_page_path_tables(profile, short_words, &html);
  add_page_memories(profile, &html);
  add_page_tables(profile, short_words, &html);
  add_page_matrix(profile, &html);
  html += "<footer class=\"dim\">";
  for (const auto& [name, value] : summary.inputs) {
    append_format(&html, "{}: <code>{}</code>. ", html_text(name), html_text(value));
  }
  append_format(&html,
                "Written by <code>groma run</code> {}.</footer>\n</main>\n"
                "<script>{}</script>\n</body>\n</html>\n",
                kVersion, page_script());
  return html;
}

std::string to_html(const Profile& profile, const ProfileWords& words) {
  return to_html(profile, words, RunSummary());
}

}  // namespace groma
