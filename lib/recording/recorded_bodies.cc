// Turns the recorded launches of a task into statements. Launches that differ only in numbers
// become one statement, whose formulas are derived from all executions of the statement.
#include "recording/recorded_bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "recording/listed_pieces.h"
#include "recording/recorded_data.h"

namespace groma::app {
namespace {

constexpr std::size_t kMostStatements = 60'000;
// Limit on the additional statements of a body. They arise if no formula is right for a loop, so
// that its iterations are described one by one.
constexpr std::size_t kMostUnrolled = 512;

// Returns the name of the counter of a loop: t for the outermost loop, then t2, t3 and so on.
std::string counter_name(std::size_t depth) {
  return depth == 0 ? "t" : fmt::format("t{}", depth + 1);
}

// Returns the region with this name, or the region that the partition with this name divides,
// directly or through other partitions.
const AppRegion& region_of(const Application& app, std::string of) {
  for (std::size_t up = 0; up <= app.partitions.size(); ++up) {
    for (const AppRegion& region : app.regions) {
      if (region.name == of) return region;
    }
    for (const AppPartition& partition : app.partitions) {
      if (partition.name == of) {
        of = partition.of;
        break;
      }
    }
  }
  GROMA_CHECK(false);
  return app.regions.front();
}

// Returns the text of the formula `name` - `number`. A negative number gives `name` + its absolute
// value.
Formula less(const std::string& name, std::int64_t number) {
  if (number == 0) return name;
  return number > 0 ? fmt::format("{} - {}", name, number) : fmt::format("{} + {}", name, -number);
}

// Returns the number of launches and loops in a tree.
std::size_t size_of(const std::vector<FoldedElement>& tree) {
  std::size_t size = tree.size();
  for (const FoldedElement& each : tree) size += size_of(each.body);
  return size;
}

}  // namespace

// ---- From the runs of a task to a tree of statements

// Groups the runs by kind and describes each kind. If the task can tell the kinds apart, each kind
// becomes a loop whose count is 1 in runs of this kind and 0 in all others. Otherwise only the kind
// with the most runs is described, and a note says so. The task gets the arguments that the
// description uses.
void RecordedBodies::add_body(std::uint32_t task) {
  const auto contexts = contexts_.find(task);
  if (contexts == contexts_.end()) return;
  std::vector<RunKind> kinds = run_kinds(events_, contexts->second);
  AppTask& to = app_.tasks[task];
  auto which = find_run_kind_condition(events_, task, kinds);
  if (which && which->without_runs > 0) {
    notes_.push_back(fmt::format(
        "of {} of the launches of `{}` no task launched anything that was seen: they are described "
        "so, though in another process they may have",
        which->without_runs, to.name));
  }
  if (!which && kinds.size() > 1) {
    // If several kinds have equally many runs, one that launches something is kept.
    std::stable_partition(kinds.begin(), kinds.end(),
                          [](const RunKind& kind) { return !kind.shapes.empty(); });
    std::int64_t all = 0;
    for (const RunKind& kind : kinds) all += kind.count;
    notes_.push_back(fmt::format("{} of {} runs of `{}` launch something else than the others",
                                 all - kinds.front().count, all, to.name));
    kinds.resize(1);
  }
  std::vector<Tree> trees;
  std::size_t size = 0;
  for (const RunKind& kind : kinds) {
    trees.push_back(fold_into_loops(kind.shapes));
    size += size_of(trees.back()) + 1;
  }
  if (statements_ + size > kMostStatements) {
    notes_.push_back(fmt::format("what `{}` launches is too long and left out", to.name));
    return;
  }
  statements_ += size;
  used_.clear();
  std::size_t most_given = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    most_given = std::max(most_given, kinds[k].contexts.front()->run_arguments.size());
    if (!which || which->is_kind.empty()) {
      describe_run_kind(kinds[k], trees[k], to.body);
      continue;
    }
    if (kinds[k].shapes.empty()) continue;
    AppLoop loop;
    loop.count = which->is_kind[k];
    note_used_names(loop.count);
    describe_run_kind(kinds[k], trees[k], loop.body);
    to.body.push_back({std::move(loop)});
  }
  // The task gets the arguments that its body uses. add_arguments() later makes the launches of the
  // task pass them.
  NeededArguments& needs = needs_[to.name];
  for (std::size_t position = 0; position < most_given; ++position) {
    if (!used_.contains(argument_name(position))) continue;
    needs.positions.push_back(position);
    to.arguments.push_back(argument_name(position));
  }
  if (which && !which->which_values.empty()) to.arguments.emplace_back(kWhich);
  needs.which = std::move(which);
}

