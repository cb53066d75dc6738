// What an op computes on: integers behind dequantize nodes and integers its quantize users make, or plain tensors.
//
//   %f = dequantize(%x);  %y = op(%f);  %q = quantize(%y)
//
// is one site: input %x with its parameters, output %q with its own. The same op between plain tensors is a site
// without parameters, so one lowering serves integer and float programs.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backends/tosa/affine.h"
#include "backends/tosa/emitter.h"

namespace tare {

struct SiteInput {
  Node value;               // no value: the argument is absent
  std::optional<Affine> q;  // of `value`
};
struct SiteOutput {
  Node node;                // its uses become uses of the result
  std::optional<Affine> q;  // the result is to have
  // Codes that an activation between the op and the quantize leaves; the range of the dtype when there is none.
  int64_t low = INT64_MIN, high = INT64_MAX;
};

struct Site {
  bool quantised = false;
  std::vector<SiteInput> inputs;
  std::vector<SiteOutput> outputs;
};

// The value that stands for `node`: itself, or of several results the first when no other is used, else nothing.
Node FirstResult(Node node);

// How far a site may reach.
enum class SiteReach {
  kExact,       // quantize nodes that use the op itself
  kActivation,  // also those behind one clamp that is the only user
};

// The site of `node` over these tensor arguments. Nothing when some inputs or users are quantised and others are not:
// such an op computes in floats.
std::optional<Site> SiteOf(const QdqOps& qdq, Rewriter& rw, Node node, std::span<const Node> arguments,
                           SiteReach reach = SiteReach::kExact);

// Whether each input has parameters, one scale and zero point; refuses where one has not.
bool ArePerTensor(Emitter& emit, const Site& site);

// The bias of a product of `x` with `channels` results: the input as it is, zeros when absent, 48 bits wide when `x`
// has 16. Refuses a quantised bias that is no constant i32.
Node BiasFor(Emitter& emit, const Site& site, const SiteInput& bias, Node x, int64_t channels);

// For each output of a quantised site: rescales `accumulator`, which has zero point 0, clamps, brings the result into
// its final form by `back`, and replaces. `scales` gives the factors from accumulator to the integers of an output.
void FinishRescaled(Emitter& emit, const Site& site, Node accumulator,
                    const std::function<std::vector<double>(const Affine&)>& scales,
                    const std::function<Node(Node)>& back);

// For each output, when `value` already has the integers of the first input (data movement) or is a plain tensor.
// Outputs with other parameters than the first input's get a rescale.
void FinishMoved(Emitter& emit, const Site& site, Node value);

}  // namespace tare
