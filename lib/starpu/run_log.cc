// Writes the log of a run.
#include "starpu/run_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "base/append_format.h"

namespace groma::starpu {
namespace {

// Returns the text as a JSON string. Names of StarPU's data may hold any bytes.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      // Bytes beyond ASCII are read as Latin-1, which keeps the line valid.
      append_format(&out, "\\u{:04x}", static_cast<unsigned>(byte));
    } else {
      out += c;
    }
  }
  return out += '"';
}

std::string list_of(const Point& point) {
  return fmt::format("[{}]", fmt::join(point.coordinates(), ","));
}

// Returns the members for a worker's processor.
std::string processor_members(const std::optional<Processor>& processor) {
  if (!processor) return R"("kind":null,"index":null)";
  return fmt::format(R"("kind":"{}","index":{})", name_of(processor->kind), processor->index);
}

}  // namespace

Result<std::unique_ptr<RunLog>> RunLog::open(const std::string& path, std::string_view mapping,
                                             std::shared_ptr<const Workers> workers) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot write the log '{}': {}", path, std::strerror(errno))};
  }
  return std::unique_ptr<RunLog>(new RunLog(file, mapping, std::move(workers)));
}

// Writes the line that describes the run.
void RunLog::write_first_line() {
  has_first_line_ = true;
  int version[3] = {};
  starpu_get_version(&version[0], &version[1], &version[2]);
  std::string line = fmt::format(R"({{"log":"groma starpu 1","starpu":"{}.{}.{}","mapping":{},)"
                                 R"("machine":{},"workers":[)",
                                 version[0], version[1], version[2], quoted(mapping_),
                                 quoted(machine_line(*workers_->machine())));
  for (std::size_t i = 0; i < workers_->count(); ++i) {
    const auto worker = static_cast<WorkerId>(i);
    char name[64] = {};
    starpu_worker_get_name(worker, name, sizeof name);
    append_format(&line, "{}{{\"name\":{},{},\"memory_node\":{}}}", i == 0 ? "" : ",", quoted(name),
                  processor_members(workers_->processor(worker)),
                  starpu_worker_get_memory_node(static_cast<unsigned>(worker)));
  }
  line += "]}\n";
  std::fputs(line.c_str(), file_);
}

RunLog::~RunLog() {
  if (!has_first_line_) write_first_line();
  std::fclose(file_);
}

void RunLog::note_choice(const starpu_task* task, const Choice& choice, const Mapper& mapper) {
  std::string members;
  if (choice.point != nullptr) {
    append_format(&members, ",\"point\":{},\"domain\":{}", list_of(*choice.point),
                  list_of(choice.domain->extents));
  }
  append_format(&members, ",\"priority\":{},\"by\":{}",
                std::int64_t{task->priority} + choice.priority,
                quoted(mapper.describe(choice.origin)));
  const std::lock_guard lock(mutex_);
  chosen_[task] = {std::move(members), {choice.memories.begin(), choice.memories.end()}};
}

void RunLog::note_start(const starpu_task* task, WorkerId worker) {
  std::string line = fmt::format("{{\"task\":{},{},\"worker\":{}", quoted(task_name_of(*task)),
                                 processor_members(workers_->processor(worker)), worker);
  const std::lock_guard lock(mutex_);
  if (!has_first_line_) write_first_line();
  if (const auto found = chosen_.find(task); found != chosen_.end()) {
    line += found->second.members;
    std::string memories, nodes;
    for (MemKind memory : found->second.memories) {
      const char* const comma = memories.empty() ? "" : ",";
      append_format(&memories, "{}\"{}\"", comma, name_of(memory));
      append_format(&nodes, "{}{}", comma, workers_->memory_node(worker, memory));
    }
    append_format(&line, ",\"memories\":[{}],\"memory_nodes\":[{}]", memories, nodes);
    chosen_.erase(found);
  }
  line += "}\n";
  std::fwrite(line.data(), 1, line.size(), file_);
}

}  // namespace groma::starpu
