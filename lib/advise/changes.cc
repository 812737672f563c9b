// The Editor, which turns statements into edits, and faster_changes(), which proposes changes for
// the parts of a run that take the most time.
#include "advise/changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "edit/functions.h"
#include "evaluate/processors.h"
#include "explain/words.h"
#include "program/data.h"
#include "syntax/lexer.h"

namespace groma::inspect {
namespace {

constexpr std::size_t kTasks = 4;      // tasks examined, those with the most time first
constexpr std::size_t kRegions = 3;    // regions examined, by the time of their copies
constexpr std::size_t kRemoved = 4;    // statements of one kind that are removed
constexpr double kWorthTrying = 0.02;  // least share of the measured time

// Returns the text on one line, with single spaces.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

// Lexes the statement, which drops its comments.
std::string words_of(const Program& program, Origin origin) {
  const Source statement("", std::string(program.source().text(program.range(origin))));
  Diagnostics ignored(statement);
  syntax::Lexer lexer(statement, ignored, nullptr);
  std::string words;
  std::uint32_t end = 0;
  for (syntax::Token token = lexer.next(); token.kind != syntax::TokenKind::kEnd;
       token = lexer.next()) {
    if (token.range.begin > end && !words.empty()) words += ' ';
    words += statement.text(token.range);
    end = token.range.end;
  }
  return words;
}

std::string head_of(std::string_view words, std::size_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < words.size(); ++at) {
    if (words[at] == ' ' && --count == 0) break;
  }
  return std::string(words.substr(0, at));
}

// ------------------------------------------------------------------------------------------ Editor

// Lexes the program, and finds its comments, its line ends and the place for new statements.
Editor::Editor(const Program& program) : program_(program) {
  const std::vector<Range>& statements = program.data().statements;
  const std::string_view text = program.source().text();
  for (std::uint32_t s = 1; s <= statements.size(); ++s) words_.push_back(words_of(program, {s}));
  Diagnostics ignored(program.source());
  std::vector<syntax::Comment> comments;
  syntax::Lexer lexer(program.source(), ignored, &comments);
  while (lexer.next().kind != syntax::TokenKind::kEnd) {
  }
  for (const syntax::Comment& comment : comments) comments_.push_back(comment.range.begin);
  if (text.find("\r\n") != text.npos) line_end_ = "\r\n";
  // New statements go before all others, because the first of two statements with the same key
  // counts. They also go before the comment that belongs to the first statement.
  first_ = statements.empty() ? static_cast<std::uint32_t>(text.size()) : statements.front().begin;
  for (auto comment = comments.rbegin(); comment != comments.rend(); ++comment) {
    if (comment->range.begin >= first_ || !comment->own_line) continue;
    const std::string_view between = text.substr(comment->range.end, first_ - comment->range.end);
    const bool touches = between.find_first_not_of(" \t\r\n") == between.npos &&
                         std::count(between.begin(), between.end(), '\n') == 1;
    if (!touches) break;
    first_ = comment->range.begin;
  }
}

// Returns true if a comment begins in the range; replacing the range would lose the comment.
bool Editor::has_comment(Range range) const {
  const auto comment = std::lower_bound(comments_.begin(), comments_.end(), range.begin);
  return comment != comments_.end() && *comment < range.end;
}

std::string Editor::in_lines(const std::string& text) const {
  return replaced(text, "\n", line_end_);
}

std::string Editor::line_of(std::uint32_t offset) const {
  return fmt::format("line {}", program_.source().position(offset).line);
}

void Editor::add(const std::string& title, std::string about, std::vector<Edit> edits) {
  changes_.push_back({std::move(about), {harmless(title), std::move(edits), false}});
}

// Adds a change that replaces nothing; `text` describes what is new.
void Editor::add_new(const std::string& text, std::string about, std::vector<Edit> edits) {
  add("add " + text, std::move(about), std::move(edits));
  changes_.back().added = harmless(text);
}

// If the program has a different function with the same name, the definition gets a new name,
// NAME_2 or higher.
void Editor::set(const std::string& head, const std::string& rest, const std::string& function,
                 const std::string& definition) {
  const std::vector<Range>& statements = program_.data().statements;
  const std::string_view text = program_.source().text();
  const auto count = static_cast<std::size_t>(1 + std::count(head.begin(), head.end(), ' '));
  std::string written = fmt::format("{} {}", head, rest), defined = definition;
  if (!definition.empty()) {
    if (text.find(definition) != text.npos) {
      defined.clear();
    } else if (program_.find_function(function)) {  // a different function
      std::string name = function;
      for (int i = 2; program_.find_function(name); ++i) name = fmt::format("{}_{}", function, i);
      written = replaced(written, function, name);
      defined = replaced(definition, function, name);
    }
  }
  const std::string with = defined.empty() ? "" : fmt::format(" and `{}`", one_line(defined));
  std::vector<Edit> edits;
  for (std::uint32_t s = 0; s < statements.size(); ++s) {
    if (head_of(words_[s], count) != head) continue;
    if (words_[s] == written) return;
    if (has_comment(statements[s])) break;
    if (!defined.empty()) edits.push_back({{first_, first_}, in_lines(defined)});
    if (first_ == statements[s].begin && !edits.empty()) {
      edits.back() = {statements[s], in_lines(defined) + written};
    } else {
      edits.push_back({statements[s], written});
    }
    add(fmt::format("in {} write `{}` for `{}`{}", line_of(statements[s].begin), written,
                    statement_text(program_, {s + 1}), with),
        head, std::move(edits));
    return;
  }
  const bool own_line = !text.empty() && statements.empty() && text.back() != '\n';
  edits.push_back({{first_, first_},
                   in_lines(fmt::format("{}{}{};\n", own_line ? "\n" : "", defined, written))});
  add_new(fmt::format("`{};`{}", written, with), head, std::move(edits));
}

void Editor::rewrite(Origin origin, const std::string& text) {
  Range range = program_.range(origin);
  const std::string line = line_of(range.begin), before = statement_text(program_, origin);
  if (text == words_of(program_, origin) || has_comment(range)) return;
  if (text.empty()) {
    add(fmt::format("in {} remove `{}`", line, before), before, {{with_its_line(range), ""}});
  } else {
    add(fmt::format("in {} write `{}` for `{}`", line, text, before), before, {{range, text}});
  }
}

// Returns the range with its semicolon, and with the whole line if nothing else stands there.
Range Editor::with_its_line(Range range) const {
  const std::string_view text = program_.source().text();
  if (text.substr(range.end, 1) == ";") ++range.end;
  std::size_t begin = range.begin, end = range.end;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) ++end;
  const bool alone =
      (begin == 0 || text[begin - 1] == '\n') && end < text.size() && text[end] == '\n';
  if (!alone) return range;
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end + 1)};
}

