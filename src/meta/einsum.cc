// einsum: a sum of products over named axes.
//
// Operands are brought to one order of axes (those of the result first, then the summed ones) with
// extent 1 where they lack an axis, and multiplied pair by pair from the left. A pair without a
// summed axis is an element-wise product; else it is a batched matrix product whose memory order is
// [shared, left only, right only], or with both sides exchanged where all axes of the right side
// precede those of the left in the result. Source: aten/src/ATen/native/Linear.cpp, einsum and
// sumproduct_pair; the exchange was found by asking the real system.
#include "meta/einsum.h"

#include <algorithm>
#include <array>
#include <string>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "meta/rule_args.h"

namespace tare {
namespace {

constexpr int kLetters = 52;                   // A … Z, a … z
constexpr int kMaxAxes = kLetters + kMaxRank;  // letters, then the axes of an ellipsis
using Labels = llvm::SmallVector<int8_t, 8>;   // of one operand, an ellipsis is kEllipsis
constexpr int8_t kEllipsis = kLetters;

struct Equation {
  llvm::SmallVector<Labels, 4> operands;
  Labels result;
  bool has_result = false;
};

absl::StatusOr<Equation> ParseEquation(std::string_view text) {
  Equation equation;
  equation.operands.emplace_back();
  Labels* current = &equation.operands.back();
  const auto error = [&](const auto&... parts) {
    return InvalidError("einsum_c1", "equation '", text, "': ", parts...);
  };
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == ' ') continue;
    if (c == ',') {
      if (equation.has_result) return error("a comma follows '->'");
      equation.operands.emplace_back();
      current = &equation.operands.back();
    } else if (c == '-') {
      if (equation.has_result || text.substr(k, 2) != "->") return error("'-' is not part of one '->'");
      ++k;
      equation.has_result = true;
      current = &equation.result;
    } else if (c == '.') {
      if (text.substr(k, 3) != "...") return error("a dot is not part of '...'");
      if (std::ranges::find(*current, kEllipsis) != current->end()) return error("two '...' in one term");
      k += 2;
      current->push_back(kEllipsis);
    } else if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) {
      current->push_back(static_cast<int8_t>(c <= 'Z' ? c - 'A' : c - 'a' + 26));
    } else {
      return error("'", std::string_view(&c, 1), "' is not a letter");
    }
  }
  return equation;
}

// Position of each axis in the common order; -1 = the equation does not name it.
struct Order {
  std::array<int, kMaxAxes> position;
  int num_result = 0;
  int num_axes = 0;
  int ellipsis_rank = 0;

  void Add(int axis) { position[axis] = num_axes++; }
};

// An operand in the common order.
struct Term {
  llvm::SmallVector<Dim, 8> shape;
  llvm::SmallVector<Dim, 8> strides;
  Dim offset;
};

const Dim kOne = Dim::Static(1);

absl::StatusOr<Order> MakeOrder(const Equation& equation, int ellipsis_rank) {
  Order order;
  order.position.fill(-1);
  order.ellipsis_rank = ellipsis_rank;
  std::array<int, kLetters + 1> count{};
  for (const Labels& labels : equation.operands) {
    for (const int8_t label : labels) ++count[label];
  }
  const auto add_label = [&](int label) {
    if (label != kEllipsis) return order.Add(label);
    for (int k = 0; k < ellipsis_rank; ++k) order.Add(kLetters + k);
  };
  if (equation.has_result) {
    for (const int8_t label : equation.result) {
      const bool known = count[label] > 0 || label == kEllipsis;
      const bool again = label != kEllipsis && order.position[label] >= 0;
      if (!known || again) return InvalidError("einsum_c2", "an axis of the result is in no operand, or named twice");
      add_label(label);
    }
  } else {
    add_label(kEllipsis);
    for (int label = 0; label < kLetters; ++label) {
      if (count[label] == 1) add_label(label);
    }
  }
  order.num_result = order.num_axes;
  for (int label = 0; label < kLetters; ++label) {
    if (count[label] > 0 && order.position[label] < 0) order.Add(label);
  }
  if (ellipsis_rank > 0 && order.position[kLetters] < 0) add_label(kEllipsis);
  return order;
}

