// The descriptions of words, in the words of docs/language.md. Those of machine operations come
// from the table of methods.
#include "language_server/word_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "groma/kinds.h"
#include "syntax/methods.h"

namespace groma::language_server {
namespace {

using syntax::ConstraintWord;
using syntax::StatementKind;
using syntax::TokenKind;

// The form of a statement behind its word, and what the statement does.
std::pair<std::string_view, std::string_view> help_of(StatementKind kind) {
  switch (kind) {
    case StatementKind::kTask:
      return {"NAMES KIND, ...",
              "The processor kinds on which the tasks may run, in order of preference. A task runs "
              "on the first kind that the machine has and for which the task has a variant."};
    case StatementKind::kRegion:
      return {
          "NAMES WHICH KIND MEMORY, ...",
          "The memories for the data of the regions, in order of preference, for tasks that run "
          "on processors of the kind."};
    case StatementKind::kLayout:
      return {"NAMES WHICH PLACE CONSTRAINT ...", "How the data of the regions lies in memory."};
    case StatementKind::kInstanceLimit:
      return {"NAMES [KIND] N [SAME_NODE | Machine]",
              "At most N instances of each task are mapped and unfinished at any time, on each "
              "processor or over all processors of the node or the machine."};
    case StatementKind::kCollectMemory:
      return {"NAMES WHICH",
              "The instance of a read-only region may be freed as soon as its task is done."};
    case StatementKind::kIndexTaskMap:
      return {"NAMES FUNCTION", "The function says where each point of an index launch goes."};
    case StatementKind::kSingleTaskMap:
      return {"NAMES FUNCTION", "The function says where a single task goes."};
    case StatementKind::kControlReplicate:
      return {"NAMES", "The tasks are replicated, and no others: one shard runs on each node."};
    case StatementKind::kTaskSteal:
      return {"NAMES KIND SAME_NODE | ANY_NODE",
              "Idle processors of the kind may take ready instances of the tasks."};
    case StatementKind::kPrint:
      return {"(\"text {}\", expression, ...)", "Writes a text to the log."};
    case StatementKind::kDef:
      return {"FUNCTION(parameters) { ... }", "Defines a function."};
    case StatementKind::kReturn:
      return {"expression", "The result of the function."};
    case StatementKind::kWhen:
      return {"CONDITION { ... }",
              "The statements in the braces count only on machines where the condition holds."};
    case StatementKind::kAssign:
      break;
  }
  return {};
}

std::string_view help_of(ProcKind kind) {
  switch (kind) {
    case ProcKind::kCpu:
      return "A processor that runs tasks on one CPU core.";
    case ProcKind::kGpu:
      return "One GPU.";
    case ProcKind::kOmp:
      return "A group of cores that runs a task with threads.";
    case ProcKind::kIo:
      return "A processor for input and output.";
    case ProcKind::kPy:
      return "A processor for Python.";
    case ProcKind::kProc:
      return "A group of processors that the runtime offers as one.";
  }
  return "";
}

std::string_view help_of(MemKind kind) {
  switch (kind) {
    case MemKind::kSysmem:
      return "The memory of the node.";
    case MemKind::kFbmem:
      return "The GPU's own memory.";
    case MemKind::kZcmem:
      return "Host memory that GPUs reach.";
    case MemKind::kSockmem:
      return "The memory of a socket.";
    case MemKind::kRdmem:
      return "Memory registered with the network.";
    case MemKind::kRegsockmem:
      return "The memory of a socket, registered with the network.";
    case MemKind::kVirtual:
      return "The task gets no data. For inner tasks, which pass a region on to their children.";
  }
  return "";
}

std::string_view help_of(ConstraintWord word) {
  switch (word) {
    case ConstraintWord::kSoa:
      return "Each field is stored separately (the default).";
    case ConstraintWord::kAos:
      return "The fields of a point are stored together.";
    case ConstraintWord::kCOrder:
      return "The last dimension runs fastest.";
    case ConstraintWord::kFOrder:
      return "The first dimension runs fastest (the default).";
    case ConstraintWord::kCompact:
      return "No space for points that the region does not have.";
    case ConstraintWord::kExact:
      return "An instance of exactly this region.";
    case ConstraintWord::kNoAlign:
      return "No alignment.";
    case ConstraintWord::kAlign:
      return "Addresses are multiples of this many bytes, a power of two.";
  }
  return "";
}

std::string_view help_of(syntax::ParamType type) {
  switch (type) {
    case syntax::ParamType::kInt:
      return "An integer of 64 bits.";
    case syntax::ParamType::kBool:
      return "True or False.";
    case syntax::ParamType::kIPoint:
    case syntax::ParamType::kISpace:
      return "A tuple of integers.";
    case syntax::ParamType::kMSpace:
      return "A machine.";
    case syntax::ParamType::kTask:
      return "The task that is placed.";
    case syntax::ParamType::kAny:
      break;
  }
  return "";
}

// Returns a member that is not a call.
MemberHelp member(std::string_view word, MemberOf of, std::string description) {
  MemberHelp help;
  help.word = word;
  help.of = of;
  help.form = word;
  help.description = std::move(description);
  return help;
}

std::vector<MemberHelp> make_member_help() {
  using enum MemberOf;
  std::vector<MemberHelp> all = {
      member("ipoint", kTask, "The point, counted from the lower corner of the launch domain."),
      member("ispace", kTask, "The extents of the launch domain."),
      member("ilo", kTask, "The lower corner of the launch domain."),
      member("irank", kTask, "The place of the point among the points of its launch, from 0."),
      member("ivolume", kTask, "The number of points of the launch."),
      member("name", kTask, "The name of the task."),
      member("parent", kTask, "The task that launched this single task."),
      member("size", kMachine, "The tuple of the extents of the machine."),
      member("volume", kMachine, "The product of the extents, or of the items of a tuple."),
      member("len", kMachine, "The number of dimensions, or of the items of a tuple."),
  };
  for (const syntax::MethodInfo& method : syntax::kMethods) {
    const bool on_machine = method.receiver == syntax::OperandType::kMachine;
    const bool on_task = method.receiver == syntax::OperandType::kTask;
    MemberHelp help = member(method.name,
                             on_machine ? kMachine
                             : on_task  ? kTask
                                        : kOther,
                             std::string(method.description) + ".");
    help.is_operation = true;
    help.form = signature_of(method);
    if (!method.option.empty()) help.description += fmt::format(" Also `{}=...`.", method.option);
    if (!method.new_extents.empty()) {
      help.description += fmt::format(" New extents: {}.", method.new_extents);
    }
    all.push_back(std::move(help));
  }
  return all;
}

}  // namespace

WordHelp help_for_when() {
  constexpr std::string_view kWord = "when";
  const auto [form, description] = help_of(StatementKind::kWhen);
  return {kWord, fmt::format("{} {}", kWord, form), std::string(description)};
}

std::optional<WordHelp> help_for_reserved(const syntax::ReservedWord& word) {
  WordHelp help{word.text, std::string(word.text), ""};
  switch (word.kind) {
    case TokenKind::kStatementWord: {
      const auto [form, description] = help_of(static_cast<StatementKind>(word.value));
      help.form += form.starts_with('(') ? "" : " ";
      help.form += form;
      help.description = description;
      break;
    }
    case TokenKind::kProcWord:
      help.description = help_of(static_cast<ProcKind>(word.value));
      break;
    case TokenKind::kMemWord:
      help.description = help_of(static_cast<MemKind>(word.value));
      break;
    case TokenKind::kConstraintWord:
      help.description = help_of(static_cast<ConstraintWord>(word.value));
      break;
    case TokenKind::kTypeWord:
      help.description = help_of(static_cast<syntax::ParamType>(word.value));
      break;
    case TokenKind::kScopeWord:
      help.description = static_cast<StealScope>(word.value) == StealScope::kSameNode
                             ? "The processors of one node."
                             : "The processors of any node.";
      break;
    case TokenKind::kMachine:
      help.form = "Machine(KIND)";
      help.description = "The grid of all processors of a kind: nodes by processors of each node.";
      break;
    default:
      return std::nullopt;
  }
  return help;
}

const std::vector<MemberHelp>& member_help() {
  static const std::vector<MemberHelp> all = make_member_help();
  return all;
}

const MemberHelp* find_member_help(std::string_view name) {
  const std::vector<MemberHelp>& all = member_help();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const MemberHelp& help) { return help.word == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace groma::language_server
