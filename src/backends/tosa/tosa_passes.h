// Makers of the passes to TOSA, one file each in passes/. pass_list.cc lists them.
#pragma once

#include "passes/pass_list.h"

namespace tare {

// What a program needs before lowering.
absl::StatusOr<Pass> MakeFunctionalize(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeCanonicalizeClamp(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeFoldFactories(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeMoveQdq(Context& context, const PassOptions& options);

// ATen to TOSA.
absl::StatusOr<Pass> MakeLowerBatchNorm(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerClamp(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerConcat(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerConvolution(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerElementwise(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerFunction(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerLinear(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerMatmul(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerMovement(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerNormalization(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerPad(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerPool(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerPrelu(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerReduce(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerRequantize(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerResize(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerSelect(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerSplit(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerStrides(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerTable(Context& context, const PassOptions& options);

// Those of sequences and of integers beside floats.
absl::StatusOr<Pass> MakeLowerAttention(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerCast(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerComposite(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerDivide(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerGather(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerQuantisedNorm(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerQuantization(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerRecurrent(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeLowerRoll(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeNarrowIntegers(Context& context, const PassOptions& options);

// TOSA to better TOSA.
absl::StatusOr<Pass> MakeFoldConstants(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeFuseRescales(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeMergeDuplicates(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeNarrowMovement(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeNarrowTransposes(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakePropagateLayout(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeSimplifyMovement(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeSinkReshapes(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeSliceFirst(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeUnshareRescales(Context& context, const PassOptions& options);
absl::StatusOr<Pass> MakeWidenSums(Context& context, const PassOptions& options);

}  // namespace tare
