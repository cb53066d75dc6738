#include <optional>
#include <utility>

#include "ir/context.h"
#include "meta/op_names.h"
#include "passes/builtin_passes.h"

namespace tare {
namespace {

// One linear on its way. x : [*batch, k], weight : [n, k], bias : [n] or none.
struct Linear {
  Node node, x, weight, bias;
  int64_t n = 0, k = 0;
  int rank = 0;
};

// Extents of `x` from axis 0 up to `end` as arguments of a view; one symbolic extent is left to the
// view, further ones are asked for.
absl::StatusOr<std::vector<ArgInt>> Extents(const Linear& l, int end, Rewriter& rw) {
  std::vector<ArgInt> extents;
  bool inferred = false;
  for (int i = 0; i < end; ++i) {
    const Dim dim = l.x.tensor().shape[i];
    if (dim.is_static()) {
      extents.emplace_back(dim.value());
    } else if (!inferred) {
      extents.emplace_back(-1);
      inferred = true;
    } else {
      absl::StatusOr<Node> size = rw.InsertBefore(l.node, op::aten_sym_size_int, {{"self", l.x}, {"dim", i}});
      if (!size.ok()) return size.status();
      extents.emplace_back(*size);
    }
  }
  return extents;
}

// Product of the extents before `end`; -1 when it is symbolic.
int64_t Product(const Linear& l, int end) {
  int64_t product = 1;
  for (int i = 0; i < end; ++i) {
    const Dim dim = l.x.tensor().shape[i];
    if (!dim.is_static() || __builtin_mul_overflow(product, dim.value(), &product)) return -1;
  }
  return product;
}

// Writes a linear as torch's own decomposition does, so that results are bit-equal.
//
//   rank 2                      permute(w); addmm(b, x, w')            or mm(x, w')
//   rank 1                      one row of that
//   leading dims are one view   view(x, [m, k]); addmm or mm; view     with a bias only when x is contiguous
//   else                        expand(w'), views to three dims; bmm; view; add(b)
//
// Source: aten/src/ATen/native/Linear.cpp and LinearAlgebra.cpp (linear, should_fold), compared with
// what run_decompositions() of torch 2.13 writes for each case.
class DecomposeLinear final : public RewritePass {
 public:
  explicit DecomposeLinear(const Context&) {}
  std::string_view name() const override { return "decompose-linear"; }
  std::span<const Op> targets() const override { return kTargets; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const std::optional<Linear> linear = Match(node);
    if (!linear.has_value()) return absl::OkStatus();
    const Linear& l = *linear;
    absl::StatusOr<Node> transposed =
        rw.InsertBefore(node, op::aten_permute_default, {{"self", l.weight}, {"dims", std::vector<int64_t>{1, 0}}});
    if (!transposed.ok()) return transposed.status();
    if (l.rank == 2) return Product2(l, l.x, *transposed, rw);
    if (l.rank == 1) return Row(l, *transposed, rw);
    const bool folds = l.bias.has_value() ? IsContiguousTensor(l.x) : LeadingDimsAreOne(l.x);
    if (folds) return Folded(l, *transposed, rw);
    return Batched(l, *transposed, rw);
  }

 private:
  std::optional<Linear> Match(Node node) const {
    Linear l{node, node.arg("input"), node.arg("weight"), node.arg("bias")};
    if (!l.x.has_value() || !l.weight.has_value() || !l.x.is_tensor() || !l.weight.is_tensor()) return std::nullopt;
    const TensorMeta& weight = l.weight.tensor();
    l.rank = static_cast<int>(l.x.tensor().shape.size());
    if (l.rank == 0 || weight.shape.size() != 2 || !weight.shape[0].is_static() || !weight.shape[1].is_static())
      return std::nullopt;
    if (l.bias.has_value() && (!l.bias.is_tensor() || l.bias.tensor().shape.size() != 1)) return std::nullopt;
    l.n = weight.shape[0].value();
    l.k = weight.shape[1].value();
    return l;
  }

  static bool IsContiguousTensor(Node x) {
    const TensorMeta& t = x.tensor();
    Dim expected = Dim::Static(1);
    for (size_t i = t.shape.size(); i-- > 0;) {
      if (t.shape[i] == 1) continue;
      if (t.strides[i] != expected) return false;
      // Symbolic strides of a contiguous tensor are products the rules have made; the last stride and
      // the static part tell.
      if (i > 0 && (!t.shape[i].is_static() || !expected.is_static())) return RestIsMergeable(t, i);
      expected = Dim::Static(expected.value() * t.shape[i].value());
    }
    return true;
  }
  // Dims 0 … last are one view: each stride is the next extent times the next stride.
  static bool RestIsMergeable(const TensorMeta& t, size_t last) {
    for (size_t i = 0; i < last; ++i)
      if (t.strides[i].is_static() && !(t.shape[i] == 1)) return false;
    return true;
  }
  static bool LeadingDimsAreOne(Node x) {
    const TensorMeta& t = x.tensor();
    for (size_t i = 0; i + 2 < t.shape.size(); ++i) {
      if (!t.strides[i].is_static() || !t.strides[i + 1].is_static() || !t.shape[i + 1].is_static()) continue;
      int64_t product;
      if (__builtin_mul_overflow(t.strides[i + 1].value(), t.shape[i + 1].value(), &product)) return false;
      if (!(t.strides[i] == product)) return false;
    }
    return true;
  }

  absl::Status Product2(const Linear& l, Node x, Node transposed, Rewriter& rw) const {
    if (l.bias.has_value())
      return rw.Redefine(l.node, op::aten_addmm_default, {{"self", l.bias}, {"mat1", x}, {"mat2", transposed}});
    return rw.Redefine(l.node, op::aten_mm_default, {{"self", x}, {"mat2", transposed}});
  }

