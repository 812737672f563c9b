// Keeps the names of data handles and their places among the pieces of a partition.
#include "starpu/data_facts.h"

#include <mutex>
#include <utility>

namespace groma::starpu {

// Returns the one object for this list of names.
const DataNames* DataFacts::intern(const std::vector<std::string>& texts) {
  if (texts.empty()) return nullptr;
  std::string key;
  for (const std::string& text : texts) key += text + '\0';
  auto& known = names_[key];
  if (known == nullptr) {
    auto made = std::make_unique<DataNames>();
    made->texts = texts;
    made->aliases.assign(made->texts.begin(), made->texts.end());
    made->key = names_.size();
    known = std::move(made);
  }
  return known.get();
}

void DataFacts::forget(starpu_data_handle_t handle) {
  if (empty()) return;
  const std::unique_lock lock(mutex_);
  facts_.erase(handle);
}

void DataFacts::set_name(starpu_data_handle_t handle, std::string_view name) {
  if (name.empty()) return;
  const std::unique_lock lock(mutex_);
  DataFact& fact = facts_[handle];
  std::vector<std::string> texts;
  // The names of the parents stay behind the new name.
  if (fact.names != nullptr) texts = fact.names->texts;
  if (!fact.own_name.empty()) texts.erase(texts.begin());
  texts.insert(texts.begin(), std::string(name));
  fact.own_name = name;
  fact.names = intern(texts);
  count_.store(facts_.size(), std::memory_order_release);
}

void DataFacts::set_piece(starpu_data_handle_t child, starpu_data_handle_t parent, int index,
                          int count) {
  const std::unique_lock lock(mutex_);
  DataFact made;
  if (const auto above = facts_.find(parent); above != facts_.end()) {
    made = above->second;
    made.own_name.clear();
  }
  const auto grown = [](const Point& point, std::int64_t coordinate) {
    std::vector<std::int64_t> all(point.coordinates().begin(), point.coordinates().end());
    all.push_back(coordinate);
    return Point(all);
  };
  // Pieces of pieces beyond the dimensions of a point count as the piece above them.
  if (made.pieces.dimensions() < kMaxDimensions) {
    made.piece = grown(made.piece, index);
    made.pieces = grown(made.pieces, count);
  }
  facts_[child] = std::move(made);
  count_.store(facts_.size(), std::memory_order_release);
}

std::set<std::string, std::less<>> DataFacts::all_names() const {
  const std::shared_lock lock(mutex_);
  std::set<std::string, std::less<>> all;
  for (const auto& [key, names] : names_) all.insert(names->texts.begin(), names->texts.end());
  return all;
}

DataFacts& data_facts() {
  // Never deleted, because a program may still unregister data while the process ends.
  static auto* const facts = new DataFacts;
  return *facts;
}

}  // namespace groma::starpu
