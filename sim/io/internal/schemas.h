#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/io/internal/field_path.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace moesim::io {

// The formats of files: one schema of sim/proto each.
enum class Schema {
  kCluster,
  kExpectation,
  kGpuCheck,
  kProfile,
  kProgram,
  kScenario,
  kSweep,
  kTrace
};

// An empty message of the schema.
std::unique_ptr<google::protobuf::Message> make_message(Schema schema);

// The names of a message's fields, in the order of their numbers.
std::vector<std::string> field_names(const google::protobuf::Descriptor& schema);

// What is wrong with a path as the name of a field that holds one value or a list of values, with
// what to do about it; empty when it is one.
std::string field_problem(Schema schema, const std::vector<Step>& steps);

}  // namespace moesim::io
