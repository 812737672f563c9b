// explain_log(): compares the decisions that a mapper log shows with the statements of the mapping.
#include "groma/explain_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "app/data.h"
#include "evaluate/processors.h"
#include "explain/explain_query.h"
#include "explain/json.h"
#include "explain/words.h"
#include "groma/evaluate.h"
#include "program/data.h"

namespace groma {
namespace {

using State = LoggedStatement::State;
using Difference = LoggedStatement::Difference;

constexpr std::size_t kMostDifferences = 5;

// Returns the names of processor kinds, with commas between them.
std::string kind_words(const std::vector<ProcKind>& kinds) {
  std::string text;
  for (const ProcKind kind : kinds) text += (text.empty() ? "" : ", ") + std::string(name_of(kind));
  return text;
}

// The layout of an instance as a mapper log writes it: "SoA:YX". The letters name the dimensions,
// the slowest one first.
struct LoggedLayout {
  FieldOrder fields = FieldOrder::kSoa;
  // The letters of the dimensions in their order. Empty if the data has only one dimension.
  std::string order;
  // The order of dimensions, nullopt if it is neither C nor Fortran order.
  std::optional<DimensionOrder> dimensions;
};
// Reads a layout from a mapper log. Returns nullopt if the fields are neither in SoA nor in AoS
// order.
std::optional<LoggedLayout> read_layout(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string fields = text.substr(0, colon);
  if (fields != "SoA" && fields != "AoS") return std::nullopt;
  LoggedLayout layout;
  if (fields == "AoS") layout.fields = FieldOrder::kAos;
  std::string order = colon == text.npos ? "" : text.substr(colon + 1);
  if (order.size() < 2) return layout;
  if (std::is_sorted(order.begin(), order.end())) {
    layout.dimensions = DimensionOrder::kC;
  } else if (std::is_sorted(order.rbegin(), order.rend())) {
    layout.dimensions = DimensionOrder::kFortran;
  }
  layout.order = std::move(order);
  return layout;
}

// Returns true if a logged layout is the one that a Layout statement asks for, and nullopt if the
// log does not tell. `one_field`: the order of the fields does not matter, because there is only
// one.
std::optional<bool> is_laid_out(const LayoutSpec& wanted, const std::string& text, bool one_field) {
  const auto layout = read_layout(text);
  if (!layout) return std::nullopt;
  if (!one_field && layout->fields != wanted.fields) return false;
  if (layout->order.empty()) return true;
  if (!layout->dimensions) return std::nullopt;
  return *layout->dimensions == wanted.dimensions;
}

// Returns a logged layout in the notation of a Layout statement: "AOS C_order". A layout that the
// mapping language cannot express stays as the log writes it.
std::string layout_in_words(const std::string& text) {
  const auto layout = read_layout(text);
  if (!layout) return text;
  std::string words = layout->fields == FieldOrder::kAos ? "AOS" : "SOA";
  if (layout->order.empty()) return words;
  if (!layout->dimensions) return words + " " + layout->order;
  return words + (*layout->dimensions == DimensionOrder::kC ? " C_order" : " F_order");
}

// Compares all decisions of a log with the statements of a program, and collects for each statement
// whether the run did what the statement says.
class LogJudge {
 public:
  // Makes an entry for each statement of the program. `app` may be null; otherwise it provides the
  // region names that the log does not have.
  LogJudge(const Program& program, const MapperLog& log, const Workload* app, Diagnostics& diags)
      : program_(program), log_(log), diags_(diags) {
    for (const auto* rows : {&program.data().rows, &program.data().shadowed_rows}) {
      for (const program::StatementRow& row : *rows) {
        LoggedStatement& made = statements_[row.statement];
        made.origin = {row.statement};
        made.of = of_table(row.key.table);
        names_regions_[row.statement] = row.key.region != kStarName;
        names_task_[row.statement] = row.key.task != kStarName;
      }
    }
    for (const program::StatementRow& row : program.data().conditional_rows) {
      LoggedStatement& made = statements_[row.statement];
      made.origin = {row.statement};
      made.of = of_table(row.key.table);
      hidden(made.origin, log.machine ? "the condition of its `when` does not hold on the machine"
                                      : "its `when` depends on the machine, which the log does not "
                                        "tell");
    }
    if (app != nullptr) read_names(*app);
    for (const MapperLog::TaskMove& move : log.moves) {
      const Processor& to = move.to;
      moves_[{move.task, to.node, to.kind, to.index}] += move.count;
    }
  }

