// Writes cells as JSON and reads them. A file of cells may come from a stranger, so every value is
// checked.
#include "paper/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "groma/guide.h"

namespace groma::paper {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMaxCount = 1'000'000'000;
constexpr std::string_view kVerdicts[] = {"passed", "failed", "not compiled"};

// Reads the members of one JSON object. The first wrong member is kept as the error.
class MemberReader {
 public:
  explicit MemberReader(const Json& object) : object_(object) {}

  std::string text(const char* name) {
    const Json* value = member(name, "a text", [](const Json& json) { return json.is_string(); });
    return value == nullptr ? "" : value->get<std::string>();
  }
  std::int64_t count(const char* name, std::int64_t least = 0) {
    const Json* value = member(name, "a count", [&](const Json& json) {
      return is_count(json) && json.get<std::int64_t>() >= least;
    });
    return value == nullptr ? least : value->get<std::int64_t>();
  }
  double seconds(const char* name) {
    const Json* value = member(name, "a time", is_time);
    return value == nullptr ? 1 : value->get<double>();
  }
  // Reads pairs of an iteration and a time. Later pairs have later iterations and less time.
  std::vector<Improvement> improvements(const char* name, std::int64_t iterations) {
    std::vector<Improvement> all;
    const Json* list = member(name, "a list of improvements", [&](const Json& json) {
      std::int64_t iteration = 0;
      double best = HUGE_VAL;
      return json.is_array() && std::all_of(json.begin(), json.end(), [&](const Json& pair) {
               if (!pair.is_array() || pair.size() != 2) return false;
               if (!is_count(pair[0]) || !is_time(pair[1])) return false;
               const bool later = pair[0].get<std::int64_t>() > iteration;
               const bool better = pair[1].get<double>() < best;
               iteration = pair[0].get<std::int64_t>();
               best = pair[1].get<double>();
               return later && better && iteration <= iterations;
             });
    });
    if (list == nullptr) return all;
    for (const Json& pair : *list) {
      all.push_back({pair[0].get<std::int64_t>(), pair[1].get<double>()});
    }
    return all;
  }
  bool has(const char* name) const { return object_.contains(name); }
  void fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
  }
  const std::string& error() const { return error_; }

 private:
  static bool is_count(const Json& json) {
    return json.is_number_unsigned() &&
           json.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMaxCount);
  }
  static bool is_time(const Json& json) {
    return json.is_number() && std::isfinite(json.get<double>()) && json.get<double>() > 0;
  }
  template <typename Check>
  const Json* member(const char* name, const char* what, const Check& check) {
    const auto found = object_.find(name);
    if (found != object_.end() && check(*found)) return &*found;
    fail(fmt::format("`{}` is not {}", name, found == object_.end() ? "there" : what));
    return nullptr;
  }

  const Json& object_;
  std::string error_;
};

CellSettings read_settings(MemberReader& reader) {
  CellSettings settings;
  settings.subject = reader.text("subject");
  settings.method = reader.text("method");
  settings.feedback = reader.text("feedback");
  if (!guide_detail(settings.feedback)) reader.fail("`feedback` is not a level of feedback");
  settings.examples = static_cast<int>(reader.count("examples"));
  settings.iterations = reader.count("iterations", 1);
  settings.run = static_cast<int>(reader.count("run", 1));
  settings.model = reader.text("model");
  return settings;
}

SearchResult read_search(MemberReader& reader, std::int64_t iterations) {
  SearchResult result;
  result.expert_seconds = reader.seconds("expert_seconds");
  result.improvements = reader.improvements("improvements", iterations);
  result.ran = reader.count("ran");
  result.failed = reader.count("failed");
  result.unusable = reader.count("unusable");
  const auto improvements = static_cast<std::int64_t>(result.improvements.size());
  if (result.ran + result.failed + result.unusable > iterations || improvements > result.ran) {
    reader.fail(fmt::format("the results are not those of {} iterations", iterations));
  }
  return result;
}

WritingResult read_writing(MemberReader& reader) {
  const std::string verdict = reader.text("verdict");
  const auto* found = std::find(std::begin(kVerdicts), std::end(kVerdicts), verdict);
  if (found == std::end(kVerdicts)) reader.fail("`verdict` is not a verdict");
  const auto index = found == std::end(kVerdicts) ? 0 : found - std::begin(kVerdicts);
  return {static_cast<WritingResult::Verdict>(index), static_cast<int>(reader.count("questions"))};
}

}  // namespace

double SearchResult::throughput_after(std::int64_t iterations) const {
  double seconds = HUGE_VAL;
  for (const Improvement& each : improvements) {
    if (each.iteration <= iterations) seconds = each.seconds;
  }
  return expert_seconds / seconds;
}

std::string to_json(const Cell& cell) {
  const CellSettings& settings = cell.settings;
  nlohmann::ordered_json json = {{"subject", settings.subject},
                                 {"method", settings.method},
                                 {"feedback", settings.feedback},
                                 {"examples", settings.examples},
                                 {"iterations", settings.iterations},
                                 {"run", settings.run},
                                 {"model", settings.model}};
  if (const auto* writing = std::get_if<WritingResult>(&cell.result)) {
    json["verdict"] = kVerdicts[static_cast<std::size_t>(writing->verdict)];
    json["questions"] = writing->questions;
  } else {
    const SearchResult& search = std::get<SearchResult>(cell.result);
    json["expert_seconds"] = search.expert_seconds;
    json["improvements"] = Json::array();
    for (const Improvement& each : search.improvements) {
      json["improvements"].push_back({each.iteration, each.seconds});
    }
    json["ran"] = search.ran;
    json["failed"] = search.failed;
    json["unusable"] = search.unusable;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Cell> read_cell(const std::string& line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Error{Error::Code::kMalformed, "this is not a cell in JSON"};
  MemberReader reader(json);
  Cell cell;
  cell.settings = read_settings(reader);
  if (reader.has("verdict")) {
    cell.result = read_writing(reader);
  } else {
    cell.result = read_search(reader, cell.settings.iterations);
  }
  if (!reader.error().empty()) return Error{Error::Code::kMalformed, reader.error()};
  return cell;
}

}  // namespace groma::paper
