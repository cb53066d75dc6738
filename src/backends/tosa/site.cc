#include "backends/tosa/site.h"

#include <algorithm>
#include <cmath>

#include "backends/tosa/constants.h"
#include "ir/status.h"

namespace tare {
namespace {

// [low, high] of a clamp, unbounded where it says nothing.
std::pair<double, double> BoundsOf(Node clamp) {
  return {clamp.number("min").value_or(-INFINITY), clamp.number("max").value_or(INFINITY)};
}

// The quantize users of `node`; nothing when there are none or some user is another op.
std::optional<std::vector<SiteOutput>> QuantizeUsers(const QdqOps& qdq, Rewriter& rw, Node node) {
  std::vector<SiteOutput> outputs;
  for (const Node user : node.users()) {
    if (!qdq.IsQuantize(user.op()) || !(user.arg("input") == node)) return std::nullopt;
    std::optional<Affine> q = qdq.Read(rw.context(), user);
    if (!q.has_value() || !q->per_tensor()) return std::nullopt;
    outputs.push_back({user, std::move(q)});
  }
  if (outputs.empty()) return std::nullopt;
  return outputs;
}

}  // namespace

std::optional<Site> SiteOf(const QdqOps& qdq, Rewriter& rw, Node node, std::span<const Node> arguments,
                           SiteReach reach) {
  Site site;
  int quantised = 0, plain = 0;
  for (const Node argument : arguments) {
    SiteInput input{argument};
    if (argument.has_value() && qdq.IsDequantize(argument.op())) {
      input.q = qdq.Read(rw.context(), argument);
      if (!input.q.has_value()) {
        rw.Refuse(node, UnimplementedError("tosa_lower_c13", "the quantisation of %", argument.name(),
                                           " is given by values or out of range"));
        return std::nullopt;
      }
      input.value = argument.arg("input");
      ++quantised;
    } else if (argument.has_value() && argument.is_tensor() && IsFloating(argument.tensor().dtype)) {
      ++plain;
    }
    site.inputs.push_back(std::move(input));
  }
  std::optional<std::vector<SiteOutput>> outputs = QuantizeUsers(qdq, rw, node);
  if (!outputs.has_value() && reach == SiteReach::kActivation) {
    const std::vector<Node> users = node.users();
    static constexpr std::string_view kClamp = "aten.clamp.default";
    if (users.size() == 1 && rw.context().ops.Name(users[0].op()) == kClamp) {
      outputs = QuantizeUsers(qdq, rw, users[0]);
      const auto [low, high] = BoundsOf(users[0]);
      if (outputs.has_value()) {
        for (SiteOutput& output : *outputs) {
          const int64_t first = QuantizeOne(*output.q, low), last = QuantizeOne(*output.q, high);
          if (first > output.q->qmin) output.low = first;
          if (last < output.q->qmax) output.high = last;
        }
      }
    }
  }
  const bool makes_float = node.is_tensor() && IsFloating(node.tensor().dtype);
  site.quantised = quantised > 0 && plain == 0 && (outputs.has_value() || !makes_float);
  if (site.quantised && outputs.has_value()) {
    site.outputs = *std::move(outputs);
    return site;
  }
  if (site.quantised) {
    site.outputs.push_back({node, std::nullopt});
    return site;
  }
  if (outputs.has_value() && quantised > 0) {
    rw.Refuse(node, UnimplementedError("tosa_lower_c14", "its result and ", quantised, " operands are quantised, ",
                                       plain, " are not"));
    return std::nullopt;
  }
  for (size_t i = 0; i < arguments.size(); ++i) site.inputs[i] = {arguments[i], std::nullopt};
  site.outputs.push_back({node, std::nullopt});
  return site;
}

namespace {

// Factors from the integers of a bias to those of the products it is added to; empty when they are the same. One, or
// one for each of `channels`.
std::vector<double> BiasFactors(const Affine& bias, const Affine& x, const Affine& weight) {
  const size_t count = std::max(bias.scales.size(), weight.scales.size());
  std::vector<double> factors;
  bool same = true;
  for (size_t i = 0; i < count; ++i) {
    const double products = x.scale() * weight.scales[weight.scales.size() == 1 ? 0 : i];
    factors.push_back(bias.scales[bias.scales.size() == 1 ? 0 : i] / products);
    same = same && std::abs(factors.back() - 1) < 1e-4;  // scales are products rounded to f32
  }
  return same ? std::vector<double>() : factors;
}

}  // namespace

bool ArePerTensor(Emitter& emit, const Site& site) {
  for (const SiteInput& input : site.inputs) {
    if (!input.q.has_value()) {
      emit.Refuse("tosa_lower_c4", "an operand beside quantised values is not quantised");
    } else if (!input.q->per_tensor()) {
      emit.Refuse("tosa_lower_c5", "an operand is quantised per channel");
    }
  }
  return emit.ok();
}

Node BiasFor(Emitter& emit, const Site& site, const SiteInput& bias, Node x, int64_t channels) {
  if (!emit.ok()) return Node();
  const int64_t shape[] = {channels};
  const DType dtype = x.tensor().dtype;
  if (!site.quantised) {
    if (bias.value.has_value()) return bias.value;
    return emit.Floats("zero_bias", dtype, shape, std::vector<float>(static_cast<size_t>(channels), 0.0f));
  }
  const DType wide = dtype == DType::kI16 ? DType::kI48 : DType::kI32;
  std::vector<int64_t> values(static_cast<size_t>(channels), 0);
  if (!bias.value.has_value()) return emit.Integers("zero_bias", wide, shape, values);
  const auto refuse = [&](std::string_view why) {
    emit.Refuse("tosa_lower_c8", why);
    return Node();
  };
  std::vector<double> factors;
  int64_t zero_point = 0;
  if (bias.q.has_value()) {
    const auto fits = [&](size_t count) { return count == 1 || count == static_cast<size_t>(channels); };
    if (!fits(bias.q->scales.size()) || !fits(site.inputs[1].q->scales.size()))
      return refuse("a bias with scales of other than its channels");
    factors = BiasFactors(*bias.q, *site.inputs[0].q, *site.inputs[1].q);
    zero_point = bias.q->zero_points[0];
    for (const int64_t other : bias.q->zero_points)
      if (other != zero_point) return refuse("a bias with several zero points");
  }
  const bool as_is = factors.empty() && zero_point == 0;
  if (as_is && wide == DType::kI32) return bias.value;
  const Constant* constant = bias.value.constant();
  const auto known = constant == nullptr ? std::nullopt : ReadIntegers(emit.rewriter().context(), *constant);
  if (!known.has_value() || known->size() != values.size()) {
    if (wide != DType::kI32) return refuse("a bias beside 16-bit values must be constant");
    if (zero_point != 0) return refuse("a bias with a zero point must be constant");
    return emit.Rescale(bias.value, DType::kI32, factors, 0, 0);
  }
  const double limit = wide == DType::kI32 ? 2147483647.0 : 140737488355327.0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double factor = factors.empty() ? 1 : factors[factors.size() == 1 ? 0 : i];
    const double value = std::round(static_cast<double>((*known)[i] - zero_point) * factor);
    if (!(std::abs(value) <= limit)) return refuse("a bias that the sums of products do not hold");
    values[i] = static_cast<int64_t>(value);
  }
  return emit.Integers(constant->name, wide, shape, values);
}

