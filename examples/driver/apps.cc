// groma apps: the applications that come with it, or all of one.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "groma/benchmarks.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/spelling.h"

namespace driver {
namespace {

std::string list_apps() {
  std::string text;
  for (const groma::Benchmark& benchmark : groma::benchmarks()) {
    text += fmt::format("{:<11}{}\n", benchmark.name, benchmark.summary);
  }
  return text +
         "\nAlso an application: a JSON file (docs/applications.md). `groma apps NAME` shows "
         "one.\n";
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

std::string join(const groma::Formulas& formulas) {
  std::vector<std::string> texts;
  for (const groma::Formula& formula : formulas) texts.push_back(formula.text());
  return join(texts, " x ");
}

std::string fields_text(const std::vector<groma::AppField>& fields) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size() && i < kMost; ++i) names.push_back(fields[i].name);
  if (fields.size() > kMost) names.push_back(fmt::format("and {} more", fields.size() - kMost));
  return join(names, ", ");
}

std::string describe_parameters(const groma::Application& app) {
  std::string text;
  if (!app.parameters.empty()) {
    text += fmt::format("\nParameters (as in --app {}:{}={})\n", app.name, app.parameters[0].name,
                        app.parameters[0].value);
  }
  for (const groma::AppParameter& parameter : app.parameters) {
    text += fmt::format("  {:<12}{} (default {})\n", parameter.name, parameter.meaning,
                        parameter.value);
  }
  if (!app.definitions.empty()) text += "\nOf these follow\n";
  for (const groma::AppDefinition& definition : app.definitions) {
    text += fmt::format("  {:<12}= {}\n", definition.name, definition.value.text());
  }
  if (!app.sizes.empty()) {
    text += fmt::format("\nSizes (as in --app {}:size={})\n", app.name, app.sizes[0].name);
  }
  for (const groma::AppSize& size : app.sizes) {
    std::vector<std::string> values;
    for (const auto& [name, value] : size.values) {
      values.push_back(fmt::format("{}={}", name, value));
    }
    text += fmt::format("  {:<12}{}: {}\n", size.name, join(values, ","), size.reason);
  }
  return text;
}

std::string describe_data(const groma::Application& app) {
  std::string text = app.regions.empty() ? "" : "\nRegions and their partitions\n";
  for (const groma::AppRegion& region : app.regions) {
    text += fmt::format("  {:<18}{}: {}\n", region.name, join(region.extents),
                        fields_text(region.fields));
    for (const groma::AppPartition& partition : app.partitions) {
      if (partition.of != region.name) continue;
      text += fmt::format("    {:<16}{}\n", partition.name, join(partition.colors));
    }
  }
  return text;
}

std::string describe_tasks(const groma::Application& app) {
  std::string text = "\nTasks\n";
  for (const groma::AppTask& task : app.tasks) {
    std::vector<std::string> kinds;
    for (const groma::AppVariant& variant : task.variants) {
      kinds.push_back(fmt::format("{}{}", name_of(variant.kind), variant.inner ? " (inner)" : ""));
    }
    text += fmt::format("  {}: {}{}\n", task.name, join(kinds, ", "),
                        task.name == app.top_level ? ", the top level" : "");
    for (std::size_t i = 0; i < task.requirements.size(); ++i) {
      const groma::AppRequirement& requirement = task.requirements[i];
      text += fmt::format("    {} {:<14}{}{}{}\n", i, name_of(requirement.privilege),
                          requirement.data.of, requirement.fields.empty() ? "" : ": ",
                          fields_text(requirement.fields));
    }
  }
  return text;
}

int run(const std::string& name, bool json) {
  if (name.empty()) return print(list_apps());
  const groma::Benchmark* const benchmark = groma::find_benchmark(name);
  if (benchmark == nullptr) {
    std::vector<std::string_view> names;
    for (const groma::Benchmark& each : groma::benchmarks()) names.push_back(each.name);
    const auto near = groma::near_names(name, names);
    groma::Diagnostics diags(groma::Source(name, ""));
    diags
        .report(groma::DiagId::kUnknownApplication, std::nullopt,
                fmt::format("no application is named `{}`", name))
        .help(near.empty() ? "`groma apps` lists them"
                           : fmt::format("did you mean {}?", groma::join_names(near)));
    return fail(diags, json);
  }
  const groma::Application app = benchmark->make();
  if (json) return print(groma::application_to_json(app));
  return print(fmt::format("{}: {}\n\nIt is measured in {}{}.\n", app.name, app.description,
                           app.metric.unit,
                           app.metric.phase.empty() ? "" : " of phase `" + app.metric.phase + "`") +
               describe_parameters(app) + describe_data(app) + describe_tasks(app));
}

}  // namespace

void add_apps(CLI::App& app, int* exit_code) {
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("apps", "The applications that come with it, or one of them");
  auto* option = command->add_option("NAME", *name, "An application, such as cannon");
  command->add_flag("--json", *json, "The application as JSON, as --app reads it")->needs(option);
  command->footer(
      "Examples:\n"
      "  groma apps\n"
      "  groma apps cannon\n"
      "  groma apps cannon --json > mine.json");
  command->callback([name, json, exit_code] { *exit_code = run(*name, *json); });
}

}  // namespace driver
