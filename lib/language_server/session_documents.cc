// The documents of a session: their texts, their `groma.toml`, and their diagnostics.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "groma/harmless.h"
#include "groma/source.h"
#include "language_server/answers.h"
#include "language_server/session.h"

namespace groma::language_server {
namespace {

// Limit on the files `groma.toml` that are remembered.
constexpr std::size_t kMaxWorkspaceFiles = 64;

// Returns the size and the time of a file as text, or "" if it does not exist.
std::string stamp_of(const std::string& path) {
  std::error_code code;
  const auto time = std::filesystem::last_write_time(path, code);
  if (code) return "";
  const auto size = std::filesystem::file_size(path, code);
  return fmt::format("{} {}", time.time_since_epoch().count(), code ? 0 : size);
}

}  // namespace

void Session::open(const Json& params) {
  const auto uri = find_text(params, {"textDocument", "uri"});
  auto text = find_text(params, {"textDocument", "text"});
  if (!uri || !text) return;
  if (documents_.size() >= kMaxOpenDocuments && !documents_.contains(*uri)) {
    constexpr int kError = 1;
    notify("window/showMessage",
           {{"type", kError},
            {"message", fmt::format("groma: more than {} open mappings", kMaxOpenDocuments)}});
    return;
  }
  OpenDocument& document = documents_[*uri];
  document.uri = *uri;
  document.path = path_of_uri(*uri);
  document.version = find_integer(params, {"textDocument", "version"});
  find_specs(document);
  take_text(document, std::move(*text));
}

void Session::take_text(OpenDocument& document, std::string text) {
  document.unusable.clear();
  set_text(document, TextDocument(std::move(text)), ++last_revision_);
  refuse_large_document(document);
}

// Stops examining a document if it is too large, or if all documents together are.
void Session::refuse_large_document(OpenDocument& document) {
  std::size_t all = 0;
  for (const auto& [uri, each] : documents_) all += each.text.text().size();
  if (document.text.text().size() > kMaxDocumentBytes) {
    refuse_document(document, fmt::format("the text is larger than {} MiB, so it is not examined",
                                          kMaxDocumentBytes >> 20));
  } else if (all > kMaxOpenBytes) {
    refuse_document(document, fmt::format("the open mappings are larger than {} MiB together, so "
                                          "this one is not examined",
                                          kMaxOpenBytes >> 20));
  }
}

// Stops examining a document until the editor sends its whole text again.
void Session::refuse_document(OpenDocument& document, std::string why) {
  set_text(document, TextDocument(), ++last_revision_);
  document.unusable = std::move(why);
  background_.forget(document.uri);
}

void Session::change(const Json& params) {
  const auto uri = find_text(params, {"textDocument", "uri"});
  const auto found = uri ? documents_.find(*uri) : documents_.end();
  const Json* changes = find(params, {"contentChanges"});
  if (found == documents_.end() || changes == nullptr || !changes->is_array()) return;
  OpenDocument& document = found->second;
  document.version = find_integer(params, {"textDocument", "version"});
  TextDocument text = document.text;
  bool is_known = document.unusable.empty();
  std::size_t work = 0;
  for (const Json& change : *changes) {
    auto added = find_text(change, {"text"});
    const Json* range = find(change, {"range"});
    const bool whole = range == nullptr || range->is_null();
    const auto start = find_position(change, {"range", "start"});
    const auto end = find_position(change, {"range", "end"});
    work += text.text().size();
    if (!added || (!whole && (!start || !end)) || work > kMaxChangeBytes ||
        added->size() > kMaxDocumentBytes || text.text().size() > kMaxDocumentBytes) {
      is_known = false;
      continue;
    }
    if (whole) {
      text = TextDocument(std::move(*added));
      is_known = true;
    } else if (is_known) {
      text.replace(text.offset_of(*start, encoding_), text.offset_of(*end, encoding_), *added);
    }
  }
  if (!is_known) {
    return refuse_document(document,
                           "a change could not be made, so the text is not examined; close the "
                           "file and open it again");
  }
  document.unusable.clear();
  // Hovers that wait are about the text before the change.
  answer_waiting(document.uri);
  set_text(document, std::move(text), ++last_revision_);
  refuse_large_document(document);
}

// Examines all documents again, since a file may have changed that a `groma.toml` names.
void Session::files_changed(const Json&) {
  refresh_specs();
  for (auto& [uri, document] : documents_) {
    document.changed = true;
    document.result.reset();
  }
}

void Session::close(const Json& params) {
  const auto uri = find_text(params, {"textDocument", "uri"});
  const auto found = uri ? documents_.find(*uri) : documents_.end();
  if (found == documents_.end()) return;
  background_.forget(*uri);
  answer_waiting(*uri);
  const std::string workspace = found->second.workspace_file;
  documents_.erase(found);
  notify("textDocument/publishDiagnostics", {{"uri", *uri}, {"diagnostics", Json::array()}});
  const auto known = workspace_files_.find(workspace);
  if (known == workspace_files_.end()) return;
  known->second.input_problems.erase(*uri);
  publish_workspace_file(workspace);
}

void Session::settle() {
  if (!initialized_ || shut_down_) return;
  const auto now = Clock::now();
  const bool any_changed = std::any_of(documents_.begin(), documents_.end(),
                                       [](const auto& each) { return each.second.changed; });
  if (any_changed && now - specs_found_at_ > kWorkspaceFileAge) refresh_specs();
  for (auto& [uri, document] : documents_) {
    if (!document.changed) continue;
    document.changed = false;
    notify("textDocument/publishDiagnostics", diagnostics_json(document, encoding_));
    submit(document);
  }
}

void Session::submit(OpenDocument& document) {
  if (!document.unusable.empty()) return;
  background_.submit({document.uri, document.revision, analyse(document).source, document.specs});
}

void Session::take(const std::shared_ptr<const BackgroundResult>& result) {
  const auto found = documents_.find(result->uri);
  if (found == documents_.end() || shut_down_) return;
  OpenDocument& document = found->second;
  report_inputs(document, *result->inputs);
  const bool is_current = document.revision == result->revision &&
                          result->inputs->specs == document.specs && document.unusable.empty();
  if (!is_current) {
    const bool same_inputs = result->inputs->specs == document.specs;
    if (same_inputs && result->explanation) document.explained = result;
    return;
  }
  const bool is_first = document.result == nullptr;
  take_result(document, result);
  if (is_first) notify("textDocument/publishDiagnostics", diagnostics_json(document, encoding_));
  if (!result->complete) return;
  answer_waiting(document.uri);
  if (refresh_hints_ && result->explanation) ask("workspace/inlayHint/refresh");
}

bool Session::find_specs(OpenDocument& document) {
  const std::string path = find_workspace_file(document.path);
  Specs specs{options_.machine, options_.app};
  if (!path.empty()) {
    const WorkspaceFile& file = workspace_file(path);
    const auto* machine =
        value_for(file, document.path, &WorkspaceFile::machine, &MappingEntry::machine);
    const auto* app = value_for(file, document.path, &WorkspaceFile::app, &MappingEntry::app);
    if (machine != nullptr) specs.machine = spec_from(path, machine->text);
    if (app != nullptr) specs.app = spec_from(path, app->text);
    publish_workspace_file(path);
  }
  if (path != document.workspace_file) {
    const auto left = workspace_files_.find(document.workspace_file);
    if (left != workspace_files_.end()) left->second.input_problems.erase(document.uri);
  }
  document.workspace_file = path;
  if (specs == document.specs) return false;
  document.specs = std::move(specs);
  document.explained.reset();
  document.result.reset();
  return true;
}

void Session::refresh_specs() {
  specs_found_at_ = Clock::now();
  for (auto& [uri, document] : documents_) {
    if (find_specs(document)) document.changed = true;
  }
}

const WorkspaceFile& Session::workspace_file(const std::string& path) {
  if (workspace_files_.size() >= kMaxWorkspaceFiles && !workspace_files_.contains(path)) {
    workspace_files_.clear();
  }
  KnownWorkspaceFile& known = workspace_files_[path];
  const std::string stamp = stamp_of(path);
  if (stamp == known.stamp) return known.file;
  known.stamp = stamp;
  known.input_problems.clear();
  const auto text = read_regular_file(path, kMaxWorkspaceFileBytes);
  if (text) {
    known.file = parse_workspace_file(path, *text);
  } else {
    known.file = WorkspaceFile{};
    known.file.path = path;
    known.file.problems.push_back({text.error().message, {}});
  }
  return known.file;
}

void Session::publish_workspace_file(const std::string& path) {
  const auto found = workspace_files_.find(path);
  if (found == workspace_files_.end()) return;
  KnownWorkspaceFile& known = found->second;
  const TextDocument text(known.file.text);
  Json list = Json::array();
  const auto add = [&](const WorkspaceProblem& problem) {
    Json diagnostic = {{"range", json_of(text, problem.range, encoding_)},
                       {"severity", 1},
                       {"source", "groma"},
                       {"message", problem.message}};
    if (std::find(list.begin(), list.end(), diagnostic) == list.end()) {
      list.push_back(std::move(diagnostic));
    }
  };
  for (const WorkspaceProblem& each : known.file.problems) add(each);
  for (const auto& [uri, problems] : known.input_problems) {
    for (const WorkspaceProblem& each : problems) add(each);
  }
  const std::string published = list.dump(-1, ' ', false, Json::error_handler_t::replace);
  // A file without problems is not mentioned, except to take earlier problems back.
  const bool is_news = known.published.empty() ? !list.empty() : published != known.published;
  known.published = published;
  if (!is_news) return;
  notify("textDocument/publishDiagnostics",
         {{"uri", uri_of_path(path)}, {"diagnostics", std::move(list)}});
}

// Reports a machine or an application that cannot be loaded: at its value in the `groma.toml`, or
// as a message if it comes from the options.
void Session::report_inputs(const OpenDocument& document, const LoadedInputs& inputs) {
  if (!(inputs.specs == document.specs)) return;
  std::vector<WorkspaceProblem> problems;
  const auto known = workspace_files_.find(document.workspace_file);
  const auto report = [&](const std::string& problem, const WorkspaceValue* value) {
    if (problem.empty()) return;
    if (value != nullptr) {
      problems.push_back({problem, value->range});
    } else if (shown_problems_.size() < kMaxFileErrors && shown_problems_.insert(problem).second) {
      constexpr int kWarning = 2;
      notify("window/showMessage", {{"type", kWarning}, {"message", "groma: " + problem}});
    }
  };
  const bool has_file = known != workspace_files_.end();
  const WorkspaceFile none;
  const WorkspaceFile& file = has_file ? known->second.file : none;
  report(inputs.machine_problem,
         value_for(file, document.path, &WorkspaceFile::machine, &MappingEntry::machine));
  report(inputs.app_problem,
         value_for(file, document.path, &WorkspaceFile::app, &MappingEntry::app));
  if (!has_file) return;
  known->second.input_problems[document.uri] = std::move(problems);
  publish_workspace_file(document.workspace_file);
}

}  // namespace groma::language_server
