#include "formats/pt2/targets.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "formats/pt2/utf8.h"
#include "ir/status.h"

namespace tare::pt2 {
namespace {

constexpr std::string_view kOps = "torch.ops.", kHigherOrder = "higher_order.",
                           kPredispatch = "torch._functorch.predispatch.";

constexpr std::string_view kAtenOverloads =
#include "formats/pt2/aten_names.inc"
    ;

// Python's operators on symbolic numbers.
constexpr std::string_view kOperators[] = {"add", "sub", "mul",  "floordiv", "truediv", "mod",    "pow", "neg",
                                           "pos", "eq",  "ne",   "lt",       "le",      "gt",     "ge",  "and_",
                                           "or_", "xor", "not_", "invert",   "lshift",  "rshift", "abs", "index"};
// Higher-order ops of torch 2.13 and before.
constexpr std::string_view kHigherOrderOps[] = {"aoti_call_delegate",
                                                "associative_scan",
                                                "auto_functionalized",
                                                "auto_functionalized_v2",
                                                "base_hop",
                                                "call_torchbind",
                                                "checkpoint",
                                                "cond",
                                                "control_deps",
                                                "effects",
                                                "executorch_call_delegate",
                                                "export_tracepoint",
                                                "flat_apply",
                                                "flex_attention",
                                                "flex_attention_backward",
                                                "foreach_map",
                                                "hints_wrapper",
                                                "inductor_compiled_code",
                                                "invoke_leaf_function",
                                                "invoke_quant",
                                                "invoke_quant_packed",
                                                "invoke_subgraph",
                                                "local_map_hop",
                                                "map",
                                                "map_impl",
                                                "out_dtype",
                                                "print",
                                                "run_and_save_rng_state",
                                                "run_const_graph",
                                                "run_with_rng_state",
                                                "run_with_rng_state_functional",
                                                "scan",
                                                "strict_mode",
                                                "tag_activation_checkpoint",
                                                "trace_wrapped",
                                                "triton_kernel_wrapper_functional",
                                                "triton_kernel_wrapper_mutation",
                                                "while_loop",
                                                "while_loop_stack_output",
                                                "with_effects",
                                                "wrap",
                                                "wrap_activation_checkpoint",
                                                "wrap_with_autocast",
                                                "wrap_with_set_grad_enabled"};

template <size_t N>
bool Contains(const std::string_view (&list)[N], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool IsName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80) != 0;
  });
}

// A function of numbers that exported graphs call by its Python name.
bool IsScalarFunction(std::string_view target) {
  if (target.starts_with("_operator.")) return Contains(kOperators, target.substr(10));
  if (target.starts_with("math.")) return IsName(target.substr(5));
  if (target.starts_with("torch.sym_")) return IsName(target.substr(10));
  return target.starts_with("torch._sym_") && IsName(target.substr(11));
}

}  // namespace

absl::StatusOr<Target> ParseTarget(std::string_view target) {
  constexpr size_t kMostBytes = 4096;
  const auto refuse = [&](const char* why) {
    return InvalidError("graph_c5", "target \"", Printable(target), "\": ", why);
  };
  if (target.size() > kMostBytes) return refuse("too long");
  Target result;
  if (target.starts_with(kOps)) {
    const std::string_view rest = target.substr(kOps.size());
    result.name = std::string(rest);
    if (rest.starts_with(kHigherOrder)) {
      result.kind = TargetKind::kHigherOrder;
      if (!Contains(kHigherOrderOps, rest.substr(kHigherOrder.size()))) return refuse("unknown higher-order operator");
      return result;
    }
    const size_t first = rest.find('.'), last = rest.rfind('.');
    if (first == rest.npos || first == last) return refuse("expected torch.ops.NAMESPACE.NAME.OVERLOAD");
    result.name_space = rest.substr(0, first);
    if (!IsName(result.name_space) || !IsName(rest.substr(last + 1)) ||
        !IsName(rest.substr(first + 1, last - first - 1)))
      return refuse("expected torch.ops.NAMESPACE.NAME.OVERLOAD");
    return result;
  }
  result.name = std::string(target);
  if (target.starts_with("#")) {
    const size_t colon = target.find(':');
    if (colon == target.npos || !IsName(target.substr(1, colon - 1)) || colon + 1 == target.size())
      return refuse("expected #NAMESPACE:NAME");
    result.kind = TargetKind::kExtension;
    return result;
  }
  if (IsScalarFunction(target)) {
    result.kind = TargetKind::kScalar;
    return result;
  }
  if (target.starts_with(kPredispatch) && IsName(target.substr(kPredispatch.size()))) {
    result.kind = TargetKind::kFunction;
    return result;
  }
  return refuse("not an operator");
}

bool IsAtenOverload(std::string_view name) {
  size_t low = 0, high = kAtenOverloads.size();  // starts of lines
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const size_t before = middle == 0 ? std::string_view::npos : kAtenOverloads.rfind('\n', middle - 1);
    const size_t start = before == std::string_view::npos ? 0 : before + 1;
    const size_t end = kAtenOverloads.find('\n', start);
    const int order = kAtenOverloads.substr(start, end - start).compare(name);
    if (order == 0) return true;
    if (order < 0) {
      low = end + 1;
    } else {
      high = start;
    }
  }
  return false;
}

TargetKind KindOf(std::string_view op_name) {
  if (op_name.starts_with(kHigherOrder)) return TargetKind::kHigherOrder;
  if (op_name.starts_with("#")) return TargetKind::kExtension;
  if (IsScalarFunction(op_name)) return TargetKind::kScalar;
  if (op_name.starts_with(kPredispatch)) return TargetKind::kFunction;
  return TargetKind::kOperator;
}

std::string TargetOf(std::string_view op_name) {
  const TargetKind kind = KindOf(op_name);
  const bool in_ops = kind == TargetKind::kOperator || kind == TargetKind::kHigherOrder;
  return std::string(in_ops ? kOps : "") + std::string(op_name);
}

}  // namespace tare::pt2
