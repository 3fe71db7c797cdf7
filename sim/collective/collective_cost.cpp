#include "sim/collective/collective_cost.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "sim/base/message.h"
#include "sim/base/units.h"
#include "sim/collective/cost_curve.h"
#include "sim/collective/wire_tariff.h"

namespace moesim {
namespace {

bool is_intra(int port) {
  return port == static_cast<int>(Port::kIntraOut) || port == static_cast<int>(Port::kIntraIn);
}

bool is_out(int port) {
  return port == static_cast<int>(Port::kIntraOut) || port == static_cast<int>(Port::kInterOut);
}

// Whether a member's part in a collective crosses the port at all. A SHIFT is one message each way.
bool crosses(CollectiveOperation operation, const MemberPlace& place, int port) {
  if (operation != CollectiveOperation::kShift) {
    return true;
  }
  const Reach reach = is_out(port) ? place.sends : place.receives;
  return reach == (is_intra(port) ? Reach::kNode : Reach::kFabric);
}

PortBytes scaled(PortBytes bytes, double factor) {
  for (double& of_port : bytes) {
    of_port *= factor;
  }
  return bytes;
}

// What a balanced all-to-all of so many nominal bytes has on the wire.
PortBytes of_exchange(PortBytes bytes, const MemberPlace& place) {
  for (int port = 0; port < kNumPorts; ++port) {
    bytes[port] *=
        static_cast<double>(is_intra(port) ? place.on_node - 1 : place.size - place.on_node) /
        place.size;
  }
  return bytes;
}

bool chooses(const CollectiveCost& entry) {
  return resolved(entry.operation, entry.algorithm) !=
         resolved(entry.operation, Algorithm::kDefault);
}

}  // namespace

Time CollectiveLoad::alone() const {
  return startup + std::max(of_its_own, *std::max_element(load.begin(), load.end()));
}

CollectiveCosts::CollectiveCosts(const Program& program,
                                 const Cluster& cluster,
                                 const Profile& profile,
                                 const ValidRows& valid_rows)
    : program_(&program),
      cluster_(&cluster),
      profile_(&profile),
      valid_rows_(&valid_rows),
      traffic_(program, cluster, valid_rows) {
  if (cluster.links != nullptr) {
    bottlenecks_.emplace(*cluster.links);
  }
  for (const CollectiveCost& entry : profile.collectives) {
    if (entry.bottleneck == BottleneckPlace::kLink) {
      BottleneckLinks::check(entry);
      spends_on_links_ = traffic_.has_links();
    }
  }
  only_default_ = profile.algorithms.empty() && std::ranges::none_of(profile.collectives, chooses);
  may_be_fastest_ = std::ranges::any_of(profile.algorithms, [](const AlgorithmChoice& choice) {
    return choice.algorithm == Algorithm::kFastest;
  });
  has_peer_rates_ = std::ranges::any_of(profile.collectives, [](const CollectiveCost& entry) {
    return entry.peer_bytes_per_second > 0;
  });
}

bool CollectiveCosts::differs_by_instance(const Task& task) const {
  return has_peer_rates_ || (!only_default_ && !plan(task).is_default);
}

int CollectiveCosts::num_phases(const Task& task) const {
  return only_default_ ? 1 : static_cast<int>(plan(task).phases.size());
}

CollectiveLoad CollectiveCosts::load(const Task& task,
                                     const std::vector<int>& members,
                                     int index) const {
  const MemberPlace place = places_of(*cluster_, members)[index];
  return load(task, Member{.ranks = &members, .index = index, .place = place});
}

CollectiveLoad CollectiveCosts::load(const Task& task, const Member& member, int phase) const {
  return load_of(plan(task), phase, task, member);
}

CollectiveLoad CollectiveCosts::load_of(const AlgorithmPlan& plan,
                                        int phase,
                                        const Task& task,
                                        const Member& member) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  const Phase& part = plan.phases[phase];
  MemberPlace place = part.place(member.place);
  if (place.size == 1) {
    return {};
  }
  CachedTariff& cached = tariff_of(plan, phase, member.place);
  if (collective.operation == CollectiveOperation::kShift) {
    place = shift_place(*cluster_, *member.ranks, member.index, collective, place);
  }
  const bool is_priced =
      !traffic_.has_links() || cached.tariff.intra.measured || cached.tariff.inter.measured;
  const PortBytes bytes = is_priced ? priced_bytes(plan, phase, task, member) : PortBytes{};
  CollectiveLoad load = priced(part.operation, cached, place, bytes);
  if (has_peer_rates_) {
    limit_messages(load, cached.tariff, plan.flow_step(phase), task, member);
  }
  return load;
}

