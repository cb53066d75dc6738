#include "call_grammar.h"

#include <algorithm>

#include "ir/normalize.h"

namespace tare {
namespace {

constexpr size_t kMaxGeneratedRank = 6;

constexpr DType kDTypes[] = {DType::kF32, DType::kF16, DType::kI64, DType::kI32,  DType::kI8,  DType::kU8,
                             DType::kF64, DType::kC64, DType::kI16, DType::kBF16, DType::kBool};
constexpr double kFloats[] = {0.5, 1.0, 0.0, 2.0, -1.0, 1e-5, 1e30};
constexpr int64_t kInts[] = {1, 0, 2, -1, 3, 4, -2, 6, 8, 5, 7, 12, -3, INT64_MAX, INT64_MIN, int64_t{1} << 33};
constexpr std::string_view kStrings[] = {
    "none",         "mean",         "sum",  "floor",     "trunc",    "constant", "reflect",
    "circular",     "replicate",    "ij",   "xy",        "linear",   "tanh",     "bilinear",
    "left",         "amax",         "prod", "ij,jk->ik", "",         "nearest",  "NEAREST_NEIGHBOR",
    "SINGLE_ROUND", "DOUBLE_ROUND", "i,j",  "NHWC",      "PROPAGATE"};

}  // namespace

CallSymbols::CallSymbols(SymStore& syms) {
  struct Row {
    SymbolRow row;
    std::vector<int64_t> values;
  };
  const Row rows[] = {
      {{"s0", SymbolKind::kBacked, 2, INT64_MAX, 1, 4}, {4, 2, 5, 3}},
      {{"s1", SymbolKind::kBacked, 2, 64, 1, 6}, {6, 3, 7, 4}},
      {{"s2", SymbolKind::kBacked, 4, INT64_MAX, 4, 8}, {8, 4, 12, 16}},
      {{"u0", SymbolKind::kUnbacked, 0, INT64_MAX, 1, std::nullopt}, {3, 2, 6, 4}},
  };
  samples.resize(rows[0].values.size());
  for (const Row& row : rows) {
    symbols.push_back(syms.OfDim(syms.Symbol(row.row)));
    for (size_t i = 0; i < samples.size(); ++i) samples[i].push_back(row.values[i]);
  }
}

CallGrammar::CallGrammar(Context& context, const CallSymbols& symbols) : context_(context) {
  for (int i = kNumPseudoOps; i < context.ops.builtin_count(); ++i) {
    const Op op{static_cast<uint16_t>(i)};
    if (context.ops.Get(op).rule >= 0 && !context.ops.Has(op, kHigherOrder) && context.ops.schema(op) != nullptr) {
      ops_.push_back(op);
    }
  }
  SymStore& syms = context.syms;
  for (const int64_t extent : {2, 3, 1, 4, 6, 0, 5, 8, 16}) extents_.push_back(Dim::Static(extent));
  std::vector<Dim> s;
  for (const ExprId symbol : symbols.symbols) s.push_back(syms.ToDim(symbol));
  extents_.insert(extents_.end(), {s[0], s[1], s[2], s[0], s[1]});
  extents_.push_back(syms.Add(s[0], Dim::Static(1)));
  extents_.push_back(syms.Mul(s[0], Dim::Static(2)));
  extents_.push_back(syms.Mul(s[0], s[1]));
  extents_.push_back(syms.FloorDiv(s[1], Dim::Static(2)));
  extents_.push_back(s[3]);
  extents_.push_back(syms.Add(s[3], Dim::Static(2)));
}

absl::StatusOr<Call> CallGrammar::Make(ByteSource& bytes) {
  const uint32_t high = bytes.Next();
  Call call;
  call.op = ops_[(high * 256 + bytes.Next()) % ops_.size()];
  BeginCall(bytes);
  std::vector<NamedAttr> attrs;
  for (const SchemaArg& arg : context_.ops.schema(call.op)->args) {
    if (arg.has_default && !bytes.OneIn(3)) continue;
    attrs.push_back({arg.name, Of(arg, bytes)});
  }
  auto normal = NormalizeArgs(context_, call.op, attrs);
  if (!normal.ok()) return std::move(normal).status();
  call.attrs = *normal;
  call.operands = operands_;
  return call;
}

void CallGrammar::BeginCall(ByteSource& bytes) {
  operands_.clear();
  base_dtype_ = bytes.Below(2) == 0 ? DType::kF32 : bytes.Of(kDTypes);
  base_shape_.clear();
  for (size_t rank = bytes.Below(kMaxGeneratedRank); rank > 0; --rank) base_shape_.push_back(Extent(bytes));
}

Dim CallGrammar::Extent(ByteSource& bytes) { return extents_[bytes.Below(extents_.size())]; }

// Shapes of one call resemble each other, else hardly any call would be accepted.
std::vector<Dim> CallGrammar::Shape(ByteSource& bytes) {
  std::vector<Dim> shape = base_shape_;
  const size_t rank = shape.size();
  switch (bytes.Below(10)) {
    case 4:
      if (rank > 0) shape[bytes.Below(rank)] = Extent(bytes);
      break;
    case 5:
      if (rank > 1) std::swap(shape[rank - 1], shape[rank - 2]);
      break;
    case 6:
      if (rank > 0) shape.erase(shape.begin() + bytes.Below(rank));
      break;
    case 7:
      shape.insert(shape.begin() + bytes.Below(rank + 1), Extent(bytes));
      break;
    case 8: {
      shape.clear();
      for (size_t n = bytes.Below(kMaxGeneratedRank); n > 0; --n) shape.push_back(Extent(bytes));
      break;
    }
    case 9:
      shape.assign(rank > 0 ? 1 : 0, rank > 0 ? shape[bytes.Below(rank)] : Dim());
      break;
    default:
      break;
  }
  return shape;
}

// Contiguous in some order of the axes, perhaps with an axis expanded, a gap, or an offset.
MetaId CallGrammar::Tensor(ByteSource& bytes) {
  SymStore& syms = context_.syms;
  const std::vector<Dim> shape = Shape(bytes);
  TensorMeta tensor;
  tensor.dtype = bytes.OneIn(6) ? bytes.Of(kDTypes) : base_dtype_;
  std::vector<size_t> order(shape.size());  // outermost first
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const uint32_t form = bytes.Below(10);
  if (form == 6 && order.size() >= 2) std::swap(order[order.size() - 1], order[order.size() - 2]);
  if (form == 7 && order.size() >= 3) std::rotate(order.begin() + 1, order.begin() + 2, order.end());  // channels last
  std::vector<Dim> strides(shape.size());
  Dim next = Dim::Static(form == 8 ? 2 : 1);
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = next;
    next = syms.Mul(next, syms.Max(shape[order[i]], Dim::Static(1)));
  }
  if (form == 9 && !strides.empty()) strides[bytes.Below(strides.size())] = Dim::Static(0);
  if (form == 8) tensor.offset = Extent(bytes);
  tensor.shape = shape;
  tensor.strides = strides;
  return context_.metas.Tensor(tensor);
}

