#pragma once

#include <optional>
#include <vector>

#include "sim/program/access_list.h"
#include "sim/program/footprint.h"
#include "sim/program/group_table.h"
#include "sim/program/happens_before.h"
#include "sim/program/overlap.h"
#include "sim/program/role_table.h"

namespace moesim {

// An order between two tasks that data needs and nothing gives: the task must wait for `earlier`.
struct MissingWait {
  int earlier = kNone;
  int tensor = kNone;
  int role = kNone;
};

// Follows which earlier accesses each task of a Program conflicts with (same rows, one of them
// writes), and whether streams and waits order the two. `order_only` counts for nothing here: it
// protects no data. Per role and tensor it keeps the accesses that can still matter: one that a
// later, ordered access covers is dropped, for whatever conflicts with it conflicts with that too.
class Dependences {
 public:
  // Roles must be complete; groups, tensors and tasks may grow.
  explicit Dependences(const Program& program);

  void update_groups(const Program& program) { groups_.update(program); }

  // Takes in the next task, whose regions must be within bounds. Returns the waits that it lacks:
  // the fewest that, with `given` and what they imply, order it after all conflicting tasks. Later
  // calls take the returned waits for granted. A task in `requested` is returned unless the order
  // is there anyway. The result is valid until the next call; its tasks descend.
  const std::vector<MissingWait>& add(const Program& program,
                                      const Task& task,
                                      const std::vector<int>& given,
                                      const std::vector<int>& requested);

  // What still matters of the accesses to a tensor so far.
  AccessList& accesses(int role, int tensor);

  // A region of a task as the ranks of the role see it; nullopt where none of them touches it.
  std::optional<Footprint> footprint(
      const Program& program, const Task& task, const Region& region, Use use, int role) const;

  const RoleTable& roles() const { return roles_; }
  const GroupTable& groups() const { return groups_; }
  RankView view(const Program& program, int role) const {
    return {program, groups_, roles_.ranks(role)};
  }

 private:
  struct RoleState {
    HappensBefore order;
    std::vector<AccessList> accesses;  // by tensor
    std::vector<Access> current;       // of the task being added
  };

  void collect(const Program& program, const Task& task, int role);
  void find_conflicts(const Program& program, int role);
  void record(const Program& program, int role);

  RoleTable roles_;
  GroupTable groups_;
  std::vector<RoleState> states_;
  std::vector<MissingWait> candidates_;
  std::vector<MissingWait> missing_;
  int num_tasks_ = 0;
};

}  // namespace moesim
