// The protocol of the paper's section 5: which searches stand side by side, with how much feedback,
// how many iterations and how many runs.
#include "paper/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "groma/benchmarks.h"
#include "groma/dsl_files.h"

namespace groma::paper {
namespace {

// Section 5.1: ten iterations, five runs, ten random mappings. Figure 5 has 1000 iterations of
// OpenTuner. Section 5.2: up to ten iterations to write a mapping.
constexpr std::int64_t kIterations = 10, kManyIterations = 1000;
constexpr int kRuns = 5, kRandomMappings = 10;

// The benchmarks of Figure 6. The text of the paper does not name its three, so this is our choice:
// a program of Regent, a 2D multiplication and another one.
constexpr std::string_view kFigure6Apps[] = {"circuit", "cannon", "cosma"};

// Makes the methods of one plan.
class MethodMaker {
 public:
  MethodMaker(const PlanOptions& options, Plan* plan) : options_(options), plan_(plan) {}

  // Adds a search without a model. Returns it, for further settings.
  Method& add(std::string title, std::string method, std::string feedback) {
    Method& added = plan_->methods.emplace_back();
    added.title = std::move(title);
    added.settings.method = std::move(method);
    added.settings.feedback = std::move(feedback);
    added.settings.iterations = options_.iterations.value_or(kIterations);
    added.runs = options_.runs.value_or(kRuns);
    return added;
  }
  // Adds a search that asks the model.
  Method& add_model(std::string title, std::string method, std::string feedback) {
    Method& added = add(std::move(title), std::move(method), std::move(feedback));
    added.settings.model = options_.model;
    added.asks_model = true;
    return added;
  }
  void add_default_mapper() {
    Method& added = add(std::string(kDefaultMapper), std::string(kDefaultMapper), "none");
    added.settings.iterations = 1;
    added.runs = 1;
  }
  // Adds random mappings, each in a cell of its own.
  void add_random(int mappings) {
    Method& random = add("random", std::string(kRandomMapping), "none");
    random.settings.iterations = 1;
    random.runs = mappings;
  }

 private:
  const PlanOptions& options_;
  Plan* plan_;
};

// The methods of Figure 6. A shot is one question without any feedback.
void add_feedback_levels(MethodMaker& make) {
  for (const int examples : {0, 5}) {
    Method& shot = make.add_model(fmt::format("{}-shot", examples), "trace", "none");
    shot.settings.examples = examples;
    shot.settings.iterations = 1;
  }
  make.add_model("execution", "trace", "execution");
  make.add_model("+ explain", "trace", "explain");
  make.add_model("+ suggest", "trace", "suggest");
  make.add_model("+ profile", "trace", "profile");
  make.add("guided", "guided", "profile");
}

void add_methods(Artefact artefact, const PlanOptions& options, MethodMaker& make) {
  switch (artefact) {
    case Artefact::kTable2: {
      Method& reference = make.add("reference mappings", std::string(kReference), "none");
      reference.settings.iterations = 1;
      reference.runs = 1;
      Method& single = make.add_model("DSL (single trial)", std::string(kWriting), "none");
      single.settings.iterations = 1;
      single.runs = options.runs.value_or(1);
      make.add_model("DSL (iterative refine)", std::string(kWriting), "none").runs =
          options.runs.value_or(1);
      return;
    }
    case Artefact::kTableA1:
      make.add_model("trace", "trace", "suggest");
      make.add("guided", "guided", "profile");
      return;
    case Artefact::kTableA2:
      make.add("opentuner", "opentuner", "none");
      return;
    case Artefact::kFigure4:
      make.add_default_mapper();
      make.add_random(kRandomMappings);
      make.add("opentuner", "opentuner", "none");
      make.add("guided", "guided", "profile");
      make.add_model("opro", "opro", "suggest");
      make.add_model("trace", "trace", "suggest");
      return;
    case Artefact::kFigure5: {
      const std::int64_t most = options.iterations.value_or(kManyIterations);
      make.add("opentuner", "opentuner", "none").settings.iterations = most;
      make.add("guided", "guided", "profile").settings.iterations = most;
      make.add_model("trace", "trace", "suggest").settings.iterations = std::min(most, kIterations);
      return;
    }
    case Artefact::kFigure6:
      add_feedback_levels(make);
      return;
    case Artefact::kRandom:
      make.add_random(options.runs.value_or(kRandomMappings));
      return;
  }
}

std::vector<std::string> names_of(Artefact artefact, const PlanOptions& options) {
  std::vector<std::string> names = options.apps;
  if (artefact == Artefact::kTable2) {
    for (const DslFile& strategy : strategies()) names.emplace_back(strategy.name);
  } else if (names.empty() && artefact == Artefact::kFigure6) {
    names.assign(std::begin(kFigure6Apps), std::end(kFigure6Apps));
  } else if (names.empty()) {
    for (const Benchmark& benchmark : benchmarks()) names.emplace_back(benchmark.name);
  }
  return names;
}

}  // namespace

std::vector<CellSettings> Plan::cells() const {
  std::vector<CellSettings> all;
  int most = 0;
  for (const Method& method : methods) most = std::max(most, method.runs);
  for (int run = 1; run <= most; ++run) {
    for (const std::string& subject : subjects) {
      for (const Method& method : methods) {
        if (run > method.runs || (method.asks_model && !has_model)) continue;
        CellSettings& cell = all.emplace_back(method.settings);
        cell.subject = subject;
        cell.run = run;
      }
    }
  }
  return all;
}

Plan make_plan(const ArtefactInfo& artefact, const PlanOptions& options) {
  Plan plan;
  plan.artefact = artefact;
  plan.has_model = !options.model.empty();
  plan.size = options.size;
  plan.names = names_of(artefact.artefact, options);
  for (const std::string& name : plan.names) {
    plan.subjects.push_back(artefact.artefact == Artefact::kTable2
                                ? name
                                : fmt::format("{}:size={}", name, options.size));
  }
  MethodMaker make(options, &plan);
  add_methods(artefact.artefact, options, make);
  return plan;
}

}  // namespace groma::paper
