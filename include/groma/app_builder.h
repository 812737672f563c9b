// AppBuilder: writes an Application in C++, from top to bottom. It is only a shorthand for the
// values of app.h and checks nothing; Workload::make does the checks.
//
//   AppBuilder app("axpy", "y += a x");
//   app.parameter("n", 1 << 20, "elements of a vector");
//   app.parameter("pieces", 4, "points of a launch");
//   app.metric("elements/s", "n * 10", "compute");
//   app.region("x", {"n"}).field("value", 8).partition("x_parts", {"pieces"});
//   app.region("y", {"n"}).field("value", 8).partition("y_parts", {"pieces"});
//   app.task("fill").variant(cpu().leaf()).discards("x_parts").discards("y_parts");
//   app.task("axpy").variant(gpu().leaf().flops("2 * points(1)"));
//   app.reads("x_parts", {"value"}).writes("y_parts", {"value"});
//   app.task("main").variant(cpu());
//   app.body({launch("fill").over({"pieces"}), wait(),
//             phase("compute", {loop(10, {launch("axpy").over({"pieces"})}), wait()})});
//   const Application axpy = app.top_level("main").done();
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "groma/app.h"
#include "groma/workload.h"

namespace groma {

// Builds a variant. It starts from AppVariant{}; each call changes one member.
class VariantBuilder {
 public:
  explicit VariantBuilder(ProcKind kind) { variant_.kind = kind; }
  VariantBuilder& leaf();
  VariantBuilder& inner();
  VariantBuilder& replicable();
  VariantBuilder& flops(Formula count);
  VariantBuilder& single_precision();
  VariantBuilder& efficiency(Formula percent);
  VariantBuilder& kernels(Formula count);
  VariantBuilder& nanoseconds(Formula time);
  VariantBuilder& traffic(std::uint32_t requirement, Formula bytes,
                          Access access = Access::kStream);
  VariantBuilder& demand(LayoutDemand what);

  operator AppVariant() const { return variant_; }  // NOLINT(google-explicit-constructor)

 private:
  AppVariant variant_;
};
// Return the builder of a variant for one kind of processor.
VariantBuilder cpu();
VariantBuilder gpu();
VariantBuilder omp();

// Builds the launch of a task. Without a call of over() it launches a single task.
class LaunchBuilder {
 public:
  explicit LaunchBuilder(std::string task) { launch_.task = std::move(task); }
  LaunchBuilder& over(Formulas domain, std::vector<std::string> index = {});
  // Sets the lower corner of the domain.
  LaunchBuilder& from(Formulas lower);
  // Sets the condition that selects the points.
  LaunchBuilder& where(Formula condition);
  LaunchBuilder& with(Formulas arguments);
  // Sets the data of one requirement. Call it once for each requirement of the task, in their
  // order.
  LaunchBuilder& on(std::string of, Formulas color = {}, std::vector<std::string> fields = {});
  LaunchBuilder& gives(std::string future);
  LaunchBuilder& takes(std::string future);
  LaunchBuilder& same_address_space();

  operator AppStatement() const { return {launch_}; }  // NOLINT(google-explicit-constructor)

 private:
  AppLaunch launch_;
};
// The statements of a task body, as the types of app.h: AppLaunch, AppLoop, AppPhase, AppWait.
LaunchBuilder launch(std::string task);
AppStatement loop(Formula count, std::vector<AppStatement> body, std::string variable = {});
AppStatement traced_loop(Formula count, std::vector<AppStatement> body, std::string variable = {});
AppStatement phase(std::string name, std::vector<AppStatement> body);
AppStatement wait(std::string future = {});

// Builds an application. Each call adds to it and returns the builder; done() returns a copy.
class AppBuilder {
 public:
  explicit AppBuilder(std::string name, std::string description = {});

  AppBuilder& parameter(std::string name, std::int64_t value, std::string meaning,
                        std::int64_t least = 1, std::int64_t most = INT64_MAX);
  // Says that the parameter that was added last is the number of nodes of the machine.
  AppBuilder& counts_nodes();
  AppBuilder& define(std::string name, Formula value);
  AppBuilder& size(std::string name, std::vector<AppValue> values, std::string reason);
  AppBuilder& metric(std::string unit, Formula work, std::string phase = {});

  AppBuilder& region(std::string name, Formulas extents, std::vector<std::string> aliases = {});
  // Adds a field, or several fields of one size, to the region that was added last.
  AppBuilder& field(std::string name, std::int64_t bytes);
  AppBuilder& fields(const std::vector<std::string>& names, std::int64_t bytes);
  // Partitions the region that was added last into equal blocks.
  AppBuilder& partition(std::string name, Formulas colors);
  // Partitions the region that was added last. The pieces are formulas of the colour, whose
  // coordinates `index` names.
  AppBuilder& pieces(std::string name, Formulas colors, std::vector<std::string> index,
                     Formulas lower, Formulas extents);
  // Adds ghosts to the partition that was added last (AppPartition::halo).
  AppBuilder& halo(Formulas points);

  AppBuilder& task(std::string name, std::vector<std::string> arguments = {});
  // The next calls describe the task that was added last. A requirement refers to a region or
  // partition that was added before. An empty list of fields means all fields. `color` is as in
  // AppData.
  AppBuilder& variant(const AppVariant& variant);
  AppBuilder& reads(std::string of, const std::vector<std::string>& fields = {},
                    Formulas color = {});
  AppBuilder& writes(std::string of, const std::vector<std::string>& fields = {},
                     Formulas color = {});
  AppBuilder& discards(std::string of, const std::vector<std::string>& fields = {},
                       Formulas color = {});
  AppBuilder& reduces(std::string of, const std::vector<std::string>& fields = {},
                      Formulas color = {});
  // Adds to the task a requirement without access to the data (Privilege::kNoAccess).
  AppBuilder& ignores(std::string of, Formulas color = {});
  // Gives the requirement that was added last simultaneous coherence.
  AppBuilder& simultaneous();
  AppBuilder& body(std::vector<AppStatement> body);
  AppBuilder& top_level(std::string task);

  Application done() const { return app_; }

 private:
  AppBuilder& require(Privilege privilege, std::string of, const std::vector<std::string>& fields,
                      Formulas color);
  const AppRegion* region_of(std::string of) const;

  Application app_;
};

}  // namespace groma