// Adds the single changes first, then their combination if there are at least two.
void Editor::rewrite(const std::map<std::uint32_t, std::string>& texts) {
  const std::size_t first = changes_.size();
  for (const auto& [statement, text] : texts) rewrite(Origin{statement}, text);
  if (changes_.size() < first + 2) return;
  Fix all;
  std::string about;
  for (std::size_t i = first; i < changes_.size(); ++i) {
    all.title += (all.title.empty() ? "" : "; ") + changes_[i].fix.title;
    about += changes_[i].about;
    all.edits.push_back(changes_[i].fix.edits.front());
  }
  changes_.push_back({std::move(about), std::move(all)});
}

void Editor::edit(Range range, const std::string& text) {
  add(fmt::format("in {} write `{}` for `{}`", line_of(range.begin), text,
                  program_.source().text(range)),
      fmt::format("{}", range.begin), {{range, text}});
}

void Editor::remove(MappingStatement statement) {
  std::set<std::uint32_t> done;
  for (const program::Row& row : program_.data().rows) {
    if (row.key.table != static_cast<program::TableId>(statement)) continue;
    if (done.insert(row.statement).second) rewrite({row.statement}, "");
    if (done.size() == kRemoved) return;
  }
}

// ---------------------------------------------------------------------------------------- subjects

// The order is that of the default mapper's preference.
std::vector<ProcKind> kinds_of(const Subject& subject, const app::Task& task) {
  std::vector<ProcKind> kinds;
  for (ProcKind kind :
       {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu, ProcKind::kIo, ProcKind::kPy}) {
    if (!subject.machine.has(kind)) continue;
    const bool runs =
        std::any_of(task.variants.begin(), task.variants.end(),
                    [&](const app::Variant& variant) { return variant.kind == kind; });
    if (runs) kinds.push_back(kind);
  }
  return kinds;
}