// Describes a kind of runs with its loops. If a formula is not right in all iterations of a loop,
// describes each iteration of this loop by separate statements, provided that fewer values are then
// wrong. Repeats this for the enclosing loops until all formulas are right or kMostUnrolled is
// reached.
void RecordedBodies::describe_run_kind(const RunKind& kind, const Tree& tree,
                                       std::vector<AppStatement>& body) {
  // The sizes of the lists to which body_of_run_kind() appends. They serve to remove the results of
  // a description that is not used.
  struct ListSizes {
    std::size_t notes, shapes, partitions, domains;
  };
  const auto sizes = [&] {
    return ListSizes{notes_.size(), launch_shapes_.size(), app_.partitions.size(),
                     undescribed_domains_.size()};
  };
  // Removes the items that were appended to these lists between two moments, given by the sizes of
  // the lists.
  const auto drop = [&](const ListSizes& from, const ListSizes& to) {
    const auto drop_of = [](auto& list, std::size_t begin, std::size_t end) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(begin),
                 list.begin() + static_cast<std::ptrdiff_t>(end));
    };
    drop_of(notes_, from.notes, to.notes);
    drop_of(launch_shapes_, from.shapes, to.shapes);
    drop_of(app_.partitions, from.partitions, to.partitions);
    drop_of(undescribed_domains_, from.domains, to.domains);
  };
  const std::set<std::string> used = used_;
  const ListSizes before = sizes();
  Tree turns = tree;
  body = body_of_run_kind(kind, turns);
  std::size_t wrong = wrong_, size = size_of(tree);
  while (wrong > 0) {
    bool has_loop = false;
    Tree next = unrolled(turns, wrong_launches_, has_loop);
    const std::size_t more = size_of(next) - size;
    if (!has_loop || size_of(next) - size_of(tree) > kMostUnrolled ||
        statements_ + more > kMostStatements) {
      break;
    }
    turns = std::move(next);
    std::set<std::string> used_before = std::exchange(used_, used);
    const ListSizes with_last = sizes();
    std::vector<AppStatement> better = body_of_run_kind(kind, turns);
    if (wrong_ >= wrong) {
      drop(with_last, sizes());
      used_ = std::move(used_before);
      continue;
    }
    drop(before, with_last);
    wrong = wrong_;
    body = std::move(better);
    statements_ += size_of(turns) - size;
    size = size_of(turns);
  }
}

// Describes a kind of runs by the statements of the tree, which lists the launches of the kind in
// their order. Counts the values at which formulas are wrong in wrong_.
std::vector<AppStatement> RecordedBodies::body_of_run_kind(const RunKind& kind, const Tree& tree) {
  runs_.clear();
  wrong_ = 0;
  wrong_launches_.clear();
  arguments_ = kind.contexts.front()->run_arguments.size();
  for (const Events::TaskRunGroup* context : kind.contexts) {
    std::vector<std::uint32_t> launches;
    unfold(context->launches, launches);
    std::size_t next = 0;
    std::vector<std::int64_t> counters;
    assign_launches_to_statements(tree, launches, next, counters, context->run_arguments);
  }
  return statements(tree, 0);
}

// Returns the tree without the innermost loops around these launches: the iterations of such a loop
// stand one after the other. Sets `has_loop` if there is such a loop.
RecordedBodies::Tree RecordedBodies::unrolled(const Tree& tree,
                                              const std::set<const FoldedElement*>& launches,
                                              bool& has_loop) {
  Tree made;
  for (const FoldedElement& each : tree) {
    FoldedElement copy = each;
    copy.body = unrolled(each.body, launches, has_loop);
    const bool is_around =
        std::any_of(each.body.begin(), each.body.end(),
                    [&](const FoldedElement& inner) { return launches.contains(&inner); });
    if (!is_around) {
      made.push_back(std::move(copy));
      continue;
    }
    has_loop = true;
    // describe_run_kind() rejects a tree with more than kMostUnrolled additional statements, so the
    // iterations of a long loop need not all be listed.
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(each.count, 2 * kMostUnrolled); ++i) {
      made.insert(made.end(), copy.body.begin(), copy.body.end());
    }
  }
  return made;
}