  // Returns every statement of the program with its state. This function may be called only once
  // for each object.
  std::vector<LoggedStatement> judge() {
    for (const MapperLog::Task& task : log_.tasks) judge(task);
    for (const MapperLog::Data& data : log_.data) judge(data);
    judge_options();
    judge_points();
    std::vector<LoggedStatement> all;
    for (auto& [number, statement] : statements_) all.push_back(finished(number, statement));
    return all;
  }
  // Returns the number of points that were not compared with their mapping functions, because the
  // functions take too many steps.
  std::int64_t left_out() const { return left_out_; }

 private:
  // Returns the noun for the subject of a table's statements: a region, a point or a task.
  static std::string of_table(program::TableId table) {
    switch (static_cast<MappingStatement>(table)) {
      case MappingStatement::kRegion:
      case MappingStatement::kLayout:
      case MappingStatement::kCollectMemory:
        return "region";
      case MappingStatement::kIndexTaskMap:
        return "point";
      default:
        return "task";
    }
  }

  // Reads from the application the names of each region requirement that has the same names in all
  // launches of its task. The names of other requirements stay unknown, because the log does not
  // say to which launch a task belongs.
  void read_names(const Workload& app) {
    bool complete = true;
    const std::vector<TaskLaunches> uses = launches_by_task(app.data(), complete);
    for (std::size_t t = 0; t < uses.size(); ++t) {
      const auto& ways = uses[t].name_lists;
      for (std::size_t i = 0; i < app.data().tasks[t].requirements.size(); ++i) {
        const auto& first = ways.front()[i];
        const bool same = std::all_of(ways.begin(), ways.end(),
                                      [&](const auto& each) { return each[i] == first; });
        if (same) {
          known_names_[{app.data().tasks[t].name, static_cast<std::int64_t>(i)}] = {first.begin(),
                                                                                    first.end()};
        }
      }
    }
  }

  LoggedStatement& at(DecisionOrigin origin) { return statements_[origin.statement]; }

  // Counts `count` logged decisions that followed the statement. An empty origin (no statement
  // decided) is ignored.
  void acted(DecisionOrigin origin, std::int64_t count) {
    if (origin) at(origin).acted += count;
  }
  // Counts `count` logged decisions that did not follow the statement. Equal differences are
  // counted together. The first kMostDifferences different ones are kept, each with one example.
  void refused(DecisionOrigin origin, std::int64_t count, std::string wanted, std::string got,
               const std::string& example, Difference::Kind kind = Difference::Kind::kOtherValue) {
    if (!origin) return;
    LoggedStatement& statement = at(origin);
    statement.refused += count;
    for (Difference& each : statement.differences) {
      if (each.wanted != wanted || each.got != got || each.kind != kind) continue;
      each.count += count;
      return;
    }
    if (statement.differences.size() == kMostDifferences) return;
    statement.differences.push_back({std::move(wanted), std::move(got), count, example, kind});
  }
  void not_replicated(DecisionOrigin origin, std::int64_t count, const std::string& task,
                      Difference::Kind kind) {
    refused(origin, count, "replicated", "not replicated", task, kind);
  }
  // Notes that the log cannot show whether the run followed the statement, and why.
  void hidden(DecisionOrigin origin, const char* why) {
    if (origin) hidden_.emplace(origin.statement, why);
  }
  // Marks the statements that match the query but were overridden by the statement `deciding`.
  void beaten(const MatchQuery& query, DecisionOrigin deciding) {
    for (const Match& match : program_.matches(query)) {
      if (match.origin != deciding) beaten_.insert(match.origin.statement);
    }
  }

