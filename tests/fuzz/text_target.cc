#include "ir/status.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "target.h"

namespace tare {
namespace {

// A few schemas reach what the reader does with arguments; other ops are declared on sight.
constexpr OpDef kOps[] = {
    {"aten.add.Tensor", "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", kPure},
    {"aten.cat.default", "(Tensor[] tensors, int dim=0) -> Tensor", kPure},
    {"aten.index.Tensor", "(Tensor self, Tensor?[] indices) -> Tensor", kPure},
    {"aten.view.default", "(Tensor self, SymInt[] size) -> Tensor", kView},
    {"aten.conv2d.default",
     "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, float p=0.5) -> Tensor", kPure},
    {"aten.empty.default", "(SymInt[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor", kPure},
};

}  // namespace

// A program's text: what was printed must read back as the same text.
void TryInput(std::string_view bytes) {
  std::vector<OpDef> rows(PseudoOps().begin(), PseudoOps().end());
  rows.insert(rows.end(), std::begin(kOps), std::end(kOps));
  Context context(rows);
  const absl::StatusOr<Program> program = ParseProgram(context, bytes);
  if (!program.ok()) return;
  Verify(*program).IgnoreError();
  const std::string once = PrintProgram(context, *program);
  const absl::StatusOr<Program> again = ParseProgram(context, once);
  TARE_CHECK(again.ok());
  TARE_CHECK(PrintProgram(context, *again) == once);
}

}  // namespace tare
