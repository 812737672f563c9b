#include "mapper/function_maps.h"

namespace groma::mapper {

std::shared_ptr<const IndexMap> FunctionMaps::find(const Launch& launch, Diagnostics& diags) const {
  Key key{launch.function,
          launch.kind ? static_cast<int>(*launch.kind) : -1,
          {},
          std::string(launch.task)};
  for (int d = 0; d < launch.domain.dimensions(); ++d) {
    key.domain.push_back(launch.domain.lower[d]);
    key.domain.push_back(launch.domain.extents[d]);
  }
  {
    const std::lock_guard lock(mutex_);
    const auto found = maps_.find(key);
    if (found != maps_.end()) return found->second;
  }
  // Made without the lock; where two threads make the same one, the first stays.
  TaskPoint task;
  task.name = launch.task;
  task.domain = launch.domain;
  auto made = IndexMap::make(bound_, launch.function, task, launch.kind, diags);
  if (!made) {
    diags.report(DiagId::kBadMachine, std::nullopt, made.error().message);
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  if (maps_.size() >= kMaxMaps) maps_.erase(maps_.begin());
  return maps_.emplace(std::move(key), *made).first->second;
}

bool LaunchCursor::Open::is(const Launch& launch) const {
  return function == launch.function && kind == launch.kind &&
         domain.lower == launch.domain.lower && domain.extents == launch.domain.extents &&
         task == launch.task;
}

LaunchCursor::Open* LaunchCursor::open(const Launch& launch) {
  diags_.clear();
  if (last_ < open_.size() && open_[last_].is(launch)) return &open_[last_];
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (!open_[i].is(launch)) continue;
    last_ = i;
    return &open_[i];
  }
  auto map = maps_->find(launch, diags_);
  if (map == nullptr) return nullptr;
  Open made{launch.function,          launch.kind, launch.domain,
            std::string(launch.task), map,         IndexMap::Cursor(map)};
  if (open_.size() < kOpen) {
    last_ = open_.size();
    open_.push_back(std::move(made));
  } else {
    last_ = replaced_++ % kOpen;
    open_[last_] = std::move(made);
  }
  return &open_[last_];
}

// What the question ended with: an error, be it behind warnings.
std::optional<Diagnostic> LaunchCursor::error() const {
  for (const Diagnostic& diagnostic : diags_.all()) {
    if (diagnostic.severity == Severity::kError) return diagnostic;
  }
  return std::nullopt;
}

std::optional<Diagnostic> LaunchCursor::place(const Launch& launch, const Point& point,
                                              std::vector<Processor>& processors) {
  Open* at = open(launch);
  if (at == nullptr) return error();
  const ProcessorNumber number = at->cursor.point(point, diags_);
  if (number == kNoProcessor) return error();
  if (at->cursor.is_set(number)) {
    const Placed placed = at->cursor.placed(number);
    processors.insert(processors.end(), placed.processors.begin(), placed.processors.end());
  } else {
    processors.push_back(at->map->processor(number));
  }
  return std::nullopt;
}

std::optional<Diagnostic> LaunchCursor::slices(
    const Launch& launch, const Rect& part,
    const std::function<void(const Rect&, const Processor&)>& slice) {
  Open* at = open(launch);
  if (at == nullptr) return error();
  const bool good = at->cursor.slices(
      part,
      [&](const Rect& box, ProcessorNumber number) {
        const bool set = at->cursor.is_set(number);
        slice(box, set ? at->cursor.placed(number).processors.front() : at->map->processor(number));
      },
      diags_);
  return good ? std::nullopt : error();
}

}  // namespace groma::mapper
