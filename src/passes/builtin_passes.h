// Makers of the target-independent passes, one file each. pass_list.cc lists them.
#pragma once

#include "passes/pass_list.h"

namespace tare {

absl::StatusOr<Pass> MakeCancelQdq(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeComposePermutes(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeComposeViews(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeDeadCode(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeDecomposeLinear(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeFuseBatchNorm(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeRemoveNoops(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeViewToViewCopy(Context& context, const PassOptions& options);

}  // namespace tare