  // Returns true if a selector such as `main > step` may stand for the task. A log does not tell
  // the launches of a task apart, so nothing can be said about the statements for it.
  bool is_selected(std::string_view task) {
    bool selected = false;
    const program::ProgramData& data = program_.data();
    if (data.names.selectors().empty()) return false;
    for (const program::StatementRow& row : data.rows) {
      const bool is_selector = data.names.selector(row.key.task) != nullptr;
      if (!is_selector || !data.names.stands_for(row.key.task, task)) continue;
      hidden({row.statement}, "which task launched it does not stand in a log");
      selected = true;
    }
    return selected;
  }

  // Compares the processor kind on which a task ran with the Task statements. For the statements
  // about functions, limits and stealing, notes whether a log can show them.
  void judge(const MapperLog::Task& task) {
    if (is_selected(task.name)) return;
    const std::string got = task.kind ? std::string(name_of(*task.kind)) : "a utility processor";
    const auto kinds = program_.task(task.name);
    if (kinds) {
      const auto found = task.kind ? std::find(kinds->kinds.begin(), kinds->kinds.end(), *task.kind)
                                   : kinds->kinds.end();
      if (found != kinds->kinds.end()) {
        acted(kinds->origin, task.count);
      } else {
        refused(kinds->origin, task.count, kind_words(kinds->kinds), got, task.example);
      }
    }
    MatchQuery query{MappingStatement::kTask, task.name, {}, task.kind, {}};
    beaten(query, kinds ? kinds->origin : DecisionOrigin{});
    const auto function = task.is_index ? program_.index_function(task.name, task.kind)
                                        : program_.single_function(task.name, task.kind);
    query.statement =
        task.is_index ? MappingStatement::kIndexTaskMap : MappingStatement::kSingleTaskMap;
    beaten(query, function ? function->origin : DecisionOrigin{});
    if (function && !task.is_index) {
      hidden(function->origin, "where its parent ran does not stand in a log");
    }
    if (!task.kind) return;
    const auto limit = program_.instance_limit(task.name, *task.kind);
    if (limit) hidden(limit->origin, "how many run at once does not stand in a log");
    query.statement = MappingStatement::kInstanceLimit;
    beaten(query, limit ? limit->origin : DecisionOrigin{});
    const auto steal = program_.task_steal(task.name, *task.kind);
    if (steal) {
      hidden(steal->origin,
             log_.by_groma ? "nothing was stolen" : "what was stolen does not stand in such a log");
    }
    query.statement = MappingStatement::kTaskSteal;
    beaten(query, steal ? steal->origin : DecisionOrigin{});
  }

  // Compares the logged memory and layout of a region requirement with the statements about it.
  void judge(const MapperLog::Data& data) {
    if (!data.kind || is_selected(data.task)) return;
    std::vector<std::string_view> names;
    const auto& known = data.has_names ? data.names : known_names_[{data.task, data.position}];
    names.assign(known.begin(), known.end());
    nameless_ = nameless_ || (!data.has_names && known.empty());
    const RegionNames region{data.position, names};
    judge_memory(data, region);
    if (data.memory && *data.memory != MemKind::kVirtual) judge_layout(data, region);
    const auto collect = program_.collect_memory(data.task, region);
    if (collect) hidden(*collect, "what is collected does not stand in a log");
    beaten({MappingStatement::kCollectMemory, data.task, region, data.kind, {}},
           collect.value_or(DecisionOrigin{}));
  }