// Walks through the statements of the tree as one run does, and assigns the launches of the run to
// the statements. For each launch, the counters of the enclosing loops and the arguments of the run
// are stored with the statement.
void RecordedBodies::assign_launches_to_statements(const Tree& tree,
                                                   const std::vector<std::uint32_t>& launches,
                                                   std::size_t& next,
                                                   std::vector<std::int64_t>& counters,
                                                   const std::vector<std::int64_t>& given) {
  for (const FoldedElement& each : tree) {
    if (each.body.empty()) {
      LaunchExecutions& runs = runs_[&each];
      runs.loops = counters.size();
      runs.variable_values.insert(runs.variable_values.end(), counters.begin(), counters.end());
      runs.variable_values.insert(runs.variable_values.end(), given.begin(), given.end());
      runs.launches.push_back(launches[next++]);
      continue;
    }
    counters.push_back(0);
    for (std::uint32_t i = 0; i < each.count; ++i) {
      counters.back() = i;
      assign_launches_to_statements(each.body, launches, next, counters, given);
    }
    counters.pop_back();
  }
}

// Describes the statements of a tree that stands within `depth` loops. A loop gets a variable only
// if a formula in its body uses the counter. Launch statements with a wrong formula go to
// wrong_launches_.
std::vector<AppStatement> RecordedBodies::statements(const Tree& tree, std::size_t depth) {
  std::vector<AppStatement> made;
  for (const FoldedElement& each : tree) {
    if (each.body.empty()) {
      const std::size_t wrong = wrong_;
      made.push_back({describe_launch(runs_.at(&each))});
      if (wrong_ > wrong) wrong_launches_.insert(&each);
      continue;
    }
    AppLoop loop;
    loop.count = each.count;
    loop.body = statements(each.body, depth + 1);
    if (used_.erase(counter_name(depth)) > 0) loop.variable = counter_name(depth);
    made.push_back({std::move(loop)});
  }
  return made;
}

// ---- One launch

// Returns one launch statement that describes all these executions: formulas for its domain and its
// data. Data that equals the default data of the task is left out.
AppLaunch RecordedBodies::describe_launch(const LaunchExecutions& runs) {
  const Events::Launch& first = events_.launches[runs.launches.front()];
  const Events::LaunchShape& shape = events_.shapes[first.shape];
  AppLaunch made;
  made.task = app_.tasks[shape.task].name;
  launch_shapes_.push_back(first.shape);
  std::vector<std::string> names;
  for (std::size_t depth = 0; depth < runs.loops; ++depth) names.push_back(counter_name(depth));
  for (std::size_t d = 0; d < arguments_; ++d) names.push_back(argument_name(d));
  const LaunchFormulas formulas(events_, runs, std::move(names));
  bool from_origin = true;
  for (std::size_t d = 0; d < shape.dimensions; ++d) {
    const std::string what = fmt::format("the domain of a launch of `{}`", made.task);
    made.lower.push_back(formula_with_note(formulas.fit_launch_number(d), what));
    made.domain.push_back(
        formula_with_note(formulas.fit_launch_number(shape.dimensions + d), what));
    from_origin = from_origin && made.lower.back() == Formula(0);
  }
  if (from_origin) made.lower.clear();
  made.data = describe_launch_data(shape, runs, formulas, made);
  describe_launch_condition(runs, formulas, made);
  const AppTask& task = app_.tasks[shape.task];
  bool as_task = true;
  for (std::size_t r = 0; r < made.data.size(); ++r) {
    if (made.data[r] == task.requirements[r].data) {
      made.data[r] = {};
    } else {
      as_task = false;
    }
  }
  if (as_task) made.data.clear();
  return made;
}

// Adds the condition by which the points of a launch differ from its box. If there is none, every
// point of the launch counts as wrong.
void RecordedBodies::describe_launch_condition(const LaunchExecutions& runs,
                                               const LaunchFormulas& formulas, AppLaunch& made) {
  const std::vector<std::string> index = coordinate_names(made.domain.size());
  if (auto condition = formulas.fit_condition(index, condition_points_left_)) {
    if (*condition == Formula(1)) return;
    made.where = *std::move(condition);
    made.index = index;
    note_used_names(made.where);
    return;
  }
  for (const std::uint32_t launch : runs.launches) {
    const std::int32_t domain = events_.launches[launch].sparse_domain;
    if (domain < 0) continue;
    ++wrong_;
    if (undescribed_domains_.empty() || undescribed_domains_.back() != domain) {
      undescribed_domains_.push_back(domain);
    }
  }
}

