// RecordedBodies: describes the launches in the runs of a task as a task body.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "groma/app.h"
#include "recording/events.h"
#include "recording/fit_formula.h"

namespace groma::app {

// Makes the bodies of the tasks, one after the other.
class RecordedBodies {
 public:
  // `app` has the regions, the partitions, and the tasks with their requirements.
  RecordedBodies(const Events& events, Application& app, std::vector<std::string>& notes)
      : events_(events), app_(app), notes_(notes) {
    for (const Events::Context& each : events.contexts) contexts_[each.task].push_back(&each);
  }

  // Adds the body of task `task`, which has the same number in the events and in the application.
  // If runs launched different things, all of them are described, provided that a run's arguments
  // or its launch distinguish them. Otherwise the body is the one of most runs.
  void add_body(std::uint32_t task);
  // Makes launches pass the arguments that bodies need. Call it once all bodies are made.
  void add_arguments();

 private:
  // All executions of a launch of the body.
  struct Runs {
    std::vector<std::int64_t> at;         // counters of the enclosing loops, then the arguments
    std::vector<std::uint32_t> launches;  // indices into Events::launches
    std::size_t loops = 0;
  };
  using Tree = std::vector<Repeat>;
  // A kind holds the runs of a task that launched the same things with other numbers.
  struct Kind {
    std::vector<const Events::Context*> contexts;
    std::int64_t count = 0;             // number of runs
    std::vector<std::uint32_t> shapes;  // shapes of the launched things
  };
  // How a task finds out the kind of a run.
  struct Which {
    std::vector<Formula> is_kind;  // for each kind: 1 in its runs, otherwise 0
    // The value of the argument kWhich that each launch of the task passes, by the launch's shape.
    // Empty: the argument does not exist.
    std::map<std::uint32_t, std::int64_t> numbers;
    std::size_t without_runs = 0;  // number of launch shapes whose tasks launched nothing
  };
  static constexpr const char* kWhich = "which";

  std::vector<Kind> kinds_of(std::uint32_t task) const;
  // Returns nullopt if runs of different kinds had the same arguments.
  std::optional<Which> tell_apart(std::uint32_t task, const std::vector<Kind>& kinds) const;
  void add_kind(const Kind& kind, const Tree& tree, std::vector<AppStatement>& body);
  std::vector<AppStatement> described(const Kind& kind, const Tree& tree);
  static Tree unrolled(const Tree& tree, const std::set<const Repeat*>& launches, bool& has_loop);
  void run(const Tree& tree, const std::vector<std::uint32_t>& launches, std::size_t& next,
           std::vector<std::int64_t>& counters, const std::vector<std::int64_t>& given);
  std::vector<AppStatement> statements(const Tree& tree, std::size_t depth);
  AppLaunch launch(const Runs& runs);
  std::vector<AppData> data(const Events::Shape& shape, const Runs& runs,
                            const std::vector<std::string>& names, AppLaunch& made);
  // Returns the number at that position of each launch, as a formula of the counters and arguments.
  Formula number(const Runs& runs, std::size_t position, const std::vector<std::string>& names,
                 std::span<const std::int64_t> periods, const std::string& what);
  // Where a launch has the colours of the points of one requirement. Each launch has its own number
  // of points.
  struct Table {
    std::size_t begin = 0;   // position of the first table of the launch
    std::size_t before = 0;  // numbers for each point in the tables before this one
    std::size_t colors = 0;  // numbers for each point in this table
  };
  // Adds a partition that lists the pieces that the points of a launch have, and returns its
  // number. Returns nullopt if the launches differ, if pieces of points were not seen, or if an
  // application may not have so many boxes.
  std::optional<std::size_t> add_listed(const Events::Shape& shape, const Runs& runs,
                                        const Events::Requirement& from, const Table& table);
  // Returns one coordinate of the colour of each point of a requirement, as a formula.
  Formula mapped(const Runs& runs, const Table& table, std::size_t coordinate,
                 std::span<const std::int64_t> periods, const std::vector<std::string>& names,
                 const std::string& what);
  // Adds the points of a run to the samples: its counters and arguments, its point, and the
  // coordinate of the colour. Points that were not seen are left out.
  void add_points(const Runs& runs, std::uint32_t run, const Table& table, std::size_t coordinate,
                  Samples& samples) const;
  // What a formula is worth.
  struct Score {
    std::size_t right = 0, all = 0;    // points
    std::vector<std::uint32_t> wrong;  // the first runs with a point at which it is wrong
  };
  // Compares a formula with all points of all runs.
  Score score_of(const Formula& formula, const Runs& runs, const Table& table,
                 std::size_t coordinate, const std::vector<std::string>& names) const;
  // Adds a note about a formula that is not always right.
  void note_nearest(const Formula& formula, const std::string& what, std::size_t right,
                    std::size_t all, const char* of);
  std::vector<std::uint32_t> chosen_runs(const Runs& runs, std::size_t samples_each) const;
  void use(const Formula& formula);
  bool uses(const std::string& name) const { return used_.contains(name); }

  const Events& events_;
  Application& app_;
  std::vector<std::string>& notes_;
  std::map<std::uint32_t, std::vector<const Events::Context*>> contexts_;  // by task
  std::map<const Repeat*, Runs> runs_;
  std::set<std::string> used_;  // names in formulas of the body
  std::size_t arguments_ = 0;   // arguments of the current task
  // How many values the formulas of the current description get wrong, and the launches that have
  // such a formula.
  std::size_t wrong_ = 0;
  std::set<const Repeat*> wrong_launches_;
  std::size_t statements_ = 0;  // over all bodies
  // By task: the parts of its arguments that its body needs, as positions (Events::layout_of).
  struct Needs {
    std::vector<std::size_t> positions;
    std::optional<Which> which;
  };
  std::map<std::string, Needs> needs_;
  // The shapes of all launches, in the order in which they were made.
  std::vector<std::uint32_t> launch_shapes_;
  void give_arguments(std::vector<AppStatement>& body, std::size_t& next) const;
  Formula given(const AppLaunch& launch, const AppTask& task, std::uint32_t shape,
                std::size_t position) const;
};

// Returns the fields of the region that a launch has, in the region's order.
std::vector<AppField> fields_of(const AppRegion& region, const Events::Requirement& requirement);
// Returns the extents of the partition's colours, those of the outer partitions first.
std::vector<std::int64_t> color_extents(const Application& app, const AppPartition& partition);

}  // namespace groma::app