  // Compares the logged memory with the Region statements. The statement that lists this memory was
  // followed. The statements that listed memories before it were not.
  void judge_memory(const MapperLog::Data& data, const RegionNames& region) {
    const auto candidates = program_.memories(data.task, region, *data.kind);
    const auto taken =
        std::find_if(candidates.begin(), candidates.end(),
                     [&](const MemoryCandidate& each) { return each.memory == data.memory; });
    // No statement places the data of an inner variant, or data that nobody accesses.
    if (taken == candidates.end() && data.memory == MemKind::kVirtual) {
      return beaten({MappingStatement::kRegion, data.task, region, data.kind, {}}, {});
    }
    const DecisionOrigin by = taken == candidates.end() ? DecisionOrigin{} : taken->origin;
    const std::string got = data.memory ? std::string(name_of(*data.memory)) : "another memory";
    acted(by, data.count);
    // For each statement, by its number: the memories that the statement lists before the memory
    // that the run used, as text.
    std::map<std::uint32_t, std::string> passed;
    for (auto each = candidates.begin(); each != taken; ++each) {
      if (each->origin == by) continue;
      std::string& wanted = passed[each->origin.statement];
      wanted += (wanted.empty() ? "" : ", ") + std::string(name_of(each->memory));
    }
    for (const auto& [statement, wanted] : passed) {
      refused({statement}, data.count, wanted, got, example(data));
    }
    for (const Match& match :
         program_.matches({MappingStatement::kRegion, data.task, region, data.kind, {}})) {
      if (match.origin != by && !passed.contains(match.origin.statement)) {
        beaten_.insert(match.origin.statement);
      }
    }
  }

  static std::string example(const MapperLog::Data& data) {
    return fmt::format("region {} of {}", data.position, data.example);
  }

  // Compares the logged layout with the Layout statement. A log shows only the order of dimensions
  // and fields, so a statement about alignment, exactness or compactness cannot be confirmed, only
  // refuted.
  void judge_layout(const MapperLog::Data& data, const RegionNames& region) {
    const auto layout = program_.layout(data.task, region, *data.kind, *data.memory);
    beaten({MappingStatement::kLayout, data.task, region, data.kind, data.memory},
           layout ? layout->origin : DecisionOrigin{});
    if (!layout) return;
    const auto as_wanted = is_laid_out(layout->layout, data.layout, data.one_field);
    const LayoutSpec& wanted = layout->layout;
    if (!as_wanted) {
      hidden(layout->origin, "the log does not tell the order of its dimensions");
    } else if (*as_wanted &&
               (wanted.exact || wanted.compact || wanted.align_op != AlignOp::kNone)) {
      hidden(layout->origin, "alignment, exactness and compactness do not stand in a log");
    } else if (*as_wanted) {
      acted(layout->origin, data.count);
    } else {
      const LayoutSpec shown = {.dimensions = layout->layout.dimensions,
                                .fields = layout->layout.fields};
      refused(layout->origin, data.count, layout_words(shown), layout_in_words(data.layout),
              example(data));
    }
  }

  // Compares the logged replication of tasks with the ControlReplicate statements.
  void judge_options() {
    for (const auto& [task, options] : log_.options) {
      const auto replicate = program_.control_replicate(task);
      beaten({MappingStatement::kControlReplicate, task, {}, {}, {}},
             replicate.value_or(DecisionOrigin{}));
      if (!replicate) continue;
      acted(*replicate, options.replicated);
      // A statement about all tasks applies only to tasks that can be replicated.
      const std::int64_t cannot = std::min(options.not_replicable, options.count);
      const bool names_it = names_task_.at(replicate->statement);
      if (!names_it && !log_.by_groma) {
        hidden(*replicate, "which tasks can be replicated does not stand in such a log");
      } else if (options.replicated + cannot < options.count) {
        not_replicated(*replicate, options.count - options.replicated - cannot, task,
                       Difference::Kind::kNotReplicated);
      }
      if (names_it && cannot > 0) {
        not_replicated(*replicate, cannot, task, Difference::Kind::kCannotReplicate);
      }
    }
  }

