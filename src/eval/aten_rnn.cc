// ATen's recurrent layers and cells. Source: torch/_decomp/decompositions.py, lstm_impl, gru_impl and rnn_cell.
#include <cmath>

#include "eval/aten_matmul.h"
#include "eval/elementwise.h"
#include "eval/kernels.h"
#include "eval/movement.h"
#include "ir/status.h"

namespace tare {
namespace {

struct Layer {
  const Tensor *w_input = nullptr, *w_hidden = nullptr, *b_input = nullptr, *b_hidden = nullptr;
};

// State after each step; `cell` only for LSTM. Tensors are [batch, hidden].
struct State {
  Tensor hidden, cell;
};

float Sigmoid(float v) { return 1 / (1 + std::exp(-v)); }

// Gates of x: [batch, 4 hidden] in the order input, forget, cell, output.
absl::StatusOr<State> StepLstm(const KernelCall& call, const Tensor& from_input, const Layer& layer,
                               const State& state) {
  TARE_ASSIGN_OR_RETURN(const Tensor from_hidden, Linear(call, state.hidden, *layer.w_hidden, layer.b_hidden));
  State next;
  TARE_ASSIGN_OR_RETURN(next.hidden, call.Make(DType::kF32, state.hidden.shape()));
  TARE_ASSIGN_OR_RETURN(next.cell, call.Make(DType::kF32, state.cell.shape()));
  const int64_t n = state.hidden.extent(1);
  for (int64_t i = 0; i < state.hidden.size(); ++i) {
    const int64_t row = i / n * 4 * n + i % n;
    const auto gate = [&](int64_t k) {
      return from_input.data<float>()[row + k * n] + from_hidden.data<float>()[row + k * n];
    };
    const float cell = Sigmoid(gate(1)) * state.cell.data<float>()[i] + Sigmoid(gate(0)) * std::tanh(gate(2));
    next.cell.mutable_data<float>()[i] = cell;
    next.hidden.mutable_data<float>()[i] = Sigmoid(gate(3)) * std::tanh(cell);
  }
  return next;
}

// Gates: reset, update, new.
absl::StatusOr<State> StepGru(const KernelCall& call, const Tensor& from_input, const Layer& layer,
                              const State& state) {
  TARE_ASSIGN_OR_RETURN(const Tensor from_hidden, Linear(call, state.hidden, *layer.w_hidden, layer.b_hidden));
  State next;
  TARE_ASSIGN_OR_RETURN(next.hidden, call.Make(DType::kF32, state.hidden.shape()));
  const int64_t n = state.hidden.extent(1);
  for (int64_t i = 0; i < state.hidden.size(); ++i) {
    const int64_t row = i / n * 3 * n + i % n;
    const float* x = from_input.data<float>().data() + row;
    const float* h = from_hidden.data<float>().data() + row;
    const float reset = Sigmoid(x[0] + h[0]), update = Sigmoid(x[n] + h[n]);
    const float fresh = std::tanh(x[2 * n] + reset * h[2 * n]);
    next.hidden.mutable_data<float>()[i] = (state.hidden.data<float>()[i] - fresh) * update + fresh;
  }
  return next;
}

template <bool kRelu>
absl::StatusOr<State> StepRnn(const KernelCall& call, const Tensor& from_input, const Layer& layer,
                              const State& state) {
  TARE_ASSIGN_OR_RETURN(const Tensor from_hidden, Linear(call, state.hidden, *layer.w_hidden, layer.b_hidden));
  State next;
  TARE_ASSIGN_OR_RETURN(next.hidden, call.Make(DType::kF32, state.hidden.shape()));
  for (int64_t i = 0; i < state.hidden.size(); ++i) {
    const float sum = from_input.data<float>()[i] + from_hidden.data<float>()[i];
    next.hidden.mutable_data<float>()[i] = kRelu ? std::fmax(sum, 0.0f) : std::tanh(sum);
  }
  return next;
}

using Step = absl::StatusOr<State> (*)(const KernelCall&, const Tensor&, const Layer&, const State&);

// One direction of one layer over [time, batch, features]: [time, batch, hidden], and the last state.
struct Pass {
  Tensor outputs;
  State last;
};
absl::StatusOr<Pass> RunLayer(const KernelCall& call, Step step, const Tensor& x, const Layer& layer, State state,
                              bool backwards) {
  TARE_ASSIGN_OR_RETURN(const Tensor gates, Linear(call, x, *layer.w_input, layer.b_input));
  const int64_t times = x.extent(0);
  std::vector<Tensor> outputs(times);
  for (int64_t t = 0; t < times; ++t) {
    const int64_t at = backwards ? times - 1 - t : t;
    const Extents start = {at, 0, 0}, size = {1, gates.extent(1), gates.extent(2)}, ones = {1, 1, 1};
    TARE_ASSIGN_OR_RETURN(const Tensor now, Sliced(call, gates, start, size, ones));
    TARE_ASSIGN_OR_RETURN(state, step(call, now.Reshaped(Extents{gates.extent(1), gates.extent(2)}), layer, state));
    outputs[at] = state.hidden.Reshaped(Extents{1, state.hidden.extent(0), state.hidden.extent(1)});
  }
  std::vector<const Tensor*> parts;
  for (const Tensor& output : outputs) parts.push_back(&output);
  Pass pass;
  TARE_ASSIGN_OR_RETURN(pass.outputs, Concatenated(call, parts, 0));
  pass.last = state;
  return pass;
}

absl::StatusOr<Tensor> Swapped(const KernelCall& call, const Tensor& x) { return Permuted(call, x, Extents{1, 0, 2}); }

// Layer k of a state [layers x directions, batch, hidden].
absl::StatusOr<Tensor> StateOf(const KernelCall& call, const Tensor& x, int64_t k) {
  const Extents start = {k, 0, 0}, size = {1, x.extent(1), x.extent(2)}, ones = {1, 1, 1};
  TARE_ASSIGN_OR_RETURN(const Tensor part, Sliced(call, x, start, size, ones));
  return part.Reshaped(Extents{x.extent(1), x.extent(2)});
}

absl::StatusOr<Tensor> Stacked(const KernelCall& call, std::vector<Tensor> states) {
  std::vector<const Tensor*> parts;
  for (Tensor& state : states) {
    state = state.Reshaped(Extents{1, state.extent(0), state.extent(1)});
    parts.push_back(&state);
  }
  return Concatenated(call, parts, 0);
}

enum class Cell : uint8_t { kLstm, kGru, kTanh, kRelu };
constexpr Step kSteps[] = {StepLstm, StepGru, StepRnn<false>, StepRnn<true>};
constexpr int64_t kGates[] = {4, 3, 1, 1};

template <Cell kCell>
absl::StatusOr<Value> Rnn(KernelCall& call) {
  constexpr bool kLstm = kCell == Cell::kLstm;
  const auto wrong = [&] { return InvalidError("eval_c16", call.op_name(), ": operands do not go together"); };
  Tensor x = call.tensor("input");
  std::vector<const Tensor*> initial;
  if constexpr (kLstm) {
    initial = call.tensors("hx");
  } else {
    initial = {&call.tensor("hx")};
  }
  const std::vector<const Tensor*> params = call.tensors("params");
  const bool biases = call.flag("has_biases"), both = call.flag("bidirectional"),
             batch_first = call.flag("batch_first");
  const bool train = call.flag("train");
  const int64_t layers = call.integer("num_layers");
  const double dropout = call.real("dropout");
  TARE_RETURN_IF_ERROR(call.status());
  if (train && dropout != 0) return UnimplementedError("eval_c19", call.op_name(), " with dropout is random");
  const int64_t directions = both ? 2 : 1;
  const size_t each = biases ? 4 : 2;
  constexpr int64_t kRowsOfGates = kGates[static_cast<int>(kCell)];
  const bool complete = layers >= 1 && layers <= INT32_MAX &&
                        params.size() / each == static_cast<size_t>(layers * directions) && params.size() % each == 0 &&
                        initial.size() == (kLstm ? 2 : 1);
  if (!complete || x.rank() != 3 || x.dtype() != DType::kF32 || x.size() == 0) return wrong();
  for (const Tensor* t : params) {
    if (t == nullptr || t->dtype() != DType::kF32) return wrong();
  }
  if (batch_first) {
    TARE_ASSIGN_OR_RETURN(x, Swapped(call, x));
  }
  for (const Tensor* t : initial) {
    if (t == nullptr || t->rank() != 3 || t->dtype() != DType::kF32 || t->extent(0) != layers * directions ||
        t->extent(1) != x.extent(1))
      return wrong();
  }
  const int64_t hidden = initial[0]->extent(2);
  if (kLstm && initial[1]->extent(2) != hidden)
    return UnimplementedError("eval_c19", call.op_name(), " with projections");
  std::vector<Tensor> last_hidden, last_cell;
  for (int64_t l = 0; l < layers; ++l) {
    Pass passes[2];
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t k = l * directions + d;
      const Tensor* const* p = params.data() + k * each;
      Layer layer = {p[0], p[1], biases ? p[2] : nullptr, biases ? p[3] : nullptr};
      if (p[0]->rank() != 2 || p[0]->extent(0) != kRowsOfGates * hidden || p[1]->rank() != 2 ||
          p[1]->extent(0) != kRowsOfGates * hidden)
        return wrong();
      State state;
      TARE_ASSIGN_OR_RETURN(state.hidden, StateOf(call, *initial[0], k));
      if constexpr (kLstm) {
        TARE_ASSIGN_OR_RETURN(state.cell, StateOf(call, *initial[1], k));
      }
      TARE_ASSIGN_OR_RETURN(passes[d], RunLayer(call, kSteps[static_cast<int>(kCell)], x, layer, state, d == 1));
      last_hidden.push_back(passes[d].last.hidden);
      if constexpr (kLstm) last_cell.push_back(passes[d].last.cell);
    }
    x = passes[0].outputs;
    if (both) {
      const Tensor* const parts[] = {&passes[0].outputs, &passes[1].outputs};
      TARE_ASSIGN_OR_RETURN(x, Concatenated(call, parts, 2));
    }
  }
  if (batch_first) {
    TARE_ASSIGN_OR_RETURN(x, Swapped(call, x));
  }
  TARE_ASSIGN_OR_RETURN(Tensor h, Stacked(call, last_hidden));
  std::vector<Value> results = {Value(x), Value(std::move(h))};
  if constexpr (kLstm) {
    TARE_ASSIGN_OR_RETURN(Tensor c, Stacked(call, last_cell));
    results.emplace_back(std::move(c));
  }
  return Value::List(std::move(results));
}

// One step of [batch, features].
template <Cell kCell>
absl::StatusOr<Value> OneStep(KernelCall& call) {
  constexpr int64_t kRowsOfGates = kGates[static_cast<int>(kCell)];
  const auto wrong = [&] { return InvalidError("eval_c16", call.op_name(), ": operands do not go together"); };
  const Tensor& x = call.tensor("input");
  std::vector<const Tensor*> initial;
  if constexpr (kCell == Cell::kLstm) {
    initial = call.tensors("hx");
  } else {
    initial = {&call.tensor("hx")};
  }
  const Layer layer = {&call.tensor("w_ih"), &call.tensor("w_hh"), call.optional_tensor("b_ih"),
                       call.optional_tensor("b_hh")};
  TARE_RETURN_IF_ERROR(call.status());
  for (const Tensor* t : {layer.w_input, layer.w_hidden})
    if (t->rank() != 2 || t->dtype() != DType::kF32) return wrong();
  const int64_t hidden = layer.w_hidden->extent(1);
  for (const Tensor* t : {layer.b_input, layer.b_hidden})
    if (t != nullptr && (t->rank() != 1 || t->dtype() != DType::kF32 || t->size() != kRowsOfGates * hidden))
      return wrong();
  if (x.rank() != 2 || x.dtype() != DType::kF32 || x.extent(1) != layer.w_input->extent(1) ||
      layer.w_input->extent(0) != kRowsOfGates * hidden || layer.w_hidden->extent(0) != kRowsOfGates * hidden ||
      initial.size() != (kCell == Cell::kLstm ? 2u : 1u))
    return wrong();
  for (const Tensor* t : initial) {
    if (t == nullptr || t->dtype() != DType::kF32 || t->rank() != 2 || t->extent(0) != x.extent(0) ||
        t->extent(1) != hidden)
      return wrong();
  }
  State state{*initial[0], initial.size() == 2 ? *initial[1] : Tensor()};
  TARE_ASSIGN_OR_RETURN(const Tensor gates, Linear(call, x, *layer.w_input, layer.b_input));
  TARE_ASSIGN_OR_RETURN(state, kSteps[static_cast<int>(kCell)](call, gates, layer, state));
  if constexpr (kCell != Cell::kLstm) return Value(state.hidden);
  return Value::List({Value(state.hidden), Value(state.cell)});
}

constexpr KernelRow kRows[] = {
    {"aten.gru.input", Rnn<Cell::kGru>},       {"aten.gru_cell.default", OneStep<Cell::kGru>},
    {"aten.lstm.input", Rnn<Cell::kLstm>},     {"aten.lstm_cell.default", OneStep<Cell::kLstm>},
    {"aten.rnn_relu.input", Rnn<Cell::kRelu>}, {"aten.rnn_relu_cell.default", OneStep<Cell::kRelu>},
    {"aten.rnn_tanh.input", Rnn<Cell::kTanh>}, {"aten.rnn_tanh_cell.default", OneStep<Cell::kTanh>},
};

}  // namespace

std::span<const KernelRow> AtenRnnKernels() { return kRows; }

}  // namespace tare
