#pragma once

#include "sim/io/internal/fields.h"
#include "sim/io/internal/name_table.h"
#include "sim/io/program.h"

namespace moesim::io {

// Reads the tasks of a Program whose ranks, groups, tensors and routings are complete. Fills
// `tasks` and `streams`.
void read_tasks(const Fields& root, ProgramNames& names, Program& program);

// Reads the task's descriptor; its regions are complete.
Descriptor read_descriptor(const Fields& fields,
                           const ProgramNames& names,
                           const Program& program,
                           const Task& task);

}  // namespace moesim::io