  // Compares the processor of each point task with the one that its mapping function gives. This is
  // only possible if the log lists the whole machine and the domain of the launch is known.
  void judge_points() {
    std::vector<std::optional<MappingFunctionDecision>> functions;
    bool any = false;
    for (const MapperLog::Task& task : log_.tasks) {
      functions.push_back(task.is_index ? program_.index_function(task.name, task.kind)
                                        : std::nullopt);
      if (!functions.back()) continue;
      any = true;
      hidden(functions.back()->origin, "the log does not tell the launch's domain");
    }
    if (!any) return;
    std::optional<BoundProgram> bound;
    if (log_.machine) {
      // Warnings about unreachable memories are ignored, because a log does not show reachability.
      Diagnostics unsaid(program_.source());
      bound = bind(program_, *log_.machine, unsaid);
      if (!bound) bound = bind(program_, *log_.machine, diags_);
    }
    if (!bound) return;
    FunctionEvaluator evaluator(*bound);
    for (const MapperLog::Point& point : log_.points) {
      const auto& function = functions[point.task];
      if (!function || !point.launch) continue;
      if (evaluator.steps() > kMostSteps) {
        ++left_out_;
        continue;
      }
      const MapperLog::Task& task = log_.tasks[point.task];
      TaskPoint at;
      at.name = task.name;
      at.domain = log_.launches[*point.launch].box;
      const bool reads_rank = program_.data().functions[function->function].reads_rank;
      if (reads_rank && log_.launches[*point.launch].is_from_slices) {
        hidden_[function->origin.statement] =
            "`irank` and `ivolume` count the points of a launch, and the log shows only slices of "
            "it; a log of `groma run --log` names the launches";
        continue;
      }
      if (reads_rank && log_.launches[*point.launch].some_points) {
        at.points = points_of_launch(*point.launch);
        if (at.points == nullptr) {
          hidden_[function->origin.statement] =
              "the log does not list all points of a sparse launch";
          continue;
        }
      }
      at.point = point.point;
      Diagnostics ignored(program_.source());
      const auto placed = evaluator.place(function->function, at, task.kind, ignored);
      if (!placed) continue;
      const auto& wanted = placed->processors;
      if (std::find(wanted.begin(), wanted.end(), point.processor) != wanted.end()) {
        acted(function->origin, 1);
      } else if (was_stolen(task, point.processor)) {
        hidden_[function->origin.statement] = "its points were stolen";
      } else {
        refused(function->origin, 1, mapper::text_of(wanted.front()),
                mapper::text_of(point.processor),
                fmt::format("{} ({})", task.name, fmt::join(point.point.coordinates(), ",")));
      }
    }
  }

  // Returns the points of a sparse launch: those that the log shows, if it shows all. Otherwise
  // returns null.
  const PointSet* points_of_launch(std::size_t launch) {
    if (known_points_.empty()) {
      std::map<std::size_t, std::set<Point, PointBefore>> seen;
      for (const MapperLog::Point& point : log_.points) {
        if (!point.launch || !log_.launches[*point.launch].some_points) continue;
        seen[*point.launch].insert(point.point);
      }
      for (const auto& [number, points] : seen) {
        std::optional<PointSet>& made = known_points_[number];
        if (std::ssize(points) != *log_.launches[number].some_points) continue;
        const std::vector<Point> all(points.begin(), points.end());
        if (Result<PointSet> set = PointSet::from_points(all)) made = *std::move(set);
      }
    }
    const std::optional<PointSet>& points = known_points_[launch];
    return points ? &*points : nullptr;
  }

