// The keys and words of a machine's JSON, for the reader and the writer.
#pragma once

#include <array>
#include <string_view>

namespace groma::keys {

inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kDescription = "description";
inline constexpr std::string_view kNodes = "nodes";
inline constexpr std::string_view kOrder = "order";
inline constexpr std::string_view kCount = "count";
inline constexpr std::string_view kProcessors = "processors";
inline constexpr std::string_view kMemories = "memories";
inline constexpr std::string_view kAffinities = "affinities";
inline constexpr std::string_view kChannels = "channels";
inline constexpr std::string_view kKind = "kind";
inline constexpr std::string_view kFlops = "flops_per_s";
inline constexpr std::string_view kSustained = "sustained_fraction";
inline constexpr std::string_view kLaunch = "launch_latency_s";
inline constexpr std::string_view kCapacity = "capacity_bytes";
inline constexpr std::string_view kBandwidth = "bandwidth_bytes_per_s";
inline constexpr std::string_view kLatency = "latency_s";
inline constexpr std::string_view kGapBandwidth = "gap_bandwidth_bytes_per_s";
inline constexpr std::string_view kProcessor = "processor";
inline constexpr std::string_view kMemory = "memory";
inline constexpr std::string_view kFrom = "from";
inline constexpr std::string_view kTo = "to";
inline constexpr std::string_view kScope = "scope";
inline constexpr std::string_view kLinks = "links";

inline constexpr std::string_view kMeasured = "measured";
inline constexpr std::string_view kComputer = "computer";
inline constexpr std::string_view kCpuModel = "cpu_model";
inline constexpr std::string_view kCores = "cores";
inline constexpr std::string_view kNumaNodes = "numa_nodes";
inline constexpr std::string_view kFigures = "figures";
inline constexpr std::string_view kFigure = "figure";
inline constexpr std::string_view kFigureUnit = "unit";
inline constexpr std::string_view kFigureValue = "value";
inline constexpr std::string_view kLow = "low";
inline constexpr std::string_view kHigh = "high";
inline constexpr std::string_view kRepeats = "repeats";
inline constexpr std::string_view kSource = "source";

inline constexpr std::array kMachineKeys = {kName, kDescription, kNodes, kOrder, kMeasured};
inline constexpr std::array kNodeKeys = {kCount, kProcessors, kMemories, kAffinities, kChannels};
inline constexpr std::array kProcessorKeys = {kKind, kCount, kFlops, kSustained, kLaunch};
inline constexpr std::array kMemoryKeys = {kKind, kCount, kCapacity, kBandwidth};
inline constexpr std::array kAffinityKeys = {kProcessor, kMemory, kBandwidth, kLatency,
                                             kGapBandwidth};
inline constexpr std::array kChannelKeys = {kName,  kFrom,      kTo,     kScope,
                                            kLinks, kBandwidth, kLatency};

inline constexpr std::array kMeasuredKeys = {kComputer, kFigures};
inline constexpr std::array kComputerKeys = {kCpuModel, kCores, kNumaNodes};
inline constexpr std::array kFigureKeys = {kFigure, kFigureUnit, kFigureValue, kLow,
                                           kHigh,   kRepeats,    kSource};

// The words for the enumerators of Channel::Scope, in their order.
inline constexpr std::array<std::string_view, 3> kScopeNames = {"local", "peer", "network"};

}  // namespace groma::keys
