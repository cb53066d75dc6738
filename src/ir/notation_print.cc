#include <algorithm>

#include "ir/notation.h"
#include "ir/status.h"
#include "ir/text.h"
#include "llvm/ADT/SmallVector.h"

namespace tare {
namespace {

std::string PrintDim(const Context& context, Dim dim) {
  if (dim.is_static()) return Cat(dim.value());
  return dim.is_valid() ? context.syms.Print(dim) : "invalid";
}

void PrintDims(const Context& context, std::span<const Dim> dims, std::string& out) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ',';
    out += PrintDim(context, dims[i]);
  }
}

bool Empty(const TensorMeta& tensor) {
  return std::ranges::any_of(tensor.shape, [](Dim dim) { return dim == 0; });
}

void PrintTensor(const Context& context, const TensorMeta& tensor, std::string& out) {
  CatTo(out, Name(tensor.dtype), "[");
  PrintDims(context, tensor.shape, out);
  out += ']';
  if (!IsContiguous(context, tensor)) {
    out += '{';
    PrintDims(context, tensor.strides, out);
    out += '}';
  }
  if (!(tensor.offset == 0)) {
    const std::string offset = PrintDim(context, tensor.offset);
    const bool word = QuoteUnlessWord(offset) == offset;
    CatTo(out, word ? "@" : "@(", offset, word ? "" : ")");
  }
  if (tensor.layout != Layout::kStrided || !(tensor.device == Device())) {
    const bool layout = tensor.layout != Layout::kStrided, device = !(tensor.device == Device());
    CatTo(out, "<", layout ? Name(tensor.layout) : std::string_view(), layout && device ? "," : "",
          device ? PrintDevice(tensor.device) : "", ">");
  }
}

void PrintMetaTo(const Context& context, const Meta& meta, std::string& out) {
  switch (meta.kind) {
    case MetaKind::kTensor:
      return PrintTensor(context, meta.tensor, out);
    case MetaKind::kTuple:
    case MetaKind::kList:
      out += meta.kind == MetaKind::kTuple ? '(' : '[';
      for (size_t i = 0; i < meta.items.size(); ++i) {
        if (i > 0) out += ", ";
        PrintMetaTo(context, context.metas.Get(meta.items[i]), out);
      }
      out += meta.kind == MetaKind::kTuple ? ')' : ']';
      return;
    case MetaKind::kInt:
      CatTo(out, "int");
      if (meta.value.is_valid()) CatTo(out, "(", PrintDim(context, meta.value), ")");
      return;
    case MetaKind::kFloat:
    case MetaKind::kBool:
      CatTo(out, meta.kind == MetaKind::kFloat ? "float" : "bool");
      if (meta.expr.has_value()) CatTo(out, "(", context.syms.Print(meta.expr), ")");
      return;
    case MetaKind::kString:
      out += Quote(meta.text);
      return;
    case MetaKind::kNone:
      out += "none";
      return;
    case MetaKind::kToken:
      out += "token";
      return;
    case MetaKind::kObject:
      CatTo(out, "object(", Quote(meta.text), ")");
      return;
  }
}

void PrintAttrTo(const Context& context, const AttrValue& v, const OperandNames& names, std::string& out) {
  switch (v.kind) {
    case AttrKind::kNone:
      out += "none";
      return;
    case AttrKind::kBool:
      out += v.flag ? "true" : "false";
      return;
    case AttrKind::kInt:
      CatTo(out, v.integer);
      return;
    case AttrKind::kFloat:
      out += PrintDouble(v.real);
      return;
    case AttrKind::kComplex:
      CatTo(out, "complex(", PrintDouble(v.complex.re), ",", PrintDouble(v.complex.im), ")");
      return;
    case AttrKind::kString:
      out += Quote(v.text());
      return;
    case AttrKind::kDType:
      out += Name(v.dtype);
      return;
    case AttrKind::kMemoryFormat:
      out += Name(v.memory_format);
      return;
    case AttrKind::kLayout:
      out += Name(v.layout);
      return;
    case AttrKind::kDevice:
      CatTo(out, "device(\"", PrintDevice(v.device), "\")");
      return;
    case AttrKind::kInts:
      out += '[';
      for (size_t i = 0; i < v.ints().size(); ++i) CatTo(out, i > 0 ? "," : "", v.ints()[i]);
      out += ']';
      return;
    case AttrKind::kList: {
      const bool wide = std::ranges::any_of(v.items(), [](const AttrValue& item) {
        return item.kind == AttrKind::kOperand || item.kind == AttrKind::kList || item.kind == AttrKind::kDict;
      });
      out += '[';
      for (size_t i = 0; i < v.items().size(); ++i) {
        if (i > 0) out += wide ? ", " : ",";
        PrintAttrTo(context, v.items()[i], names, out);
      }
      out += ']';
      return;
    }
    case AttrKind::kDict:
      out += '{';
      for (size_t i = 0; i + 1 < v.items().size(); i += 2) {
        CatTo(out, i > 0 ? ", " : "", Quote(v.items()[i].text()), ": ");
        PrintAttrTo(context, v.items()[i + 1], names, out);
      }
      out += '}';
      return;
    case AttrKind::kOperand:
      out += names.Operand(v.operand);
      return;
    case AttrKind::kGraph:
      out += names.Graph(v.graph);
      return;
    case AttrKind::kOperator:
      CatTo(out, "operator(", Quote(v.text()), ")");
      return;
  }
}