// What the tariff of a phase is asked for, by port: nominal bytes, or those on the wire where an
// algorithm has no figure of its own.
PortBytes CollectiveCosts::priced_bytes(const AlgorithmPlan& plan,
                                        int phase,
                                        const Task& task,
                                        const Member& member) const {
  const Phase& part = plan.phases[phase];
  const FlowStep step = plan.flow_step(phase);
  const PortBytes bytes = traffic_.nominal(task, member);
  if (plan.is_default || plan.is_measured) {
    return bytes;
  }
  if (part.among == Among::kAll) {
    return plan.algorithm == Algorithm::kPipe ? of_exchange(bytes, member.place)
                                              : traffic_.on_wire(task, step, member);
  }
  // An exchange of unequal parts, as the balanced one of its level that would load a port as much.
  const bool is_exchange = part.operation == CollectiveOperation::kAllToAll;
  if (is_exchange && (traffic_.depends_on_rank(task) || !traffic_.shape(task).is_even)) {
    const double share = wire_share(part.operation, part.place(member.place).size);
    return scaled(traffic_.on_wire(task, step, member), 1 / share);
  }
  return scaled(bytes, part.share(member.place));
}

// `bytes` holds for each port what its price is asked for.
CollectiveLoad CollectiveCosts::priced(CollectiveOperation operation,
                                       CachedTariff& cached,
                                       const MemberPlace& place,
                                       const PortBytes& bytes) const {
  CollectiveLoad load;
  load.weight = cached.tariff.weight;
  double startup = 0;
  for (int port = 0; port < kNumPorts; ++port) {
    const PortPrice& price = is_intra(port) ? cached.tariff.intra : cached.tariff.inter;
    if (!price.used || !crosses(operation, place, port)) {
      continue;
    }
    const double size = bytes[port];
    const LawTime alone = price.time(size);
    startup = std::max(startup, alone.startup);
    if (traffic_.has_links() && (!price.measured || is_on_links(cached, price))) {
      continue;  // the links say what it takes
    }
    const Time time = checked_time(alone.transfer, to_string(operation));
    if (price.bottleneck == BottleneckPlace::kPrivate) {
      load.of_its_own = std::max(load.of_its_own, time);
    } else {
      load.load[port] = time;
    }
    if (price.bottleneck == BottleneckPlace::kLink) {
      note(fmt::format(
          "{}: its time is taken to be spent on the GPU's port: which part of it goes to "
          "{} is not known here",
          describe(price.entry->operation, price.entry->span),
          visible_in_line(price.entry->bottleneck_link)));
    }
    note_extrapolation(price, size, cached);
  }
  load.startup = checked_time(startup, to_string(operation));
  return load;
}

// No two members' messages are faster than the profile says: the largest ends no earlier, whoever
// else is there.
void CollectiveCosts::limit_messages(CollectiveLoad& load,
                                     const Tariff& tariff,
                                     const FlowStep& step,
                                     const Task& task,
                                     const Member& member) const {
  const double near_rate = tariff.intra.used ? tariff.intra.peer_bytes_per_second : 0;
  const double far_rate = tariff.inter.used ? tariff.inter.peer_bytes_per_second : 0;
  if (near_rate <= 0 && far_rate <= 0) {
    return;
  }
  const LargestMessages largest = traffic_.largest(task, step, member);
  const double near = near_rate > 0 ? largest.near / near_rate : 0;
  const double far = far_rate > 0 ? largest.far / far_rate : 0;
  load.of_its_own = std::max(load.of_its_own, checked_time(std::max(near, far), task.name));
}

CollectiveCosts::CachedTariff& CollectiveCosts::tariff(CollectiveOperation operation,
                                                       Algorithm algorithm,
                                                       MemberPlace place) const {
  for (CachedTariff& cached : tariffs_) {
    if (cached.operation == operation && cached.algorithm == algorithm && cached.place == place) {
      return cached;
    }
  }
  const bool is_default =
      resolved(operation, algorithm) == resolved(operation, Algorithm::kDefault);
  Tariff made = is_default ? make_tariff(*profile_, *cluster_, operation, place)
                           : make_wire_tariff(*profile_, *cluster_, operation, algorithm, place);
  for (const std::string& assumption : made.assumptions) {
    note(assumption);
  }
  return tariffs_.emplace_back(CachedTariff{operation, algorithm, place, std::move(made)});
}

void CollectiveCosts::note(const std::string& assumption) const {
  if (std::find(assumptions_.begin(), assumptions_.end(), assumption) == assumptions_.end()) {
    assumptions_.push_back(assumption);
  }
}

void CollectiveCosts::note_extrapolation(const PortPrice& price,
                                         double bytes,
                                         CachedTariff& cached) const {
  if (cached.extrapolated || !price.extrapolates(bytes)) {
    return;
  }
  cached.extrapolated = true;
  note(fmt::format("{}: measured from {} to {}; extrapolated beyond with the nearest slope",
                   describe(price.entry->operation, price.entry->span),
                   format_bytes(price.entry->points.front().size),
                   format_bytes(price.entry->points.back().size)));
}

// A time that is spent on links can be told from one entry only.
bool CollectiveCosts::may_be_on_links(const CachedTariff& cached, const PortPrice& price) const {
  const Tariff& tariff = cached.tariff;
  const bool is_one_entry =
      !tariff.intra.used || !tariff.inter.used || tariff.intra.entry == tariff.inter.entry;
  return traffic_.has_links() && price.entry != nullptr && is_one_entry;
}

