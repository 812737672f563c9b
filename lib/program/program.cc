// The queries of a Program: which statement decides about a task, a region or a place.
#include "groma/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/data.h"
#include "syntax/lexer.h"

namespace groma {

using program::place_key;
using program::PlaceKey;
using program::RegionKey;
using program::StatementRow;
using program::TableId;

namespace {

DecisionOrigin origin_of(const StatementRow& row) { return {row.statement}; }

static_assert(kMaxTaskParents + 1 == kMaxSelectorPath);

// Calls use(id) for the words besides `*` with which the statements of a table can name a task, the
// most specific first, until `use` returns true: the selectors of its name, the name, then the
// patterns that match it.
template <typename Use>
bool for_task_names(const program::ProgramData& data, TableId table, const LaunchedTask& task,
                    const Use& use) {
  const auto use_matching = [&](const std::vector<NameId>& patterns) {
    return std::any_of(patterns.begin(), patterns.end(), [&](NameId pattern) {
      return data.names.stands_for_task(pattern, task.name, task.parents, task.dimensions) &&
             use(pattern);
    });
  };
  if (use_matching(data.patterns_of(table).selectors)) return true;
  const NameId id = data.names.find(task.name);
  if (id != FlatIndex::kNone && id != kStarName && use(id)) return true;
  return use_matching(data.patterns_of(table).tasks);
}

// As for_task_names(), and then calls use(id) for `*`.
template <typename Use>
bool for_task_words(const program::ProgramData& data, TableId table, const LaunchedTask& task,
                    const Use& use) {
  return for_task_names(data, table, task, use) || use(kStarName);
}

// Calls one_key(task, region) for each pair of words with which a statement of a table can name a
// region of a task, the most specific pair first, until one_key returns true. The words for the
// task come in the order of for_task_words(). For each of them, the region comes by its position,
// then by its aliases in their order, then by the patterns that match an alias, then as `*`.
template <typename Use>
void for_region_keys(const program::ProgramData& data, TableId table, const LaunchedTask& task,
                     const RegionNames& region, const Use& one_key) {
  // The ids of the names and patterns for the region.
  std::vector<NameId> words;
  for (std::string_view alias : region.aliases) {
    const NameId id = data.names.find(alias);
    if (id != FlatIndex::kNone && id != kStarName) words.push_back(id);
  }
  for (const NameId pattern : data.patterns_of(table).regions) {
    const auto matches = [&](std::string_view alias) {
      return data.names.stands_for(pattern, alias);
    };
    if (std::any_of(region.aliases.begin(), region.aliases.end(), matches)) {
      words.push_back(pattern);
    }
  }
  for_task_words(data, table, task, [&](NameId task_id) {
    if (region.position >= 0 && region.position < 0x80000000) {
      const auto position = static_cast<std::uint32_t>(region.position);
      if (one_key(task_id, program::position_key(position))) return true;
    }
    for (const NameId id : words) {
      if (one_key(task_id, id)) return true;
    }
    return one_key(task_id, kStarName);
  });
}

// Calls use(row) for the rows that apply to a region of a task, those with the most specific key
// first, until `use` returns true. For each pair of a task and a region in the keys, only the first
// place in `places` that has a row counts.
template <typename Use>
void for_region(const program::ProgramData& data, TableId table, const LaunchedTask& task,
                const RegionNames& region, std::span<const PlaceKey> places, const Use& use) {
  for_region_keys(data, table, task, region, [&](NameId task_id, RegionKey region_key) {
    for (PlaceKey place : places) {
      if (const StatementRow* row = data.find_row({table, place, task_id, region_key}))
        return use(*row);
    }
    return false;
  });
}

// Returns the row for the task by the first word of for_task_words() that has one, or null. For
// each word the places are tried in their order.
const StatementRow* find_task(const program::ProgramData& data, TableId table,
                              const LaunchedTask& task, std::span<const PlaceKey> places) {
  const StatementRow* row = nullptr;
  for_task_words(data, table, task, [&](NameId id) {
    for (PlaceKey place : places) {
      row = data.find_row({table, place, id, kStarName});
      if (row != nullptr) return true;
    }
    return false;
  });
  return row;
}

// Returns the function bound to the task by name or pattern, otherwise to the processor kind,
// otherwise to `*`.
std::optional<MappingFunctionDecision> find_map(const program::ProgramData& data, TableId table,
                                                const LaunchedTask& task,
                                                std::optional<ProcKind> kind) {
  const StatementRow* row = nullptr;
  for_task_names(data, table, task, [&](NameId id) {
    row = data.find_row({table, program::kAnyPlace, id});
    return row != nullptr;
  });
  if (row == nullptr && kind) row = data.find_row({table, place_key(*kind)});
  if (row == nullptr) row = data.find_row({table});
  if (row == nullptr) return std::nullopt;
  return MappingFunctionDecision{static_cast<FunctionId>(row->value), origin_of(*row)};
}

}  // namespace

Program::Program() : data_(std::make_shared<program::ProgramData>()) {}

const Source& Program::source() const { return data_->source; }

bool Program::has_conditions() const { return !data_->conditions.empty(); }

bool Program::has_selectors() const { return !data_->names.selectors().empty(); }

DecisionOrigin Program::when_of(DecisionOrigin origin) const {
  const auto found = data_->whens.find(origin.statement);
  return found == data_->whens.end() ? DecisionOrigin{} : DecisionOrigin{found->second};
}

Range Program::condition_range(DecisionOrigin when) const {
  return data_->conditions.at(when.statement);
}

Range Program::range(DecisionOrigin origin) const {
  GROMA_CHECK(origin.statement > 0 && origin.statement <= data_->statement_ranges.size());
  return data_->statement_ranges[origin.statement - 1];
}

std::optional<TaskDecision> Program::task(const LaunchedTask& task) const {
  const StatementRow* row = find_task(*data_, TableId::kTask, task, {{program::kAnyPlace}});
  if (row == nullptr) return std::nullopt;
  TaskDecision decision{{}, origin_of(*row)};
  for (std::size_t i = 0; i < row->kind_count; ++i) {
    decision.kinds.push_back(static_cast<ProcKind>(row->kinds[i]));
  }
  return decision;
}

// Returns the memories of all matching statements, most specific first, so that later ones are
// fallbacks.
std::vector<MemoryCandidate> Program::memories(const LaunchedTask& task, const RegionNames& region,
                                               ProcKind kind) const {
  std::vector<MemoryCandidate> candidates;
  const PlaceKey places[] = {place_key(kind), program::kAnyPlace};
  for_region(*data_, TableId::kRegion, task, region, places, [&](const StatementRow& row) {
    for (std::size_t i = 0; i < row.kind_count; ++i) {
      candidates.push_back({static_cast<MemKind>(row.kinds[i]), origin_of(row)});
    }
    return false;
  });
  return candidates;
}

// Returns the layout of the most specific statement. At equal keys, a statement for the memory
// comes before one for the processor kind, and that before `*`.
std::optional<LayoutDecision> Program::layout(const LaunchedTask& task, const RegionNames& region,
                                              ProcKind kind, MemKind memory) const {
  std::optional<LayoutDecision> decision;
  const PlaceKey places[] = {place_key(memory), place_key(kind), program::kAnyPlace};
  for_region(*data_, TableId::kLayout, task, region, places, [&](const StatementRow& row) {
    const StatedLayout& stated = data_->layouts[static_cast<std::size_t>(row.value)];
    decision = {stated.layout, stated.named, origin_of(row)};
    return true;
  });
  return decision;
}

std::optional<MappingFunctionDecision> Program::index_function(const LaunchedTask& task,
                                                               std::optional<ProcKind> kind) const {
  return find_map(*data_, TableId::kIndexMap, task, kind);
}

std::optional<MappingFunctionDecision> Program::single_function(
    const LaunchedTask& task, std::optional<ProcKind> kind) const {
  return find_map(*data_, TableId::kSingleMap, task, kind);
}

std::optional<LimitDecision> Program::instance_limit(const LaunchedTask& task,
                                                     ProcKind kind) const {
  const PlaceKey places[] = {place_key(kind), program::kAnyPlace};
  const StatementRow* row = find_task(*data_, TableId::kInstanceLimit, task, places);
  if (row == nullptr) return std::nullopt;
  return LimitDecision{row->value, static_cast<LimitScope>(row->kinds[0]), origin_of(*row)};
}

std::optional<DecisionOrigin> Program::collect_memory(const LaunchedTask& task,
                                                      const RegionNames& region) const {
  std::optional<DecisionOrigin> origin;
  for_region(*data_, TableId::kCollectMemory, task, region, {{program::kAnyPlace}},
             [&](const StatementRow& row) {
               origin = origin_of(row);
               return true;
             });
  return origin;
}

std::optional<DecisionOrigin> Program::control_replicate(const LaunchedTask& task) const {
  const StatementRow* row =
      find_task(*data_, TableId::kControlReplicate, task, {{program::kAnyPlace}});
  if (row == nullptr) return std::nullopt;
  return origin_of(*row);
}

bool Program::replicates_any() const {
  for (const StatementRow& row : data_->rows) {
    if (row.key.table == TableId::kControlReplicate) return true;
  }
  return false;
}

std::optional<StealDecision> Program::task_steal(const LaunchedTask& task, ProcKind kind) const {
  const StatementRow* row = find_task(*data_, TableId::kTaskSteal, task, {{place_key(kind)}});
  if (row == nullptr) return std::nullopt;
  return StealDecision{static_cast<StealScope>(row->value), origin_of(*row)};
}

namespace {

// Returns the places that apply to a query, most specific first. TaskSteal always names a processor
// kind, so `*` does not apply to it.
std::vector<PlaceKey> places_of(const MatchQuery& query) {
  std::vector<PlaceKey> places;
  if (query.memory && query.statement == MappingStatement::kLayout) {
    places.push_back(place_key(*query.memory));
  }
  if (query.kind) places.push_back(place_key(*query.kind));
  if (query.statement != MappingStatement::kTaskSteal) places.push_back(program::kAnyPlace);
  return places;
}

}  // namespace

// Returns every statement that applies to the query: the one that decides first, then the less
// specific ones. At most kMaxShadowed statements that an equal key hides are included, marked as
// shadowed.
std::vector<Match> Program::matches(const MatchQuery& query) const {
  const program::ProgramData& data = *data_;
  const auto table = static_cast<TableId>(query.statement);
  std::vector<Match> found;
  // The number of hidden rows that were looked at. It is limited, because a long program of
  // statements with equal keys would otherwise make every query slow.
  std::size_t shadowed = 0;
  // Several rows of one statement may apply, but the statement is listed once.
  const auto add = [&](const StatementRow& row, const StatementRow* by) {
    const auto same = [&](const Match& match) { return match.origin == origin_of(row); };
    if (std::any_of(found.begin(), found.end(), same)) return;
    found.push_back(
        {origin_of(row), by != nullptr, by != nullptr && by->when != 0 && row.when == 0});
  };
  // Adds the row that decides for the key, and the rows with the same key that it hides.
  const auto add_key = [&](const program::StatementKey& key) {
    const StatementRow* row = data.find_row(key);
    if (row == nullptr) return;
    add(*row, nullptr);
    const auto [begin, end] = std::equal_range(
        data.shadowed_rows.begin(), data.shadowed_rows.end(), StatementRow{key},
        [](const StatementRow& a, const StatementRow& b) { return a.key < b.key; });
    for (auto at = begin; at != end && shadowed < kMaxShadowed; ++at, ++shadowed) add(*at, row);
  };
  const std::vector<PlaceKey> places = places_of(query);
  switch (query.statement) {
    case MappingStatement::kRegion:
    case MappingStatement::kLayout:
    case MappingStatement::kCollectMemory:
      for_region_keys(data, table, query.task, query.region, [&](NameId task_id, RegionKey region) {
        for (PlaceKey place : places) add_key({table, place, task_id, region});
        return false;
      });
      break;
    case MappingStatement::kIndexTaskMap:
    case MappingStatement::kSingleTaskMap:
      for_task_names(data, table, query.task, [&](NameId task) {
        add_key({table, program::kAnyPlace, task});
        return false;
      });
      for (PlaceKey place : places) add_key({table, place});
      break;
    case MappingStatement::kTask:
    case MappingStatement::kInstanceLimit:
    case MappingStatement::kControlReplicate:
    case MappingStatement::kTaskSteal:
      for_task_words(data, table, query.task, [&](NameId task) {
        for (PlaceKey place : places) add_key({table, place, task});
        return false;
      });
      break;
  }
  return found;
}

std::size_t Program::function_count() const { return data_->functions.size(); }

std::string_view Program::function_name(FunctionId function) const {
  return data_->names.text(data_->functions[function].name);
}

Range Program::function_source_range(FunctionId function) const {
  return data_->functions[function].name_range;
}

std::optional<FunctionId> Program::find_function(std::string_view name) const {
  const NameId id = data_->names.find(name);
  for (FunctionId i = 0; i < data_->functions.size(); ++i) {
    if (data_->functions[i].name == id) return i;
  }
  return std::nullopt;
}

// Returns true if a statement may bind the function: it takes a task as its only parameter.
bool Program::is_mapping_function(FunctionId function) const {
  const program::IndexRange parameters = data_->functions[function].parameters;
  if (parameters.count != 1) return false;
  const syntax::ParamType type = data_->parameters[parameters.begin].type;
  return type == syntax::ParamType::kTask || type == syntax::ParamType::kAny;
}

// Returns a hash of the tokens as 16 hexadecimal digits. Comments and white space do not change it.
std::string mapping_mark(const Program& program) {
  const Source& source = program.source();
  Diagnostics ignored(source);
  syntax::Lexer lexer(source, ignored, nullptr);
  std::uint64_t mark = 0;
  for (syntax::Token token = lexer.next_token(); token.kind != syntax::TokenKind::kEnd;
       token = lexer.next_token()) {
    for (const char c : source.text(token.range))
      mark = mix_bits(mark ^ static_cast<unsigned char>(c));
    // This marks the end of a token, so that `ab` and `a b` have different hashes.
    mark = mix_bits(mark + 1);
  }
  return fmt::format("{:016x}", mark);
}

}  // namespace groma
