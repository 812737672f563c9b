// Mapping: what is written keeps comments, parses, and is what `groma format` writes.
#include "edit/mapping.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "groma/evaluate.h"
#include "groma/machine.h"
#include "groma/syntax.h"
#include "support/files.h"

namespace groma::edit {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string edited(const EditableMapping& mapping, const std::vector<Edit>& edits) {
  std::size_t applied = 0;
  std::string text = apply_fixes(mapping.source(), {{"", edits, true}}, &applied);
  EXPECT_EQ(applied, edits.empty() ? 0U : 1U);
  return text;
}

std::string formatted(const std::string& text) {
  const Source source("a.mapper", text);
  Diagnostics diags(source);
  const auto made = format(source, diags);
  EXPECT_TRUE(made) << render(diags) << text;
  return made.value_or("");
}

// Removes the items with these indices.
std::string removed(std::string_view text, const std::vector<std::size_t>& items) {
  const EditableMapping mapping(text);
  EditableMapping::Changes changes;
  for (const std::size_t item : items) changes[item] = std::nullopt;
  return edited(mapping, mapping.change_items(changes).value());
}

std::string with(std::string_view text, const StatementParts& statement) {
  const EditableMapping mapping(text);
  return edited(mapping, mapping.set_statement(statement).edits);
}

TEST(Mapping, RemovesTheLineThatWouldBeEmpty) {
  const std::string three = "Task a GPU;\nTask b GPU;\nTask c GPU;\n";
  EXPECT_EQ(removed(three, {0}), "Task b GPU;\nTask c GPU;\n");
  EXPECT_EQ(removed(three, {0, 2}), "Task b GPU;\n");
  EXPECT_EQ(removed(three, {0, 1, 2}), "");
  EXPECT_EQ(removed("Task a GPU;\n\nTask b GPU;\n\nTask c GPU;\n", {1}),
            "Task a GPU;\n\nTask c GPU;\n");
  EXPECT_EQ(removed("Task a GPU;\n\nTask b GPU;\nTask c GPU;\n\nTask d GPU;\n", {1, 2}),
            "Task a GPU;\n\nTask d GPU;\n");
  EXPECT_EQ(removed("Task a GPU;\n\nTask b GPU;\n", {1}), "Task a GPU;\n");
  EXPECT_EQ(removed("Task a GPU;\r\n\r\nTask b GPU;\r\n\r\nTask c GPU;\r\n", {1}),
            "Task a GPU;\r\n\r\nTask c GPU;\r\n");
  EXPECT_EQ(removed("Task a GPU;\nTask b GPU", {1}), "Task a GPU;\n");
}

TEST(Mapping, LeavesNoSpacesBesideOthersOnTheLine) {
  const std::string line = "Task a GPU; Task b GPU; Task c GPU;\n";
  EXPECT_EQ(removed(line, {0}), "Task b GPU; Task c GPU;\n");
  EXPECT_EQ(removed(line, {1}), "Task a GPU; Task c GPU;\n");
  EXPECT_EQ(removed(line, {2}), "Task a GPU; Task b GPU;\n");
  EXPECT_EQ(removed(line, {1, 2}), "Task a GPU;\n");
  EXPECT_EQ(removed(line, {0, 1}), "Task c GPU;\n");
  EXPECT_EQ(removed(line, {0, 1, 2}), "");
  EXPECT_EQ(removed("Task a GPU; Task b GPU;\r\n", {1}), "Task a GPU;\r\n");
}

TEST(Mapping, KeepsCommentsExceptAFunctionsOwn) {
  EXPECT_EQ(removed("# Why.\nTask a GPU;  # here\nTask b GPU;\n", {0}),
            "# Why.\n# here\nTask b GPU;\n");
  const std::string function =
      "# File.\n\n# Rows.\n# And columns.\ndef f(Task task) {\n"
      "  return Machine(GPU)[0, 0];\n}\n";
  EXPECT_EQ(removed("Task a GPU;\n" + function + "Task b GPU;\n", {1}),
            "Task a GPU;\n# File.\n\nTask b GPU;\n");
}

TEST(Mapping, ReplacesTheStatementThatDecidesTheSame) {
  const std::string text = "# Kinds.\nTask a, b GPU;\nTask a OMP;  # a\nTask a CPU;\n";
  EXPECT_EQ(with(text, {.tasks = {"a"}, .processors = {ProcKind::kGpu}}),
            "# Kinds.\nTask a, b GPU;\nTask a GPU;  # a\nTask a CPU;\n");
  EXPECT_EQ(with(text, {.tasks = {"b"}, .processors = {ProcKind::kGpu}}), "Task b GPU;\n" + text);
  EXPECT_EQ(with(text, {.tasks = {"a"}, .processors = {ProcKind::kOmp}}), text);
}

TEST(Mapping, SeparatesTheWordsThatItReplaces) {
  const EditableMapping mapping("Region *x GPU FBMEM,ZCMEM;\n");
  StatementParts statement = *mapping.items().front().statement;
  statement.tasks = {"a"};
  statement.memories = {MemKind::kZcmem};
  EXPECT_EQ(edited(mapping, mapping.change_items({{0, statement}}).value()),
            "Region a x GPU ZCMEM;\n");
}

// The statement of the other task was replaced once.
TEST(Mapping, KeepsCollectMemoryOfAnotherTask) {
  const StatementParts statement{
      .kind = MappingStatement::kCollectMemory, .tasks = {"a"}, .regions = {"*"}};
  EXPECT_EQ(with("CollectMemory b *;\n", statement), "CollectMemory a *;\nCollectMemory b *;\n");
}

TEST(Mapping, AddsBesideAStatementWithACommentInside) {
  const std::string text = "Task a  # often\n  GPU;\n";
  EXPECT_EQ(with(text, {.tasks = {"a"}, .processors = {ProcKind::kCpu}}), "Task a CPU;\n" + text);
  const EditableMapping mapping(text);
  const StatementParts both{.tasks = {"a"}, .processors = {ProcKind::kGpu, ProcKind::kCpu}};
  EXPECT_EQ(edited(mapping, mapping.change_items({{0, both}}).value()),
            "Task a  # often\n  GPU, CPU;\n");
  const StatementParts other{.tasks = {"b"}, .processors = {ProcKind::kCpu}};
  EXPECT_FALSE(mapping.change_items({{0, other}}));
}

TEST(Mapping, DefinesTheFunctionOfAStatement) {
  const MappingFunction function = named_function("first_cyclic");
  const StatementParts statement{.kind = MappingStatement::kIndexTaskMap, .tasks = {"a"}};
  const auto set = [&](const EditableMapping& mapping) {
    return edited(mapping, mapping.set_statement(statement, &function, ProcKind::kGpu).edits);
  };
  const std::string definition =
      edit::function_definition(function, ProcKind::kGpu, "first_cyclic_gpu");
  const std::string once = set(EditableMapping("Task * GPU;\n"));
  EXPECT_EQ(once, definition + "IndexTaskMap a first_cyclic_gpu;\nTask * GPU;\n");
  EXPECT_EQ(set(EditableMapping(once)), once);
  // The mapping has the statement, but not the function that it binds.
  const std::string undefined = "IndexTaskMap a first_cyclic_gpu;\nTask * GPU;\n";
  EXPECT_EQ(set(EditableMapping(undefined)), definition + undefined);
  // A function that the mapping has is not defined again; a name that it has is not used.
  EXPECT_EQ(set(EditableMapping(definition)), "IndexTaskMap a first_cyclic_gpu;\n" + definition);
  EXPECT_THAT(set(EditableMapping("first_cyclic_gpu = 1;\n")),
              HasSubstr("IndexTaskMap a first_cyclic_gpu_2;"));
  EXPECT_THAT(set(EditableMapping("Task * GPU;\r\n")), HasSubstr("gpu;\r\nTask * GPU;\r\n"));
}

// Statements in a `when` block decide before those outside, so that is where they are changed.
TEST(Mapping, WritesIntoTheBlocksThatAct) {
  const std::string text =
      "Task a, b CPU;\nwhen Machine(GPU).volume > 0 {\n  Task a OMP;\n  Task c, d OMP;\n}\n"
      "when Machine(GPU).volume == 0 { Task b OMP }\nTask b IO;\n";
  Diagnostics diags(Source("a.mapper", text));
  const Program program = compile(diags.source(), diags);
  ASSERT_FALSE(diags.has_errors()) << render(diags);
  const auto after = [&](const EditableMapping& mapping, const std::string& task) {
    return edited(mapping,
                  mapping.set_statement({.tasks = {task}, .processors = {ProcKind::kGpu}}).edits);
  };
  // Nothing is known about the conditions before the program is bound.
  EXPECT_EQ(after(EditableMapping(program), "a"), "Task a GPU;\n" + text);
  const Machine machine = make_machine("nodes=1,gpu=2,cpu=2").value();
  const auto bound = bind(program, machine, diags);
  ASSERT_TRUE(bound) << render(diags);
  const EditableMapping mapping(bound->program());
  const auto replaced = [&](std::string_view old, std::string_view by) {
    std::string made = text;
    return made.replace(made.find(old), old.size(), by);
  };
  EXPECT_EQ(after(mapping, "a"), replaced("Task a OMP", "Task a GPU"));
  EXPECT_EQ(after(mapping, "d"), replaced("  Task c, d OMP;", "  Task d GPU;\n  Task c, d OMP;"));
  // The block about `b` does not act.
  EXPECT_EQ(after(mapping, "b"), replaced("Task b IO", "Task b GPU"));
  EXPECT_TRUE(mapping.has_active_block_for({.tasks = {"x", "c"}}));
  EXPECT_FALSE(mapping.has_active_block_for({.tasks = {"b"}}));
  EXPECT_EQ(mapping.text_with_in_blocks({{.tasks = {"c"}, .processors = {ProcKind::kGpu}},
                                         {.tasks = {"d"}, .processors = {ProcKind::kCpu}},
                                         {.tasks = {"a"}, .processors = {ProcKind::kCpu}}}),
            "Task a, b CPU;\nwhen Machine(GPU).volume > 0 {\n  Task a CPU;\n  Task c GPU;\n"
            "  Task d CPU;\n  Task c, d OMP;\n}\nwhen Machine(GPU).volume == 0 { Task b OMP }\n"
            "Task b IO;\n");
  // The keys of a block's statements are not those of the text.
  EXPECT_FALSE(mapping.item_keys().contains("Task c, d"));
}

TEST(Mapping, MovesAStatementBehindTheOthers) {
  const EditableMapping mapping("Task a GPU;  # first\nTask b GPU;\nTask c GPU");
  EXPECT_EQ(edited(mapping, mapping.move_to_end(1)),
            "Task a GPU;  # first\nTask c GPU\nTask b GPU;\n");
}

TEST(Mapping, FindsStatementsByKeyInDamagedTexts) {
  const std::string text = "Task a GPU;\nTask ?!;\nRegion a x GPU FBMEM;\ndef f(Task task) {\n";
  EXPECT_THAT(EditableMapping(text).item_keys(),
              ::testing::IsSupersetOf({"Task a", "Region a x GPU"}));
  EXPECT_EQ(EditableMapping("Task a GPU;\nTask ?!;\n").text_without(Keys{"Task a"}), "Task ?!;\n");
}

// ------------------------------------------------------------------------------ all our mappings

std::vector<std::string> mappings() {
  std::vector<std::string> texts;
  for (const char* folder : {"dsl", "tests/language/accept"}) {
    for (const auto& file : testing::files_below(folder, ".mapper")) {
      texts.push_back(testing::read_text(file));
    }
  }
  EXPECT_GT(texts.size(), 50U);
  return texts;
}

TEST(AllMappings, AreWrittenAsTheyWereRead) {
  for (const std::string& given : mappings()) {
    const EditableMapping raw(given);
    EXPECT_EQ(edited(raw, raw.change_items({}).value()), given);
    const std::string text = formatted(given);
    const EditableMapping mapping(text);
    for (const EditableMapping::ProgramItem& item : mapping.items()) {
      if (!item.statement || item.has_comment) continue;
      EXPECT_EQ(item.statement->statement_text() + ";", mapping.item_text(item));
    }
    ASSERT_EQ(raw.items().size(), mapping.items().size());
    for (std::size_t i = 0; i < raw.items().size(); ++i) {
      EXPECT_EQ(raw.items()[i].statement, mapping.items()[i].statement);
      EXPECT_EQ(raw.items()[i].key, mapping.items()[i].key);
    }
  }
}

// Returns the comments of a text that stay if some items are removed: those outside of the items
// and not directly above a removed function.
std::vector<std::string> comments_of(const Source& source, const EditableMapping& mapping,
                                     const EditableMapping::Changes& changes) {
  Diagnostics ignored(source);
  std::vector<syntax::SourceComment> comments;
  syntax::Lexer lexer(source, ignored, &comments);
  while (lexer.next_token().kind != syntax::TokenKind::kEnd) {
  }
  std::vector<std::string> kept;
  for (const syntax::SourceComment& comment : comments) {
    bool stays = true;
    for (const auto& [index, statement] : changes) {
      const EditableMapping::ProgramItem& item = mapping.items()[index];
      std::uint32_t begin = item.range.begin;
      if (item.kind == syntax::StatementKind::kDef) {
        while (begin > 1 && source.text()[begin - 1] == '\n') {
          const Range above = source.line_at(begin - 1);
          if (!source.text(above).starts_with('#') && !source.text(above).starts_with("//")) break;
          begin = above.begin;
        }
      }
      if (comment.range.begin >= begin && comment.range.begin < item.end) stays = false;
    }
    if (stays) kept.emplace_back(source.text(comment.range));
  }
  return kept;
}

TEST(AllMappings, KeepCommentsAndStayFormatted) {
  std::uint64_t seed = 0;
  for (const std::string& given : mappings()) {
    const std::string text = formatted(given);
    const EditableMapping mapping(text);
    for (int round = 0; round < 20; ++round) {
      RandomNumbers draws(++seed);
      EditableMapping::Changes changes;
      for (std::size_t i = 0; i < mapping.items().size(); ++i) {
        if (draws.below(3) == 0) changes[i] = std::nullopt;
      }
      std::string now = edited(mapping, mapping.change_items(changes).value());
      EXPECT_EQ(formatted(now), now) << text;
      EXPECT_EQ(comments_of(Source("now", now), mapping, {}),
                comments_of(mapping.source(), mapping, changes))
          << now;
      const StatementParts statements[] = {
          {.tasks = {"*"}, .processors = {ProcKind::kCpu, ProcKind::kOmp}},
          {.kind = MappingStatement::kRegion,
           .tasks = {"*"},
           .regions = {"*"},
           .place = ProcKind::kGpu,
           .memories = {MemKind::kZcmem}},
          {.kind = MappingStatement::kIndexTaskMap, .tasks = {"work"}}};
      const MappingFunction function = named_function("grid");
      for (const StatementParts& statement : statements) {
        const bool maps = statement.kind == MappingStatement::kIndexTaskMap;
        const EditableMapping before(now);
        const auto setting = before.set_statement(statement, maps ? &function : nullptr);
        now = edited(before, setting.edits);
        EXPECT_EQ(formatted(now), now);
        EXPECT_THAT(comments_of(Source("now", now), mapping, {}),
                    SizeIs(comments_of(before.source(), mapping, {}).size()));
        // The first statement with the key is the new one.
        const EditableMapping after(now);
        const auto first =
            std::find_if(after.items().begin(), after.items().end(),
                         [&](const auto& item) { return item.key == statement.statement_key(); });
        ASSERT_NE(first, after.items().end());
        if (!setting.edits.empty()) {
          EXPECT_EQ(first->statement, setting.statement);
        }
      }
    }
  }
}

// A part of the text is missing, so that statements and functions have no end.
TEST(AllMappings, MayBeDamaged) {
  std::uint64_t seed = 0;
  for (const std::string& given : mappings()) {
    for (int round = 0; round < 20; ++round) {
      RandomNumbers draws(++seed);
      std::string text = given;
      text.erase(draws.below(static_cast<std::uint32_t>(text.size())), draws.below(20));
      const EditableMapping mapping(text);
      EXPECT_LE(mapping.text_without(mapping.item_keys()).size(), text.size());
      for (std::size_t i = 0; i < mapping.items().size(); ++i) {
        const EditableMapping::ProgramItem& item = mapping.items()[i];
        if (!item.is_separate) continue;
        EXPECT_LE(mapping.text_without(i).size() + (item.end - item.range.begin), text.size());
        if (!item.statement || item.has_comment || item.statement->tasks.empty()) continue;
        StatementParts other = *item.statement;
        other.tasks = {"another"};
        const EditableMapping now(edited(mapping, mapping.change_items({{i, other}}).value()));
        ASSERT_EQ(now.items().size(), mapping.items().size()) << text;
        EXPECT_EQ(now.items()[i].statement, other) << mapping.item_text(item);
      }
    }
  }
}

}  // namespace
}  // namespace groma::edit
