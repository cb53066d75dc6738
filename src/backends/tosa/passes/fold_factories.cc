#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/tosa/affine.h"
#include "backends/tosa/constants.h"
#include "backends/tosa/tosa_passes.h"

namespace tare {
namespace {

enum class Factory : uint8_t { kFull, kZeros, kOnes, kScalar, kArange, kQuantize, kLinspace, kEye, kTriangle };

struct FactoryRow {
  std::string_view op;
  Factory factory;
};

constexpr FactoryRow kRows[] = {
    {"aten.arange.default", Factory::kArange},
    {"aten.arange.start", Factory::kArange},
    {"aten.arange.start_step", Factory::kArange},
    {"aten.empty.memory_format", Factory::kZeros},
    {"aten.empty_like.default", Factory::kZeros},
    {"aten.eye.default", Factory::kEye},
    {"aten.eye.m", Factory::kEye},
    {"aten.full.default", Factory::kFull},
    {"aten.full_like.default", Factory::kFull},
    {"aten.linspace.default", Factory::kLinspace},
    {"aten.new_empty.default", Factory::kZeros},
    {"aten.new_full.default", Factory::kFull},
    {"aten.new_ones.default", Factory::kOnes},
    {"aten.new_zeros.default", Factory::kZeros},
    {"aten.ones.default", Factory::kOnes},
    {"aten.ones_like.default", Factory::kOnes},
    {"aten.scalar_tensor.default", Factory::kScalar},
    {"aten.tril_indices.default", Factory::kTriangle},
    {"aten.triu_indices.default", Factory::kTriangle},
    {"aten.zeros.default", Factory::kZeros},
    {"aten.zeros_like.default", Factory::kZeros},
};

constexpr int64_t kMaxElements = int64_t{1} << 26;
constexpr int64_t kMaxDoubles = int64_t{1} << 16;  // which TOSA has not: for what is cast or computed ahead of time

// Makes constants of what is known ahead of time: full, arange, zeros, ones, and the quantised values of constants.
//
//   quantize(full([2, 3], 0.5), s, z)   =>   a constant of codes
class FoldFactories final : public RewritePass {
 public:
  explicit FoldFactories(const Context& context) : qdq_(context) {
    for (const FactoryRow& row : kRows) {
      const Op op = context.ops.Find(row.op);
      if (!op.has_value()) continue;
      targets_.push_back(op);
      factories_.push_back(row.factory);
    }
    for (const Op op : qdq_.quantize) {
      targets_.push_back(op);
      factories_.push_back(Factory::kQuantize);
    }
    if (targets_.empty()) targets_.push_back(Op{});
  }
  std::string_view name() const override { return "fold-factories"; }
  std::span<const Op> targets() const override { return targets_; }

  absl::Status Rewrite(Node node, Rewriter& rw) const override {
    const Factory factory = factories_[std::find(targets_.begin(), targets_.end(), node.op()) - targets_.begin()];
    if (!(rw.graph_id() == GraphId{0})) return absl::OkStatus();  // bodies have no constants of their own
    if (!node.is_tensor() || rw.StorageOf(node).mutated) return absl::OkStatus();
    const auto shape = StaticShape(node.tensor());
    const auto count = ElementCount(node.tensor());
    if (!shape.has_value() || !count.has_value() || *count > kMaxElements) return absl::OkStatus();
    const std::optional<std::vector<double>> values = ValuesOf(factory, node, rw, *count);
    if (!values.has_value()) return absl::OkStatus();
    const DType dtype = node.tensor().dtype;
    absl::StatusOr<Node> constant = absl::UnimplementedError("");
    if (dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16) {
      const std::vector<float> floats(values->begin(), values->end());
      constant = AddFloats(rw, node.name(), dtype, *shape, floats);
    } else if (IsInteger(dtype) || dtype == DType::kBool) {
      std::vector<int64_t> integers;
      for (const double value : *values) integers.push_back(static_cast<int64_t>(value));
      constant = AddIntegers(rw, node.name(), dtype, *shape, integers);
    } else if (dtype == DType::kF64 && *count <= kMaxDoubles) {
      const std::span<const std::byte> bytes = std::as_bytes(std::span<const double>(*values));
      constant = rw.AddConstant(node.name(), DenseMeta(rw.context(), dtype, *shape),
                                std::vector<std::byte>(bytes.begin(), bytes.end()));
    } else {
      return absl::OkStatus();
    }
    if (!constant.ok()) return constant.status();
    return rw.ReplaceUses(node, *constant);
  }

