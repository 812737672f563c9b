#include "support/program_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "groma/inspect.h"
#include "groma/syntax.h"
#include "syntax/parser.h"
#include "syntax/printer.h"

namespace groma::testing {
namespace {

bool inside(const Source& source, Range range) {
  return range.begin <= range.end && range.end <= source.text().size();
}

std::string check_fix(const Source& source, const Diagnostic& diagnostic, const Fix& fix) {
  if (fix.edits.empty()) return "a fix without edits";
  for (const Edit& edit : fix.edits) {
    if (!inside(source, edit.range)) return "an edit outside of the text";
  }
  if (!fix.sure || diagnostic.severity == Severity::kNote) return "";
  std::size_t applied = 0;
  const std::string fixed = apply_fixes(source, {fix}, &applied);
  if (applied != 1) return "a sure fix that does not apply";
  const Source again("fixed", fixed);
  Diagnostics after(again);
  static_cast<void>(compile(again, after));
  return "";
}

std::string check_one(const Source& source, const Diagnostic& diagnostic) {
  if (diagnostic.message.empty()) return "an empty message";
  if (diagnostic.message.find("{}") != std::string::npos &&
      diagnostic.id != DiagId::kPrintArguments && diagnostic.id != DiagId::kUnusedPrintArgument &&
      source.text().find("{}") == std::string_view::npos) {
    return "a message with a hole";
  }
  if (diagnostic.range && !inside(source, *diagnostic.range)) return "a range outside of the text";
  for (const DiagNote& note : diagnostic.notes) {
    if (note.message.empty()) return "an empty note";
    if (note.range && !inside(source, *note.range)) return "a note's range outside of the text";
  }
  for (const Fix& fix : diagnostic.fixes) {
    if (std::string wrong = check_fix(source, diagnostic, fix); !wrong.empty()) return wrong;
  }
  if (render(source, diagnostic, false).find('\n') == std::string::npos)
    return "an empty rendering";
  return "";
}

std::string check_json(const std::string& text) {
  return nlohmann::json::accept(text) ? "" : "JSON that is none: " + text;
}

// Prints go nowhere, but are formatted.
class Silent final : public LogSink {};

bool on_machine(const Machine& machine, const Processor& processor) {
  return processor.node >= 0 && processor.node < machine.node_count() && processor.index >= 0 &&
         processor.index < machine.processor_count(processor.node, processor.kind);
}

std::string check_point(FunctionEvaluator& evaluator, const Machine& machine, FunctionId function,
                        const TaskPoint& task, Diagnostics& diags) {
  const auto placed = evaluator.place(function, task, std::nullopt, diags);
  if (!placed) return diags.has_errors() ? "" : "no processor and no error";
  if (diags.has_errors()) return "a processor and an error";
  if (placed->processors.empty()) return "an empty set";
  if (!placed->is_set && placed->processors.size() != 1) return "several processors, but no set";
  for (const Processor& processor : placed->processors) {
    if (!on_machine(machine, processor)) {
      return fmt::format("{} ({}, {}) is not on the machine", name_of(processor.kind),
                         processor.node, processor.index);
    }
  }
  return "";
}

std::string check_place(const BoundProgram& bound, FunctionId function, const Rect& domain) {
  PlaceQuery query;
  query.function = bound.program().function_name(function);
  query.domain = domain;
  Diagnostics diags(bound.program().source());
  const auto placement = place(bound, query, diags);
  if (!placement) return diags.has_errors() ? check_diagnostics(diags) : "no placement, no error";
  if (draw(*placement, bound).empty() || draw_svg(*placement, bound).empty()) return "no picture";
  return check_json(to_json(*placement, diags));
}

}  // namespace

std::string check_diagnostics(const Diagnostics& diags) {
  for (const Diagnostic& diagnostic : diags.all()) {
    if (std::string wrong = check_one(diags.source(), diagnostic); !wrong.empty()) {
      return fmt::format("{}: {}", name_of(diagnostic.id), wrong);
    }
  }
  static_cast<void>(render(diags, true));
  return check_json(to_json({&diags}));
}

std::string check_printer(const Source& source) {
  Diagnostics diags(source);
  const syntax::Tree tree = syntax::parse(source, diags, true);
  if (diags.has_errors()) return "";
  const Source printed("printed", syntax::print_tree(tree));
  Diagnostics again(printed);
  const syntax::Tree second = syntax::parse(printed, again, true);
  if (again.has_errors()) return "the formatted text has errors:\n" + render(again);
  if (syntax::dump_tree(tree) != syntax::dump_tree(second))
    return "the formatted text is another program";
  if (syntax::print_tree(second) != printed.text()) return "formatting twice differs from once";
  if (tree.comments.size() != second.comments.size()) return "formatting lost or made a comment";
  return "";
}

std::string check_tables(const Program& program) {
  const std::string_view alias[] = {"r", "ghost_region"};
  const RegionNames region{1, alias};
  const auto statement = [&](DecisionOrigin origin) {
    static_cast<void>(program.range(origin));
    return origin.statement != 0;
  };
  bool sound = true;
  for (const std::string_view task : {"a", "t", "main", ""}) {
    if (const auto found = program.task(task)) sound = sound && !found->kinds.empty();
    if (const auto found = program.control_replicate(task)) sound = sound && statement(*found);
    if (const auto found = program.collect_memory(task, region)) sound = sound && statement(*found);
    for (std::size_t k = 0; k < kProcKindCount; ++k) {
      const auto kind = static_cast<ProcKind>(k);
      for (const auto& candidate : program.memories(task, region, kind)) {
        sound = sound && statement(candidate.origin);
      }
      if (const auto found = program.layout(task, region, kind, MemKind::kFbmem)) {
        sound = sound && statement(found->origin);
      }
      if (const auto found = program.index_function(task, kind)) {
        sound = sound && found->function < program.function_count();
      }
      if (const auto found = program.single_function(task, kind)) {
        sound = sound && found->function < program.function_count();
      }
      if (const auto found = program.instance_limit(task, kind)) sound = sound && found->limit >= 0;
      if (const auto found = program.task_steal(task, kind))
        sound = sound && statement(found->origin);
    }
  }
  return sound ? "" : "a table answers with nothing";
}

std::string check_launch(const BoundProgram& bound, FunctionId function,
                         const LaunchCheck& launch) {
  Silent log;
  FunctionEvaluator evaluator(bound, &log);
  Diagnostics diags(bound.program().source());
  TaskPoint task;
  task.name = "t";
  task.parent_name = "main";
  task.domain = launch.domain;
  task.point = launch.domain.lower;
  if (launch.domain.dimensions() == 0) task.processor = task.parent = launch.parent;
  if (launch.domain.volume() == 0) return "";
  do {
    std::string wrong = check_point(evaluator, bound.machine(), function, task, diags);
    if (!wrong.empty()) return wrong;
    if (diags.has_errors()) return launch.output ? check_diagnostics(diags) : "";
    if (evaluator.steps() > launch.max_steps) return "";
  } while (next_point(launch.domain, &task.point));
  const bool index_launch = launch.domain.dimensions() > 0;
  return launch.output && index_launch ? check_place(bound, function, launch.domain) : "";
}

std::string check_text(const std::string& text, const std::vector<Machine>& machines,
                       const std::vector<LaunchCheck>& launches) {
  const Source source("text", text);
  if (std::string wrong = check_printer(source); !wrong.empty()) return wrong;
  Diagnostics diags(source);
  const Program program = compile(source, diags);
  if (std::string wrong = check_diagnostics(diags); !wrong.empty()) return wrong;
  if (std::string wrong = check_tables(program); !wrong.empty()) return wrong;
  if (diags.has_errors()) return "";
  for (const Machine& machine : machines) {
    Silent log;
    Diagnostics bind_diags(source);
    const auto bound = bind(program, machine, bind_diags, &log);
    if (std::string wrong = check_diagnostics(bind_diags); !wrong.empty()) return wrong;
    if (!bound && !bind_diags.has_errors()) return "not bound, and no error";
    for (FunctionId f = 0; bound && f < std::min<std::size_t>(program.function_count(), 8); ++f) {
      if (!program.is_mapping_function(f)) continue;
      for (const LaunchCheck& launch : launches) {
        if (std::string wrong = check_launch(*bound, f, launch); !wrong.empty()) {
          return fmt::format("`{}` on `{}`: {}", program.function_name(f), machine.name(), wrong);
        }
      }
    }
  }
  return "";
}

}  // namespace groma::testing