bool CollectiveCosts::is_on_links(const CachedTariff& cached, const PortPrice& price) const {
  return price.bottleneck == BottleneckPlace::kLink && may_be_on_links(cached, price);
}

std::set<CollectiveCosts::MeasuredPart> CollectiveCosts::measured_parts(const Task& task,
                                                                        int phase) const {
  std::set<MeasuredPart> parts;
  const AlgorithmPlan& plan = this->plan(task);
  const auto& collective = std::get<Collective>(task.descriptor);
  std::set<MemberPlace> seen;
  for (const std::vector<int>& members : program_->groups[collective.group].members) {
    const MemberPlace place = places_of(*cluster_, members).front();
    if (!seen.insert(place).second || plan.phases[phase].place(place).size == 1) {
      continue;
    }
    const CachedTariff& cached = tariff_of(plan, phase, place);
    for (const PortPrice* price : {&cached.tariff.intra, &cached.tariff.inter}) {
      if (price->used && price->measured) {
        const bool is_intra = price == &cached.tariff.intra;
        const Span of_port = is_intra ? Span::kNode : Span::kFabric;
        parts.insert({.span = price->entry != nullptr ? price->entry->span : of_port,
                      .may_be_on_links = may_be_on_links(cached, *price)});
      }
    }
  }
  return parts;
}

CollectiveCosts::CachedTariff& CollectiveCosts::tariff_of(const AlgorithmPlan& plan,
                                                          int phase,
                                                          const MemberPlace& place) const {
  const Phase& part = plan.phases[phase];
  const Algorithm algorithm = part.among == Among::kAll ? plan.algorithm : Algorithm::kDefault;
  return tariff(part.operation, algorithm, part.place(place));
}

// The price of a phase that is spent on links, and by which share of the nominal bytes it goes.
std::optional<CollectiveCosts::PriceOnLinks> CollectiveCosts::price_on_links(const Task& task,
                                                                             int phase) const {
  if (!spends_on_links_) {
    return std::nullopt;
  }
  const AlgorithmPlan& plan = this->plan(task);
  const auto& collective = std::get<Collective>(task.descriptor);
  for (const std::vector<int>& members : program_->groups[collective.group].members) {
    const MemberPlace place = places_of(*cluster_, members).front();
    if (plan.phases[phase].place(place).size > 1) {
      const CachedTariff& cached = tariff_of(plan, phase, place);
      const PortPrice& price = cached.tariff.inter.used ? cached.tariff.inter : cached.tariff.intra;
      return is_on_links(cached, price)
                 ? std::optional(PriceOnLinks{&price, plan.phases[phase].share(place)})
                 : std::nullopt;
    }
  }
  return std::nullopt;
}

CollectiveCosts::LinkKey CollectiveCosts::link_key(const Task& task, int phase) const {
  const auto& collective = std::get<Collective>(task.descriptor);
  const std::optional<PriceOnLinks> spent = price_on_links(task, phase);
  const bool is_curved = spent && !spent->price->is_proportional();
  return {traffic_key(collective, plan(task).flow_step(phase)), is_curved ? collective.bytes : 0};
}

std::shared_ptr<const GroupLoads> CollectiveCosts::link_loads(const Task& task, int phase) const {
  if (!traffic_.has_links()) {
    return nullptr;
  }
  const FlowStep step = plan(task).flow_step(phase);
  const std::optional<PriceOnLinks> spent = price_on_links(task, phase);
  if (!spent) {
    return traffic_.link_loads(task, step);
  }
  const std::shared_ptr<const GroupLoads> plain = traffic_.link_loads(task, step);
  std::shared_ptr<const GroupLoads>& loads = at_bottlenecks_[{link_key(task, phase), plain.get()}];
  if (loads == nullptr) {
    const auto& collective = std::get<Collective>(task.descriptor);
    const CollectiveCost& entry = *spent->price->entry;
    const auto bytes = static_cast<double>(std::max<std::int64_t>(1, collective.bytes));
    const double per_byte = spent->price->seconds(spent->share * bytes) / bytes;
    const double factor =
        bottlenecks_->factor(entry, *traffic_.balanced_link_loads(task, step), per_byte);
    loads = bottlenecks_->multiplied(entry, *plain, factor);
    note(fmt::format("{}: its time is taken to be spent on {}, which others share",
                     describe(entry.operation, entry.span),
                     visible_in_line(entry.bottleneck_link)));
    if (factor < 1 - kEqualRates) {
      note(fmt::format("{}: {} is slower than what was measured and counts: {:.4g} times as long",
                       describe(entry.operation, entry.span),
                       visible_in_line(entry.bottleneck_link),
                       1 / factor));
    }
  }
  return loads;
}

std::vector<MemberFlow> CollectiveCosts::messages(const Task& task, int instance, int phase) const {
  return traffic_.messages(task, plan(task).flow_step(phase), instance);
}

}  // namespace moesim