  // Returns true if a task with this name was moved to this processor because of a TaskSteal
  // statement. The log does not tell which point was moved. So the first points on the processor
  // count as moved, as many as there were moves.
  bool was_stolen(const MapperLog::Task& task, const Processor& to) {
    const auto steal = program_.task_steal(task.name, to.kind);
    const auto moved = moves_.find({task.name, to.node, to.kind, to.index});
    if (!steal || moved == moves_.end() || moved->second == 0) return false;
    --moved->second;
    acted(steal->origin, 1);
    return true;
  }

  // Returns the statement with its state. The first case that applies decides: a single decision
  // against the statement outweighs all decisions that followed it.
  LoggedStatement finished(std::uint32_t number, LoggedStatement statement) const {
    const auto why = hidden_.find(number);
    if (statement.refused > 0) {
      statement.state = State::kNotHonoured;
    } else if (statement.acted > 0) {
      statement.state = State::kActed;
    } else if (why != hidden_.end()) {
      statement.state = State::kNotShown;
      statement.why = why->second;
    } else if (beaten_.contains(number)) {
      statement.state = State::kOverruled;
    } else if (nameless_ && names_regions_.at(number)) {
      statement.state = State::kNotShown;
      statement.why = "the log has no names of regions: give --app";
    } else if (log_.broken_off) {
      statement.state = State::kNotShown;
      statement.why = "the run broke off before what it speaks of was mapped";
    }
    return statement;
  }