 private:
  std::optional<std::vector<double>> ValuesOf(Factory factory, Node node, Rewriter& rw, int64_t count) const {
    const auto filled = [&](std::optional<double> value) -> std::optional<std::vector<double>> {
      if (!value.has_value()) return std::nullopt;
      return std::vector<double>(static_cast<size_t>(count), *value);
    };
    switch (factory) {
      case Factory::kFull:
        if (const std::optional<bool> flag = node.flag("fill_value")) return filled(*flag ? 1 : 0);
        return filled(node.number("fill_value"));
      case Factory::kZeros:
        return filled(0);
      case Factory::kOnes:
        return filled(1);
      case Factory::kScalar:
        if (const std::optional<bool> flag = node.flag("s")) return filled(*flag ? 1 : 0);
        return filled(node.number("s"));
      case Factory::kArange: {
        const bool starts = !node.attr("start").is_none();
        const std::optional<double> first = starts ? node.number("start") : 0.0;
        const std::optional<double> step = node.attr("step").is_none() ? 1.0 : node.number("step");
        if (!first.has_value() || !step.has_value()) return std::nullopt;
        std::vector<double> values;
        for (int64_t i = 0; i < count; ++i) values.push_back(*first + static_cast<double>(i) * *step);
        return values;
      }
      case Factory::kLinspace: {
        const std::optional<double> first = node.number("start"), last = node.number("end");
        if (!first.has_value() || !last.has_value()) return std::nullopt;
        // From both ends to the middle.
        const double step = count > 1 ? (*last - *first) / static_cast<double>(count - 1) : 0;
        std::vector<double> values;
        for (int64_t i = 0; i < count; ++i)
          values.push_back(i < count / 2 || count == 1 ? *first + static_cast<double>(i) * step
                                                       : *last - static_cast<double>(count - 1 - i) * step);
        return values;
      }
      case Factory::kEye: {
        const std::vector<int64_t> shape = *StaticShape(node.tensor());
        std::vector<double> values;
        for (int64_t i = 0; i < count; ++i) values.push_back(i / shape[1] == i % shape[1] ? 1 : 0);
        return values;
      }
      case Factory::kTriangle: {
        const std::optional<int64_t> rows = node.integer("row"), columns = node.integer("col");
        if (!rows.has_value() || !columns.has_value()) return std::nullopt;
        const int64_t offset = node.integer("offset").value_or(0);
        const bool lower = rw.context().ops.Name(node.op()).find("tril") != std::string_view::npos;
        std::vector<double> values, second;
        for (int64_t i = 0; i < *rows && static_cast<int64_t>(values.size()) <= count; ++i)
          for (int64_t j = 0; j < *columns; ++j) {
            if (lower ? j - i > offset : j - i < offset) continue;
            values.push_back(static_cast<double>(i));
            second.push_back(static_cast<double>(j));
          }
        values.insert(values.end(), second.begin(), second.end());
        if (static_cast<int64_t>(values.size()) != count) return std::nullopt;
        return values;
      }
      case Factory::kQuantize: {
        const Node x = node.arg("input");
        const Constant* constant = x.has_value() ? x.constant() : nullptr;
        const std::optional<Affine> affine = qdq_.Read(rw.context(), node);
        if (constant == nullptr || !affine.has_value() || !affine->per_tensor()) return std::nullopt;
        std::optional<std::vector<double>> values = ReadNumbers(rw.context(), *constant);
        if (!values.has_value()) return std::nullopt;
        for (double& value : *values) value = static_cast<double>(QuantizeOne(*affine, value));
        return values;
      }
    }
    return std::nullopt;
  }

  QdqOps qdq_;
  std::vector<Op> targets_;
  std::vector<Factory> factories_;  // pairs with targets_
};

}  // namespace

absl::StatusOr<Pass> MakeFoldFactories(Context& context, const PassOptions& options) {
  return MakeRewrite<FoldFactories>(context, options);
}

}  // namespace tare
