// The index over the rows of statements, and the words for types and members.
#include "program/data.h"

#include <utility>

#include "groma/result.h"

namespace groma::program {
namespace {

// Mixes all fields of a statement's key into one hash.
std::uint64_t hash_of(const StatementKey& key) {
  const std::uint64_t where =
      (std::uint64_t{static_cast<std::uint8_t>(key.table)} << 8) | key.place;
  return mix_bits(mix_bits((std::uint64_t{key.task} << 32) | key.region) ^ where);
}

}  // namespace

const StatementRow* ProgramData::find_row(const StatementKey& key) const {
  const std::uint32_t at =
      row_index.find(hash_of(key), [&](std::uint32_t i) { return rows[i].key == key; });
  return at == FlatIndex::kNone ? nullptr : &rows[at];
}

// Adds a row and returns null. If the key already has a row, returns that row and adds nothing.
const StatementRow* ProgramData::add_row(const StatementRow& row) {
  if (const StatementRow* known = find_row(row.key)) return known;
  row_index.insert(hash_of(row.key), static_cast<std::uint32_t>(rows.size()));
  rows.push_back(row);
  return nullptr;
}

std::set<std::uint32_t> holding_conditions(const ProgramData& program) {
  std::set<std::uint32_t> holding;
  if (program.unbound == nullptr) return holding;
  for (const auto& [number, range] : program.conditions) holding.insert(number);
  for (const StatementRow& row : program.conditional_rows) holding.erase(row.when);
  return holding;
}

std::shared_ptr<const ProgramData> with_conditions(std::shared_ptr<const ProgramData> program,
                                                   const std::set<std::uint32_t>& holding,
                                                   Diagnostics& diags) {
  auto made = std::make_shared<ProgramData>(*program);
  made->rows.clear();
  made->shadowed_rows.clear();
  made->conditional_rows.clear();
  made->row_index = {};
  // The statement about which the last warning was.
  std::uint32_t warned = 0;
  // The blocks come first, because a statement in a block is more specific than one outside.
  for (const StatementRow& row : program->conditional_rows) {
    if (!holding.contains(row.when)) {
      made->conditional_rows.push_back(row);
      continue;
    }
    const StatementRow* known = made->add_row(row);
    if (known == nullptr || known->statement == row.statement) continue;
    made->shadowed_rows.push_back(row);
    // compile() has warned about statements of the same block.
    if (known->when == row.when || warned == row.statement) continue;
    warned = row.statement;
    diags
        .report(DiagId::kShadowedStatement, program->statement_ranges[row.statement - 1],
                "on this machine, part of what the statement says")
        .note("by this statement, whose `when` holds here too",
              program->statement_ranges[known->statement - 1]);
  }
  std::vector<StatementRow> shadowed;
  for (const StatementRow& row : program->rows) {
    if (made->add_row(row) != nullptr) shadowed.push_back(row);
  }
  made->shadowed_rows.insert(made->shadowed_rows.end(), shadowed.begin(), shadowed.end());
  made->shadowed_rows.insert(made->shadowed_rows.end(), program->shadowed_rows.begin(),
                             program->shadowed_rows.end());
  std::stable_sort(made->shadowed_rows.begin(), made->shadowed_rows.end(),
                   [](const StatementRow& a, const StatementRow& b) { return a.key < b.key; });
  made->unbound = std::move(program);
  return made;
}

// Returns a type for messages, such as "an integer".
std::string_view describe_type(Type type) {
  switch (type) {
    case Type::kAny:
      return "any value";
    case Type::kInt:
      return "an integer";
    case Type::kBool:
      return "a bool";
    case Type::kTuple:
      return "a tuple";
    case Type::kString:
      return "a string";
    case Type::kMachine:
      return "a machine";
    case Type::kTask:
      return "a task";
    case Type::kParent:
      return "a parent task";
    case Type::kProcessor:
      return "a processor";
    case Type::kProcessors:
      return "a set of processors";
    case Type::kProcKind:
      return "a processor kind";
    case Type::kMemKind:
      return "a memory kind";
  }
  return "";
}

std::string_view name_of(Member member) {
  constexpr std::array<std::string_view, kMemberCount> kNames = {
      "size", "volume", "len", "ipoint", "ispace", "ilo", "irank", "ivolume", "parent", "name"};
  return kNames[static_cast<std::size_t>(member)];
}

}  // namespace groma::program
