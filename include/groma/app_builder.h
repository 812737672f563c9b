// AppBuilder: an Application written in C++, from top to bottom. Only sugar for the values of
// app.h: it checks nothing, Workload::make does.
//
//   AppBuilder app("axpy", "y += a x");
//   app.parameter("n", 1 << 20, "elements of a vector").parameter("pieces", 4, "points of a
//   launch"); app.metric("elements/s", "n * 10", "compute"); app.region("x", {"n"}).field("value",
//   8).partition("x_parts", {"pieces"}); app.region("y", {"n"}).field("value",
//   8).partition("y_parts", {"pieces"});
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

// A variant, by what it differs in from AppVariant{}.
class VariantBuilder {
 public:
  explicit VariantBuilder(ProcKind kind) { variant_.kind = kind; }
  VariantBuilder& leaf();
  VariantBuilder& inner();
  VariantBuilder& replicable();
  VariantBuilder& flops(Formula count);
  VariantBuilder& single_precision();
  VariantBuilder& kernels(Formula count);
  VariantBuilder& nanoseconds(Formula time);
  VariantBuilder& traffic(std::uint32_t requirement, Formula bytes,
                          Access access = Access::kStream);
  VariantBuilder& demand(LayoutDemand what);

  operator AppVariant() const { return variant_; }  // NOLINT(google-explicit-constructor)

 private:
  AppVariant variant_;
};
VariantBuilder cpu();
VariantBuilder gpu();
VariantBuilder omp();

// A launch of a task; without over(), of a single one.
class LaunchBuilder {
 public:
  explicit LaunchBuilder(std::string task) { launch_.task = std::move(task); }
  LaunchBuilder& over(Formulas domain, std::vector<std::string> index = {});
  LaunchBuilder& with(Formulas arguments);
  // For the task's requirements, one call for each, in their order.
  LaunchBuilder& on(std::string of, Formulas color = {}, std::vector<std::string> fields = {});
  LaunchBuilder& gives(std::string future);
  LaunchBuilder& takes(std::string future);
  LaunchBuilder& same_address_space();

  operator AppStatement() const { return {launch_}; }  // NOLINT(google-explicit-constructor)

 private:
  AppLaunch launch_;
};
LaunchBuilder launch(std::string task);
AppStatement loop(Formula count, std::vector<AppStatement> body, std::string variable = {});
AppStatement traced_loop(Formula count, std::vector<AppStatement> body, std::string variable = {});
AppStatement phase(std::string name, std::vector<AppStatement> body);
AppStatement wait(std::string future = {});

class AppBuilder {
 public:
  explicit AppBuilder(std::string name, std::string description = {});

  AppBuilder& parameter(std::string name, std::int64_t value, std::string meaning,
                        std::int64_t least = 1, std::int64_t most = INT64_MAX);
  AppBuilder& define(std::string name, Formula value);
  AppBuilder& size(std::string name, std::vector<AppValue> values, std::string reason);
  AppBuilder& metric(std::string unit, Formula work, std::string phase = {});

  AppBuilder& region(std::string name, Formulas extents, std::vector<std::string> aliases = {});
  // Of the region before; a list of fields of one size.
  AppBuilder& field(std::string name, std::int64_t bytes);
  AppBuilder& fields(const std::vector<std::string>& names, std::int64_t bytes);
  // Equal blocks of the region before.
  AppBuilder& partition(std::string name, Formulas colors);
  // Pieces of the region before by formulas of the colour, whose coordinates `index` names.
  AppBuilder& pieces(std::string name, Formulas colors, std::vector<std::string> index,
                     Formulas lower, Formulas extents);
  AppBuilder& halo(Formulas points);  // of the partition before

  AppBuilder& task(std::string name, std::vector<std::string> arguments = {});
  // Of the task before. A requirement is on a region or partition that is there already; no fields
  // stand for all of them. `color` as in AppData.
  AppBuilder& variant(const AppVariant& variant);
  AppBuilder& reads(std::string of, const std::vector<std::string>& fields = {},
                    Formulas color = {});
  AppBuilder& writes(std::string of, const std::vector<std::string>& fields = {},
                     Formulas color = {});
  AppBuilder& discards(std::string of, const std::vector<std::string>& fields = {},
                       Formulas color = {});
  AppBuilder& reduces(std::string of, const std::vector<std::string>& fields = {},
                      Formulas color = {});
  AppBuilder& ignores(std::string of, Formulas color = {});  // no access
  AppBuilder& simultaneous();                                // the requirement before
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
