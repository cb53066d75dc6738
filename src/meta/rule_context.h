// One evaluation of one rule: arena, symbol questions, guards. What rule functions get.
//
// A rule never guesses about symbols. It asks one of four ways, as PyTorch's symbolic shapes do:
//   Known     true only when it follows from ranges, divisors and facts; records nothing
//   Decide    a yes or no: known, else by the hints of backed symbols, and then records the guard;
//             an unbacked symbol that is undecided is an error [data_dependent]
//   OrFalse / OrTrue   as Decide, but the fallback instead of the error
//   Demand    must hold: known -> nothing; backed -> guard; unbacked -> runtime assert; known to be
//             false -> false, and the caller says why (TARE_REQUIRE of rule_args.h)
// Backed symbols without a hint (golden lines, text form) are decided by facts or, failing that, by
// the generic assumption that they are large and distinct: `s0 == 3`, `s0 == s1` are answered no,
// `s0 >= 2` yes; a guard is recorded all the same.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ir/context.h"
#include "ir/inferrer.h"
#include "ir/status.h"
#include "meta/value.h"

namespace tare {

struct Elements;  // ir/elements.h

class RuleContext {
 public:
  Context& context() const;
  SymStore& syms() const { return context().syms; }
  const Facts* facts() const;

  // --- arena: freed when the evaluation ends
  std::span<Dim> NewDims(size_t n);
  std::span<Value> NewValues(size_t n);
  std::string_view NewText(std::string_view text);
  const TensorMeta* NewTensor(const TensorMeta& tensor);  // spans must live in the arena or a store
  // A contiguous tensor of that shape, offset 0.
  const TensorMeta* Contiguous(DType dtype, std::span<const Dim> shape);

  // --- questions
  bool Known(ExprId condition);
  // False when it is known to be false; else true, with a guard unless it is known.
  bool Assume(ExprId condition);
  absl::StatusOr<bool> Decide(ExprId condition);
  bool OrFalse(ExprId condition);
  bool OrTrue(ExprId condition);
  absl::StatusOr<bool> Demand(ExprId condition);
  // The same on integers, with fast paths for static ones.
  bool KnownEqual(Dim a, Dim b);
  absl::StatusOr<bool> Equal(Dim a, Dim b);
  absl::StatusOr<bool> Less(Dim a, Dim b);
  absl::StatusOr<bool> LessEqual(Dim a, Dim b);
  bool EqualOrFalse(Dim a, Dim b);
  absl::StatusOr<bool> DemandEqual(Dim a, Dim b);
  // A concrete number: constant, else specialised by its hint with a guard `a == hint`.
  absl::StatusOr<int64_t> Concrete(Dim a);

  // --- data-dependent results: the k-th fresh symbol of this node, the same on every replay
  Dim MintInt(int k, int64_t min, int64_t max);
  ExprId MintFloat(int k);

  // --- bodies of higher-order ops. Errors: [body_c1] when there are none to look at.
  absl::StatusOr<BodyMetas> Body(GraphId id);
  Value ValueOf(MetaId meta);

  // --- values of constants, for ops that read them
  const TensorMeta* ConstantOperand(uint32_t operand, const TensorMeta& tensor);  // null: not a known constant
  const Elements* ElementsOf(const TensorMeta* tensor) const;                     // of what that gave, else null

  // What the rule of another op, named at run time, gives. An error when it has none; the answer is
  // then what the file states.
  absl::StatusOr<Value> CallOp(std::string_view name, std::span<const Value> args);
  // The arguments behind those of a variadic schema, with their names.
  void KeepRest(std::span<const NamedAttr> rest);
  std::span<const NamedAttr> rest() const;

  // --- target in force (tosa dialect): "" or e.g. "TOSA-1.0+INT+int4"
  std::string_view spec() const;
  DType default_dtype() const { return DType::kF32; }

  std::string Print(const Value& value) const;  // for messages, in the IR's notation

  struct State;
  explicit RuleContext(State& state) : state_(state) {}

 private:
  State& state_;
};

// A function of the rule language. Arguments are evaluated already; their count is checked against
// the function's row. Errors carry a check id of the function.
using RuleFunction = absl::StatusOr<Value> (*)(RuleContext& rc, std::span<const Value> args);

struct RuleFunctionRow {
  std::string_view name;
  std::string_view signature;  // "broadcast(shape, shape, …) -> shape"
  std::string_view doc;        // one sentence; docs/rules.md prints it
  int min_args = 0;
  int max_args = 0;  // -1 = any number
  RuleFunction function = nullptr;
};

// Every group of functions is one file with one list; FunctionTable() joins them in a fixed order.
std::span<const RuleFunctionRow> CoreFunctions();         // core_functions.cc: len, prod, min, max, …
std::span<const RuleFunctionRow> PromotionFunctions();    // promotion.cc: result_type, to_float, …
std::span<const RuleFunctionRow> LayoutFunctions();       // layout.cc: contiguous, preserve, suggest, ti
std::span<const RuleFunctionRow> ShapeFunctions();        // shape_functions.cc: broadcast, reduce, …
std::span<const RuleFunctionRow> ContractFunctions();     // contract_functions.cc: matmul
std::span<const RuleFunctionRow> FactoryFunctions();      // factory_functions.cc: sizes of ranges and new tensors
std::span<const RuleFunctionRow> ViewFunctions();         // view_functions.cc: view, permute, slice, …
std::span<const RuleFunctionRow> SplitFunctions();        // split_functions.cc: split, chunk, unbind
std::span<const RuleFunctionRow> StorageFunctions();      // storage_functions.cc: as_strided, unfold, view_as_type
std::span<const RuleFunctionRow> WindowFunctions();       // window_functions.cc: convolution
std::span<const RuleFunctionRow> PoolFunctions();         // pool_functions.cc: pool, adaptive_pool, im2col
std::span<const RuleFunctionRow> ResizeFunctions();       // resize_functions.cc: pad, resize, pixel_shuffle
std::span<const RuleFunctionRow> ConcatFunctions();       // concat_functions.cc: cat, stack, repeat
std::span<const RuleFunctionRow> IndexFunctions();        // index_functions.cc: index, index_put, nonzero
std::span<const RuleFunctionRow> GatherFunctions();       // gather_functions.cc: gather, scatter, embedding
std::span<const RuleFunctionRow> SpectralFunctions();     // spectral_functions.cc: fft_strides
std::span<const RuleFunctionRow> QuantFunctions();        // quant_functions.cc: ranges of quantised dtypes
std::span<const RuleFunctionRow> SymbolicFunctions();     // symbolic_functions.cc: item, sym ops, asserts
std::span<const RuleFunctionRow> HigherOrderFunctions();  // higher_order.cc: cond, while_loop, scan, map
std::span<const RuleFunctionRow> TosaFunctions();         // tosa_functions.cc
std::span<const RuleFunctionRow> CortexMFunctions();      // cortex_m_functions.cc

}  // namespace tare
