// A small op table for tests of the IR, which knows no rules.
#pragma once

#include <vector>

#include "ir/op_table.h"

namespace tare {

inline const std::vector<OpDef>& TestOps() {
  static const std::vector<OpDef> ops = [] {
    std::vector<OpDef> rows(PseudoOps().begin(), PseudoOps().end());
    const OpDef more[] = {
        {"aten.relu.default", "(Tensor self) -> Tensor", kPure},
        {"aten.add.Tensor", "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", kPure},
        {"aten.add_.Tensor", "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)", kMutates},
        {"aten.mm.default", "(Tensor self, Tensor mat2) -> Tensor", kPure},
        {"aten.cat.default", "(Tensor[] tensors, int dim=0) -> Tensor", kPure},
        {"aten.permute.default", "(Tensor self, int[] dims) -> Tensor", kPure | kView},
        {"aten.view.default", "(Tensor self, SymInt[] size) -> Tensor", kPure | kView},
        {"aten.sym_size.int", "(Tensor self, int dim) -> SymInt", kPure},
        {"aten.topk.default",
         "(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
         kPure},
        {"aten.conv2d.default",
         "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0) -> Tensor", kPure},
        {"aten.batch_norm.default", "(Tensor input, Tensor? weight, Tensor? bias, Tensor? mean, float eps) -> Tensor",
         kPure},
        {"aten.index.Tensor", "(Tensor self, Tensor?[] indices) -> Tensor", kPure},
        {"aten.where.ScalarSelf", "(Tensor condition, Scalar self, Tensor other) -> Tensor", kPure},
        {"aten.full.default",
         "(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
         "bool? pin_memory=None) -> Tensor",
         kPure},
        {"aten.clone.default", "(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", kPure},
        {"aten.gelu.default", "(Tensor self, *, str approximate='none') -> Tensor", kPure},
        {"higher_order.cond", "", kHigherOrder},
    };
    rows.insert(rows.end(), std::begin(more), std::end(more));
    return rows;
  }();
  return ops;
}

}  // namespace tare
