// The words of an application's JSON.
#pragma once

#include <array>
#include <string_view>

#include "groma/kinds.h"

namespace groma::keys {

inline constexpr std::string_view kAppName = "name";
inline constexpr std::string_view kAppDescription = "description";
inline constexpr std::string_view kTopLevel = "top_level";
inline constexpr std::string_view kTasks = "tasks";
inline constexpr std::string_view kVariants = "variants";
inline constexpr std::string_view kRequirements = "requirements";
inline constexpr std::string_view kLaunches = "launches";
inline constexpr std::string_view kProcKind = "kind";
inline constexpr std::string_view kLeaf = "leaf";
inline constexpr std::string_view kInner = "inner";
inline constexpr std::string_view kReplicable = "replicable";
inline constexpr std::string_view kDemands = "demands";
inline constexpr std::string_view kRequirement = "requirement";
inline constexpr std::string_view kOrderOfDimensions = "dimension_order";
inline constexpr std::string_view kOrderOfFields = "field_order";
inline constexpr std::string_view kMemoryKind = "memory";
inline constexpr std::string_view kExact = "exact";
inline constexpr std::string_view kAlign = "align";
inline constexpr std::string_view kAlignOperator = "operator";
inline constexpr std::string_view kBytes = "bytes";
inline constexpr std::string_view kNames = "names";
inline constexpr std::string_view kPrivilege = "privilege";
inline constexpr std::string_view kCoherence = "coherence";
inline constexpr std::string_view kDimensions = "dimensions";
inline constexpr std::string_view kFields = "fields";
inline constexpr std::string_view kDomain = "domain";
inline constexpr std::string_view kLower = "lower";
inline constexpr std::string_view kParent = "parent";

inline constexpr std::array kAppKeys = {kAppName, kAppDescription, kTopLevel, kTasks};
inline constexpr std::array kTaskKeys = {kAppName, kVariants, kRequirements, kLaunches};
inline constexpr std::array kVariantKeys = {kProcKind, kLeaf, kInner, kReplicable, kDemands};
inline constexpr std::array kDemandKeys = {
    kRequirement, kOrderOfDimensions, kOrderOfFields, kMemoryKind, kExact, kAlign};
inline constexpr std::array kAlignKeys = {kAlignOperator, kBytes};
inline constexpr std::array kRequirementKeys = {kNames, kPrivilege, kCoherence, kDimensions,
                                                kFields};
inline constexpr std::array kFieldKeys = {kAppName, kBytes};
inline constexpr std::array kLaunchKeys = {kDomain, kLower, kParent};

// In the order of DimensionOrder, FieldOrder, Coherence, and of AlignOp without kNone.
inline constexpr std::array<std::string_view, 2> kDimensionOrderNames = {"F_order", "C_order"};
inline constexpr std::array<std::string_view, 2> kFieldOrderNames = {"SOA", "AOS"};
inline constexpr std::array<std::string_view, 4> kCoherenceNames = {"exclusive", "atomic",
                                                                    "simultaneous", "relaxed"};
inline constexpr std::array<std::string_view, 6> kAlignNames = {"==", "!=", "<", "<=", ">", ">="};

}  // namespace groma::keys
