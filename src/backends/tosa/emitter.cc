#include "backends/tosa/emitter.h"

#include <algorithm>
#include <numeric>

#include "backends/tosa/constants.h"
#include "ir/status.h"

namespace tare {

std::pair<int64_t, int64_t> RangeOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return {0, 1};
    case DType::kU8:
      return {0, 255};
    case DType::kI4:
      return {-7, 7};
    case DType::kI8:
      return {-128, 127};
    case DType::kU16:
      return {0, 65535};
    case DType::kI16:
      return {-32768, 32767};
    case DType::kI32:
      return {INT32_MIN, INT32_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

absl::Status Emitter::Finish() const {
  switch (status_.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
      rw_.Refuse(place_, status_);
      return absl::OkStatus();
    default:
      return status_;
  }
}

void Emitter::Refuse(std::string_view check_id, std::string_view why) {
  if (status_.ok()) status_ = UnimplementedError(check_id, why);
}

Node Emitter::Take(absl::StatusOr<Node> node) {
  if (node.ok()) return *node;
  status_ = node.status();
  return Node();
}

Node Emitter::Insert(Op op, ArgList args) {
  if (!status_.ok() || !InMain()) return Node();
  return Take(rw_.InsertBefore(place_, op, args));
}

bool Emitter::InMain() {
  if (rw_.graph_id() == GraphId{0}) return true;
  Refuse("tosa_lower_c12", "bodies of control flow are not lowered");
  return false;
}

Node Emitter::Integers(std::string_view name, DType dtype, std::span<const int64_t> shape,
                       std::span<const int64_t> values) {
  if (!status_.ok() || !InMain()) return Node();
  return Take(AddIntegers(rw_, name, dtype, shape, values));
}

Node Emitter::Floats(std::string_view name, DType dtype, std::span<const int64_t> shape,
                     std::span<const float> values) {
  if (!status_.ok() || !InMain()) return Node();
  return Take(AddFloats(rw_, name, dtype, shape, values));
}

Node Emitter::Scalar(std::string_view name, DType dtype, size_t rank, double value) {
  const std::vector<int64_t> shape(rank, 1);
  if (IsFloating(dtype)) {
    const float element = static_cast<float>(value);
    return Floats(name, dtype, shape, {&element, 1});
  }
  const int64_t element = static_cast<int64_t>(value);
  return Integers(name, dtype, shape, {&element, 1});
}

std::vector<int64_t> Emitter::ShapeOf(Node x) {
  if (!status_.ok()) return {};
  const std::optional<std::vector<int64_t>> shape = StaticShape(x.tensor());
  if (!shape.has_value()) Refuse("tosa_lower_c2", "the shape is not static");
  return shape.value_or(std::vector<int64_t>());
}

Node Emitter::Transpose(Node x, std::span<const int64_t> perms) {
  if (!status_.ok() || std::is_sorted(perms.begin(), perms.end())) return x;
  const Node made = Insert(ops_.transpose, {{"input", x}, {"perms", std::vector<int64_t>(perms.begin(), perms.end())}});
  return made;
}

Node Emitter::Reshape(Node x, std::span<const int64_t> shape) {
  const std::vector<int64_t> old = ShapeOf(x);
  if (!status_.ok() || std::equal(old.begin(), old.end(), shape.begin(), shape.end())) return x;
  return Insert(ops_.reshape, {{"input1", x}, {"shape", std::vector<int64_t>(shape.begin(), shape.end())}});
}

Node Emitter::ToRank(Node x, size_t rank) {
  std::vector<int64_t> shape = ShapeOf(x);
  if (shape.size() >= rank) return x;
  shape.insert(shape.begin(), rank - shape.size(), 1);
  return Reshape(x, shape);
}

Node Emitter::Slice(Node x, std::span<const int64_t> start, std::span<const int64_t> size) {
  const std::vector<int64_t> shape = ShapeOf(x);
  if (!status_.ok() || std::equal(shape.begin(), shape.end(), size.begin(), size.end())) return x;
  return Insert(ops_.slice, {{"input1", x},
                             {"start", std::vector<int64_t>(start.begin(), start.end())},
                             {"size", std::vector<int64_t>(size.begin(), size.end())}});
}

Node Emitter::Concat(const std::vector<Node>& parts, int64_t axis) {
  if (!status_.ok() || parts.size() == 1) return parts[0];
  return Insert(ops_.concat, {{"input1", parts}, {"axis", axis}});
}

Node Emitter::Cast(Node x, DType dtype) {
  if (!status_.ok() || x.tensor().dtype == dtype) return x;
  return Insert(ops_.cast, {{"input", x}, {"dtype", AttrValue::OfDType(dtype)}});
}

Node Emitter::Clamp(Node x, int64_t low, int64_t high) {
  if (!status_.ok()) return Node();
  const auto [min, max] = RangeOf(x.tensor().dtype);
  if (low <= min && high >= max) return x;
  return Insert(ops_.clamp, {{"input", x}, {"min_val", std::max(low, min)}, {"max_val", std::min(high, max)}});
}

Node Emitter::Rescale(Node x, DType dtype, std::span<const double> scales, int64_t in_zp, int64_t out_zp) {
  std::vector<AttrValue> list;
  list.reserve(scales.size());
  for (const double scale : scales) list.push_back(AttrValue::Float(scale));
  return Insert(ops_.rescale, {{"input1", x},
                               {"dtype", AttrValue::OfDType(dtype)},
                               {"scale", AttrValue::List(list)},
                               {"in_zp", in_zp},
                               {"out_zp", out_zp}});
}

Node Emitter::RescaleTo(Node x, std::span<const double> scales, int64_t in_zp, const Affine& to) {
  const Node made = Rescale(x, to.storage, scales, in_zp, to.zero_point());
  if (status_.ok()) Quantify(made, {}, &to);
  return made;
}

void Emitter::Quantify(Node node, std::span<const Affine* const> operands, const Affine* result) {
  if (!status_.ok()) return;
  std::vector<QuantParams> params;
  for (const Affine* operand : operands) {
    QuantParams none;
    none.storage = DType::kBool;
    params.push_back(operand == nullptr ? none : operand->Params());
  }
  QuantRecord record;
  record.operands = params;
  record.has_result = result != nullptr;
  if (result != nullptr) record.result = result->Params();
  rw_.SetQuant(node, record);
}

void Emitter::Replace(Node old, Node value) {
  if (status_.ok()) status_ = rw_.ReplaceUses(old, value);
}

}  // namespace tare
