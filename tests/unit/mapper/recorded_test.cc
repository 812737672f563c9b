// DefaultMapper decides as Legion's: 200 launches on 1 to 8 CPUs, recorded from the real one
// (tests/data/README.md says what the words mean).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "groma/mapper.h"
#include "groma/validate.h"

namespace groma {
namespace {

using Json = nlohmann::json;

// As Legion shows a node without GPUs here.
std::shared_ptr<const Machine> machine_of(std::int64_t cpus) {
  NodeType node;
  node.processors = {{ProcKind::kCpu, cpus}};
  node.memories = {{MemKind::kSysmem, 1, std::int64_t{512} << 20}};
  node.affinities = {{ProcKind::kCpu, MemKind::kSysmem, 1e8, 5e-9}};
  auto machine = Machine::make("recorded", "", {node}, {0});
  EXPECT_TRUE(machine.ok());
  return std::make_shared<const Machine>(*machine);
}

Point point_of(const Json& json) {
  return Point(std::vector<std::int64_t>(json.begin(), json.end()));
}

Rect rect_of(const Json& lower, const Json& upper) {
  Rect rect{point_of(lower), point_of(upper)};
  for (int d = 0; d < rect.dimensions(); ++d) rect.extents[d] += 1 - rect.lower[d];
  return rect;
}

Privilege privilege_of(const std::string& name) {
  const std::map<std::string, Privilege> known = {{"READ_ONLY", Privilege::kReadOnly},
                                                  {"READ_WRITE", Privilege::kReadWrite},
                                                  {"WRITE_DISCARD", Privilege::kWriteDiscard},
                                                  {"REDUCE", Privilege::kReduce},
                                                  {"NO_ACCESS", Privilege::kNoAccess}};
  return known.at(name);
}

// A recorded launch as a view, with what the view points at.
class Launch {
 public:
  explicit Launch(const Json& json) : json_(json), name_(json["task"]) {
    VariantView variant;
    variant.id = 1;
    variant.leaf = name_ == "leaf" || name_ == "twin";
    variant.inner = name_ == "inner";
    variants_.push_back(variant);
    if (name_ == "twin") {
      variant.id = 2;
      variants_.push_back(variant);
    }
    for (const Json& requirement : json["requirements"]) add(requirement);
    for (std::size_t i = 0; i < requirements_.size(); ++i) requirements_[i].fields = fields_[i];
    view_.name = name_;
    view_.variants = variants_;
    view_.depth = 1;
    view_.is_index = !json["domain"].is_null();
    if (view_.is_index) view_.domain = rect_of(json["domain"][0], json["domain"][1]);
    view_.requirements = requirements_;
  }
  Launch(const Launch&) = delete;

  const TaskView& on(const Processor& processor) {
    view_.current = processor;
    return view_;
  }
  // Whether requirement i's region is the root's: named as a whole, or the only part of it.
  bool is_root(std::size_t i) const {
    const Json& requirement = json_["requirements"][i];
    if (requirement["projection"] == "partition") return view_.domain.volume() == 1;
    return requirement["projection"] == "whole" || requirement["pieces"] == 1;
  }
  // What the choice for requirement i means in the recording's words, at a point whose part of the
  // region is empty or not.
  std::string words(std::size_t i, const InstanceChoice& choice, bool empty_part) const {
    if (requirements_[i].empty()) {  // what needs no instance: Legion's word depends on the variant
      EXPECT_EQ(choice.candidate_count, 0);
      return variants_.back().inner ? "virtual" : "none";
    }
    if (choice.is_virtual) return "virtual";
    const Json& requirement = json_["requirements"][i];
    std::string order = std::string("XYZ").substr(0, requirement["bounds"][0].size()) + "F";
    std::string fields;
    const auto add_field = [&](std::int64_t field) {
      fields += (fields.empty() ? "" : ",") + std::to_string(field);
    };
    if (choice.fields == InstanceChoice::Fields::kAll) {
      for (std::int64_t f = 0; f < requirement["fields"]; ++f) add_field(f);
    } else {
      for (const FieldView& field : fields_[i]) add_field(field.id);
    }
    const bool shares = choice.shares(choice.candidates().front());
    std::string bounds = shares || is_root(i) ? "root" : "exact";
    if (empty_part) bounds = "empty";  // says nothing
    const bool reduces = requirements_[i].privilege == Privilege::kReduce;
    const char* priority = choice.collect_priority == kCollectFirst  ? "first"
                           : choice.collect_priority == kCollectLast ? "never+1"
                                                                     : "other";
    EXPECT_EQ(choice.candidates().front().memory, MemKind::kSysmem);
    EXPECT_EQ(choice.candidates().front().layout, LayoutSpec());
    return "SYSTEM_MEM " + bounds + " " + order + " " + fields + " " +
           (reduces ? "reduction " : "normal ") + priority;
  }

