// Writes a mapping as one C++ file. The file has the fixed parts that the mapping needs, then the
// struct `Mapping` with its decisions, then the mapper for Legion.
#include "groma/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "emit/decisions.h"
#include "emit/functions.h"
#include "emit/parts.h"
#include "groma/harmless.h"
#include "syntax/methods.h"

namespace groma {
namespace {

using emitting::Features;
using emitting::FunctionTranslator;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// Returns the name of the file in a path, without folders.
std::string_view file_name(std::string_view path) {
  // Without a `/`, npos + 1 is 0.
  return path.substr(path.find_last_of('/') + 1);
}

// Returns the name of the emitted class for the file of a mapping: "my-mapping.mapper" gives
// MyMappingMapper.
std::string class_of(std::string_view file) {
  std::string name;
  bool begins = true;
  const std::string_view stem = file.substr(0, file.find_last_of('.'));
  for (const char c : stem) {
    const bool fits = is_lower(c) || is_upper(c) || is_digit(c);
    if (fits && name.empty() && is_digit(c)) name = "M";
    if (fits) name += begins ? upper(c) : c;
    begins = !fits;
  }
  return name + "Mapper";
}

// Returns the namespace of the emitted code for a class: CannonMapper gives cannon_mapper. A class
// name that is all in lower case gets the suffix `_parts`.
std::string space_of(std::string_view name) {
  std::string space;
  char before = '_';
  for (const char c : name) {
    if (is_upper(c) && (is_lower(before) || is_digit(before))) space += '_';
    space += lower(c);
    before = c;
  }
  return space == name ? space + "_parts" : space;
}

// Adds the features (optional blocks of the emitted text) on which the features so far depend. The
// order matters: a feature is added before others that follow from it.
void add_features(Features& features) {
  const auto any = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return features.contains(word); });
  };
  if (any({"split", "balance_split", "greedy_split", "auto_split", "decompose"})) {
    features.insert("splits");
  }
  for (const syntax::MethodInfo& method : syntax::kMethods) {
    if (method.receiver == syntax::OperandType::kMachine && features.contains(method.name)) {
      features.insert("views");
    }
  }
  if (!any({"legion"})) return;
  // Adds the feature `word` if one of the features in `from` is there.
  const auto follows = [&](std::string_view word, std::initializer_list<std::string_view> from) {
    if (any(from)) features.emplace(word);
  };
  follows("instances", {"regions", "layouts", "collects"});
  follows("reaches", {"regions"});
  follows("memories", {"instances", "reaches"});
  follows("map_task", {"instances", "limits"});
  follows("must_epoch", {"instances", "functions"});
  follows("places", {"functions", "must_epoch", "replicates", "steals", "shared_limits"});
  follows("options",
          {"instances", "single_function", "replicates", "limits", "steals", "collects"});
  follows("runtime", {"kinds", "replicates", "limits", "must_epoch"});
  follows("by_point", {"limits", "steals"});
  follows("slices", {"index_function", "by_point"});
  follows("targets", {"functions", "by_point"});
  follows("kind_of", {"targets", "replicates", "must_epoch"});
  follows("best_variant", {"kinds", "replicates", "instances"});
  if (any({"steals"}) && any({"limits"})) features.insert("shares");
  // The block `index_function` adds 1 to a tuple.
  follows("add", {"index_function"});
}

// Returns the fixed text that stands before the emitted struct `Mapping`: kinds, values, machines
// and statements. A part that no decision needs is left out.
std::string parts_of(emitting::EmittedCodeTemplates& parts, const Features& features) {
  const auto has = [&](std::string_view word) { return features.contains(word); };
  std::string text = parts.part_text("kinds.h");
  const auto add = [&](std::string_view file) { text += "\n" + parts.part_text(file); };
  if (has("values")) add("values.h");
  add("processor.h");
  if (has("values")) {
    add("machine_view.h");
    add("machine_view.cc");
    if (has("balance_split") || has("greedy_split") || has("auto_split") || has("decompose")) {
      add("splits.h");
      add("split_factors.h");
      add("split_factors.cc");
      add("split_primes.cc");
    }
    if (has("auto_split")) add("split_auto.cc");
    if (has("decompose")) add("split_decompose.cc");
    add("grid.h");
  }
  add("machine.h");
  if (has("values")) add("task.h");
  if (has("print")) add("print.h");
  if (has("patterns")) add("name_pattern.h");
  if (has("regions") || has("layouts") || has("collects") || has("steals") ||
      has("shared_limits") || has("selectors")) {
    add("statements.h");
  }
  return text;
}

