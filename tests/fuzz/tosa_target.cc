#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "backends/tosa/read.h"
#include "backends/tosa/write.h"
#include "ir/status.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "meta/check.h"
#include "meta/context_factory.h"
#include "meta/infer.h"
#include "target.h"

namespace tare {
namespace {

absl::StatusOr<Program> ReadBytes(Context& context, std::string_view bytes) {
  auto owner = std::make_shared<const std::string>(bytes);
  Payload file;
  file.bytes = std::as_bytes(std::span(owner->data(), owner->size()));
  file.owner = std::move(owner);
  return ReadTosa(context, std::move(file));
}

}  // namespace

// A file that reads is a well-formed program; what is written of it reads back, and stays as it is then.
void TryInput(std::string_view bytes) {
  const auto context = MakeContext();
  const absl::StatusOr<Program> program = ReadBytes(*context, bytes);
  if (!program.ok()) {
    TARE_CHECK(!CheckIdOf(program.status()).empty());
    return;
  }
  const absl::Status verified = Verify(*program);
  if (!verified.ok()) std::fprintf(stderr, "%s\n", std::string(verified.message()).c_str());
  TARE_CHECK(verified.ok());
  const std::unique_ptr<Inferrer> inferrer = MakeInferrer(*context, {.spec = TosaSpecOf(*program)});
  (void)CheckProgram(*program, *inferrer);
  const absl::StatusOr<std::string> written = WriteTosa(*program);
  if (!written.ok()) {
    TARE_CHECK(!CheckIdOf(written.status()).empty());
    return;
  }
  const absl::StatusOr<Program> again = ReadBytes(*context, *written);
  if (!again.ok()) std::fprintf(stderr, "%s\n", std::string(again.status().message()).c_str());
  TARE_CHECK(again.ok());
  const absl::StatusOr<std::string> twice = WriteTosa(*again);
  TARE_CHECK(twice.ok());
  const absl::StatusOr<Program> third = ReadBytes(*context, *twice);
  TARE_CHECK(third.ok());
  TARE_CHECK(PrintProgram(*context, *third) == PrintProgram(*context, *again));
}

}  // namespace tare
