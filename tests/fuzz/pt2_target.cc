#include <cstdio>
#include <span>
#include <string>

#include "formats/pt2/pt2.h"
#include "formats/pt2/writer.h"
#include "ir/status.h"
#include "ir/verify.h"
#include "meta/context_factory.h"
#include "target.h"

namespace tare {

// A text that starts like JSON is a program's JSON; anything else is an archive. What was written must
// read back.
void TryInput(std::string_view bytes) {
  const auto context = MakeContext();
  const bool is_json = !bytes.empty() && (bytes[0] == '{' || bytes[0] == ' ');
  const absl::StatusOr<Program> program =
      is_json ? ReadPt2Json(*context, bytes)
              : ReadPt2FromMemory(*context, std::as_bytes(std::span(bytes.data(), bytes.size())));
  if (!program.ok()) {
    // A model that is not there has no check id.
    TARE_CHECK(!CheckIdOf(program.status()).empty() || program.status().code() == absl::StatusCode::kNotFound);
    return;
  }
  (void)Verify(*program);
  pt2::Writer writer(*program);
  const absl::StatusOr<std::string> json = pt2::WriteProgramJson(writer);
  if (!json.ok()) {
    TARE_CHECK(!CheckIdOf(json.status()).empty());
    return;
  }
  const absl::StatusOr<Program> again = ReadPt2Json(*context, *json);
  if (!again.ok()) std::fprintf(stderr, "%s\n", std::string(again.status().message()).c_str());
  TARE_CHECK(again.ok());
  // An element that nothing uses may lose its node.
  TARE_CHECK(again->main().num_nodes() <= program->main().num_nodes());
}

}  // namespace tare
