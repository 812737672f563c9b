// The keys and words of an application's JSON, for the reader and the writer.
// docs/application.schema.json has the same keys and words.
#pragma once

#include <array>
#include <string_view>

#include "groma/kinds.h"

namespace groma::keys {

inline constexpr std::string_view kAccess = "access";
inline constexpr std::string_view kAliases = "aliases";
inline constexpr std::string_view kAlign = "align";
inline constexpr std::string_view kAlignOperator = "operator";
inline constexpr std::string_view kAppDescription = "description";
inline constexpr std::string_view kAppName = "name";
inline constexpr std::string_view kArguments = "arguments";
inline constexpr std::string_view kBody = "body";
inline constexpr std::string_view kBoxes = "boxes";
inline constexpr std::string_view kBytes = "bytes";
inline constexpr std::string_view kChosen = "chosen_by_mapper";
inline constexpr std::string_view kCoherence = "coherence";
inline constexpr std::string_view kColor = "color";
inline constexpr std::string_view kColors = "colors";
inline constexpr std::string_view kCopyCost = "copy_nanoseconds";
inline constexpr std::string_view kCountsNodes = "counts_nodes";
inline constexpr std::string_view kData = "data";
inline constexpr std::string_view kDefinitions = "definitions";
inline constexpr std::string_view kDemandedBy = "by";
inline constexpr std::string_view kDemands = "demands";
inline constexpr std::string_view kDimensions = "dimensions";
inline constexpr std::string_view kDomain = "domain";
inline constexpr std::string_view kEfficiency = "efficiency";
inline constexpr std::string_view kExact = "exact";
inline constexpr std::string_view kExtents = "extents";
inline constexpr std::string_view kFields = "fields";
inline constexpr std::string_view kFlopsOfRun = "flops";
inline constexpr std::string_view kFutureCost = "future_nanoseconds";
inline constexpr std::string_view kGives = "gives";
inline constexpr std::string_view kHalo = "halo";
inline constexpr std::string_view kIndex = "index";
inline constexpr std::string_view kInner = "inner";
inline constexpr std::string_view kIssueCost = "issue_nanoseconds";
inline constexpr std::string_view kKernels = "kernels";
inline constexpr std::string_view kLaunchOf = "launch";
inline constexpr std::string_view kLeaf = "leaf";
inline constexpr std::string_view kLeast = "least";
inline constexpr std::string_view kLoops = "loops";
inline constexpr std::string_view kLower = "lower";
inline constexpr std::string_view kMapCost = "map_nanoseconds";
inline constexpr std::string_view kMeaning = "meaning";
inline constexpr std::string_view kMemoryKind = "memory";
inline constexpr std::string_view kMetric = "metric";
inline constexpr std::string_view kMost = "most";
inline constexpr std::string_view kNames = "names";
inline constexpr std::string_view kNanoseconds = "nanoseconds";
inline constexpr std::string_view kOf = "of";
inline constexpr std::string_view kOrderOfDimensions = "dimension_order";
inline constexpr std::string_view kOrderOfFields = "field_order";
inline constexpr std::string_view kParameters = "parameters";
inline constexpr std::string_view kPartitions = "partitions";
inline constexpr std::string_view kPhase = "phase";
inline constexpr std::string_view kPrivilege = "privilege";
inline constexpr std::string_view kProcKind = "kind";
inline constexpr std::string_view kReason = "reason";
inline constexpr std::string_view kRegions = "regions";
inline constexpr std::string_view kRemoteCost = "remote_nanoseconds";
inline constexpr std::string_view kRepeat = "repeat";
inline constexpr std::string_view kReplayCost = "replay_nanoseconds";
inline constexpr std::string_view kReplicable = "replicable";
inline constexpr std::string_view kRequirement = "requirement";
inline constexpr std::string_view kRequirements = "requirements";
inline constexpr std::string_view kRuntime = "runtime";
inline constexpr std::string_view kSameAddressSpace = "same_address_space";
inline constexpr std::string_view kSingle = "single";
inline constexpr std::string_view kSizes = "sizes";
inline constexpr std::string_view kTakes = "takes";
inline constexpr std::string_view kTasks = "tasks";
inline constexpr std::string_view kTopLevel = "top_level";
inline constexpr std::string_view kTraced = "traced";
inline constexpr std::string_view kTraffic = "traffic";
inline constexpr std::string_view kUnit = "unit";
inline constexpr std::string_view kUnnamed = "unnamed";
inline constexpr std::string_view kValue = "value";
inline constexpr std::string_view kValues = "values";
inline constexpr std::string_view kVariable = "variable";
inline constexpr std::string_view kVariants = "variants";
inline constexpr std::string_view kWait = "wait";
inline constexpr std::string_view kWhere = "where";
inline constexpr std::string_view kWork = "work";

inline constexpr std::array kAppKeys = {kAppName,    kAppDescription, kParameters, kDefinitions,
                                        kSizes,      kMetric,         kRuntime,    kRegions,
                                        kPartitions, kTopLevel,       kTasks};
inline constexpr std::array kParameterKeys = {kAppName, kValue,   kLeast,
                                              kMost,    kMeaning, kCountsNodes};
inline constexpr std::array kDefinitionKeys = {kAppName, kValue};
inline constexpr std::array kSizeKeys = {kAppName, kReason, kValues};
inline constexpr std::array kMetricKeys = {kUnit, kWork, kPhase};
inline constexpr std::array kRuntimeKeys = {kIssueCost,  kMapCost,    kReplayCost,
                                            kRemoteCost, kFutureCost, kCopyCost};
inline constexpr std::array kRegionKeys = {kAppName, kAliases, kUnnamed, kExtents, kFields};
inline constexpr std::array kPartitionKeys = {kAppName, kAliases, kUnnamed, kOf,   kColors,
                                              kIndex,   kLower,   kExtents, kHalo, kBoxes};
inline constexpr std::array kBoxKeys = {kColor, kLower, kExtents};
inline constexpr std::array kFieldKeys = {kAppName, kBytes};
inline constexpr std::array kDataKeys = {kOf, kColor, kFields, kPrivilege};
inline constexpr std::array kTaskKeys = {kAppName, kArguments, kVariants, kRequirements, kBody};
inline constexpr std::array kVariantKeys = {
    kProcKind,   kLeaf,    kInner,       kReplicable, kDemands, kFlopsOfRun, kSingle,
    kEfficiency, kKernels, kNanoseconds, kTraffic,    kLoops,   kChosen};
inline constexpr std::array kDemandKeys = {
    kRequirement, kDemandedBy, kOrderOfDimensions, kOrderOfFields, kMemoryKind, kExact, kAlign};
inline constexpr std::array kAlignKeys = {kAlignOperator, kBytes};
inline constexpr std::array kTrafficKeys = {kRequirement, kBytes, kAccess};
inline constexpr std::array kRequirementKeys = {kNames,      kPrivilege, kCoherence,
                                                kDimensions, kFields,    kData};
// The first key of a statement decides its type.
inline constexpr std::array kStatementKeys = {kLaunchOf, kRepeat, kPhase, kWait};
inline constexpr std::array kLaunchKeys = {kLaunchOf,  kDomain, kLower, kIndex, kWhere,
                                           kArguments, kData,   kGives, kTakes, kSameAddressSpace};
inline constexpr std::array kLoopKeys = {kRepeat, kVariable, kTraced, kBody};
inline constexpr std::array kPhaseKeys = {kPhase, kBody};
inline constexpr std::array kWaitKeys = {kWait};

// The words for the enumerators of Access, DimensionOrder, FieldOrder, DemandSource, Coherence, and
// AlignOp without kNone, in their order.
inline constexpr std::array<std::string_view, 3> kAccessNames = {"stream", "scatter", "atomic"};
inline constexpr std::array<std::string_view, 2> kDimensionOrderNames = {"F_order", "C_order"};
inline constexpr std::array<std::string_view, 2> kFieldOrderNames = {"SOA", "AOS"};
inline constexpr std::array<std::string_view, 2> kDemandSourceNames = {"variant", "mapper"};
inline constexpr std::array<std::string_view, 4> kCoherenceNames = {"exclusive", "atomic",
                                                                    "simultaneous", "relaxed"};
inline constexpr std::array<std::string_view, 6> kAlignNames = {"==", "!=", "<", "<=", ">", ">="};

}  // namespace groma::keys
