// SuggestionWriter: turns the statement of a suggestion into a change of the mapping of a run, and
// checks that the statement would decide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "edit/mapping.h"
#include "groma/guide.h"
#include "guide/program_editor.h"

namespace groma::guide {

class SuggestionWriter {
 public:
  // `program` is the mapping of the run; null if it is not known. It must outlive the object.
  explicit SuggestionWriter(const Program* program);

  // Returns the change of the mapping that writes the statement, which may bind `function`, written
  // for `kind`. Returns nullopt if the mapping has the statement already. If the mapping is not
  // known, the change has no edits, and its title says what to write.
  std::optional<ProposedChange> write(const edit::StatementParts& statement,
                                      const edit::MappingFunction* function = nullptr,
                                      ProcKind kind = ProcKind::kGpu) const;
  // Returns the change after which the data of the stream is first looked for in `memory` when its
  // task runs on `kind`. Prefers to change the statement that decided, if it is about this data
  // alone; otherwise writes a statement about the data in all tasks (if `all_tasks`), or in this
  // task. Returns nullopt if no statement does that.
  std::optional<ProposedChange> put_data(const ProfileFacts::Stream& stream, MemKind memory,
                                         ProcKind kind, bool all_tasks) const;

 private:
  std::optional<Program> after(const ProposedChange& change) const;
  const edit::StatementParts* statement_of(const ProfileFacts::Stream& stream) const;

  const Program* const program_;
  // The statements of `program_`, if it is known.
  std::optional<edit::EditableMapping> mapping_;
};

// Returns the name by which a statement refers to the data of a region requirement: its first name,
// or its position if statements cannot spell the name.
std::string written_data(const std::vector<std::string>& names, std::int64_t position);

}  // namespace groma::guide
