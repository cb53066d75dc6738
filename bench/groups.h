// The groups of benchmarks; each function runs one.
#pragma once

namespace tare::bench {

void LoadBenches();
void InferBenches();
void MemoBenches();
void ReplayBenches();
void MemoryBenches();
void ScalingBenches();
void StartupBenches();
void LowerBenches();

}  // namespace tare::bench
