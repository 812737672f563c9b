// The table of the tools, and their JSON schemas.
#include "serve_tools.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "serve_words.h"

namespace driver {
namespace {

using Json = nlohmann::json;
using enum ParameterKind;

constexpr std::string_view kMachineWords =
    "The machine. A name such as p100x4, with parameters such as p100x4:nodes=2,gpu=4; `local` for "
    "this computer; counts such as nodes=2,gpu=4,cpu=8,omp=2; the path of a JSON file; or the "
    "machine itself as a JSON object. Default: p100x4";
constexpr std::string_view kAppWords =
    "The application. The name of a built-in one such as circuit or cannon, the path of a JSON "
    "file, both also with values such as cannon:n=8000 or a.json:size=small; or the application "
    "itself as a JSON object";
constexpr ToolParameter kMapping = {"mapping", kContent,        "", "The text of the mapping", 0,
                                    0,         "mapping.mapper"};
constexpr ToolParameter kMappingFile = {"mapping_file", kFile, "",
                                        "The path of the mapping, instead of its text"};
constexpr ToolParameter kMachineOption = {"machine", kMachine, "--machine", kMachineWords};
constexpr ToolParameter kAppOption = {"app", kApplication, "--app", kAppWords};
constexpr ToolParameter kTaskOption = {"task", kText, "--task", "Only this task"};
constexpr ParameterChoice kOneMapping = {"mapping mapping_file", true};
constexpr ParameterChoice kSomeMapping = {"mapping mapping_file"};
constexpr double kMaxCount = 1e12;

constexpr std::array kReference = {
    kMachineOption,
    kAppOption,
};

constexpr std::array kCheck = {
    kMapping,
    kMappingFile,
    kMachineOption,
    kAppOption,
    ToolParameter{"time", kNumber, "--time", "Limit the time of the check, in seconds", 0.01, 600},
    ToolParameter{
        "fix", kFlag, "--fix",
        "Also return the mapping with the certain mistakes corrected. No file is changed"},
};
constexpr std::array kCheckChoices = {kOneMapping};

constexpr std::array kFormat = {kMapping, kMappingFile};

constexpr std::array kPlace = {
    kMapping,
    kMappingFile,
    ToolParameter{"task", kText, "--task", "The task whose points are placed"},
    ToolParameter{"function", kText, "--function", "A function of the mapping, instead of a task"},
    ToolParameter{"domain", kText, "--domain",
                  "The extents of the launch, such as 8x4; or a named domain such as triangle:n=8"},
    ToolParameter{"lower", kText, "--lower", "The lower corner of the domain, such as 0x0"},
    ToolParameter{"parent", kText, "--parent",
                  "NODE,PROCESSOR: place a single task whose parent runs there"},
    ToolParameter{"domains", kContent, "--domains",
                  "Declarations of domains, of which `domain` names one", 0, 0, "domains.domain"},
    ToolParameter{"from", kText, "--from",
                  "The processor kind, such as GPU, if no Task statement says it"},
    kMachineOption,
    kAppOption,
};
constexpr std::array kPlaceChoices = {kOneMapping, ParameterChoice{"task function", true}};

constexpr std::array kExplain = {
    kMapping,
    kMappingFile,
    kAppOption,
    kMachineOption,
    kTaskOption,
    ToolParameter{"region", kText, "--region",
                  "Only this region of the task: its name, or its position from 0"},
    ToolParameter{"as_mapping", kFlag, "--as-mapping",
                  "Instead of explaining a mapping, write the decisions of the default mapper as a "
                  "mapping, to start from"},
};
constexpr std::array kExplainChoices = {ParameterChoice{"mapping mapping_file as_mapping", true},
                                        ParameterChoice{"app", true}};

constexpr std::array kRun = {
    kMapping,
    kMappingFile,
    kAppOption,
    kMachineOption,
    ToolParameter{"seed", kInteger, "--seed", "The seed of the random noise", 0, kMaxCount},
    ToolParameter{"noise", kNumber, "--noise",
                  "Each task and copy takes up to this fraction longer or shorter", 0, 1},
    ToolParameter{"fit", kFlag, "--fit", "Also find the largest problem that fits into memory"},
    ToolParameter{"grow", kText, "--grow", "With `fit`: the parameters that grow, such as n,m"},
    ToolParameter{"time", kNumber, "--time", "Limit the time of the command, in seconds", 0.01,
                  3600},
    ToolParameter{"program",
                  kProgram,
                  "",
                  "Run this Legion program under the mapping instead of a simulation: the program "
                  "and its arguments",
                  0,
                  0,
                  {},
                  true},
    ToolParameter{"timeout",
                  kNumber,
                  "--timeout",
                  "End the program after this many seconds",
                  0.01,
                  36000,
                  {},
                  true},
};
constexpr std::array kRunChoices = {kSomeMapping, ParameterChoice{"app program", true},
                                    ParameterChoice{"machine program"}};

constexpr std::array kDiff = {
    ToolParameter{"a", kContent, "", "The text of the first mapping (default: the default mapper)",
                  0, 0, "a.mapper"},
    ToolParameter{"a_file", kFile, "", "The path of the first mapping, instead of its text"},
    ToolParameter{"b", kContent, "", "The text of the second mapping", 0, 0, "b.mapper"},
    ToolParameter{"b_file", kFile, "", "The path of the second mapping, instead of its text"},
    kAppOption,
    kMachineOption,
};
constexpr std::array kDiffChoices = {ParameterChoice{"a a_file"}, ParameterChoice{"b b_file", true},
                                     ParameterChoice{"app", true}};

constexpr std::array kGuide = {
    ToolParameter{"log", kContent, "", "The output of the run", 0, 0, "log"},
    ToolParameter{"log_files", kFiles, "", "The paths of files with the output of the run"},
    ToolParameter{"mapping", kContent, "--program", "The text of the mapping of the run", 0, 0,
                  "mapping.mapper"},
    ToolParameter{"mapping_file", kFile, "--program", "The path of the mapping of the run"},
    ToolParameter{"machine", kMachine, "--machine",
                  "The machine of the run, to leave out advice that does not fit it"},
    ToolParameter{"profile", kContent, "--profile",
                  "The structured content of the tool `run`, as a JSON object", 0, 0,
                  "profile.json"},
    ToolParameter{"profile_file", kFile, "--profile",
                  "The path of a file with the output of `groma run --json`"},
    ToolParameter{"exit_code", kInteger, "--exit-code", "The exit code of the run", -255, 255},
    ToolParameter{"timed_out", kFlag, "--timed-out", "The run was stopped at its time limit"},
    ToolParameter{"detail", kChoice, "--detail", "How much to say", 0, 0,
                  "none execution explain suggest profile"},
};
constexpr std::array kGuideChoices = {kSomeMapping, ParameterChoice{"profile profile_file"}};

constexpr std::string_view kReplayWords =
    "The path of a file that --record wrote, from which the replies are taken, without an endpoint";

constexpr std::array kTune = {
    ToolParameter{"app", kApplications, "--app",
                  "The application, as for the tool `run`; a list tunes for several ones or sizes"},
    kMachineOption,
    ToolParameter{"evaluations", kInteger, "--evaluations",
                  "Limit the number of runs of the whole search (default 100; with `command` 10)",
                  1, 1e9},
    ToolParameter{"wait", kOwnNumber, "",
                  "Return after this many seconds with what was found so far (default 50). The "
                  "search is then continued by a call with `resume`",
                  1, 86400},
    ToolParameter{"resume", kFolder, "--resume",
                  "The directory of a search to continue, as an earlier call returned it. Its "
                  "options are stored there; budgets may be given again, for the whole search"},
    ToolParameter{"out", kNewPath, "--out",
                  "The directory for a new search (default: tune, tune.2, ...)"},
    ToolParameter{"start", kContent, "--start", "The text of the mapping to start from", 0, 0,
                  "start.mapper"},
    ToolParameter{"start_file", kFile, "--start", "The path of the mapping to start from"},
    ToolParameter{
        "proposer", kText, "--proposer",
        "The method that proposes mappings (default: guided). Those that ask a model need "
        "an endpoint or `replay_file`"},
    ToolParameter{"feedback", kChoice, "--feedback",
                  "How much the proposer is told about a run (default: profile)", 0, 0,
                  "none execution explain suggest profile"},
    ToolParameter{"seed", kInteger, "--seed", "The seed of the proposer", 0, kMaxCount},
    ToolParameter{"estimates", kInteger, "--estimates", "Limit the estimates; 0: none", 0, 1e9},
    ToolParameter{"pareto", kFlag, "--pareto",
                  "Also keep the mappings that no other one beats on all of several applications"},
    ToolParameter{"tokens", kInteger, "--tokens",
                  "Limit the tokens of a language model (default 200000)", 1, 10'000'000},
    ToolParameter{"endpoint", kOwnText, "", kEndpointWords},
    ToolParameter{"replay_file", kFile, "--replay", kReplayWords},
    ToolParameter{"files",
                  kFiles,
                  "--file",
                  "Search for a better version of these texts instead of a mapping",
                  0,
                  0,
                  {},
                  true},
    ToolParameter{"command",
                  kText,
                  "--command",
                  "A shell command that measures the text in {file}; `{input}` is one of `inputs`",
                  0,
                  0,
                  {},
                  true},
    ToolParameter{"check_command",
                  kText,
                  "--check-command",
                  "A shell command that must succeed first, or the text is wrong",
                  0,
                  0,
                  {},
                  true},
    ToolParameter{"inputs", kTexts, "--input", "The values of {input}", 0, 0, {}, true},
    ToolParameter{"metric",
                  kText,
                  "--metric",
                  "A regular expression whose group finds the result in the output (default: the "
                  "run time)",
                  0,
                  0,
                  {},
                  true},
    ToolParameter{"unit", kText, "--unit", "The unit of the result", 0, 0, {}, true},
    ToolParameter{"higher_is_better",
                  kFlag,
                  "--higher-is-better",
                  "Larger results are better",
                  0,
                  0,
                  {},
                  true},
    ToolParameter{"repeats",
                  kInteger,
                  "--repeats",
                  "The runs of each text; their median counts",
                  1,
                  1000,
                  {},
                  true},
    ToolParameter{"timeout",
                  kNumber,
                  "--timeout",
                  "End a run after this many seconds",
                  0.01,
                  36000,
                  {},
                  true},
    ToolParameter{"trust",
                  kFlag,
                  "--trust",
                  "With `resume`: run the commands that the directory names",
                  0,
                  0,
                  {},
                  true},
};
constexpr std::array kTuneChoices = {
    ParameterChoice{"app files resume", true}, ParameterChoice{"out resume"},
    ParameterChoice{"start start_file resume"}, ParameterChoice{"endpoint replay_file"},
    ParameterChoice{"machine resume"}};

constexpr std::array kWrite = {
    ToolParameter{"sentence", kInput, "", "What the mapping shall do, in any words"},
    kAppOption,
    kMachineOption,
    ToolParameter{"start", kContent, "--start", "The text of a mapping that the sentence changes",
                  0, 0, "start.mapper"},
    ToolParameter{"start_file", kFile, "--start",
                  "The path of a mapping that the sentence changes"},
    ToolParameter{"repairs", kInteger, "--repairs",
                  "Limit the rounds in which the model repairs its mapping (default 3)", 0, 10},
    ToolParameter{"output", kNewPath, "--output",
                  "Also write the mapping to this new file. A file that exists is not replaced"},
    ToolParameter{"endpoint", kOwnText, "", kEndpointWords},
    ToolParameter{"replay_file", kFile, "--replay", kReplayWords},
};
constexpr std::array kWriteChoices = {ParameterChoice{"sentence", true},
                                      ParameterChoice{"start start_file"},
                                      ParameterChoice{"endpoint replay_file"}};

constexpr std::array kTools = {
    ToolDefinition{
        "reference",
        "Reference of the language",
        "The reference card of the mapping language and, with `app` and `machine`, what is known "
        "about them: processors, memories, tasks with their launches and regions. Read it before "
        "you write a mapping.",
        "prompt",
        kReference,
        {}},
    ToolDefinition{
        "check", "Check a mapping",
        "Finds all mistakes of a mapping, each with its place and a correction. With `app` and "
        "`machine` it also finds everything that a run would refuse, without running.",
        "check", kCheck, kCheckChoices},
    ToolDefinition{"format", "Format a mapping", "Writes a mapping in the standard style.",
                   "format", kFormat, kCheckChoices},
    ToolDefinition{
        "place", "Show where points go",
        "Shows on which processor each point of an index launch runs under a mapping: a picture, "
        "the load of each processor, and the statements that decided. Give `task` or `function`, "
        "and `domain`, `parent` or `app`.",
        "place", kPlace, kPlaceChoices},
    ToolDefinition{
        "explain", "Explain the decisions of a mapping",
        "Shows every decision of a mapping about an application and names the statement that made "
        "it: processors, memories, layouts, limits. Also lists statements that decide nothing.",
        "explain", kExplain, kExplainChoices},
    ToolDefinition{
        "run", "Simulate a run",
        "Says how long an application takes under a mapping, in a simulator: the time and what it "
        "is made of, and changes of the mapping that were tried and help. Without a mapping the "
        "default mapper decides.",
        "run", kRun, kRunChoices},
    ToolDefinition{
        "diff", "Compare two mappings",
        "Shows which decisions about an application two mappings make differently, and what each "
        "difference costs in simulated time. With only `b`, it is compared with the default "
        "mapper.",
        "diff", kDiff, kDiffChoices},
    ToolDefinition{
        "guide", "Explain the output of a run",
        "Says what the output of a real run means, such as an error message of Legion, and which "
        "statement of the mapping to change. With `profile` it explains what took the time.",
        "guide", kGuide, kGuideChoices},
    ToolDefinition{
        "tune", "Search for a faster mapping",
        "Searches for a faster mapping in simulated runs and writes the search to a directory. A "
        "long search is a job in parts: each call returns after `wait` seconds, or when it is "
        "cancelled, and a call with `resume` continues. Nothing that was found is lost.",
        "tune", kTune, kTuneChoices, false, false, false},
    ToolDefinition{
        "write", "Let a model write a mapping",
        "Lets another language model write a mapping from a sentence, checks it and says what it "
        "decides. You can usually write it yourself: see the tool `reference`.",
        "write", kWrite, kWriteChoices, false, false, false, true},
};

Json type_of(const ToolParameter& parameter) {
  Json text = {{"type", "string"}};
  const auto number = [&](const char* type) {
    return Json{{"type", type}, {"minimum", parameter.least}, {"maximum", parameter.most}};
  };
  switch (parameter.kind) {
    case kTexts:
    case kProgram:
    case kFiles:
      return {{"type", "array"}, {"items", text}, {"minItems", 1}, {"maxItems", kMaxListItems}};
    case kInteger: {
      Json type = number("integer");
      type["minimum"] = static_cast<std::int64_t>(parameter.least);
      type["maximum"] = static_cast<std::int64_t>(parameter.most);
      return type;
    }
    case kNumber:
    case kOwnNumber:
      return number("number");
    case kFlag:
      return {{"type", "boolean"}};
    case kChoice:
      return {{"type", "string"}, {"enum", words_in(parameter.words)}};
    case kContent:
      if (parameter.words.ends_with(".json")) return {{"type", {"object", "string"}}};
      return text;
    case kMachine:
    case kApplication:
      return {{"type", {"string", "object"}}};
    case kApplications:
      return {{"type", {"string", "object", "array"}},
              {"items", {{"type", {"string", "object"}}}},
              {"maxItems", kMaxListItems}};
    case kText:
    case kInput:
    case kFile:
    case kFolder:
    case kNewPath:
    case kOwnText:
      break;
  }
  return text;
}

}  // namespace

std::span<const ToolDefinition> tool_definitions() { return kTools; }

// Clients do not agree on `oneOf`, so the schema requires only what stands alone in its choice. The
// descriptions, and the errors of calls, tell the rest.
Json input_schema(const ToolDefinition& tool, bool allows_commands) {
  Json properties = Json::object();
  for (const ToolParameter& parameter : tool.parameters) {
    if (parameter.runs_commands && !allows_commands) continue;
    Json described = type_of(parameter);
    described["description"] = parameter.about;
    properties[std::string(parameter.name)] = std::move(described);
  }
  Json required = Json::array();
  for (const ParameterChoice& choice : tool.choices) {
    std::vector<std::string_view> open;
    for (const std::string_view name : words_in(choice.names)) {
      if (properties.contains(std::string(name))) open.push_back(name);
    }
    if (choice.is_required && open.size() == 1) required.push_back(open.front());
  }
  Json schema = {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

}  // namespace driver
