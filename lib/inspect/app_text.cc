// Describes an application as text for people: its parameters, its data and its tasks.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "explain/words.h"
#include "groma/harmless.h"
#include "groma/inspect.h"
#include "groma/spelling.h"

namespace groma {
namespace {

// Joins the words with a separator between them.
std::string join(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

// Returns the text of a formula. A long formula is cut, with a hint at `--json`, which shows all of
// it.
std::string formula_text(const Formula& formula) {
  constexpr std::size_t kMost = 100;
  const std::string& text = formula.text();
  if (text.size() <= kMost) return text;
  return fmt::format("{} ... ({} characters in all: see --json)", text.substr(0, kMost / 2),
                     text.size());
}

// Returns extents as text, such as "n x n" or "(2 * gx) x (2 * gy)".
std::string join(const Formulas& formulas) {
  std::vector<std::string> texts;
  for (const Formula& formula : formulas) {
    const std::string text = formula_text(formula);
    const bool alone = formulas.size() == 1 || text.find(' ') == text.npos;
    texts.push_back(alone ? text : fmt::format("({})", text));
  }
  return join(texts, " x ");
}

// Returns the names of the fields, with commas between them. Of many fields only the first ones are
// named.
std::string fields_text(const std::vector<AppField>& fields) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size() && i < kMost; ++i) names.push_back(fields[i].name);
  if (fields.size() > kMost) names.push_back(fmt::format("and {} more", fields.size() - kMost));
  return join(names, ", ");
}

// Returns the width of a column that holds the names of these items, at least `least` and at most
// 32 characters.
template <typename Items>
std::size_t width_of(const Items& items, std::size_t least = 10) {
  for (const auto& item : items) least = std::max(least, item.name.size());
  return std::min<std::size_t>(least, 32);
}

// Lists the parameters with their defaults, the definitions and the named sizes. `name` is the name
// by which the user gave the application, for examples of commands.
std::string describe_parameters(const Application& app, std::string_view name) {
  std::string text;
  if (!app.parameters.empty()) {
    text += fmt::format("\nParameters (as in --app {}:{}={})\n", name, app.parameters[0].name,
                        app.parameters[0].value);
  }
  std::size_t width = width_of(app.parameters);
  for (const AppParameter& parameter : app.parameters) {
    text += fmt::format("  {:<{}}  = {:<10}  {}\n", parameter.name, width, parameter.value,
                        parameter.meaning);
  }
  if (!app.definitions.empty()) text += "\nOf these follow\n";
  width = width_of(app.definitions);
  for (const AppDefinition& definition : app.definitions) {
    text += fmt::format("  {:<{}}  = {}\n", definition.name, width, formula_text(definition.value));
  }
  if (!app.sizes.empty()) {
    text += fmt::format("\nSizes: values of parameters (as in --app {}:size={})\n", name,
                        app.sizes[0].name);
  }
  width = width_of(app.sizes);
  for (const AppSize& size : app.sizes) {
    std::vector<std::string> values;
    for (const auto& [parameter, value] : size.values) {
      values.push_back(fmt::format("{}={}", parameter, value));
    }
    text += fmt::format("  {:<{}}  {}\n", size.name, width, join(values, ","));
    if (!size.reason.empty()) text += fmt::format("  {:<{}}  {}\n", "", width, size.reason);
  }
  return text;
}

// Returns a note if the name of a region or partition exists only in the description. The note says
// what a mapping writes instead. Otherwise returns "".
template <typename Data>
std::string unnamed_text(const Data& data) {
  if (!data.unnamed) return "";
  const std::vector<std::string_view> names(data.aliases.begin(), data.aliases.end());
  return fmt::format("  (unnamed: a mapping writes {}the position)",
                     names.empty() ? "" : join_names(names) + " or ");
}

// Returns true if `name` is the name of a region or partition in the description of the
// application, while the program itself gives this region or partition no name.
bool is_unnamed(const Application& app, std::string_view name) {
  const auto is_this = [name](const auto& data) { return data.unnamed && data.name == name; };
  return std::any_of(app.regions.begin(), app.regions.end(), is_this) ||
         std::any_of(app.partitions.begin(), app.partitions.end(), is_this);
}

// Returns the names of a requirement's data: those that a mapping uses and, in parentheses, the
// region or partition.
std::string data_text(const Application& app, const AppRequirement& requirement) {
  const std::string& of = requirement.data.of;
  const std::string names = join(requirement.names, ", ");
  if (of.empty()) return names;
  if (!names.empty()) return fmt::format("{} ({})", names, of);
  return is_unnamed(app, of) ? of + " (unnamed)" : of;
}

// Lists the partitions of the region or partition named `of`. The partitions of a partition follow
// it, indented by `depth`.
std::string describe_partitions(const Application& app, std::string_view of, int depth) {
  std::string text;
  for (const AppPartition& partition : app.partitions) {
    if (partition.of != of || depth > kMaxAppPartitionDepth) continue;
    text +=
        fmt::format("  {:{}}{:<18}  colors {}{}{}\n", "", 2 * depth, partition.name,
                    join(partition.colors), depth > 1 ? " of each" : "", unnamed_text(partition));
    text += describe_partitions(app, partition.name, depth + 1);
  }
  return text;
}

// Lists the regions with their extents and fields, each followed by its partitions.
std::string describe_data(const Application& app) {
  std::string text = app.regions.empty() ? "" : "\nRegions, and below them how they are cut\n";
  for (const AppRegion& region : app.regions) {
    text += fmt::format("  {:<20}  {}: {}{}\n", region.name, join(region.extents),
                        fields_text(region.fields), unnamed_text(region));
    text += describe_partitions(app, region.name, 1);
  }
  return text;
}

// Lists the tasks with their variants and region requirements.
std::string describe_tasks(const Application& app) {
  std::string text = "\nTasks\n";
  for (const AppTask& task : app.tasks) {
    std::vector<std::string> kinds;
    for (const AppVariant& variant : task.variants) {
      kinds.push_back(fmt::format("{}{}", name_of(variant.kind), variant.inner ? " (inner)" : ""));
    }
    text += fmt::format("  {}: {}{}\n", task.name, join(kinds, ", "),
                        task.name == app.top_level ? ", the top level" : "");
    for (std::size_t i = 0; i < task.requirements.size(); ++i) {
      const AppRequirement& requirement = task.requirements[i];
      text += fmt::format("    {} {:<14}{}{}{}\n", i, name_of(requirement.privilege),
                          data_text(app, requirement), requirement.fields.empty() ? "" : ": ",
                          fields_text(requirement.fields));
    }
  }
  return text;
}

}  // namespace

// Returns the whole description of an application as text. Characters that could control a terminal
// are replaced line by line, because an application may come from a stranger's file.
std::string draw(const Application& app, std::string_view name) {
  std::string text = app.name;
  if (!app.description.empty()) text += ": " + app.description;
  text += fmt::format("\n\nIt is measured in {}{}.\n", app.metric.unit,
                      app.metric.phase.empty() ? "" : " of phase `" + app.metric.phase + "`");
  if (app.runtime) {
    text += fmt::format("Its runtime takes {} to map a task, {} to launch something.\n",
                        seconds_words(app.runtime->map_s), seconds_words(app.runtime->issue_s));
  }
  text += describe_parameters(app, name) + describe_data(app) + describe_tasks(app);
  std::string shown;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) shown += harmless(line) + '\n';
  return shown;
}

}  // namespace groma
