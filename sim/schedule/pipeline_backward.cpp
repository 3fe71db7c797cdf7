#include <utility>

#include "sim/schedule/pipeline.h"
#include "sim/schedule/task_kinds.h"

namespace moesim {

int Pipeline::backward(int d_output) {
  layers_ = std::move(kept_.extract(program_.part()).mapped());
  layers_.back().d_output = d_output;
  held_back_.clear();
  reduced_rows_ = 0;
  num_reductions_ = 0;
  issue_backward();
  return layers_.front().attention->input_gradient();
}

// The mirror of forward, with the units in reverse.
void Pipeline::issue_backward() {
  const int last_layer = num_layers() - 1;
  begin_backward(last_layer);
  for (int unit = num_units_ - 1; unit >= 0; --unit) {
    backward_open(last_layer, unit);
  }
  for (int step = 0; step < num_layers() * num_units_ + lag(); ++step) {
    backward_step(step);
    const int behind = step - lag();
    if (behind < 0) {
      continue;
    }
    const int index = last_layer - behind / num_units_;
    const int unit = num_units_ - 1 - behind % num_units_;
    backward_attention(index, unit);
    if (unit == 0) {
      reduce_gradient(streams_.inter, {Pass::kBackward, index}, slots(index).after, {});
    }
    if (index > 0) {
      if (unit == num_units_ - 1) {
        begin_backward(index - 1);
      }
      backward_open(index - 1, unit);
    }
  }
  const int rest = num_layers() * program_.sizes().attention_weight_rows() - reduced_rows_;
  reduce_gradient(streams_.inter, {Pass::kBackward, 0}, {rest}, {});
}

// One unit of one layer, from its experts to the gradient of its tokens.
void Pipeline::backward_step(int step) {
  const int index = num_layers() - 1 - step / num_units_;
  if (index < 0) {
    return;
  }
  const int unit = num_units_ - 1 - step % num_units_;
  MoeUnit& moe = layers_[static_cast<size_t>(index)].units[static_cast<size_t>(unit)];
  issue_experts(moe);
  const int last_combine = issue_combines(moe);
  if (unit == 0) {
    fill_dense_slot(index, last_combine);
  }
  backward_tokens(index, unit);
}

void Pipeline::begin_backward(int index) {
  if (program_.model().recompute == Recompute::kFull) {
    recompute(index);
  }
  layers_[static_cast<size_t>(index)].d_attention =
      program_.add_tokens(program_.layer_prefix(index) + "d_attention");
}

// The whole forward pass of a layer that kept only its input, up to the combined buffers.
void Pipeline::recompute(int index) {
  Layer& kept = layers_[static_cast<size_t>(index)];
  Layer again = make_layer(index, Pass::kRecompute, kept.input);
  again.output = kept.output;
  again.d_output = kept.d_output;
  for (int unit = 0; unit < num_units_; ++unit) {
    attend(again, unit);
    open(again, {Pass::kRecompute, index}, unit);
  }
  for (MoeUnit& unit : again.units) {
    issue_experts(unit);
    issue_combines(unit);
  }
  kept = std::move(again);
}

void Pipeline::backward_open(int index, int unit) {
  Layer& layer = layers_[static_cast<size_t>(index)];
  const Place place{Pass::kBackward, index};
  if (index + 1 < num_layers()) {
    layer.d_output = layers_[static_cast<size_t>(index) + 1].attention->input_gradient();
  }
  const Region d_result =
      token_region(program_.layer_prefix(index) + "d_result", layer.d_output, unit);
  scatter_tokens(place, layer.d_output, d_result, unit);
  MoeUnit& moe = layer.units[static_cast<size_t>(unit)];
  moe.unorder_backward(d_result, moe_degree(index, Pass::kBackward));
  const bool last_unit = unit == 0;
  issue_dispatches(moe, last_unit ? slots(index).region : std::vector<int>{}, place);
  if (program_.model().recompute == Recompute::kSelective) {
    moe.recompute_hidden();
  }
}

void Pipeline::backward_tokens(int index, int unit) {
  Layer& layer = layers_[static_cast<size_t>(index)];
  const Region d_tokens =
      token_region(program_.layer_prefix(index) + "d_tokens", layer.d_attention, unit);
  layer.units[static_cast<size_t>(unit)].route_backward(d_tokens);
  gather_tokens({Pass::kBackward, index}, d_tokens, layer.d_attention, unit);
}

void Pipeline::backward_attention(int index, int unit) {
  Layer& layer = layers_[static_cast<size_t>(index)];
  const bool first_unit = unit == num_units_ - 1;
  if (first_unit && program_.model().recompute == Recompute::kSelective) {
    for (int chunk = 0; chunk < degrees_.non_moe; ++chunk) {
      layer.attention->recompute(sequence_range(chunk), sequence_label(chunk));
    }
  }
  const int chunks = attention_chunks();
  for (int chunk = (unit + 1) * chunks - 1; chunk >= unit * chunks; --chunk) {
    layer.attention->backward(layer.d_attention, sequence_range(chunk), sequence_label(chunk));
  }
}

// With one communication at a time the slot has a stream of its own beside attention and its mp
// collectives: it begins when the MoE region is over, and the next one waits for it.
void Pipeline::fill_dense_slot(int index, int last_combine) {
  const std::vector<int>& slices = slots(index).dense;
  const Place place{Pass::kBackward, index};
  if (slices.empty() || policy_.overlap_intra_with_inter) {
    reduce_gradient(streams_.inter, place, slices, {});
    return;
  }
  std::vector<int> order_only;
  if (last_combine != kNone) {
    order_only.push_back(last_combine);
  }
  held_back_ = reduce_gradient(program_.stream("gradient"), place, slices, order_only);
}

// AllReduces over dp of the next rows of the flat dense gradient, which is complete once the last
// micro-batch has added its part; returns the tasks.
std::vector<int> Pipeline::reduce_gradient(int stream,
                                           const Place& place,
                                           const std::vector<int>& slices,
                                           const std::vector<int>& order_only) {
  std::vector<int> tasks;
  if (!program_.is_last_micro_batch() || program_.scenario().parallel.dp == 1) {
    return tasks;
  }
  for (const int count : slices) {
    if (count == 0) {
      continue;
    }
    const Region slice = program_.rows(program_.dense().gradient, reduced_rows_, count);
    reduced_rows_ += count;
    const Collective all_reduce{CollectiveOperation::kAllReduce, program_.groups().dp};
    Task task = move_task(all_reduce, slice, slice);
    task.order_only = order_only;
    const Place at{place.pass, place.layer, num_reductions_++};
    tasks.push_back(program_.add_task(task_kind::kGradientAllReduce, stream, at, std::move(task)));
  }
  return tasks;
}

}  // namespace moesim
