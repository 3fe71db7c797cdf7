#include "sim/collective/exchange_flows.h"

#include "sim/base/check.h"
#include "sim/collective/hit_chance.h"

namespace moesim {
namespace {

void direct(const Seating& seating, const Sent& sent, const VisitFlow& visit) {
  for (int from = 0; from < seating.size(); ++from) {
    for (int to = 0; to < seating.size(); ++to) {
      if (from != to) {
        visit({from, to, sent(from, to)});
      }
    }
  }
}

void to_neighbours(const Seating& seating, const Sent& sent, const VisitFlow& visit) {
  for (int from = 0; from < seating.size(); ++from) {
    const std::vector<int>& here = seating.on_node[seating.node[from]];
    std::vector<double> passed(here.size());
    for (int to = 0; to < seating.size(); ++to) {
      passed[static_cast<std::size_t>(seating.place[to]) % here.size()] += sent(from, to);
    }
    for (std::size_t place = 0; place < here.size(); ++place) {
      if (here[place] != from) {
        visit({from, here[place], passed[place]});
      }
    }
  }
}

void to_other_nodes(const Seating& seating, const Sent& sent, const VisitFlow& visit) {
  for (int node = 0; node < seating.num_nodes(); ++node) {
    for (int to = 0; to < seating.size(); ++to) {
      if (seating.node[to] == node) {
        continue;
      }
      double collected = 0;
      for (const int from : seating.on_node[node]) {
        collected += sent(from, to);
      }
      visit({seating.relay(node, to), to, collected});
    }
  }
}

// What one owner of tokens sends.
void dispatch(int owner,
              const std::vector<double>& rows,
              const Collective& collective,
              const Seating& seating,
              const VisitFlow& visit) {
  const HitChances chances =
      hit_chances(rows, seating.on_node, collective.num_experts, collective.top_k);
  double tokens = 0;
  for (const double count : rows) {
    tokens += count / collective.top_k;
  }
  for (int node = 0; node < seating.num_nodes(); ++node) {
    const bool at_home = node == seating.node[owner];
    const int relay = at_home ? owner : seating.relay(node, owner);
    if (!at_home) {
      visit({owner, relay, tokens * chances.of_node[node]});
    }
    for (const int member : seating.on_node[node]) {
      if (member != relay) {
        visit({relay, member, tokens * chances.of_member[member]});
      }
    }
  }
}

void deduplicated(const Collective& collective,
                  const Seating& seating,
                  const Sent& sent,
                  const VisitFlow& visit) {
  CHECK(collective.top_k > 0 && collective.num_experts >= collective.top_k);
  const VisitFlow back = [&visit](const MemberFlow& flow) {
    visit({flow.to, flow.from, flow.share});
  };
  for (int owner = 0; owner < seating.size(); ++owner) {
    std::vector<double> rows;
    for (int other = 0; other < seating.size(); ++other) {
      rows.push_back(collective.combine ? sent(other, owner) : sent(owner, other));
    }
    dispatch(owner, rows, collective, seating, collective.combine ? back : visit);
  }
}

}  // namespace

void exchange_flows(const Collective& collective,
                    const FlowStep& step,
                    const Seating& seating,
                    const Sent& sent,
                    const VisitFlow& visit) {
  const VisitFlow visit_if_any = [&visit](const MemberFlow& flow) {
    if (flow.share > 0) {
      visit(flow);
    }
  };
  if (step.algorithm == Algorithm::kDeduplicated) {
    deduplicated(collective, seating, sent, visit_if_any);
  } else if (step.algorithm != Algorithm::kHierarchical) {
    direct(seating, sent, visit_if_any);
  } else {
    if (step.phase != 1) {
      to_neighbours(seating, sent, visit_if_any);
    }
    if (step.phase != 0) {
      to_other_nodes(seating, sent, visit_if_any);
    }
  }
}

}  // namespace moesim
