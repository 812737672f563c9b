// The resources of `groma serve`: the reference card, machines, applications, and the searches
// below the root.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "groma/benchmarks.h"
#include "groma/harmless.h"
#include "groma/machine.h"
#include "groma/source.h"
#include "serve_calls.h"

namespace driver {
namespace {

namespace fs = std::filesystem;
using groma::Error;
using groma::Result;
using groma::serve::Call;
using groma::serve::Resource;
using groma::serve::ResourceText;

constexpr std::string_view kLanguageUri = "groma://language", kMachinesUri = "groma://machines",
                           kApplicationsUri = "groma://applications",
                           kSearchesUri = "groma://searches";
constexpr const char* kJson = "application/json";
// Limits on the look for searches below the root.
constexpr int kMaxDepth = 4;
constexpr std::size_t kMaxEntries = 20'000, kMaxSearches = 200;
// The files of a search that a client can read, and the limit on what is read of one.
constexpr std::array kSearchTexts = {"report.txt", "best.mapper", "best.txt", "verified.mapper",
                                     "findings.txt"};
constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;

// Writes a path as part of a URI: every byte but letters, digits and a few signs as %XX.
std::string to_uri(std::string_view path) {
  std::string uri;
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("-._~/:=,").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

// Reads what to_uri() wrote. nullopt if a `%` is not followed by two hexadecimal digits.
std::optional<std::string> from_uri(std::string_view uri) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  std::string text;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    if (uri[i] != '%') {
      text += uri[i];
      continue;
    }
    const int high = i + 2 < uri.size() ? digit(uri[i + 1]) : -1;
    const int low = i + 2 < uri.size() ? digit(uri[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    text += static_cast<char>(16 * high + low);
    i += 2;
  }
  return text;
}

// Returns the rest of `uri` behind `family` and a slash. nullopt if it is not of this family.
std::optional<std::string> member_of(std::string_view uri, std::string_view family) {
  if (!uri.starts_with(family) || uri.size() < family.size() + 2 || uri[family.size()] != '/') {
    return std::nullopt;
  }
  return from_uri(uri.substr(family.size() + 1));
}

// Returns the directories of searches below the root, relative to it. Hidden folders and links are
// not entered.
std::vector<std::string> find_searches(const ServeSetup& setup, const Call& call) {
  std::vector<std::string> found;
  std::error_code code;
  fs::recursive_directory_iterator entry(setup.root.path(),
                                         fs::directory_options::skip_permission_denied, code);
  std::size_t entries = 0;
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    if (++entries > kMaxEntries || found.size() == kMaxSearches || call.cancelled()) break;
    const fs::path& path = entry->path();
    std::error_code ignored;
    if (entry->is_symlink(ignored) || !entry->is_directory(ignored)) continue;
    if (entry.depth() >= kMaxDepth || path.filename().string().starts_with('.')) {
      entry.disable_recursion_pending();
    } else if (fs::is_regular_file(fs::symlink_status(path / "journal.jsonl", ignored))) {
      found.push_back(path.lexically_relative(setup.root.path()).string());
      entry.disable_recursion_pending();
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Returns the messages of the diagnostics that a command printed as JSON, and their cures.
std::string messages_in(const std::string& printed) {
  const nlohmann::json found = nlohmann::json::parse(printed, nullptr, false);
  std::string text;
  if (!found.is_object() || !found.contains("diagnostics")) return text;
  for (const nlohmann::json& each : found["diagnostics"]) {
    if (!each.is_object()) continue;
    text += each.value("message", "") + "\n";
    for (const nlohmann::json& help : each.value("help", nlohmann::json::array())) {
      if (help.is_string()) text += "help: " + help.get<std::string>() + "\n";
    }
  }
  return text;
}

// Returns the output of a command as a resource.
Result<std::vector<ResourceText>> output_of(ServeSetup& setup, std::vector<std::string> words,
                                            const std::string& uri, const char* mime_type,
                                            const Call& call) {
  const auto outcome =
      run_child(setup, {.words = std::move(words), .seconds = setup.seconds}, call);
  if (!outcome) return outcome.error();
  const std::string why = why_broken_off(*outcome, setup.seconds);
  if (!why.empty()) return Error{Error::Code::kUnreadable, "the command " + why};
  if (outcome->code != 0) {
    std::string text = outcome->err.text;
    if (text.empty()) text = messages_in(outcome->out.text);
    while (text.ends_with('\n')) text.pop_back();
    return Error{Error::Code::kUnknown, text};
  }
  return std::vector<ResourceText>{{uri, outcome->out.text, mime_type}};
}

// Returns the texts of a search, each with its own URI.
Result<std::vector<ResourceText>> read_search(const ServeSetup& setup, const std::string& given) {
  const auto directory = setup.root.folder(given);
  if (!directory) {
    return Error{Error::Code::kUnknown, directory.error().message, directory.error().help};
  }
  std::vector<ResourceText> texts;
  for (const char* name : kSearchTexts) {
    // The file could be a link that leads out of the root.
    const auto file = setup.root.file(*directory + "/" + name);
    if (!file) continue;
    const auto text = groma::read_file((setup.root.path() / *file).string(), kMaxTextBytes);
    if (!text) continue;
    texts.push_back({fmt::format("{}/{}/{}", kSearchesUri, to_uri(*directory), name), *text});
  }
  if (texts.empty()) {
    return Error{Error::Code::kUnknown,
                 fmt::format("`{}` has no texts of a search", groma::visible(given))};
  }
  return texts;
}

}  // namespace

std::vector<Resource> list_resources(const ServeSetup& setup, const Call& call) {
  std::vector<Resource> list = {{std::string(kLanguageUri), "language", "The mapping language",
                                 "The reference card of the mapping language"},
                                {std::string(kMachinesUri), "machines", "Machines",
                                 "The names of the built-in machines", kJson},
                                {std::string(kApplicationsUri), "applications", "Applications",
                                 "The names of the built-in applications", kJson}};
  for (const groma::Preset& preset : groma::machine_presets()) {
    list.push_back({fmt::format("{}/{}", kMachinesUri, preset.name),
                    fmt::format("machine {}", preset.name), std::string(preset.name),
                    std::string(preset.summary), kJson});
  }
  for (const groma::Benchmark& app : groma::built_in_applications()) {
    list.push_back({fmt::format("{}/{}", kApplicationsUri, app.name),
                    fmt::format("application {}", app.name), std::string(app.name),
                    std::string(app.summary), kJson});
  }
  for (const std::string& search : find_searches(setup, call)) {
    list.push_back({fmt::format("{}/{}", kSearchesUri, to_uri(search)),
                    fmt::format("search {}", groma::visible(search)), groma::visible(search),
                    "A search for a faster mapping: its report and the best mapping"});
  }
  return list;
}

std::vector<groma::serve::ResourceTemplate> resource_templates() {
  return {
      {fmt::format("{}/{{+machine}}", kMachinesUri), "machine", "A machine",
       "A machine as JSON: a name with parameters such as p100x4:nodes=2, or the path of a file",
       kJson},
      {fmt::format("{}/{{+application}}", kApplicationsUri), "application", "An application",
       "An application as JSON: a name with values such as cannon:n=8000, or the path of a file",
       kJson},
      {fmt::format("{}/{{+directory}}", kSearchesUri), "search", "A search",
       "The report and the best mapping of the search in a directory below the root"}};
}

Result<std::vector<ResourceText>> read_resource(ServeSetup& setup, const std::string& uri,
                                                const Call& call) {
  if (uri == kLanguageUri) return output_of(setup, {"prompt"}, uri, "text/plain", call);
  if (uri == kMachinesUri) return output_of(setup, {"machines", "--json"}, uri, kJson, call);
  if (uri == kApplicationsUri) return output_of(setup, {"apps", "--json"}, uri, kJson, call);
  const auto described = [&](const char* command, const Result<std::string>& spec) {
    if (!spec) {
      return Result<std::vector<ResourceText>>(
          Error{Error::Code::kUnknown, spec.error().message, spec.error().help});
    }
    // A text that is not the name of a file could begin with a hyphen.
    if (spec->starts_with('-')) {
      return Result<std::vector<ResourceText>>(Error{Error::Code::kUnknown, "no such name"});
    }
    return output_of(setup, {command, "--json", *spec}, uri, kJson, call);
  };
  if (const auto spec = member_of(uri, kMachinesUri)) {
    return described("machines", setup.root.machine(*spec));
  }
  if (const auto spec = member_of(uri, kApplicationsUri)) {
    return described("apps", setup.root.application(*spec));
  }
  if (const auto directory = member_of(uri, kSearchesUri)) return read_search(setup, *directory);
  return Error{Error::Code::kUnknown,
               fmt::format("no such resource: `{}`", groma::visible(uri.substr(0, 200)))};
}

}  // namespace driver
