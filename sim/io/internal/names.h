#pragma once

#include <string>
#include <vector>

#include "sim/io/internal/fields.h"

namespace moesim::io {

// The values of a list of texts; throws Error where one stands twice.
std::vector<std::string> unique_texts(const Fields& fields, const char* name);

// Names of schedules. Throw Error where one is not among `known`, unless that is empty.
std::vector<std::string> read_schedules(const Fields& fields,
                                        const char* name,
                                        const std::vector<std::string>& known);
std::string read_schedule(const Fields& fields,
                          const char* name,
                          const std::vector<std::string>& known);  // required

// Throws Error located at the field that names `path` where no file is there.
void require_file(const Fields& fields, const char* name, const std::string& path);

}  // namespace moesim::io
