#include <algorithm>
#include <cctype>
#include <string>

#include "backends/tosa/constants.h"
#include "backends/tosa/formulas/formula.h"

namespace tare {
namespace {

// A vector as a row or a column, a matrix as a batch of one.
Node AsBatch(Emitter& emit, Node x, bool column) {
  std::vector<int64_t> shape = emit.ShapeOf(x);
  if (shape.size() == 1) shape.insert(column ? shape.end() : shape.begin(), 1);
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  return emit.Reshape(x, shape);
}
Node Times(FormulaCall& c, std::string_view first, std::string_view second) {
  if (!IsFloating(c.dtype())) return c.Refuse("a product of integers that are not quantised");
  const Node a = AsBatch(c.emit, c.In(first), false), b = AsBatch(c.emit, c.In(second), true);
  return c.m.Product(a, b);
}

// beta * self + alpha * product; self may have fewer dims than the result.
Node Added(FormulaCall& c, Node product) {
  const double alpha = c.node.number("alpha").value_or(1), beta = c.node.number("beta").value_or(1);
  product = c.m.Mul(c.emit.Reshape(product, c.emit.ShapeOf(c.result)), alpha);
  if (beta == 0) return product;  // whatever self holds
  return c.m.Add(product, c.m.Mul(c.In("self"), beta));
}
Node AddMm(FormulaCall& c) { return Added(c, Times(c, "mat1", "mat2")); }
Node AddMv(FormulaCall& c) { return Added(c, Times(c, "mat", "vec")); }
Node BAddBmm(FormulaCall& c) { return Added(c, Times(c, "batch1", "batch2")); }
Node AddBmm(FormulaCall& c) {
  const int64_t batch[] = {0};
  return Added(c, c.m.Reduce("REDUCE_SUM", Times(c, "batch1", "batch2"), batch));
}

Node Outer(FormulaCall& c, std::string_view first, std::string_view second) {
  const Node a = c.In(first), b = c.In(second);
  const std::vector<int64_t> rows = c.emit.ShapeOf(a);
  if (!c.emit.ok() || rows.size() != 1) return c.Refuse("an outer product of other than vectors");
  return c.m.Mul(c.emit.Reshape(a, std::vector<int64_t>{rows[0], 1}), b);
}

// A tensor under one letter per dim.
struct Labelled {
  Node x;
  std::string labels;
};

Labelled Ordered(Emitter& emit, const Labelled& from, const std::string& order) {
  std::vector<int64_t> perms;
  for (const char label : order) perms.push_back(static_cast<int64_t>(from.labels.find(label)));
  return {emit.Transpose(from.x, perms), order};
}

// Without dims that neither `other` nor the result names.
Labelled Summed(FormulaCall& c, const Labelled& from, const std::string& kept) {
  std::vector<int64_t> axes, shape = c.emit.ShapeOf(from.x), left;
  std::string labels;
  for (size_t i = 0; i < from.labels.size() && c.emit.ok(); ++i) {
    if (kept.find(from.labels[i]) == std::string::npos) {
      axes.push_back(static_cast<int64_t>(i));
    } else {
      labels += from.labels[i];
      left.push_back(shape[i]);
    }
  }
  return {c.emit.Reshape(c.m.Reduce("REDUCE_SUM", from.x, axes), left), labels};
}

// One batched product: dims of both that stay are the batch, dims of both that go are summed over.
Labelled Contract(FormulaCall& c, const Labelled& left, const Labelled& right, const std::string& kept) {
  const Labelled a = Summed(c, left, kept + right.labels), b = Summed(c, right, kept + left.labels);
  std::string batch, summed, rows, columns;
  std::vector<int64_t> extents, row_extents, column_extents;
  int64_t depth = 1;
  const std::vector<int64_t> a_shape = c.emit.ShapeOf(a.x), b_shape = c.emit.ShapeOf(b.x);
  if (!c.emit.ok()) return {};
  for (size_t i = 0; i < a.labels.size(); ++i) {
    const size_t other = b.labels.find(a.labels[i]);
    if (other == std::string::npos) {
      rows += a.labels[i];
      row_extents.push_back(a_shape[i]);
      continue;
    }
    if (a_shape[i] != b_shape[other]) return {c.Refuse("one letter for several extents"), ""};
    if (kept.find(a.labels[i]) != std::string::npos) {
      batch += a.labels[i];
      extents.push_back(a_shape[i]);
    } else {
      summed += a.labels[i];
      depth *= a_shape[i];
    }
  }
  for (size_t i = 0; i < b.labels.size(); ++i)
    if (a.labels.find(b.labels[i]) == std::string::npos) {
      columns += b.labels[i];
      column_extents.push_back(b_shape[i]);
    }
  const int64_t count = CountOf(extents), m = CountOf(row_extents), n = CountOf(column_extents);
  const Node first = c.emit.Reshape(Ordered(c.emit, a, batch + rows + summed).x, std::vector<int64_t>{count, m, depth});
  const Node second =
      c.emit.Reshape(Ordered(c.emit, b, batch + summed + columns).x, std::vector<int64_t>{count, depth, n});
  extents.insert(extents.end(), row_extents.begin(), row_extents.end());
  extents.insert(extents.end(), column_extents.begin(), column_extents.end());
  return {c.emit.Reshape(c.m.Product(first, second), extents), batch + rows + columns};
}

// The dims behind `...` get digits for letters, the last one 0.
std::optional<std::string> WithoutDots(std::string labels, size_t rank) {
  const size_t dots = labels.find("...");
  if (dots == std::string::npos) return labels;
  const size_t named = labels.size() - 3;
  if (rank < named || rank - named > 10) return std::nullopt;
  std::string digits;
  for (size_t i = rank - named; i-- > 0;) digits += static_cast<char>('0' + i);
  return labels.replace(dots, 3, digits);
}

// Operands are contracted from left to right.
Node Einsum(FormulaCall& c) {
  const AttrValue& equation = c.node.attr("equation");
  const std::vector<Node> tensors = c.node.arg_list("tensors");
  if (equation.kind != AttrKind::kString || tensors.empty() || !IsFloating(c.dtype()))
    return c.Refuse("an einsum of integers");
  std::string text;
  for (const char letter : equation.text())
    if (letter != ' ') text += letter;
  const size_t arrow = text.find("->");
  const std::string inputs = text.substr(0, arrow);
  std::vector<Labelled> operands;
  size_t at = 0, most_dots = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const size_t comma = inputs.find(',', at);
    const auto labels = WithoutDots(inputs.substr(at, comma - at), tensors[i].tensor().shape.size());
    if (!labels.has_value() || labels->size() != tensors[i].tensor().shape.size())
      return c.Refuse("an equation that does not fit its tensors");
    for (const char label : *labels) {
      if (std::count(labels->begin(), labels->end(), label) != 1) return c.Refuse("a diagonal in an einsum");
      if (std::isdigit(static_cast<unsigned char>(label)) != 0)
        most_dots = std::max<size_t>(most_dots, static_cast<size_t>(label - '0') + 1);
    }
    operands.push_back({c.m.Convert(tensors[i], c.dtype()), *labels});
    at = comma == std::string::npos ? inputs.size() : comma + 1;
  }
  std::string out;
  if (arrow != std::string::npos) {
    out = text.substr(arrow + 2);
    const size_t named = out.find("...") == std::string::npos ? out.size() : out.size() - 3 + most_dots;
    const auto labels = WithoutDots(out, named);
    if (!labels.has_value()) return c.Refuse("an equation that does not fit its tensors");
    out = *labels;
  } else {
    std::string all;
    for (const Labelled& operand : operands) all += operand.labels;
    for (size_t i = most_dots; i-- > 0;) out += static_cast<char>('0' + i);
    std::string once;
    for (const char label : all)
      if (std::isdigit(static_cast<unsigned char>(label)) == 0 && std::count(all.begin(), all.end(), label) == 1)
        once += label;
    std::sort(once.begin(), once.end());
    out += once;
  }
  Labelled value = operands[0];
  for (size_t i = 1; i < operands.size() && c.emit.ok(); ++i) {
    std::string kept = out;
    for (size_t k = i + 1; k < operands.size(); ++k) kept += operands[k].labels;
    value = Contract(c, value, operands[i], kept);
  }
  value = Summed(c, value, out);
  if (!c.emit.ok() || value.labels.size() != out.size()) return c.Refuse("an equation that does not fit its tensors");
  for (const char label : out)
    if (value.labels.find(label) == std::string::npos) return c.Refuse("a letter of the result alone");
  return Ordered(c.emit, value, out).x;
}

// x1 W_k x2 per result k.
Node Bilinear(FormulaCall& c) {
  const Node a = c.In("input1"), b = c.In("input2"), weight = c.In("weight");
  const std::vector<int64_t> shape = c.emit.ShapeOf(a), other = c.emit.ShapeOf(b), w = c.emit.ShapeOf(weight);
  if (!c.emit.ok() || w.size() != 3 || shape.empty()) return c.Refuse("a weight of another rank");
  const int64_t rows = CountOf(shape) / shape.back();
  const Node left = c.emit.Reshape(a, std::vector<int64_t>{1, rows, w[1]});
  // [K, I, J] as [I, K * J]
  const Node turned = c.emit.Reshape(c.emit.Transpose(weight, std::vector<int64_t>{1, 0, 2}),
                                     std::vector<int64_t>{1, w[1], w[0] * w[2]});
  const Node half = c.emit.Reshape(c.m.Product(left, turned), std::vector<int64_t>{rows, w[0], w[2]});
  Node y = c.m.Product(half, c.emit.Reshape(b, std::vector<int64_t>{rows, w[2], 1}));
  y = c.emit.Reshape(y, c.emit.ShapeOf(c.result));
  return c.node.arg("bias").has_value() ? c.m.Add(y, c.In("bias")) : y;
}

// linear of a vector weight, which no convolution is.
Node Linear(FormulaCall& c) {
  if (!IsFloating(c.dtype()) || c.RankOf("weight") != 1) return c.Refuse("a linear op that is another pass's");
  const Node x = c.In("input"), weight = c.In("weight");
  const std::vector<int64_t> shape = c.emit.ShapeOf(x);
  if (!c.emit.ok() || shape.empty()) return c.Refuse("a linear op of a scalar");
  const Node rows = c.emit.Reshape(x, std::vector<int64_t>{1, CountOf(shape) / shape.back(), shape.back()});
  Node y = c.m.Product(rows, AsBatch(c.emit, weight, true));
  y = c.emit.Reshape(y, c.emit.ShapeOf(c.result));
  return c.node.arg("bias").has_value() ? c.m.Add(y, c.In("bias")) : y;
}

// Of vectors of three elements: x turned one way times y turned the other way, less the converse.
Node Cross(FormulaCall& c) {
  const Node a = Broadcast(c.emit, c.In("self"), c.emit.ShapeOf(c.result)),
             b = Broadcast(c.emit, c.In("other"), c.emit.ShapeOf(c.result));
  if (!c.emit.ok()) return Node();
  const auto axis = static_cast<size_t>(c.Axis("dim", a.tensor().shape.size()));
  const int64_t next[] = {1, 2, 0}, last[] = {2, 0, 1};
  const Node a_next = Take(c.emit, a, axis, next), b_last = Take(c.emit, b, axis, last);
  const Node a_last = Take(c.emit, a, axis, last), b_next = Take(c.emit, b, axis, next);
  const Node first = c.m.Mul(a_next, b_last), second = c.m.Mul(a_last, b_next);
  return c.m.Sub(first, second);
}

constexpr FormulaRow kRows[] = {
    {"aten.addbmm.default", AddBmm},
    {"aten.addmm.default", AddMm},
    {"aten.addmv.default", AddMv},
    {"aten.addr.default", [](FormulaCall& c) { return Added(c, Outer(c, "vec1", "vec2")); }},
    {"aten.baddbmm.default", BAddBmm},
    {"aten.bilinear.default", Bilinear},
    {"aten.dot.default", [](FormulaCall& c) { return Times(c, "self", "tensor"); }},
    {"aten.einsum.default", Einsum},
    {"aten.ger.default", [](FormulaCall& c) { return Outer(c, "self", "vec2"); }},
    {"aten.linalg_cross.default", Cross},
    {"aten.linear.default", Linear},
    {"aten.mv.default", [](FormulaCall& c) { return Times(c, "self", "vec"); }},
    {"aten.outer.default", [](FormulaCall& c) { return Outer(c, "self", "vec2"); }},
    {"aten.vdot.default", [](FormulaCall& c) { return Times(c, "self", "other"); }},
};

}  // namespace

std::span<const FormulaRow> ProductFormulas() { return kRows; }

}  // namespace tare
