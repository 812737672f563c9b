// What the runs of a task launched, as its body.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/events.h"
#include "app/fit_formula.h"
#include "groma/app.h"

namespace groma::app {

// Makes the bodies of one task after the other.
class RecordedBodies {
 public:
  // `app` has the regions, the partitions and the tasks with their requirements.
  RecordedBodies(const Events& events, Application& app, std::vector<std::string>& notes)
      : events_(events), app_(app), notes_(notes) {
    for (const Events::Context& each : events.contexts) contexts_[each.task].push_back(&each);
  }

  // The body of task `task`, which has the same number in the events and in the application. Runs
  // that launched different things are all described if a run's arguments, or the launch that it
  // is of, tell them apart; otherwise the body that most of its runs had.
  void add_body(std::uint32_t task);
  // Has launches give the arguments that bodies need, once all are made.
  void add_arguments();

 private:
  // All times that a launch of the body was carried out.
  struct Runs {
    std::vector<std::int64_t> at;         // counters of the loops around it, then the arguments
    std::vector<std::uint32_t> launches;  // of Events
    std::size_t loops = 0;
  };
  using Tree = std::vector<Repeat>;
  // A kind holds the runs of a task that launched the same things with other numbers.
  struct Kind {
    std::vector<const Events::Context*> contexts;
    std::int64_t count = 0;             // of runs
    std::vector<std::uint32_t> shapes;  // of what they launched
  };
  // How a task knows of which kind a run is.
  struct Which {
    std::vector<Formula> is_kind;  // by kind: 1 in runs of it, else 0
    // What each launch of the task gives for the argument kWhich, by the launch's shape; empty:
    // there is no such argument.
    std::map<std::uint32_t, std::int64_t> numbers;
    std::size_t without_runs = 0;  // shapes of launches whose tasks launched nothing
  };
  static constexpr const char* kWhich = "which";

  std::vector<Kind> kinds_of(std::uint32_t task) const;
  // Nothing if runs of different kinds were given the same.
  std::optional<Which> tell_apart(std::uint32_t task, const std::vector<Kind>& kinds) const;
  void add_kind(const Kind& kind, const Tree& tree, std::vector<AppStatement>& body);
  void run(const Tree& tree, const std::vector<std::uint32_t>& launches, std::size_t& next,
           std::vector<std::int64_t>& counters, const std::vector<std::int64_t>& given);
  std::vector<AppStatement> statements(const Tree& tree, std::size_t depth);
  AppLaunch launch(const Runs& runs);
  std::vector<AppData> data(const Events::Shape& shape, const Runs& runs,
                            const std::vector<std::string>& names, AppLaunch& made);
  // The number at that position of each launch, as a formula of the counters and arguments.
  Formula number(const Runs& runs, std::size_t position, const std::vector<std::string>& names,
                 std::span<const std::int64_t> periods, const std::string& what);
  // The colour of a requirement's points at that position of it.
  Formula mapped(const Runs& runs, std::size_t begin, std::size_t coordinate, std::size_t colors,
                 std::span<const std::int64_t> periods, std::vector<std::string> names,
                 const std::string& what);
  // Of these the one that is right for most of all samples, which is said.
  Formula nearest(const std::vector<Formula>& near, const Samples& all, const std::string& what,
                  const char* of);
  std::vector<std::uint32_t> chosen_runs(const Runs& runs, std::size_t samples_each) const;
  void use(const Formula& formula);
  bool uses(const std::string& name) const { return used_.contains(name); }

  const Events& events_;
  Application& app_;
  std::vector<std::string>& notes_;
  std::map<std::uint32_t, std::vector<const Events::Context*>> contexts_;  // by task
  std::map<const Repeat*, Runs> runs_;
  std::set<std::string> used_;  // names in formulas of the body
  std::size_t arguments_ = 0;   // of the task whose body is made
  std::size_t statements_ = 0;  // of all bodies
  // By task, what its body needs of what it is given: positions in that (Events::layout_of).
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

// What a launch has of the region, in the region's order.
std::vector<AppField> fields_of(const AppRegion& region, const Events::Requirement& requirement);
// The extents of the colours of the partition, those around it first.
std::vector<std::int64_t> color_extents(const Application& app, const AppPartition& partition);

}  // namespace groma::app