// Returns the fixed text of the mapper for Legion, which stands after the emitted struct `Mapping`.
std::string mapper_parts(emitting::EmittedCodeTemplates& parts, const Features& features) {
  std::string text = parts.part_text("site.h");
  if (features.contains("limits")) text += "\n" + parts.part_text("rendezvous.h");
  if (features.contains("shared_limits")) {
    for (const char* file : {"instance_limits.h", "instance_limits.cc"}) {
      text += "\n" + parts.part_text(file);
    }
  }
  if (features.contains("instances")) {
    for (const char* file : {"demands.h", "demands.cc", "layouts.h", "layouts.cc"}) {
      text += "\n" + parts.part_text(file);
    }
  }
  if (features.contains("collects")) {
    for (const char* file : {"reductions.h", "reductions.cc"}) text += "\n" + parts.part_text(file);
  }
  return text + "\n" + parts.part_text("legion.h");
}

// Returns the emitted struct `Mapping`: its constructor, the functions of the program, the
// decisions and the globals. `values`: true if the mapping computes at run time, so that it needs
// the machine.
std::string mapping_struct(const FunctionTranslator& functions, const std::string& decided,
                           bool values, bool layouts) {
  std::string text = "// ---- The mapping\n\nstruct Mapping {\n";
  text += "  using enum ProcKind;\n  using enum MemKind;\n";
  if (layouts) {
    text += "  using enum DimensionOrder;\n  using enum FieldOrder;\n  using enum AlignOp;\n";
  }
  text += '\n';
  if (values) {
    text += "  explicit Mapping(const Machine& the_machine) : machine_(the_machine) {\n";
    const std::string top = functions.constructor_statements();
    if (!top.empty()) text += "    const Here here;\n" + top;
    text += "  }\n\n" + functions.function_definitions();
  }
  text += decided;
  if (values)
    text += functions.global_declarations() + "  const Machine& machine_;\n";
  else
    // The blank line after the last function is removed.
    text.pop_back();
  return text + "};\n";
}

}  // namespace

// Returns true if the name can be that of the emitted class. ScopeNames() knows all names that C++
// or the fixed parts use already. A name that it would change cannot be the class.
bool is_class_name(std::string_view name) {
  const auto fits = [](char c) { return is_lower(c) || is_upper(c) || is_digit(c) || c == '_'; };
  if (name.empty() || is_digit(name.front()) || !std::all_of(name.begin(), name.end(), fits)) {
    return false;
  }
  return emitting::ScopeNames().add_name(name) == name;
}

// Returns a mapping as a C++ file with a Legion mapper. Returns nothing if the program has errors,
// or if it uses a construct that has no C++ counterpart; `diags` then tells which.
std::optional<std::string> emit(const Program& program, const EmitOptions& options,
                                Diagnostics& diags) {
  if (program.data().has_errors) return std::nullopt;
  const std::string_view named = file_name(program.source().name());
  // The name of the mapping's file appears in a comment and in messages of the emitted text, so
  // control characters in it are made visible.
  const std::string file = visible(named);
  const std::string name = options.class_name.empty()
                               ? emitting::ScopeNames().add_name(class_of(named))
                               : options.class_name;
  GROMA_REQUIRE(is_class_name(name), "EmitOptions::class_name must satisfy is_class_name()");
  const std::string space = emitting::ScopeNames().add_name(space_of(name));

  // The translation of the statements tells which optional parts and functions are needed.
  Features features;
  if (options.legion) features.insert("legion");
  FunctionTranslator functions(program, features, diags);
  const std::string decided = emitting::decision_functions(program, functions, features);
  if (diags.has_errors()) return std::nullopt;
  const bool values = features.contains("functions") || !functions.constructor_statements().empty();
  if (values) features.insert("values");
  add_features(features);

  emitting::EmittedCodeTemplates parts(features, space, name);
  std::string body = parts_of(parts, features);
  body += "\n" + mapping_struct(functions, decided, values, features.contains("layouts"));
  if (options.legion) body += "\n" + mapper_parts(parts, features);

  // The text has the head of the file, then the namespace with everything, then the function that
  // registers the mapper.
  std::string text = fmt::format(
      "// {}: where the tasks of a Legion program run and where their data lies.\n"
      "// Written by `groma emit` from {}, whose lines and columns the comments and messages "
      "name.\n"
      "// All that it says is in `Mapping`{}.\n",
      name, file,
      options.legion ? "; before that stands what it is written with, after it the mapper" : "");
  if (options.legion) {
    text += fmt::format(
        "//\n//   void use_{0}(unsigned mapper_id);  // defined at the end\n//\n"
        "// is called before Legion::Runtime::start; with 0 it takes the place of "
        "Legion's default mapper.\n",
        space);
  }
  text += parts.include_lines(body) + "\nnamespace " + space + " {\n\n";
  if (values) {
    text += "constexpr const char* kMapping = " + emitting::string_literal(file) + ";\n\n";
  }
  text += body + "\n}  // namespace " + space + "\n";
  if (options.legion) {
    text += fmt::format(
        "\nvoid use_{0}(unsigned mapper_id) {{\n"
        "  const Legion::MapperID id = mapper_id;\n"
        "  Legion::Runtime::add_registration_callback({0}::make_mappers,\n"
        "                                             Legion::UntypedBuffer(&id, "
        "sizeof id), false);\n}}\n",
        space);
  }
  return text;
}

}  // namespace groma