  absl::StatusOr<Node> InsertProduct2(const Linear& l, Node x, Node transposed, Rewriter& rw) const {
    if (l.bias.has_value())
      return rw.InsertBefore(l.node, op::aten_addmm_default, {{"self", l.bias}, {"mat1", x}, {"mat2", transposed}});
    return rw.InsertBefore(l.node, op::aten_mm_default, {{"self", x}, {"mat2", transposed}});
  }

  absl::Status Row(const Linear& l, Node transposed, Rewriter& rw) const {
    absl::StatusOr<Node> row =
        l.bias.has_value()
            ? rw.InsertBefore(l.node, op::aten_view_default, {{"self", l.x}, {"size", std::vector<int64_t>{1, l.k}}})
            : rw.InsertBefore(l.node, op::aten_unsqueeze_default, {{"self", l.x}, {"dim", 0}});
    if (!row.ok()) return row.status();
    absl::StatusOr<Node> product = InsertProduct2(l, *row, transposed, rw);
    if (!product.ok()) return product.status();
    if (l.bias.has_value())
      return rw.Redefine(l.node, op::aten_view_default, {{"self", *product}, {"size", std::vector<int64_t>{l.n}}});
    return rw.Redefine(l.node, op::aten_squeeze_dims, {{"self", *product}, {"dim", std::vector<int64_t>{0}}});
  }

  absl::Status Folded(const Linear& l, Node transposed, Rewriter& rw) const {
    absl::StatusOr<Node> rows = rw.InsertBefore(
        l.node, op::aten_view_default, {{"self", l.x}, {"size", std::vector<int64_t>{Product(l, l.rank - 1), l.k}}});
    if (!rows.ok()) return rows.status();
    absl::StatusOr<Node> product = InsertProduct2(l, *rows, transposed, rw);
    if (!product.ok()) return product.status();
    absl::StatusOr<std::vector<ArgInt>> size = Extents(l, l.rank - 1, rw);
    if (!size.ok()) return size.status();
    size->emplace_back(l.n);
    return rw.Redefine(l.node, op::aten_view_default, {{"self", *product}, {"size", *std::move(size)}});
  }

  absl::Status Batched(const Linear& l, Node transposed, Rewriter& rw) const {
    // [batch, m, k] x [batch, k, n]; at most one extent of a view may be left to it.
    absl::StatusOr<std::vector<ArgInt>> batch = Extents(l, l.rank - 2, rw);
    if (!batch.ok()) return batch.status();
    const int64_t count = Product(l, l.rank - 2);
    absl::StatusOr<Node> m_node = Node();
    const Dim m = l.x.tensor().shape[l.rank - 2];
    if (!m.is_static()) m_node = rw.InsertBefore(l.node, op::aten_sym_size_int, {{"self", l.x}, {"dim", l.rank - 2}});
    if (!m_node.ok()) return m_node.status();
    const ArgInt rows = m.is_static() ? ArgInt(m.value()) : ArgInt(*m_node);

    Node x = l.x;
    const std::vector<ArgInt> x_size = {count, rows, l.k};
    if (!rw.Infer(op::aten_view_default, {{"self", x}, {"size", x_size}}).ok()) {
      absl::StatusOr<Node> dense =
          rw.InsertBefore(l.node, op::aten_clone_default,
                          {{"self", x}, {"memory_format", AttrValue::OfMemoryFormat(MemoryFormat::kContiguous)}});
      if (!dense.ok()) return dense.status();
      x = *dense;
    }
    absl::StatusOr<Node> x3 = rw.InsertBefore(l.node, op::aten_view_default, {{"self", x}, {"size", x_size}});
    if (!x3.ok()) return x3.status();
    std::vector<ArgInt> expanded = *batch;
    for (int i = 0; i < l.rank - 2; ++i) {  // -1 would keep an extent that is not there
      const Dim dim = l.x.tensor().shape[i];
      if (dim.is_static()) continue;
      absl::StatusOr<Node> size = rw.InsertBefore(l.node, op::aten_sym_size_int, {{"self", l.x}, {"dim", i}});
      if (!size.ok()) return size.status();
      expanded[i] = ArgInt(*size);
    }
    expanded.emplace_back(l.k);
    expanded.emplace_back(l.n);
    absl::StatusOr<Node> w =
        rw.InsertBefore(l.node, op::aten_expand_default, {{"self", transposed}, {"size", expanded}});
    if (!w.ok()) return w.status();
    absl::StatusOr<Node> w3 =
        rw.InsertBefore(l.node, op::aten_view_default, {{"self", *w}, {"size", std::vector<int64_t>{count, l.k, l.n}}});
    if (!w3.ok()) return w3.status();
    absl::StatusOr<Node> product = rw.InsertBefore(l.node, op::aten_bmm_default, {{"self", *x3}, {"mat2", *w3}});
    if (!product.ok()) return product.status();
    std::vector<ArgInt> size = *batch;
    size.push_back(rows);
    size.emplace_back(l.n);
    if (!l.bias.has_value()) return rw.Redefine(l.node, op::aten_view_default, {{"self", *product}, {"size", size}});
    absl::StatusOr<Node> view = rw.InsertBefore(l.node, op::aten_view_default, {{"self", *product}, {"size", size}});
    if (!view.ok()) return view.status();
    return rw.Redefine(l.node, op::aten_add_Tensor, {{"self", *view}, {"other", l.bias}});
  }

  static constexpr Op kTargets[] = {op::aten_linear_default};
};

}  // namespace

absl::StatusOr<Pass> MakeDecomposeLinear(Context& context, const PassOptions& options) {
  return MakeRewrite<DecomposeLinear>(context, options);
}

}  // namespace tare
