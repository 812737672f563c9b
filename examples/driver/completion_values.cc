// The values that Groma knows for the types of value_types.h: machines, applications with their
// parameters and tasks, domains, strategies, proposers.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "completion.h"
#include "console.h"
#include "domain_inputs.h"
#include "groma/benchmarks.h"
#include "groma/domain.h"
#include "groma/dsl_files.h"
#include "groma/machine.h"
#include "groma/proposers.h"
#include "inputs.h"
#include "value_types.h"

namespace driver {
namespace {

using Candidates = std::vector<Candidate>;

// Returns true if the path is a file that ends. Completion must not wait for a pipe or a terminal.
bool is_plain_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// Returns the application that `spec` names, or nullopt.
std::optional<groma::Application> read_app(const std::string& spec) {
  const std::string name = spec.substr(0, spec.find(':'));
  if (const auto* built_in = groma::find_benchmark(name)) return built_in->make();
  if (!is_plain_file(name)) return std::nullopt;
  const Deadline deadline(1);
  std::optional<groma::Diagnostics> diags;
  auto inputs = read_inputs("", name, &diags, {[&] { return deadline.over(); }, {}});
  return inputs ? inputs->app : std::nullopt;
}

// Returns where the last parameter begins in a text such as `cannon:n=8,repeats`: behind the last
// colon or comma. 0 without a colon.
std::size_t parameter_begin(const std::string& typed) {
  return typed.find(':') == std::string::npos ? 0 : typed.find_last_of(":,") + 1;
}

// Returns the candidates `typed` + `name=`, for parameters that the text does not set yet.
Candidates parameters(const std::string& typed, const Candidates& names) {
  const std::string before = typed.substr(0, parameter_begin(typed));
  Candidates candidates;
  for (const Candidate& name : names) {
    const std::string setting = name.word + "=";
    const bool is_set = before.find(":" + setting) != std::string::npos ||
                        before.find("," + setting) != std::string::npos;
    if (!is_set) candidates.push_back({before + setting, name.meaning});
  }
  return candidates;
}

Candidates machines(const std::string& typed) {
  Candidates candidates;
  if (parameter_begin(typed) == 0) {
    for (const groma::Preset& preset : groma::machine_presets()) {
      candidates.push_back({std::string(preset.name), std::string(preset.summary)});
    }
    candidates.push_back({"local", "This computer"});
    return candidates;
  }
  for (const groma::Preset& preset : groma::machine_presets()) {
    if (typed.substr(0, typed.find(':')) != preset.name) continue;
    for (const groma::PresetParameter& parameter : preset.parameters) {
      candidates.push_back({std::string(parameter.name), std::string(parameter.meaning)});
    }
  }
  return parameters(typed, candidates);
}

// After `size=`, the names of the application's sizes.
Candidates apps(const std::string& typed) {
  Candidates candidates;
  const std::size_t begin = parameter_begin(typed);
  if (begin == 0) {
    for (const groma::Benchmark& benchmark : groma::built_in_applications()) {
      candidates.push_back({std::string(benchmark.name), std::string(benchmark.summary)});
    }
    return candidates;
  }
  const auto app = read_app(typed);
  if (!app) return {};
  if (typed.substr(begin).starts_with("size=")) {
    for (const groma::AppSize& size : app->sizes) {
      candidates.push_back({typed.substr(0, begin) + "size=" + size.name, size.reason});
    }
    return candidates;
  }
  if (!app->sizes.empty()) candidates.push_back({"size", "The values of one of its sizes"});
  for (const groma::AppParameter& parameter : app->parameters) {
    candidates.push_back({parameter.name, parameter.meaning});
  }
  return parameters(typed, candidates);
}

Candidates tasks(const std::string& app_spec) {
  Candidates candidates;
  const auto app = read_app(app_spec);
  if (!app) return {};
  for (const groma::AppTask& task : app->tasks) candidates.push_back({task.name, ""});
  return candidates;
}

Candidates domains(const std::string& typed, const std::string& file) {
  if (!file.empty() && !is_plain_file(file)) return {};
  std::optional<groma::Diagnostics> diags;
  const auto library = read_domains(file, &diags);
  if (!library) return {};
  Candidates candidates;
  const bool names_parameter = parameter_begin(typed) != 0;
  for (const groma::domains::Declaration& declaration : library->declarations()) {
    if (!names_parameter) {
      candidates.push_back({declaration.name(), declaration.comment()});
    } else if (declaration.name() == typed.substr(0, typed.find(':'))) {
      for (const auto& [name, value] : declaration.parameters()) candidates.push_back({name, ""});
    }
  }
  return names_parameter ? parameters(typed, candidates) : candidates;
}

Candidates strategies() {
  Candidates candidates;
  for (const groma::DslFile& file : groma::strategies()) {
    candidates.push_back({std::string(file.name), std::string(file.summary)});
  }
  return candidates;
}

Candidates proposers() {
  Candidates candidates;
  for (const groma::tuning::ProposerInfo& info : groma::tuning::proposers()) {
    candidates.push_back({std::string(info.name), std::string(info.what)});
  }
  return candidates;
}

// Returns the values in a type such as `TEXT:{ebnf,gbnf,lark}`, which CLI11 makes for a choice.
Candidates choices(std::string_view type) {
  const std::size_t open = type.find(":{"), close = type.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  Candidates candidates;
  std::string_view rest = type.substr(open + 2, close - open - 2);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    candidates.push_back({std::string(rest.substr(0, end)), ""});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return candidates;
}

}  // namespace

Completion complete_value(std::string_view type, const std::string& typed,
                          const KnownWords& known) {
  if (type == kMachineType) return {machines(typed), Paths::kFiles, {"json"}};
  if (type == kAppType) return {apps(typed), Paths::kFiles, {"json"}};
  if (type == kTaskType) return {tasks(known.app)};
  if (type == kDomainType) return {domains(typed, known.domain_file)};
  if (type == kStrategyType) return {strategies()};
  if (type == kProposerType) return {proposers()};
  if (type == kMappingType) return {{}, Paths::kFiles, {"mapper"}};
  if (type == kDomainFileType) return {{}, Paths::kFiles, {"domain"}};
  if (type == kFolderType) return {{}, Paths::kFolders};
  if (auto values = choices(type); !values.empty()) return {std::move(values)};
  // Nothing is known about other texts, so that any of them may be the name of a file.
  const bool is_path = type == kFileType || type == "TEXT";
  return {{}, is_path ? Paths::kFiles : Paths::kNone};
}

}  // namespace driver