 private:
  void add(const Json& json) {
    RequirementView view;
    view.privilege = privilege_of(json["privilege"]);
    if (view.privilege == Privilege::kReduce) view.reduction = 1;
    view.tag = json["tag"];
    view.region_dimensions = static_cast<int>(json["bounds"][0].size());
    const std::string projection = json["projection"];
    if (projection == "partition") view.projection = Projection::kPartition;
    requirements_.push_back(view);
    fields_.emplace_back();
    for (FieldId field : json["used"]) fields_.back().push_back({field, 4, {}});
  }

  Json json_;
  std::string name_;
  std::vector<VariantView> variants_;
  std::vector<RequirementView> requirements_;
  std::vector<std::vector<FieldView>> fields_;
  TaskView view_;
};

std::vector<std::string> flags_of(const TaskOptions& options) {
  std::vector<std::string> flags;
  if (options.inline_task) flags.emplace_back("inline_task");
  if (options.stealable) flags.emplace_back("stealable");
  if (options.map_locally) flags.emplace_back("map_locally");
  if (options.valid_instances) flags.emplace_back("valid_instances");
  if (options.memoize) flags.emplace_back("memoize");
  if (options.replicate) flags.emplace_back("replicate");
  return flags;
}

class Recorded : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(std::string(GROMA_SOURCE_DIR) + "/tests/data/legion_default_mapper.jsonl");
    for (std::string line; std::getline(file, line);) lines_.push_back(Json::parse(line));
    ASSERT_GT(lines_.size(), 1'000U);
    for (const Json& line : lines_) {
      if (line.contains("task")) launches_[line["launch"]] = std::make_unique<Launch>(line);
    }
    ASSERT_EQ(launches_.size(), 200U);
  }

  DefaultMapper& mapper(std::int64_t cpus) {
    auto& made = mappers_[cpus];
    if (made == nullptr) {
      made = std::make_unique<DefaultMapper>(
          MapperSite{machine_of(cpus), {ProcKind::kCpu, 0, 0}, {}, nullptr});
    }
    return *made;
  }