std::optional<ProcKind> kind_of(const Subject& subject, const app::Task& task) {
  const std::vector<ProcKind> kinds = kinds_of(subject, task);
  const auto decision = subject.program.task(task.name);
  if (!decision) return kinds.empty() ? std::nullopt : std::optional(kinds.front());
  for (ProcKind kind : decision->kinds) {
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return kind;
  }
  return std::nullopt;
}

std::vector<MemKind> memories_of(const Machine& machine, ProcKind kind) {
  std::vector<MemKind> memories;
  for (MemKind memory :
       {MemKind::kFbmem, MemKind::kSockmem, MemKind::kSysmem, MemKind::kZcmem, MemKind::kRdmem}) {
    if (machine.can_address(0, kind, memory)) memories.push_back(memory);
  }
  return memories;
}

// Index functions depend on the smallest number of dimensions of the task's launches.
void place(const Subject& subject, std::uint32_t task, ProcKind kind, Editor& editor) {
  const app::Task& of = subject.app.tasks[task];
  const auto name = syntax::written_name(of.name);
  if (!name) return;
  int dimensions = 0;
  bool single = false;
  for (const app::Use& use : subject.uses[task].uses) {
    if (!use.domain) {
      single = single || use.depth > 0;
    } else if (dimensions == 0 || use.domain->dimensions() < dimensions) {
      dimensions = use.domain->dimensions();
    }
  }
  const auto set = [&](const char* statement, std::string_view function) {
    const std::string known = edit::name_for(function, kind);
    editor.set(fmt::format("{} {}", statement, *name), known, known,
               edit::definition(edit::named_function(function), kind, known));
  };
  if (single) set("SingleTaskMap", edit::kSamePoint);
  if (dimensions == 0) return;
  for (const std::string& function : edit::common_index_functions(dimensions)) {
    set("IndexTaskMap", function);
  }
}

// ------------------------------------------------------------------------------------------ faster

namespace {

// The time of tasks and regions on the critical path, within the measured phase or the whole run.
class Weights {
 public:
  Weights(const Profile& profile, const std::string& measured) {
    const RunRecord& record = *profile.record;
    for (const RunRecord::Phase& phase : record.phases) {
      if (record.has_name(phase, measured)) add(profile, phase.begin, phase.end);
    }
    if (total_ == 0) add(profile, 0, profile.total);
  }

  template <typename Key>
  using Ranked = std::vector<std::pair<Key, RunTime>>;
  Ranked<std::int32_t> tasks() const { return ranked(tasks_, kTasks); }
  Ranked<std::int32_t> regions() const { return ranked(regions_, kRegions); }
  RunTime runtime() const { return runtime_; }

 private:
  void add(const Profile& profile, RunTime begin, RunTime end) {
    const RunRecord& record = *profile.record;
    auto segment = std::partition_point(profile.path.begin(), profile.path.end(),
                                        [&](const auto& each) { return each.end <= begin; });
    for (; segment != profile.path.end() && segment->begin < end; ++segment) {
      const RunTime time = std::min(segment->end, end) - std::max(segment->begin, begin);
      total_ += time;
      if (segment->doing == Profile::Doing::kRuntime) runtime_ += time;
      if (segment->event < 0) continue;
      const auto& event = record.events[static_cast<std::size_t>(segment->event)];
      tasks_[event.name] += time;
      const bool moves =
          segment->doing == Profile::Doing::kCopy || segment->doing == Profile::Doing::kReduction;
      if (moves) regions_[event.region] += time;
    }
  }

