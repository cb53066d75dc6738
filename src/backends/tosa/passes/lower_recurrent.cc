#include <algorithm>
#include <limits>
#include <optional>

#include "backends/tosa/affine.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/math.h"
#include "backends/tosa/tosa_passes.h"
#include "backends/tosa/tosa_rewrite.h"

namespace tare {
namespace {

enum class Cell : uint8_t { kLstm, kGru, kTanh, kRelu };

struct CellRow {
  std::string_view op;
  Cell cell;
  int64_t gates;
  bool one_step = false;
};

constexpr CellRow kRows[] = {
    {"aten.gru.input", Cell::kGru, 3},       {"aten.gru_cell.default", Cell::kGru, 3, true},
    {"aten.lstm.input", Cell::kLstm, 4},     {"aten.lstm_cell.default", Cell::kLstm, 4, true},
    {"aten.rnn_relu.input", Cell::kRelu, 1}, {"aten.rnn_relu_cell.default", Cell::kRelu, 1, true},
    {"aten.rnn_tanh.input", Cell::kTanh, 1}, {"aten.rnn_tanh_cell.default", Cell::kTanh, 1, true},
};

// Steps of one unrolled op. Everything is [rows, 1, 1, channels]: a product with a weight is a CONV2D there.
class Unroller {
 public:
  Unroller(Emitter& emit, const CellRow& row, int64_t batch, int64_t hidden)
      : emit_(emit), math_(emit), row_(row), batch_(batch), hidden_(hidden) {}

  Node Linear(Node x, Node weight, Node bias) {
    const std::vector<int64_t> shape = emit_.ShapeOf(weight);
    if (!emit_.ok()) return Node();
    const int64_t n = shape[0], k = shape[1];
    if (!bias.has_value())
      bias = emit_.Floats("zero_bias", DType::kF32, std::vector<int64_t>{n},
                          std::vector<float>(static_cast<size_t>(n), 0.0f));
    return emit_.Insert(emit_.ops().conv2d, {{"input", x},
                                             {"weight", emit_.Reshape(weight, std::vector<int64_t>{n, 1, 1, k})},
                                             {"bias", bias},
                                             {"stride", std::vector<int64_t>{1, 1}},
                                             {"pad", std::vector<int64_t>{0, 0, 0, 0}},
                                             {"dilation", std::vector<int64_t>{1, 1}}});
  }

  // The state after step `t`; `projected` has the inputs of all steps times their weight, in rows.
  struct State {
    Node h, c;
  };
  State Step(Node projected, int64_t t, State state, Node weight, Node bias) {
    const Node x = Part(projected, 0, t * batch_, batch_), h = Linear(state.h, weight, bias);
    if (row_.cell == Cell::kGru) return {Gru(x, h, state.h), Node()};
    const Node sum = math_.Add(x, h);
    if (row_.cell == Cell::kTanh) return {math_.Unary("TANH", sum), Node()};
    if (row_.cell == Cell::kRelu) return {math_.Clamp(sum, 0, std::numeric_limits<double>::infinity()), Node()};
    // Gates in the order input, forget, cell, output.
    const Node in = math_.Unary("SIGMOID", Gate(sum, 0, 1)), forget = math_.Unary("SIGMOID", Gate(sum, 1, 1)),
               cell = math_.Unary("TANH", Gate(sum, 2, 1)), out = math_.Unary("SIGMOID", Gate(sum, 3, 1));
    const Node c = math_.Add(math_.Mul(forget, state.c), math_.Mul(in, cell));
    return {math_.Mul(out, math_.Unary("TANH", c)), c};
  }

  Node Part(Node x, size_t axis, int64_t first, int64_t count) {
    std::vector<int64_t> size = emit_.ShapeOf(x), start(size.size(), 0);
    if (!emit_.ok()) return Node();
    start[axis] = first;
    size[axis] = count;
    return emit_.Slice(x, start, size);
  }

 private:
  Node Gate(Node x, int64_t first, int64_t count) { return Part(x, 3, first * hidden_, count * hidden_); }

