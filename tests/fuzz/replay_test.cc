// Replays the seeds of the fuzzer named by the build.
#include <doctest/doctest.h>

#include "seeds.h"
#include "target.h"

TEST_CASE("the seeds of the fuzzer pass") {
  const auto seeds = tare::ReadSeeds(TARE_FUZZER);
  CHECK_GE(seeds.size(), 5);
  for (const auto& [name, bytes] : seeds) {
    CAPTURE(name);
    tare::TryInput(bytes);
  }
}