  Ranked<std::int32_t> ranked(const std::map<std::int32_t, RunTime>& times,
                              std::size_t most) const {
    Ranked<std::int32_t> all;
    for (const auto& [key, time] : times) {
      if (key >= 0 && static_cast<double>(time) >= kWorthTrying * static_cast<double>(total_)) {
        all.emplace_back(key, time);
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    all.resize(std::min(all.size(), most));
    return all;
  }

  RunTime total_ = 0, runtime_ = 0;
  // Time by task, including the copies made for the task; time of copies by region.
  std::map<std::int32_t, RunTime> tasks_, regions_;
};

class Faster {
 public:
  Faster(const Subject& subject, const Profile& profile, const std::string& measured)
      : subject_(subject),
        record_(*profile.record),
        weights_(profile, measured),
        editor_(subject.program) {}

  std::vector<Change> changes() {
    const auto tasks = weights_.tasks();
    let_all_run_elsewhere();
    forget_shared_placements();
    std::vector<std::pair<RunTime, std::function<void()>>> by_time;
    for (const auto& [name, time] : tasks) {
      by_time.emplace_back(time, [this, name = name] { map_otherwise(name); });
    }
    for (const auto& [region, time] : weights_.regions()) {
      by_time.emplace_back(time, [this, region = region] { keep_elsewhere(region); });
    }
    by_time.emplace_back(weights_.runtime(), [this] { replicate(); });
    std::stable_sort(by_time.begin(), by_time.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [time, change] : by_time) change();
    for (MappingStatement statement :
         {MappingStatement::kInstanceLimit, MappingStatement::kCollectMemory,
          MappingStatement::kTaskSteal}) {
      editor_.remove(statement);
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(tasks.size(), 2); ++i) {
      const int task = task_of(tasks[i].first);
      if (task >= 0) lay_out(static_cast<std::uint32_t>(task));
    }
    return editor_.take();
  }

 private:
  int task_of(std::int32_t name) const {
    return name < 0 ? -1 : subject_.app.find_task(record_.tasks[static_cast<std::size_t>(name)]);
  }

  void map_otherwise(std::int32_t name) {
    const int task = task_of(name);
    if (task < 0) return;
    const auto number = static_cast<std::uint32_t>(task);
    if (const auto kind = kind_of(subject_, subject_.app.tasks[number])) {
      keep_in_fastest(number, *kind);
      place(subject_, number, *kind, editor_);
      forget_placement(number, *kind);
    }
    let_run_elsewhere(number);
  }

  void let_run_elsewhere(std::uint32_t number) {
    const app::Task& task = subject_.app.tasks[number];
    const auto name = syntax::written_name(task.name);
    const auto now = kind_of(subject_, task);
    if (!name || !now) return;
    for (ProcKind kind : kinds_of(subject_, task)) {
      if (kind != *now) {
        editor_.set("Task " + *name, fmt::format("{}, {}", name_of(kind), name_of(*now)));
      }
    }
  }

  // Makes statements name another processor kind first, for the tasks with the most time: one
  // change for each statement, and one for all.
  void let_all_run_elsewhere() {
    for (ProcKind kind : {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu}) {
      if (!subject_.machine.has(kind)) continue;
      std::map<std::uint32_t, std::string> texts;
      for (const auto& [name, time] : weights_.tasks()) {
        const auto decision = subject_.program.task(record_.tasks[static_cast<std::size_t>(name)]);
        if (!decision || !decision->origin || decision->kinds.front() == kind) continue;
        texts[decision->origin.statement] =
            with_first(words_of(subject_.program, decision->origin), decision->kinds, kind);
      }
      editor_.rewrite(texts);
    }
  }

  // Returns a Task statement with another kind first: "Task a, b OMP,GPU" becomes "Task a, b GPU,
  // OMP".
  static std::string with_first(const std::string& words, const std::vector<ProcKind>& kinds,
                                ProcKind first) {
    std::size_t end = words.size();  // end of the text before the kinds
    for (std::size_t i = 0; i < kinds.size() && end != words.npos; ++i) {
      const std::size_t word = words.find_last_not_of(", ", end == 0 ? 0 : end - 1);
      end = word == words.npos ? word : words.find_last_of(", ", word);
    }
    std::string list(name_of(first));
    for (ProcKind kind : kinds) {
      if (kind != first) list += fmt::format(", {}", name_of(kind));
    }
    return fmt::format("{} {}", words.substr(0, end), list);
  }

  // Removes the statements that place a task, so that the default mapper places it.
  void forget_placement(std::uint32_t number, ProcKind kind) {
    const std::string& name = subject_.app.tasks[number].name;
    for (const auto& decision : {subject_.program.index_function(name, kind),
                                 subject_.program.single_function(name, kind)}) {
      if (decision) editor_.rewrite(decision->origin, "");
    }
  }

  // Removes all statements that bind a function shared by several tasks: a change of one task alone
  // may not help.
  void forget_shared_placements() {
    std::set<FunctionId> done;
    for (const auto& [name, time] : weights_.tasks()) {
      const int task = task_of(name);
      if (task < 0) continue;
      const app::Task& of = subject_.app.tasks[static_cast<std::size_t>(task)];
      const auto kind = kind_of(subject_, of);
      const auto decision = kind ? subject_.program.index_function(of.name, *kind) : std::nullopt;
      if (!decision || !done.insert(decision->function).second) continue;
      std::map<std::uint32_t, std::string> texts;
      for (const program::Row& row : subject_.program.data().rows) {
        const bool places = row.key.table == program::TableId::kIndexMap ||
                            row.key.table == program::TableId::kSingleMap;
        if (places && row.value == static_cast<std::int64_t>(decision->function)) {
          texts[row.statement] = "";
        }
      }
      if (texts.size() > 1) editor_.rewrite(texts);
    }
  }

  // Moves the task's data to the memory with the most bandwidth for its processor: one change for
  // each statement, and one for all.
  void keep_in_fastest(std::uint32_t number, ProcKind kind) {
    const auto fastest = mapper::best_memory(subject_.machine, 0, kind);
    if (!fastest) return;
    const app::Task& task = subject_.app.tasks[number];
    std::map<std::uint32_t, std::string> texts;
    for (std::size_t r = 0; r < task.requirements.size(); ++r) {
      const app::Names& given = subject_.uses[number].names.front()[r];
      const std::vector<std::string_view> names(given.begin(), given.end());
      const auto memories =
          subject_.program.memories(task.name, {static_cast<std::int64_t>(r), names}, kind);
      if (memories.empty() || memories.front().memory == *fastest) continue;
      const Origin origin = memories.front().origin;
      texts[origin.statement] =
          fmt::format("{} {}", head_of(words_of(subject_.program, origin), 4), name_of(*fastest));
    }
    editor_.rewrite(texts);
  }

  // Proposes other memories for the region, and other processor kinds for tasks that use it.
  void keep_elsewhere(std::int32_t region) {
    const std::string& name = record_.regions[static_cast<std::size_t>(region)];
    const auto written = syntax::written_name(name);
    if (!written) return;
    std::vector<ProcKind> kinds;
    std::size_t moved = 0;
    for (std::uint32_t t = 0; t < subject_.app.tasks.size(); ++t) {
      const app::Task& task = subject_.app.tasks[t];
      const bool uses = std::any_of(
          task.requirements.begin(), task.requirements.end(), [&](const auto& requirement) {
            const auto& names =
                requirement.names.empty() ? requirement.data.names : requirement.names;
            return std::find(names.begin(), names.end(), name) != names.end();
          });
      const auto kind = uses ? kind_of(subject_, task) : std::nullopt;
      if (!kind) continue;
      if (std::find(kinds.begin(), kinds.end(), *kind) == kinds.end()) kinds.push_back(*kind);
      if (*kind != ProcKind::kGpu && moved++ < kTasks) let_run_elsewhere(t);
    }
    if (kinds.empty()) kinds.push_back(ProcKind::kGpu);
    for (ProcKind kind : kinds) {
      for (MemKind memory : memories_of(subject_.machine, kind)) {
        if (memory == MemKind::kRdmem) continue;
        editor_.set(fmt::format("Region * {} {}", *written, name_of(kind)),
                    std::string(name_of(memory)));
      }
    }
  }

  void replicate() {
    const int top = subject_.app.top_level;
    if (top < 0 || subject_.machine.node_count() < 2 || subject_.program.replicates_any()) return;
    const auto name = syntax::written_name(subject_.app.tasks[static_cast<std::size_t>(top)].name);
    if (name) editor_.set("ControlReplicate", *name);
  }

  void lay_out(std::uint32_t number) {
    const app::Task& task = subject_.app.tasks[number];
    const auto name = syntax::written_name(task.name);
    const auto kind = kind_of(subject_, task);
    if (!name || !kind) return;
    for (const char* layout : {"SOA F_order", "SOA C_order", "AOS C_order"}) {
      editor_.set(fmt::format("Layout {} * {}", *name, name_of(*kind)), layout);
    }
  }

  const Subject& subject_;
  const RunRecord& record_;
  Weights weights_;
  Editor editor_;
};

}  // namespace

std::vector<Change> faster_changes(const Subject& subject, const Profile& profile,
                                   const std::string& measured) {
  return Faster(subject, profile, measured).changes();
}

}  // namespace groma::inspect
