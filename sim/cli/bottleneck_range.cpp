#include "sim/cli/bottleneck_range.h"

#include <algorithm>
#include <utility>

#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/base/message.h"
#include "sim/cli/progress.h"

namespace moesim {
namespace {

// The same subject with another profile.
Subject with_profile(const Subject& subject,
                     const Profile& profile,
                     const PlanOptions& plan,
                     Resolution resolution) {
  if (!subject.scenario) {
    Subject other = subject;
    other.profile = profile;
    return other;
  }
  const Inputs inputs{*subject.scenario, *subject.cluster, profile, subject.inputs_hash};
  Subject other = plan_subject(inputs, subject.schedule, plan, resolution);
  require_verified(other);
  return other;
}

PlacedIteration iterate(const Subject& subject, Resolution resolution) {
  const Trace trace = simulate(subject, {.resolution = resolution, .keep_spans = false});
  PlacedIteration iteration{.seconds = trace.end.seconds()};
  const Degrees& degrees = subject.plan.degrees;
  if (!degrees.forward.empty()) {
    iteration.forward_degree = *std::ranges::max_element(degrees.forward);
    iteration.backward_degree = *std::ranges::max_element(degrees.backward);
  }
  return iteration;
}

// The subject itself ran: what is wrong here is the place.
PlacedIteration iterate_at(const Subject& subject,
                           const BottleneckPlacement& placement,
                           const PlanOptions& plan,
                           Resolution resolution) {
  try {
    const Profile profile = placed(*subject.profile, placement);
    return iterate(with_profile(subject, profile, plan, resolution), resolution);
  } catch (const Error& error) {
    return {.error = error.what()};
  }
}

std::vector<BottleneckPlacement> placements_of(const std::vector<Subject>& subjects) {
  const Subject& any = subjects.front();
  if (!any.cluster || !any.profile) {
    throw Error(
        "--bottleneck-range needs a cluster and a profile; give them by --cluster FILE and "
        "--profile FILE");
  }
  std::vector<const Program*> programs;
  for (const Subject& subject : subjects) {
    programs.push_back(&subject.program());
  }
  std::vector<BottleneckChoices> choices = bottleneck_choices(programs, *any.cluster, *any.profile);
  if (choices.empty()) {
    throw Error("--bottleneck-range: profile " + in_quotes(any.profile->name) +
                " has measured no collective's time that is used here; leave the option out");
  }
  return bottleneck_placements(choices);
}

}  // namespace

BottleneckRange bottleneck_range(const std::vector<Subject>& subjects,
                                 const PlanOptions& plan,
                                 Resolution resolution) {
  CHECK(!subjects.empty());
  const std::vector<BottleneckPlacement> all = placements_of(subjects);
  BottleneckRange range;
  range.spans = all.front().spans;
  for (const Subject& subject : subjects) {
    range.schedules.push_back(subject.schedule.empty() ? subject.program().name : subject.schedule);
  }
  const Profile& profile = *subjects.front().profile;
  if (std::ranges::none_of(all, [&](const auto& one) { return is_placed(profile, one); })) {
    BottleneckRange::Row& own = range.rows.emplace_back();
    for (const Subject& subject : subjects) {
      own.of_schedule.push_back(iterate(subject, resolution));
    }
  }
  Progress progress("placements", static_cast<int>(all.size()));
  for (const BottleneckPlacement& placement : all) {
    BottleneckRange::Row& row = range.rows.emplace_back();
    row.placement = placement;
    for (const Subject& subject : subjects) {
      row.of_schedule.push_back(iterate_at(subject, placement, plan, resolution));
    }
    progress.add_one();
  }
  return range;
}

}  // namespace moesim