  std::vector<Json> lines_;
  std::map<int, std::unique_ptr<Launch>> launches_;
  std::map<std::int64_t, std::unique_ptr<DefaultMapper>> mappers_;
  MapperRuntime runtime_;
};

TEST_F(Recorded, StartsAndSlicesOfLaunches) {
  int seen = 0;
  for (const Json& line : lines_) {
    if (!line.contains("initial_proc")) continue;
    SCOPED_TRACE(line.dump().substr(0, 200));
    ++seen;
    DefaultMapper& mapper = this->mapper(line["cpus"]);
    Launch& launch = *launches_[line["launch"]];
    TaskOptions options;
    mapper.select_task_options(runtime_, launch.on({ProcKind::kCpu, 0, 0}), options);
    EXPECT_EQ(options.initial.index, line["initial_proc"]);
    EXPECT_EQ(flags_of(options), line["flags"].get<std::vector<std::string>>());
    EXPECT_EQ(options.collective, line["collective"].get<std::vector<std::uint32_t>>());
    const TaskView& task = launch.on(options.initial);
    SliceTaskOutput cut;
    if (task.is_index) mapper.slice_task(runtime_, task, task.domain, cut);
    const Json slices = line.value("slices", Json::array());
    ASSERT_EQ(cut.slices.size(), slices.size());
    const std::vector<TaskSlice> cut_slices(cut.slices.begin(), cut.slices.end());
    for (std::size_t i = 0; i < slices.size(); ++i) {
      // Both corners, the processor, then what is set of recurse and stealable.
      const auto dimensions = static_cast<std::size_t>(task.domain.dimensions());
      ASSERT_EQ(slices[i].size(), 2 * dimensions + 1);
      const auto begin = slices[i].begin();
      const auto middle = begin + static_cast<std::ptrdiff_t>(dimensions);
      const auto end = middle + static_cast<std::ptrdiff_t>(dimensions);
      const Rect box =
          rect_of(Json(std::vector<Json>(begin, middle)), Json(std::vector<Json>(middle, end)));
      EXPECT_EQ(cut_slices[i].box.lower, box.lower);
      EXPECT_EQ(cut_slices[i].box.extents, box.extents);
      EXPECT_EQ(cut_slices[i].processor.index, *end);
      EXPECT_FALSE(cut_slices[i].recurse || cut_slices[i].stealable);
    }
    if (task.is_index) {
      EXPECT_THAT(validate(cut, task, task.domain, mapper.machine()), ::testing::IsEmpty());
    }
    MapTaskOutput choice;
    mapper.map_task(runtime_, launch.on(options.initial), {}, choice);
    std::vector<std::int64_t> targets;
    for (const Processor& p : choice.processors) targets.push_back(p.index);
    for (const Json& recorded : line["target_procs"]) {
      EXPECT_EQ(targets, recorded.get<std::vector<std::int64_t>>());
    }
  }
  EXPECT_EQ(seen, 200 * 8);
}

TEST_F(Recorded, ChoicesOfPoints) {
  int seen = 0;
  for (const Json& line : lines_) {
    if (!line.contains("map")) continue;
    ++seen;
    Launch& launch = *launches_[line["launch"]];
    const TaskView& task = launch.on({ProcKind::kCpu, 0, 0});
    MapTaskOutput choice;
    mapper(2).map_task(runtime_, task, {}, choice);
    EXPECT_THAT(validate(choice, task, mapper(2).machine()), ::testing::IsEmpty());
    std::vector<bool> compared(task.requirements.size());  // by more than an empty part
    for (const Json& group : line["map"]) {
      SCOPED_TRACE(group.dump());
      EXPECT_EQ(choice.variant, group["variant"]);
      EXPECT_EQ(choice.task_priority, group["priority"]);
      EXPECT_FALSE(choice.postmap);
      EXPECT_EQ(group["flags"].size(), 0U);
      for (std::size_t i = 0; i < group["instances"].size(); ++i) {
        const std::string recorded = group["instances"][i];
        const bool empty_part = recorded.find(" empty ") != std::string::npos;
        EXPECT_FALSE(empty_part && launch.is_root(i));
        EXPECT_EQ(launch.words(i, choice.requirements[i], empty_part), recorded) << i;
        compared[i] = compared[i] || !empty_part;
      }
    }
    EXPECT_EQ(compared, std::vector<bool>(compared.size(), true));
  }
  EXPECT_EQ(seen, 200);
}

TEST_F(Recorded, Tunables) {
  int seen = 0;
  for (const Json& line : lines_) {
    if (!line.contains("tunables")) continue;
    for (std::uint32_t id = 0; id < line["tunables"].size(); ++id, ++seen) {
      std::vector<std::byte> bytes;
      mapper(line["cpus"]).select_tunable_value(runtime_, TaskView(), id, 0, {}, bytes);
      std::size_t value = 0;
      ASSERT_EQ(bytes.size(), sizeof value);
      std::memcpy(&value, bytes.data(), sizeof value);
      EXPECT_EQ(value, line["tunables"][id]) << line["cpus"] << " " << id;
    }
  }
  EXPECT_EQ(seen, 8 * 11);
}

}  // namespace
}  // namespace groma