absl::StatusOr<Term> MakeTerm(RuleContext& rc, const TensorMeta& tensor, const Labels& labels, const Order& order) {
  Term term;
  term.shape.assign(static_cast<size_t>(order.num_axes), kOne);
  term.strides.assign(static_cast<size_t>(order.num_axes), Dim::Static(0));
  term.offset = tensor.offset;
  std::array<bool, kMaxAxes> seen{};
  size_t axis = 0;
  const auto take = [&](int label) -> absl::Status {
    const size_t at = static_cast<size_t>(order.position[label]);
    const Dim extent = tensor.shape[axis], stride = tensor.strides[axis];
    ++axis;
    if (seen[label]) {  // the diagonal
      TARE_REQUIRE_EQUAL(rc, term.shape[at], extent,
                         InvalidError("einsum_c3", "an axis named twice in one operand has extents ",
                                      rc.Print(Value::Int(term.shape[at])), " and ", rc.Print(Value::Int(extent))));
      term.strides[at] = rc.syms().Add(term.strides[at], stride);
      return absl::OkStatus();
    }
    seen[label] = true;
    term.shape[at] = extent;
    term.strides[at] = stride;
    return absl::OkStatus();
  };
  for (const int8_t label : labels) {
    if (label != kEllipsis) {
      TARE_RETURN_IF_ERROR(take(label));
      continue;
    }
    const int covered = static_cast<int>(tensor.shape.size()) - static_cast<int>(labels.size()) + 1;
    for (int k = order.ellipsis_rank - covered; k < order.ellipsis_rank; ++k) {
      TARE_RETURN_IF_ERROR(take(kLetters + k));
    }
  }
  return term;
}

bool IsOne(RuleContext& rc, Dim dim) { return dim == 1 || (!dim.is_static() && rc.EqualOrFalse(dim, kOne)); }

void MakeContiguous(RuleContext& rc, Term& term, std::span<const int> order) {
  std::ranges::copy(StridesInOrder(rc, term.shape, order), term.strides.begin());
  term.offset = Dim::Static(0);
}

TensorMeta AsTensor(const Term& term) {
  TensorMeta tensor;
  tensor.shape = term.shape;
  tensor.strides = term.strides;
  return tensor;
}

// Sums the axes away, keeping them with extent 1.
void SumAxes(RuleContext& rc, Term& term, std::span<const int> axes) {
  if (axes.empty()) return;
  for (const int axis : axes) term.shape[axis] = kOne;
  llvm::SmallVector<int, 8> order(term.shape.size());
  for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
  MakeContiguous(rc, term, order);
}

struct Pairing {
  llvm::SmallVector<int, 8> shared, left, right, summed, left_summed, right_summed;
};

// `uses` counts the terms left that have each axis.
Pairing PairAxes(RuleContext& rc, const Term& a, const Term& b, std::span<int> uses, int num_result) {
  Pairing pairing;
  for (int axis = 0; axis < static_cast<int>(uses.size()); ++axis) {
    const bool in_a = !IsOne(rc, a.shape[axis]), in_b = !IsOne(rc, b.shape[axis]);
    const bool is_summed = axis >= num_result;
    if (in_a && in_b) {
      if (is_summed && --uses[axis] == 1) {
        pairing.summed.push_back(axis);
      } else {
        pairing.shared.push_back(axis);
      }
    } else if (is_summed && uses[axis] == 1 && (in_a || in_b)) {
      (in_a ? pairing.left_summed : pairing.right_summed).push_back(axis);
    } else if (in_a) {
      pairing.left.push_back(axis);
    } else {
      pairing.right.push_back(axis);
    }
  }
  return pairing;
}

absl::StatusOr<Term> MultiplyPair(RuleContext& rc, Term a, Term b, std::span<int> uses, int num_result) {
  Pairing pairing = PairAxes(rc, a, b, uses, num_result);
  SumAxes(rc, a, pairing.left_summed);
  SumAxes(rc, b, pairing.right_summed);
  TARE_ASSIGN_OR_RETURN(const std::span<const Dim> shape, Broadcast(rc, a.shape, b.shape));
  Term result;
  result.shape.assign(shape.begin(), shape.end());
  result.strides.resize(shape.size());
  if (pairing.summed.empty()) {
    const TensorMeta left = AsTensor(a), right = AsTensor(b);
    const TensorMeta* both[] = {&left, &right};
    std::ranges::copy(ElementwiseStrides(rc, shape, both), result.strides.begin());
    return result;
  }
  for (const int axis : pairing.summed) result.shape[axis] = kOne;
  llvm::erase_if(pairing.right, [&](int axis) { return IsOne(rc, result.shape[axis]); });
  const bool exchange = !pairing.left.empty() && !pairing.right.empty() && pairing.right.back() < pairing.left.front();
  if (exchange) std::swap(pairing.left, pairing.right);
  llvm::SmallVector<int, 8> order;
  for (const auto* axes : {&pairing.shared, &pairing.left, &pairing.right}) order.append(axes->begin(), axes->end());
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    if (std::ranges::find(order, axis) == order.end()) order.push_back(axis);
  }
  MakeContiguous(rc, result, order);
  return result;
}

