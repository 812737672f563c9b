// Builder: translates an Application into the data of a Workload, and reports errors with their
// places. builder.cc reads parameters, regions and partitions; builder_tasks.cc reads tasks and
// their launches.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/data.h"
#include "base/budget.h"
#include "groma/app.h"
#include "groma/result.h"

namespace groma::app {

// One error in the description of an application.
struct AppError {
  // The place of the error, as a JSON pointer into the application: "/tasks/3/body/0/task".
  std::string path;
  // The message of the error, such as "no task is named `mian`".
  std::string message;
  std::string help = {};
  Error::Code code = Error::Code::kMalformed;
};

// Fills `data` and returns the errors: at most kMaxFileErrors, none of which only follows from
// another one. The function asks `stop` (null: never) about every millisecond. Once `stop` returns
// true, the only error is kStopped.
std::vector<AppError> build(const Application& app, const std::vector<AppValue>& values, Data& data,
                            const std::function<bool()>& stop = {});

class Builder {
 public:
  Builder(const Application& app, const std::vector<AppValue>& values, Data& data,
          const std::function<bool()>& stop)
      : app_(app), given_(values), data_(data), budget_(stop) {}
  std::vector<AppError> build();

 private:
  // ---- Errors. A part (such as one region or one task) gives at most one error of its own. If an
  // inner part has an error, the outer part adds none.
  //
  // Returns true if the part that is being read has no error.
  bool ok() const { return faults_.size() == known_; }
  // Reads one part by calling read(). Errors in this part do not affect the parts after it, because
  // ok() then has the value that it had before the call.
  template <typename Read>
  void read_independently(const Read& read) {
    if (enough_) return;
    const std::size_t known = std::exchange(known_, faults_.size());
    read();
    known_ = known;
  }
  void fail(std::string path, std::string message, std::string help = {},
            Error::Code code = Error::Code::kMalformed);
  void fail_unknown(std::string path, std::string message, std::string_view name,
                    const std::vector<std::string_view>& known);
  void fail_unknown_data(std::string path, std::string_view name);
  // Each of these checks returns true if the value is valid, and otherwise reports an error and
  // returns false.
  bool check_count(const std::string& path, std::size_t count, std::size_t most,
                   std::string_view what);
  bool check_name(const std::string& path, std::string_view name);
  bool check_aliases(const std::string& path, const std::vector<std::string>& names);
  bool check_formula_name(const std::string& path, std::string_view name);
  // Checks names of variables: each must be good, and none may be repeated.
  bool check_variable_names(const std::string& path, const std::vector<std::string>& names,
                            std::string_view below = {});

  // ---- Formulas. If a value cannot be computed, it is 0 and an error is reported.
  CompiledFormula compile(const std::string& path, const Formula& formula,
                          std::optional<PieceShapes> pieces = std::nullopt);
  Codes compile_all(const std::string& path, const Formulas& formulas);
  std::int64_t constant(const std::string& path, const Formula& formula);
  std::optional<Rect> box_of_extents(const std::string& path, const Formulas& extents);

  // ---- Parameters and data
  void read_values();
  void read_definitions();
  void read_sizes();
  void read_size(const std::string& path, std::size_t number);
  void read_regions();
  void read_region(const std::string& path, std::size_t number);
  void read_partitions();
  // Reads the partition with this number, unless it was read before. Returns true if the partition
  // has no error.
  bool read_partition(std::size_t number, int depth);
  bool read_parent_and_pieces(const std::string& path, const AppPartition& from, int depth,
                              Partition& to);
  void read_pieces(const std::string& path, const AppPartition& from, Partition& partition);
  void read_box(const std::string& path, const AppBox& from, Partition& to);
  void find_cells();
  bool check_fields(const std::string& path, const std::vector<AppField>& fields, bool named);

  // ---- Tasks
  void read_tasks();
  void read_arguments_and_requirements(const std::string& path, const AppTask& from, Task& to);
  void read_task(const std::string& path, const AppTask& from, Task& task);
  void read_requirement(const std::string& path, const AppRequirement& from, Requirement& to);
  void read_variant(const std::string& path, const AppTask& of, const AppVariant& from,
                    PieceShapes shapes, Variant& to);
  void read_demands(const std::string& path, const AppTask& of, const AppVariant& from);
  void read_body(const std::string& path, const std::vector<AppStatement>& from, int depth,
                 Body& to);
  void read_statement(const std::string& path, const AppStatement& from, int depth, Body& to);
  Launch read_launch(const std::string& path, const AppLaunch& from);
  void read_launch_data(const std::string& path, const AppLaunch& from, Launch& to);
  // Returns the domain of an index launch if it is a box that is known before the run, otherwise
  // nullopt.
  std::optional<Rect> known_domain(const std::string& path, const Launch& launch);
  void check_color(const std::string& path, const RequirementData& where,
                   const std::optional<Rect>& domain);
  // Reads which data a requirement has. `color` says what the formulas of the colour may use: the
  // frame of the launching task or the arguments of the launched task.
  RequirementData read_requirement_data(const std::string& path, const AppData& from,
                                        const Requirement& requirement,
                                        RequirementData::Color color);
  void check_requirement_fields(const std::string& path, const AppData& from,
                                const Requirement& requirement, const RequirementData& where);
  // Finds the fields called `names` in the region of `where`, and stores their indices in `where`.
  // If `names` is empty, the fields of the requirement are found instead. If `as_large` is true,
  // each field must have as many bytes as the requirement's field at the same position.
  void find_fields(const std::string& path, const std::vector<std::string>& names,
                   const Requirement& requirement, bool as_large, RequirementData& where);
  int number_of_task(const std::string& path, std::string_view name);
  void find_futures(const std::vector<AppStatement>& body, int depth);
  void read_top_level();
  int number_of_future(const std::string& path, std::string_view name);
  void read_metric();
  void read_runtime();

  const Application& app_;
  const std::vector<AppValue>& given_;
  Data& data_;
  Budget budget_;
  std::vector<AppError> faults_;
  // The number of errors that do not concern the part that is being read. ok() compares it with the
  // number of all errors.
  std::size_t known_ = 0;
  bool enough_ = false;
  Scope scope_;
  std::unordered_map<std::string_view, std::uint32_t> region_numbers_, partition_numbers_,
      task_numbers_, phase_numbers_;
  // For each region: the number of each field, by its name.
  std::vector<std::unordered_map<std::string_view, std::uint32_t>> field_numbers_;
  enum class Progress : std::uint8_t { kToDo, kAtIt, kDone, kWrong };
  std::vector<Progress> partitions_;
  // The number of boxes in all partitions that have been read.
  std::size_t boxes_ = 0;
  std::size_t statements_ = 0;
  // The memory that the requirements of all launches need, in bytes.
  std::size_t data_bytes_ = 0;

  // The number of variables, the names of the futures and the number of each future, for the task
  // that is being read.
  int frame_size_ = 0;
  std::vector<std::string_view> futures_;
  std::unordered_map<std::string_view, std::uint32_t> future_numbers_;
};

}  // namespace groma::app