// Describes the data of a launch, one entry for each requirement of the task. Sets `made.index` if
// the data depends on the point.
std::vector<AppData> RecordedBodies::describe_launch_data(const Events::LaunchShape& shape,
                                                          const LaunchExecutions& runs,
                                                          const LaunchFormulas& formulas,
                                                          AppLaunch& made) {
  const AppTask& task = app_.tasks[shape.task];
  const std::size_t dimensions = shape.dimensions;
  const std::vector<std::string> index = coordinate_names(dimensions);
  const Point size = extents_of(events_.launches[runs.launches.front()], dimensions);
  // The position of the next single colour or prefix in the numbers of a launch. All of them stand
  // behind the domain and before the tables, which give each point a colour.
  std::size_t next = 2 * dimensions;
  ColorTable table{next};
  for (const Events::Requirement& from : shape.requirements) {
    table.begin += events_.count_given_color_coordinates(from, dimensions);
  }
  std::vector<AppData> all;
  for (std::size_t r = 0; r < shape.requirements.size(); ++r) {
    const Events::Requirement& from = shape.requirements[r];
    AppData& to = all.emplace_back();
    const AppRegion& region = app_.regions[from.region];
    to.of = region.name;
    const std::vector<AppField> fields = fields_of(region, from);
    if (from.privilege != task.requirements[r].privilege) to.privilege = from.privilege;
    if (fields != task.requirements[r].fields) {
      for (const AppField& field : fields) to.fields.push_back(field.name);
      if (fields.empty()) to.privilege = Privilege::kNoAccess;
    }
    if (from.color_rule == Events::ColorRule::kWhole) continue;
    const auto partition = static_cast<std::size_t>(from.partition);
    const std::vector<std::int64_t> extents = color_extents(app_, app_.partitions[partition]);
    to.of = app_.partitions[partition].name;
    const std::string what =
        fmt::format("which piece of `{}` a launch of `{}` has", to.of, made.task);
    const std::size_t given = events_.count_given_color_coordinates(from, dimensions);
    for (std::size_t d = 0; d < given; ++d) {
      to.color.push_back(formula_with_note(
          formulas.fit_launch_number(next++, std::span(extents).subspan(d, 1)), what));
    }
    // The colours of a recorded partition need not begin at 0, but those of an application do. So
    // the lower corner of the colours is subtracted.
    if (from.color_rule == Events::ColorRule::kPoint) {
      const Point& lower = events_.partitions[partition].colors.lower;
      for (std::size_t d = 0; d < dimensions; ++d) {
        const int own = lower.dimensions() - static_cast<int>(dimensions - d);
        const std::int64_t shift = own >= 0 ? lower[own] : 0;
        to.color.push_back(less(index[d], shift));
      }
    } else if (from.color_rule == Events::ColorRule::kMapped) {
      table.colors = extents.size();
      std::vector<FittedFormula> colors;
      for (std::size_t d = 0; d < extents.size(); ++d) {
        std::vector<std::int64_t> periods = {extents[d]};
        periods.insert(periods.end(), size.coordinates().begin(), size.coordinates().end());
        colors.push_back(formulas.fit_point_color_coordinate(table, d, index, periods));
      }
      const bool is_wrong =
          std::any_of(colors.begin(), colors.end(),
                      [](const FittedFormula& color) { return color.right < color.all; });
      // A list of boxes changes the colours of the pieces. If the launched task launches tasks
      // itself, their data may depend on these colours, so no list is made.
      const bool can_be_listed =
          is_wrong && runs.are_all_one_launch() && !contexts_.contains(shape.task);
      const Events::Launch& first = events_.launches[runs.launches.front()];
      auto listed = can_be_listed ? partition_by_listed_boxes(events_, app_, first, from, table)
                                  : std::optional<AppPartition>();
      if (listed) {
        to.of = listed->name;
        app_.partitions.push_back(*std::move(listed));
        for (std::size_t d = 0; d < dimensions; ++d) {
          to.color.push_back(less(index[d], first.numbers[d]));
        }
        notes_.push_back(
            fmt::format("{} follows no rule that was found: the pieces are listed by point", what));
      } else {
        for (const FittedFormula& color : colors)
          to.color.push_back(formula_with_note(color, what, "points"));
      }
      table.before += extents.size();
    }
    // A colour that equals the point of the launch is the default and need not be written.
    const bool is_point =
        to.color.size() == dimensions &&
        std::equal(index.begin(), index.end(), to.color.begin(),
                   [](const std::string& name, const Formula& is) { return is.text() == name; });
    if (is_point) to.color.clear();
    if (!is_point && from.color_rule != Events::ColorRule::kFixed) made.index = index;
  }
  // Other launches of the task may have more requirements. This launch does not use them.
  for (std::size_t r = all.size(); r < task.requirements.size(); ++r) {
    all.push_back(
        {region_of(app_, task.requirements[r].data.of).name, {}, {}, Privilege::kNoAccess});
  }
  for (const AppData& each : all) {
    for (const Formula& formula : each.color) note_used_names(formula);
  }
  return all;
}