// All terms have equal extents per axis, or 1.
absl::StatusOr<llvm::SmallVector<int, 8>> CountUses(RuleContext& rc, std::span<const Term> terms, const Order& order) {
  llvm::SmallVector<int, 8> uses(static_cast<size_t>(order.num_axes), 0);
  for (size_t axis = 0; axis < uses.size(); ++axis) {
    Dim extent = kOne;
    for (const Term& term : terms) {
      const Dim dim = term.shape[axis];
      if (IsOne(rc, dim)) continue;
      ++uses[axis];
      if (extent == 1) extent = dim;
      TARE_REQUIRE_EQUAL(rc, extent, dim,
                         InvalidError("einsum_c4", "operands have extents ", rc.Print(Value::Int(extent)), " and ",
                                      rc.Print(Value::Int(dim)), " for one axis; they must be equal or 1"));
    }
  }
  return uses;
}

}  // namespace

absl::StatusOr<Value> EinsumFunction(RuleContext& rc, std::span<const Value> values) {
  RuleArgs args(rc, values);
  const std::string_view text = args.Text(0);
  const auto tensors = args.Tensors(1);
  TARE_RETURN_IF_ERROR(args.status());
  TARE_ASSIGN_OR_RETURN(const Equation equation, ParseEquation(text));
  if (tensors.empty() || tensors.size() != equation.operands.size()) {
    return InvalidError("einsum_c5", "equation '", text, "' has ", equation.operands.size(), " terms for ",
                        tensors.size(), " tensors");
  }
  int ellipsis_rank = 0;
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Labels& labels = equation.operands[k];
    const bool has_ellipsis = std::ranges::find(labels, kEllipsis) != labels.end();
    const int covered =
        static_cast<int>(tensors[k]->shape.size()) - static_cast<int>(labels.size()) + (has_ellipsis ? 1 : 0);
    if (covered < 0 || (covered > 0 && !has_ellipsis)) {
      return InvalidError("einsum_c6", "term ", k + 1, " of '", text, "' does not name the axes of ",
                          rc.Print(Value::Ints(tensors[k]->shape)));
    }
    ellipsis_rank = std::max(ellipsis_rank, covered);
  }
  TARE_ASSIGN_OR_RETURN(const Order order, MakeOrder(equation, ellipsis_rank));
  llvm::SmallVector<Term, 4> terms;
  for (size_t k = 0; k < tensors.size(); ++k) {
    TARE_ASSIGN_OR_RETURN(Term term, MakeTerm(rc, *tensors[k], equation.operands[k], order));
    terms.push_back(std::move(term));
  }
  TARE_ASSIGN_OR_RETURN(auto uses, CountUses(rc, terms, order));

  // A product needs equal dtypes where it is a matrix product and promotes where it is element-wise.
  const bool sums = order.num_axes > order.num_result;
  TARE_ASSIGN_OR_RETURN(DType dtype, ResultType(rc, values[1].items()));
  Term result = terms.front();
  if (terms.size() == 1) {
    if (sums && (dtype == DType::kBool || IsInteger(dtype))) dtype = DType::kI64;
    if (sums) {
      llvm::SmallVector<int, 8> axes;
      for (int axis = order.num_result; axis < order.num_axes; ++axis) axes.push_back(axis);
      SumAxes(rc, result, axes);
    }
  }
  for (size_t k = 1; k < terms.size(); ++k) {
    TARE_ASSIGN_OR_RETURN(result, MultiplyPair(rc, std::move(result), terms[k], uses, order.num_result));
    if (sums && tensors[k]->dtype != tensors[0]->dtype) {
      return InvalidError("einsum_c7", "dtypes ", Name(tensors[0]->dtype), " and ", Name(tensors[k]->dtype), " differ");
    }
  }
  const size_t rank = static_cast<size_t>(order.num_result);
  const std::span<Dim> shape = rc.NewDims(rank), strides = rc.NewDims(rank);
  std::copy_n(result.shape.begin(), rank, shape.begin());
  std::copy_n(result.strides.begin(), rank, strides.begin());
  TensorMeta tensor = *tensors[0];
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.strides = strides;
  tensor.offset = result.offset;
  return Value::Tensor(rc.NewTensor(tensor));
}

}  // namespace tare
