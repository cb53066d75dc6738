#include <vector>

#include "ir/normalize.h"
#include "ir/status.h"
#include "meta/context_factory.h"
#include "meta/infer.h"
#include "meta/rule_set.h"
#include "target.h"

namespace tare {
namespace {

class Arguments {
 public:
  explicit Arguments(Context& context) : context_(context) {
    SymbolRow row;
    row.name = "s0";
    row.min = 2;
    const Dim shape[] = {Dim::Static(2), context.syms.Symbol(row), Dim::Static(3)};
    const Dim strides[] = {Dim::Static(3), Dim::Static(6), Dim::Static(1)};
    TensorMeta tensor;
    tensor.shape = shape;
    tensor.strides = strides;
    tensor_ = context.metas.Tensor(tensor);
  }

  AttrValue One(const SchemaArg& arg) {
    switch (arg.type) {
      case SchemaType::kTensor:
        operands.push_back(tensor_);
        return AttrValue::Operand(static_cast<uint32_t>(operands.size() - 1));
      case SchemaType::kInt:
      case SchemaType::kSymInt:
      case SchemaType::kScalar:
        return AttrValue::Int(1);
      case SchemaType::kFloat:
        return AttrValue::Float(0.5);
      case SchemaType::kBool:
        return AttrValue::Bool(true);
      case SchemaType::kString:
        return AttrValue::String("text");
      case SchemaType::kDType:
        return AttrValue::OfDType(DType::kI8);
      case SchemaType::kMemoryFormat:
        return AttrValue::OfMemoryFormat(MemoryFormat::kPreserve);
      case SchemaType::kLayout:
        return AttrValue::OfLayout(Layout::kStrided);
      case SchemaType::kDevice:
        return AttrValue::OfDevice({});
      default:
        return AttrValue::None();
    }
  }
  AttrValue Of(const SchemaArg& arg) {
    if (!arg.list) return One(arg);
    const AttrValue items[] = {One(arg), One(arg)};
    return MakeList(context_.strings, items);
  }

  std::vector<MetaId> operands;

 private:
  Context& context_;
  MetaId tensor_;
};

void AskOnce(Context& context, Op op) {
  const Schema* schema = context.ops.schema(op);
  if (schema == nullptr) return;
  Arguments arguments(context);
  std::vector<NamedAttr> attrs;
  for (const SchemaArg& arg : schema->args) attrs.push_back({arg.name, arguments.Of(arg)});
  const auto normal = NormalizeArgs(context, op, attrs);
  if (!normal.ok()) return;
  const auto inferrer = MakeInferrer(context);
  const auto answer = inferrer->Infer(op, *normal, arguments.operands, QuantId{0}, {});
  if (answer.ok() && !answer->declared) TARE_CHECK(answer->meta.has_value());
  if (!answer.ok()) TARE_CHECK(!CheckIdOf(answer.status()).empty());
}

}  // namespace

// Compiles a file of rows; what compiles is asked about one call of each op.
void TryInput(std::string_view bytes) {
  const auto context = MakeContext();
  const int before = context->ops.size();
  const absl::Status added = AddOpsFile(*context, "fuzz.toml", bytes);
  if (!added.ok()) {
    TARE_CHECK(!CheckIdOf(added).empty());
    return;
  }
  for (int i = before; i < context->ops.size(); ++i) AskOnce(*context, Op{static_cast<uint16_t>(i)});
}

}  // namespace tare
