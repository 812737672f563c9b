// The names of the types of option values. `--help` and the manual pages show them, and completion
// finds values by them (completion_values.cc). The type `TEXT` of CLI11 stands for everything else.
#pragma once

namespace driver {

// Values that Groma knows, and files that take their place.
inline constexpr const char* kAppType = "APP";
// The path of words to a command, such as `domain show`.
inline constexpr const char* kCommandType = "COMMAND";
inline constexpr const char* kDomainType = "DOMAIN";
inline constexpr const char* kMachineType = "MACHINE";
inline constexpr const char* kProposerType = "PROPOSER";
inline constexpr const char* kStrategyType = "STRATEGY";
// The name of a task of the application that the option of type APP names.
inline constexpr const char* kTaskType = "TASK";

// Paths.
inline constexpr const char* kDomainFileType = "DOMAINFILE";
inline constexpr const char* kFileType = "FILE";
inline constexpr const char* kFolderType = "DIR";
inline constexpr const char* kMappingType = "MAPPING";

}  // namespace driver
