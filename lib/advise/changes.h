// Candidate changes of a mapping program; each change edits a few statements. faster_changes()
// returns changes that may make a run faster, mending_changes() changes that may make a failing run
// possible. Only a run can tell whether a candidate helps (guide_run.cc).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/data.h"
#include "explain/explain_query.h"
#include "groma/machine.h"
#include "groma/profile.h"
#include "groma/program.h"
#include "groma/validate.h"

namespace groma::inspect {

struct Change {
  std::string about;  // what changes; at most one change with the same `about` can be made
  Fix fix;            // the edit of the program; the title of the fix describes it
  // What the edit adds, if it begins with new text: the title is then "add ADDED". Empty otherwise.
  std::string added = {};
};

// Collects changes of a program. New text uses the program's own line ends. A statement with a
// comment inside it is not changed.
class Editor {
 public:
  explicit Editor(const Program& program);

  // Writes the statement `head rest` in place of the first statement that begins with `head`, or
  // adds it. `definition` is the function that the statement needs, named `function`; empty: none.
  void set(const std::string& head, const std::string& rest, const std::string& function = {},
           const std::string& definition = {});
  // Replaces a statement by `text`; an empty `text` removes the statement.
  void rewrite(Origin origin, const std::string& text);
  // Adds one change for each statement, and one change for all of them together.
  void rewrite(const std::map<std::uint32_t, std::string>& texts);
  // Replaces a range by `text`.
  void edit(Range range, const std::string& text);
  // Removes statements of the kind: one change for each of the first few.
  void remove(MappingStatement statement);

  std::vector<Change> take() { return std::move(changes_); }

 private:
  void add(const std::string& title, std::string about, std::vector<Edit> edits);
  void add_new(const std::string& text, std::string about, std::vector<Edit> edits);
  std::string line_of(std::uint32_t offset) const;
  bool has_comment(Range range) const;
  std::string in_lines(const std::string& text) const;
  Range with_its_line(Range range) const;

  const Program& program_;
  std::vector<std::string> words_;       // words of each statement
  std::vector<std::uint32_t> comments_;  // offsets at which comments begin
  std::uint32_t first_ = 0;              // offset at which statements are added
  std::string line_end_ = "\n";
  std::vector<Change> changes_;
};

// Returns the statement without comments and with at most one space between words.
std::string words_of(const Program& program, Origin origin);
// Returns the first `count` words.
std::string head_of(std::string_view words, std::size_t count);

// Returns edits of a text that have the effect of `first` followed by `second`. The ranges of
// `second` refer to the text after `first`. Neither list has edits that overlap. Returns nullopt if
// an edit of `second` crosses a border of text that `first` wrote, or if two edits of `second` lie
// within the same such text.
std::optional<std::vector<Edit>> join_edits(std::vector<Edit> first,
                                            const std::vector<Edit>& second);

// The input for finding candidates.
struct Subject {
  const Program& program;
  const Machine& machine;
  const app::Data& app;
  const std::vector<TaskUses>& uses;  // by task
};
// Returns the processor kinds on which the task can run, in the default mapper's order of
// preference.
std::vector<ProcKind> kinds_of(const Subject& subject, const app::Task& task);
// Returns the processor kind that the mapping chooses for the task; nullopt if none is possible.
std::optional<ProcKind> kind_of(const Subject& subject, const app::Task& task);
// Returns the memory kinds that a processor of the kind can address.
std::vector<MemKind> memories_of(const Machine& machine, ProcKind kind);
// Adds changes that give the task's launches another mapping function (IndexTaskMap or
// SingleTaskMap statements).
void place(const Subject& subject, std::uint32_t task, ProcKind kind, Editor& editor);

// Return the candidates, the most promising first. `measured` is the name of the measured phase.
std::vector<Change> faster_changes(const Subject& subject, const Profile& profile,
                                   const std::string& measured);
std::vector<Change> mending_changes(const Subject& subject, const Refusal& refusal);

}  // namespace groma::inspect