class MetasInPlace final : public OperandNames {
 public:
  MetasInPlace(const Context& context, std::span<const MetaId> metas) : context_(context), metas_(metas) {}
  std::string Operand(uint32_t index) const override {
    if (index >= metas_.size()) return OperandNames::Operand(index);
    const Meta& meta = context_.metas.Get(metas_[index]);
    if (meta.kind == MetaKind::kInt && meta.value.is_valid() && !context_.syms.Constant(meta.value)) {
      return context_.syms.Print(meta.value);
    }
    const bool expr = meta.kind == MetaKind::kFloat || meta.kind == MetaKind::kBool;
    return expr && meta.expr.has_value() ? context_.syms.Print(meta.expr) : PrintMeta(context_, meta);
  }

 private:
  const Context& context_;
  std::span<const MetaId> metas_;
};

}  // namespace

std::string PrintMeta(const Context& context, const Meta& meta) {
  std::string out;
  PrintMetaTo(context, meta, out);
  return out;
}
std::string PrintMeta(const Context& context, MetaId meta) { return PrintMeta(context, context.metas.Get(meta)); }

std::string OperandNames::Operand(uint32_t index) const { return Cat("$", index); }
std::string OperandNames::Graph(GraphId id) const { return Cat("@", id.index); }

std::string PrintAttr(const Context& context, const AttrValue& value, const OperandNames& names) {
  std::string out;
  PrintAttrTo(context, value, names, out);
  return out;
}
std::string PrintAttr(const Context& context, const AttrValue& value) {
  return PrintAttr(context, value, OperandNames());
}

std::string PrintArgs(const Context& context, Op op, AttrsId attrs, const OperandNames& names) {
  const std::span<const NamedAttr> given = context.attrs.Get(attrs);
  const Schema* schema = context.ops.schema(op);
  std::string out = "(";
  const auto separate = [&] {
    if (out.size() > 1) out += ", ";
  };
  const size_t formal = schema == nullptr ? 0 : schema->args.size();
  llvm::SmallVector<const NamedAttr*, 16> by_arg(formal, nullptr);
  llvm::SmallVector<bool, 16> printed(given.size(), false);
  for (size_t i = 0; i < given.size(); ++i) {
    const int index = schema == nullptr ? -1 : schema->IndexOf(given[i].name);
    if (index < 0 || by_arg[index] != nullptr) continue;
    by_arg[index] = &given[i];
    printed[i] = true;
  }
  // Absent tensors are written where a later one, or a positional argument without a formal one, is there.
  const auto is_there = [&](size_t k) {
    return IsTensorLike(schema->args[k]) && by_arg[k] != nullptr && !by_arg[k]->value.is_none();
  };
  size_t end = formal;
  const bool more = !std::ranges::all_of(printed, [](bool p) { return p; });
  while (!more && end > 0 && !is_there(end - 1)) --end;
  for (size_t k = 0; k < formal; ++k) {
    if (IsTensorLike(schema->args[k])) {
      if (k >= end) continue;
      separate();
      PrintAttrTo(context, by_arg[k] == nullptr ? AttrValue::None() : by_arg[k]->value, names, out);
    } else if (by_arg[k] != nullptr) {
      separate();
      CatTo(out, QuoteUnlessWord(schema->args[k].name), "=");
      PrintAttrTo(context, by_arg[k]->value, names, out);
    }
  }
  bool keyword = false;
  for (size_t i = 0; i < given.size(); ++i) {
    if (printed[i]) continue;
    separate();
    if (given[i].keyword != keyword) out += "*, ";
    keyword = given[i].keyword;
    if (!given[i].name.empty()) CatTo(out, QuoteUnlessWord(given[i].name), "=");
    PrintAttrTo(context, given[i].value, names, out);
  }
  return out + ")";
}

std::string PrintCall(const Context& context, Op op, AttrsId attrs, std::span<const MetaId> operands) {
  return QuoteUnlessWord(context.ops.Name(op)) + PrintArgs(context, op, attrs, MetasInPlace(context, operands));
}

bool IsContiguous(const Context& context, const TensorMeta& tensor) {
  if (tensor.strides.size() != tensor.shape.size() || Empty(tensor)) return true;
  SymStore& syms = context.syms;
  // A symbolic extent may or may not have been clamped to 1 while the strides were made.
  Dim expected = Dim::Static(1), clamped = Dim::Static(1);
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    const Dim extent = tensor.shape[i], stride = tensor.strides[i];
    if (extent == 1) continue;
    if (!(stride == expected) && !(stride == clamped)) return false;
    expected = syms.Mul(expected, extent);
    clamped = extent.is_static() ? syms.Mul(clamped, extent) : syms.Mul(clamped, syms.Max(extent, Dim::Static(1)));
  }
  return true;
}

bool SameMeta(const Context& context, MetaId a, MetaId b) {
  if (a == b) return true;
  const Meta& x = context.metas.Get(a);
  const Meta& y = context.metas.Get(b);
  if (x.kind != y.kind) return false;
  if (x.kind == MetaKind::kTuple || x.kind == MetaKind::kList) {
    return std::ranges::equal(x.items, y.items, [&](MetaId i, MetaId j) { return SameMeta(context, i, j); });
  }
  if (x.kind != MetaKind::kTensor) return false;  // equal ones have one id
  const TensorMeta& s = x.tensor;
  const TensorMeta& t = y.tensor;
  if (s.dtype != t.dtype || s.layout != t.layout || !std::ranges::equal(s.shape, t.shape) || !(s.offset == t.offset)) {
    return false;
  }
  if (Empty(s)) return true;
  if (s.strides.size() != t.strides.size()) return false;
  bool same = true;
  for (size_t i = 0; i < s.strides.size(); ++i) same &= s.strides[i] == t.strides[i] || s.shape[i] == 1;
  return same || (IsContiguous(context, s) && IsContiguous(context, t));
}

}  // namespace tare
