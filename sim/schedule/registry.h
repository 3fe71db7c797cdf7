#pragma once

#include <string>

#include "sim/schedule/definitions.h"

namespace moesim {

// The definition of that name; Error with the names there are.
const ScheduleDefinition& find_definition(const std::string& name);

}  // namespace moesim