  // Gates in the order reset, update, new: n = tanh(x_n + r * h_n), h' = n + z * (h - n).
  Node Gru(Node x, Node h, Node state) {
    const Node both = math_.Unary("SIGMOID", math_.Add(Gate(x, 0, 2), Gate(h, 0, 2)));
    const Node fresh = math_.Unary("TANH", math_.Add(Gate(x, 2, 1), math_.Mul(Gate(both, 0, 1), Gate(h, 2, 1))));
    return math_.Add(fresh, math_.Mul(Gate(both, 1, 1), math_.Sub(state, fresh)));
  }

  Emitter& emit_;
  TensorMath math_;
  const CellRow& row_;
  int64_t batch_, hidden_;
};

// Writes recurrent layers step by step, and the cells that are one step.
//
// All inputs of a layer are multiplied with their weight at once, each state with its own; layers, directions and
// batches as ATen has them. Weights of projected states (proj_size) are refused, so is dropout in training.
// Source of the formulas: the documentation of torch.nn.LSTM, GRU and RNN.
class LowerRecurrent final : public TosaTableRewrite<const CellRow*> {
 public:
  explicit LowerRecurrent(const Context& context) : TosaTableRewrite("lower-recurrent", context) {
    for (const CellRow& row : kRows) Add(context.ops.Find(row.op), &row);
  }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const CellRow& row = *RowOf(node);
    if (row.one_step) return RewriteStep(row, node, rw);
    const Node x = node.arg("input");
    std::vector<Node> states = row.cell == Cell::kLstm ? node.arg_list("hx") : std::vector<Node>{node.arg("hx")};
    const std::vector<Node> params = node.arg_list("params");
    const bool biases = node.flag("has_biases").value_or(false), both = node.flag("bidirectional").value_or(false),
               batch_first = node.flag("batch_first").value_or(false);
    const int64_t layers = node.integer("num_layers").value_or(0), directions = both ? 2 : 1;
    const size_t each = biases ? 4 : 2;
    if (node.flag("train").value_or(false) && node.number("dropout").value_or(0) != 0) return absl::OkStatus();
    if (!x.has_value() || !x.is_tensor() || x.tensor().dtype != DType::kF32 || qdq_.IsDequantize(x.op()) ||
        layers < 1 || layers > 1024 || params.size() != each * static_cast<size_t>(layers * directions) ||
        states.size() != (row.cell == Cell::kLstm ? 2u : 1u))
      return absl::OkStatus();
    for (const Node user : node.users())
      if (user.op() != op::getitem || !user.integer("index").has_value()) return absl::OkStatus();

    Emitter emit(rw, ops_, node);
    const std::vector<int64_t> in = emit.ShapeOf(x), state_shape = emit.ShapeOf(states[0]);
    if (!emit.ok() || in.size() < 2 || in.size() > 3 || state_shape.size() != in.size()) return absl::OkStatus();
    const bool batched = in.size() == 3;
    const int64_t steps = batched ? in[batch_first ? 1 : 0] : in[0], batch = batched ? in[batch_first ? 0 : 1] : 1,
                  hidden = state_shape.back();
    const std::vector<int64_t> weights = emit.ShapeOf(params[1]);
    if (!emit.ok() || steps < 1 || weights != std::vector<int64_t>{row.gates * hidden, hidden}) return absl::OkStatus();