AttrValue CallGrammar::Operand(MetaId meta) {
  operands_.push_back(meta);
  return AttrValue::Operand(static_cast<uint32_t>(operands_.size() - 1));
}

AttrValue CallGrammar::Number(ByteSource& bytes, bool symbolic) {
  const uint32_t choice = bytes.Below(8);
  if (choice == 7 && symbolic) {
    const Dim dim = Extent(bytes);
    return dim.is_static() ? AttrValue::Int(dim.value()) : Operand(context_.metas.Int(dim));
  }
  return AttrValue::Int(kInts[bytes.Below(bytes.OneIn(8) ? std::size(kInts) : 8)]);
}

AttrValue CallGrammar::One(const SchemaArg& arg, ByteSource& bytes) {
  switch (arg.type) {
    case SchemaType::kTensor:
      return Operand(Tensor(bytes));
    case SchemaType::kInt:
      return Number(bytes, false);
    case SchemaType::kSymInt:
      return Number(bytes, true);
    case SchemaType::kFloat:
      return AttrValue::Float(bytes.Of(kFloats));
    case SchemaType::kScalar:
      switch (bytes.Below(4)) {
        case 0:
          return AttrValue::Float(bytes.Of(kFloats));
        case 1:
          return AttrValue::Bool(bytes.OneIn(2));
        default:
          return Number(bytes, true);
      }
    case SchemaType::kBool:
      return AttrValue::Bool(bytes.OneIn(2));
    case SchemaType::kString:
      return AttrValue::String(bytes.Of(kStrings));
    case SchemaType::kDType:
      return AttrValue::OfDType(bytes.Of(kDTypes));
    case SchemaType::kMemoryFormat:
      return AttrValue::OfMemoryFormat(static_cast<MemoryFormat>(bytes.Below(4)));
    case SchemaType::kLayout:
      return AttrValue::OfLayout(bytes.OneIn(8) ? Layout::kSparseCoo : Layout::kStrided);
    case SchemaType::kDevice:
      return AttrValue::OfDevice({});
    case SchemaType::kAny:
      return bytes.OneIn(2) ? Number(bytes, true) : AttrValue::None();
    case SchemaType::kGenerator:
    case SchemaType::kGraph:
      return AttrValue::None();
  }
  return AttrValue::None();
}

AttrValue CallGrammar::List(const SchemaArg& arg, ByteSource& bytes) {
  std::vector<AttrValue> items;
  const bool integers = arg.type == SchemaType::kInt || arg.type == SchemaType::kSymInt;
  const uint32_t form = bytes.Below(4);
  if (integers && form == 1) {  // a shape like the others
    for (const Dim dim : Shape(bytes)) {
      if (dim.is_static())
        items.push_back(AttrValue::Int(dim.value()));
      else if (arg.type == SchemaType::kSymInt)
        items.push_back(Operand(context_.metas.Int(dim)));
    }
  } else if (integers && form == 2) {  // axes in some order
    for (size_t i = 0; i < base_shape_.size(); ++i) items.push_back(AttrValue::Int(static_cast<int64_t>(i)));
    if (!items.empty()) std::rotate(items.begin(), items.begin() + bytes.Below(items.size()), items.end());
  } else {
    const size_t count = arg.list_size > 0 && !bytes.OneIn(4) ? static_cast<size_t>(arg.list_size) : bytes.Below(5);
    for (size_t i = 0; i < count; ++i) {
      items.push_back(arg.element_optional && bytes.OneIn(3) ? AttrValue::None() : One(arg, bytes));
    }
  }
  return MakeList(context_.strings, items);
}

AttrValue CallGrammar::Of(const SchemaArg& arg, ByteSource& bytes) {
  if (arg.optional && bytes.OneIn(2)) return AttrValue::None();
  return arg.list ? List(arg, bytes) : One(arg, bytes);
}

}  // namespace tare
