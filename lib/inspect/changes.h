// Changes of a mapping program, each a few statements: what may make a run faster (faster_changes)
// or possible (mending_changes). Candidates: whether one helps, a run tells (guide_run.cc).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/data.h"
#include "groma/machine.h"
#include "groma/profile.h"
#include "groma/program.h"
#include "groma/validate.h"
#include "inspect/explain_query.h"

namespace groma::inspect {

struct Change {
  std::string about;  // the thing that changes; of changes to one thing at most one can be made
  Fix fix;            // the edit of the program; the title of the fix describes it
};

// Writes statements into a program, in its own line ends. A statement with a comment in its middle
// stays as it is.
class Editor {
 public:
  explicit Editor(const Program& program);

  // `head rest` instead of the statement that begins with `head`, or beside the others.
  // `definition` of a function that it needs, under the name `function`; empty: none.
  void set(const std::string& head, const std::string& rest, const std::string& function = {},
           const std::string& definition = {});
  // This statement otherwise; empty: without it.
  void rewrite(Origin origin, const std::string& text);
  // Each of these statements by itself, then all of them.
  void rewrite(const std::map<std::uint32_t, std::string>& texts);
  void edit(Range range, const std::string& text);
  // Statements of the kind left out, each by itself; the first few.
  void remove(MappingStatement statement);

  std::vector<Change> take() { return std::move(changes_); }

 private:
  void add(const std::string& title, std::string about, std::vector<Edit> edits);
  std::string line_of(std::uint32_t offset) const;
  bool has_comment(Range range) const;
  std::string in_lines(const std::string& text) const;
  Range with_its_line(Range range) const;

  const Program& program_;
  std::vector<std::string> words_;       // of each statement
  std::vector<std::uint32_t> comments_;  // where they begin
  std::uint32_t first_ = 0;              // where statements are added
  std::string line_end_ = "\n";
  std::vector<Change> changes_;
};

// The words of a statement, with no more than one space between them and without comments.
std::string words_of(const Program& program, Origin origin);
// Its first `count` words.
std::string head_of(std::string_view words, std::size_t count);

// Returns edits of a text that together do what `first` does and then `second`, whose ranges are
// those of the text that `first` gives. Neither has edits that overlap. Returns nothing where an
// edit of `second` crosses a border of what `first` wrote, or is the second one within it.
std::optional<std::vector<Edit>> join_edits(std::vector<Edit> first,
                                            const std::vector<Edit>& second);

// What the candidates are about.
struct Subject {
  const Program& program;
  const Machine& machine;
  const app::Data& app;
  const std::vector<TaskUses>& uses;  // by task
};
// The kinds of processors on which the task can run, as the default mapper prefers them.
std::vector<ProcKind> kinds_of(const Subject& subject, const app::Task& task);
// The kind on which it does; nothing where there is none.
std::optional<ProcKind> kind_of(const Subject& subject, const app::Task& task);
// That a processor of the kind can address.
std::vector<MemKind> memories_of(const Machine& machine, ProcKind kind);
// Functions for its launches: IndexTaskMap or SingleTaskMap statements.
void place(const Subject& subject, std::uint32_t task, ProcKind kind, Editor& editor);

// The most promising first.
std::vector<Change> faster_changes(const Subject& subject, const Profile& profile,
                                   const std::string& measured);
std::vector<Change> mending_changes(const Subject& subject, const Refusal& refusal);

}  // namespace groma::inspect