    Unroller unroll(emit, row, batch, hidden);
    Node rows = x;
    if (batched && batch_first) rows = emit.Transpose(rows, std::vector<int64_t>{1, 0, 2});
    rows = emit.Reshape(rows, std::vector<int64_t>{steps * batch, 1, 1, in.back()});
    std::vector<Node> last_h, last_c, outputs;
    for (Node& state : states)
      state = emit.Reshape(state, std::vector<int64_t>{layers * directions * batch, 1, 1, hidden});
    for (int64_t layer = 0; layer < layers && emit.ok(); ++layer) {
      std::vector<std::vector<Node>> found;
      for (int64_t d = 0; d < directions; ++d) {
        const int64_t at = layer * directions + d;
        const Node* p = &params[each * static_cast<size_t>(at)];
        const Node projected = unroll.Linear(rows, p[0], biases ? p[2] : Node());
        Unroller::State state{unroll.Part(states[0], 0, at * batch, batch), Node()};
        if (row.cell == Cell::kLstm) state.c = unroll.Part(states[1], 0, at * batch, batch);
        std::vector<Node> made(static_cast<size_t>(steps));
        for (int64_t i = 0; i < steps && emit.ok(); ++i) {
          const int64_t t = d == 0 ? i : steps - 1 - i;
          state = unroll.Step(projected, t, state, p[1], biases ? p[3] : Node());
          made[static_cast<size_t>(t)] = state.h;
        }
        last_h.push_back(state.h);
        last_c.push_back(state.c);
        found.push_back(std::move(made));
      }
      // Results of one step side by side, then the steps: in rows for the next layer, along dim 1 when the batch is
      // first in what comes out.
      const bool last = layer + 1 == layers;
      std::vector<Node> sides;
      for (const std::vector<Node>& made : found)
        sides.push_back(emit.Concat(made, last && batched && batch_first ? 1 : 0));
      rows = emit.Concat(sides, 3);
    }
    for (const Node user : node.users()) {
      const int64_t index = *user.integer("index");
      Node value = rows;
      if (index == 1) value = emit.Concat(last_h, 0);
      if (index == 2) value = emit.Concat(last_c, 0);
      if (index < 0 || index > 2 || !value.has_value()) return absl::OkStatus();
      outputs.push_back(emit.Reshape(value, emit.ShapeOf(user)));
    }
    const std::vector<Node> users = node.users();
    for (size_t i = 0; i < users.size(); ++i)
      if (emit.ok()) emit.Replace(users[i], outputs[i]);
    return emit.Finish();
  }

 private:
  absl::Status RewriteStep(const CellRow& row, Node node, Rewriter& rw) const {
    const Node x = node.arg("input"), w_input = node.arg("w_ih"), w_hidden = node.arg("w_hh");
    const std::vector<Node> states = row.cell == Cell::kLstm ? node.arg_list("hx") : std::vector<Node>{node.arg("hx")};
    if (!x.has_value() || !x.is_tensor() || x.tensor().dtype != DType::kF32 || qdq_.IsDequantize(x.op()) ||
        states.size() != (row.cell == Cell::kLstm ? 2u : 1u) || !w_input.has_value() || !w_hidden.has_value())
      return absl::OkStatus();
    for (const Node user : node.users())
      if (!node.is_tensor() && (user.op() != op::getitem || !user.integer("index").has_value()))
        return absl::OkStatus();
    Emitter emit(rw, ops_, node);
    const std::vector<int64_t> in = emit.ShapeOf(x), weights = emit.ShapeOf(w_hidden);
    if (!emit.ok() || in.size() != 2 || weights.size() != 2 || weights[0] != row.gates * weights[1])
      return absl::OkStatus();
    const int64_t batch = in[0], hidden = weights[1];
    Unroller unroll(emit, row, batch, hidden);
    const std::vector<int64_t> state_shape = {batch, 1, 1, hidden};
    const Node rows = emit.Reshape(x, std::vector<int64_t>{batch, 1, 1, in[1]});
    const Node projected = unroll.Linear(rows, w_input, node.arg("b_ih"));
    Unroller::State state{emit.Reshape(states[0], state_shape), Node()};
    if (row.cell == Cell::kLstm) state.c = emit.Reshape(states[1], state_shape);
    state = unroll.Step(projected, 0, state, w_hidden, node.arg("b_hh"));
    const std::vector<Node> users = node.is_tensor() ? std::vector<Node>{node} : node.users();
    for (const Node user : users) {
      const Node value = user.op() == op::getitem && *user.integer("index") == 1 ? state.c : state.h;
      if (!emit.ok() || !value.has_value()) break;
      const Node shaped = emit.Reshape(value, emit.ShapeOf(user));
      if (emit.ok()) emit.Replace(user, shaped);
    }
    return emit.Finish();
  }
};

}  // namespace

absl::StatusOr<Pass> MakeLowerRecurrent(Context& context, const PassOptions& options) {
  return MakeRewrite<LowerRecurrent>(context, options);
}

}  // namespace tare
