#pragma once

#include <string>
#include <vector>

#include "sim/cli/options.h"

// Values of options that are more than a word or a number. Each throws Error for anything else.
namespace moesim {

DegreeOption parse_degree(const std::string& text);  // "auto", "4", "4,2"
// "a,b": names between commas, also empty ones.
std::vector<std::string> parse_names(const std::string& text);
Policy parse_policy(const std::string& text);                  // "search", "paper"
Resolution parse_resolution(const std::string& text);          // "auto", "fold", "ports", "flows"
LayerRange parse_layers(const std::string& text);              // "3..5", "3"
std::string parse_link_load(const std::string& text);          // "load.svg", "load.csv"
HostClock parse_clock(const std::string& text);                // "free", "anchored", "raw"
CollectiveOperation parse_operation(const std::string& text);  // "ALL_TO_ALL", "alltoall"
Layout parse_layout(const std::string& text);                  // "10x4"
NcclLogOption parse_nccl_log_option(const std::string& text);  // "a.log", "all_gather=a.log"
// "64KiB..1GiB", doubling, or "1MiB,3MiB".
std::vector<std::int64_t> parse_sizes(const std::string& text);
bool parse_transport(const std::string& text);   // "threads", "mpi": whether processes
bool parse_gpus(const std::string& text);        // "one", "each": whether each rank has its own
Storage parse_storage(const std::string& text);  // "fp32", "bf16"
bool parse_attention(const std::string& text);   // "products", "fused": whether it is fused
TopologyAction parse_topology_action(const std::string& text);  // "show", "check", "export"
GraphFormat parse_graph_format(const std::string& text);        // "dot", "svg"
RouteOption parse_route(const std::string& text);               // "0,9"
// Of an option that is named: "5%", "0.05".
double parse_share(const std::string& option, const std::string& text);

// The word for it, which parse_clock reads.
const char* name(HostClock clock);

}  // namespace moesim