Node FirstResult(Node node) {
  if (node.is_tensor()) return node;
  const std::vector<Node> users = node.users();
  const bool first = users.size() == 1 && users[0].op() == op::getitem && users[0].integer("index") == 0;
  return first ? users[0] : Node();
}

void FinishRescaled(Emitter& emit, const Site& site, Node accumulator,
                    const std::function<std::vector<double>(const Affine&)>& scales,
                    const std::function<Node(Node)>& back) {
  for (const SiteOutput& output : site.outputs) {
    Node value = emit.RescaleTo(accumulator, scales(*output.q), 0, *output.q);
    value = emit.Clamp(value, output.low, output.high);
    value = back(value);
    if (!emit.ok()) return;
    emit.Quantify(value, {}, &*output.q);
    emit.Replace(output.node, value);
  }
}

void FinishMoved(Emitter& emit, const Site& site, Node value) {
  for (const SiteOutput& output : site.outputs) {
    if (!emit.ok()) return;
    Node result = value;
    if (output.q.has_value()) {
      const Affine& from = *site.inputs[0].q;
      if (!from.SameScale(*output.q)) {
        const double factor[] = {from.scale() / output.q->scale()};
        result = emit.RescaleTo(result, factor, from.zero_point(), *output.q);
      } else if (!(result == site.inputs[0].value)) {
        emit.Quantify(result, {}, &*output.q);
      }
    }
    emit.Replace(output.node, result);
  }
}

}  // namespace tare