  static constexpr std::int64_t kMostSteps = 50'000'000;
  const Program& program_;
  const MapperLog& log_;
  Diagnostics& diags_;
  std::map<std::uint32_t, LoggedStatement> statements_;
  std::map<std::uint32_t, bool> names_regions_, names_task_;
  std::map<std::tuple<std::string, std::int64_t, ProcKind, std::int64_t>, std::int64_t> moves_;
  std::map<std::uint32_t, const char*> hidden_;
  // The points of sparse launches, by their index in log_.launches. nullopt: the log lacks some.
  std::map<std::size_t, std::optional<PointSet>> known_points_;
  std::set<std::uint32_t> beaten_;
  std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>> known_names_;
  bool nameless_ = false;
  std::int64_t left_out_ = 0;
};

// ---- Text and JSON

constexpr std::array<std::string_view, 5> kStates = {"acted", "not-honoured", "overruled",
                                                     "unmatched", "not-shown"};
constexpr std::array<std::string_view, 5> kHeadings = {
    "Statements that acted:", "Statements that were not honoured:",
    "Statements that others overruled:", "Statements that nothing in the run matches:",
    "Statements of which such a log says nothing:"};

// Returns text that tells how often a statement was followed or not, or why the log does not show
// it.
std::string result(const LoggedStatement& statement) {
  if (statement.state == State::kActed) return count_with_noun(statement.acted, statement.of);
  if (statement.state == State::kNotHonoured) {
    return fmt::format("{} of {}", statement.refused,
                       count_with_noun(statement.refused + statement.acted, statement.of));
  }
  return statement.why;
}

// Returns a difference between the log and a statement as JSON. `why` exists only if Legion could
// not replicate the task.
OrderedJson json_of(const Difference& difference) {
  OrderedJson json = {{"wanted", difference.wanted},
                      {"got", difference.got},
                      {"count", difference.count},
                      {"example", difference.example}};
  if (difference.kind == Difference::Kind::kCannotReplicate) {
    json["why"] = "Legion could not replicate it";
  }
  return json;
}

// Returns a sentence about a difference between the log and a statement. It stands below the text
// of the statement, so the word "it" in it means the statement.
std::string sentence(const Difference& one) {
  const std::string times = count_with_noun(one.count, "time"), example = harmless(one.example);
  switch (one.kind) {
    case Difference::Kind::kNotReplicated:
      return fmt::format("A task that it names was not replicated {}, for example {}", times,
                         example);
    case Difference::Kind::kCannotReplicate:
      return fmt::format("Legion could not replicate a task that it names {}, for example {}",
                         times, example);
    case Difference::Kind::kOtherValue:
      break;
  }
  return fmt::format("It says {}, but the run took {} {}, for example for {}", harmless(one.wanted),
                     harmless(one.got), times, example);
}

// Returns all statements with their states and differences as JSON, as docs/commands.md describes
// it.
OrderedJson log_json(const LogExplanation& log, const Program& program) {
  OrderedJson json = {{"file", log.log},
                      {"lines", log.lines},
                      {"tasks", log.tasks},
                      {"regions", log.regions},
                      {"broken_off", log.broken_off},
                      {"unreadable_lines", log.unreadable},
                      {"left_out", log.left_out}};
  json["statements"] = OrderedJson::array();
  for (const LoggedStatement& each : log.statements) {
    OrderedJson one = {{"statement", json_of(program, each.origin)},
                       {"state", kStates[static_cast<std::size_t>(each.state)]},
                       {"of", each.of},
                       {"acted", each.acted},
                       {"refused", each.refused}};
    one["differences"] = OrderedJson::array();
    for (const Difference& difference : each.differences) {
      one["differences"].push_back(json_of(difference));
    }
    if (!each.why.empty()) one["why"] = each.why;
    json["statements"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

// Compares a mapper log with the program of a mapping. `name` is the name of the log, for messages.
// `app` may be null.
LogExplanation explain_log(const Program& program, const MapperLog& log, std::string name,
                           const Workload* app, Diagnostics& diags) {
  LogExplanation made;
  made.log = std::move(name);
  made.tasks = log.mapped;
  for (const MapperLog::Data& data : log.data) {
    if (data.memory != MemKind::kVirtual) made.regions += data.count;
  }
  made.broken_off = log.broken_off;
  made.lines = log.lines;
  made.unreadable = log.unreadable;
  // The machine of the run decides which `when` blocks act. Errors are reported below.
  std::optional<BoundProgram> bound;
  if (program.has_conditions() && log.machine) {
    Diagnostics ignored(program.source());
    bound = bind(program, *log.machine, ignored);
  }
  LogJudge judge(bound ? bound->program() : program, log, app, diags);
  made.statements = judge.judge();
  made.left_out = log.left_out + judge.left_out();
  return made;
}

// Returns the statements as text for a person, grouped by their states.
std::string draw(const LogExplanation& log, const Program& program, bool color) {
  std::string text =
      fmt::format("{}: {} and {} mapped", harmless(log.log), count_with_noun(log.tasks, "task"),
                  count_with_noun(log.regions, "region"));
  if (log.unreadable > 0)
    text += fmt::format("; {} could not be read", count_with_noun(log.unreadable, "line"));
  if (log.left_out > 0) text += fmt::format("; {} beyond what is kept", log.left_out);
  text += log.broken_off ? "\nThe run broke off: what it said last tells why.\n" : "\n";
  for (std::size_t state = 0; state < kStates.size(); ++state) {
    bool first = true;
    for (const LoggedStatement& each : log.statements) {
      if (each.state != static_cast<State>(state)) continue;
      if (first) {
        text += color ? fmt::format("\n\x1b[1m{}\x1b[0m\n", kHeadings[state])
                      : fmt::format("\n{}\n", kHeadings[state]);
      }
      first = false;
      text += fmt::format("  {}\n", statement_line(program, each.origin));
      const std::string came = result(each);
      if (!came.empty()) text += fmt::format("    {}\n", came);
      for (const Difference& one : each.differences) text += "    " + sentence(one) + "\n";
    }
  }
  return text;
}

// Returns the comparison with the log as JSON. If `explanation` is not null, the same JSON object
// has its decisions, too.
std::string to_json(const LogExplanation& log, const Explanation* explanation,
                    const Program& program, const Diagnostics& diags) {
  OrderedJson json =
      explanation == nullptr ? OrderedJson::object() : json_of(*explanation, program);
  json["log"] = log_json(log, program);
  json["diagnostics"] = json_of(diags);
  return json_line(json);
}

}  // namespace groma