// Returns the formula and notes the names that it uses. If the formula is not right at all recorded
// values, adds a note for the user and counts the wrong values.
Formula RecordedBodies::formula_with_note(const FittedFormula& fitted, const std::string& what,
                                          const char* values) {
  if (!fitted.is_rule) {
    notes_.push_back(fmt::format("{} follows no rule that was found: `{}` is right for {} of {} {}",
                                 what, fitted.formula.text(), fitted.right, fitted.all, values));
    wrong_ += fitted.all - fitted.right;
  }
  note_used_names(fitted.formula);
  return fitted.formula;
}

// Adds all words of a formula to used_, the set of used names. Numbers are added, too, but no
// argument or counter has such a name.
void RecordedBodies::note_used_names(const Formula& formula) {
  const std::string& text = formula.text();
  for (std::size_t at = 0; at < text.size();) {
    const auto is_word = [&](std::size_t i) {
      return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0);
    };
    std::size_t end = at;
    while (is_word(end)) ++end;
    if (end > at) used_.insert(text.substr(at, end - at));
    at = end + 1;
  }
}

// ---- Arguments

// Returns the formula that a launch passes as an argument. `position` is a position in
// Events::TaskRunGroup::run_arguments: a coordinate of the launch's point, or a coordinate of the
// colour of one of its pieces. The formula of this colour is part of the launch already.
Formula RecordedBodies::formula_of_argument(const AppLaunch& launch, const AppTask& task,
                                            std::uint32_t shape, std::size_t position) const {
  const std::vector<std::string> index = coordinate_names(launch.domain.size());
  const Events::LaunchShape& from = events_.shapes[shape];
  std::size_t begin = from.dimensions;
  if (position < begin) return position < index.size() ? Formula(index[position]) : Formula(0);
  for (std::size_t r = 0; r < from.requirements.size() && r < task.requirements.size(); ++r) {
    const std::size_t colors = events_.color_dimensions(from.requirements[r]);
    if (position >= begin + colors) {
      begin += colors;
      continue;
    }
    const std::size_t d = position - begin;
    const bool own = launch.data.empty() || launch.data[r].of.empty();
    const AppData& data = own ? task.requirements[r].data : launch.data[r];
    if (d < data.color.size()) return data.color[d];
    const bool is_region = std::any_of(app_.regions.begin(), app_.regions.end(),
                                       [&](const AppRegion& each) { return each.name == data.of; });
    return is_region || d >= index.size() ? Formula(0) : Formula(index[d]);
  }
  return 0;
}

// Adds the arguments to the launches of a body. `next` is the index of the next launch in
// launch_shapes_, because both are in the order in which the launches were made.
void RecordedBodies::add_arguments_to_launches(std::vector<AppStatement>& body,
                                               std::size_t& next) const {
  for (AppStatement& statement : body) {
    if (auto* loop = std::get_if<AppLoop>(&statement.node)) {
      add_arguments_to_launches(loop->body, next);
    } else if (auto* launch = std::get_if<AppLaunch>(&statement.node)) {
      const std::uint32_t shape = launch_shapes_[next++];
      const AppTask* task = app_.find(launch->task);
      if (task == nullptr || task->arguments.empty()) continue;
      const NeededArguments& needs = needs_.at(task->name);
      for (const std::size_t position : needs.positions) {
        launch->arguments.push_back(formula_of_argument(*launch, *task, shape, position));
      }
      if (needs.which && !needs.which->which_values.empty()) {
        launch->arguments.emplace_back(needs.which->which_values.at(shape));
      }
      launch->index = coordinate_names(launch->domain.size());
    }
  }
}

// Adds the arguments to the launches of all tasks. A task's arguments are known only after its body
// was made, and launches of the task may stand in earlier bodies.
void RecordedBodies::add_arguments() {
  std::size_t next = 0;
  for (AppTask& task : app_.tasks) add_arguments_to_launches(task.body, next);
}

}  // namespace groma::app
