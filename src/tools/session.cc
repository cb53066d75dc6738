#include "tools/session.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/tosa/program_file.h"
#include "formats/program_file.h"
#include "ir/status.h"
#include "meta/context_factory.h"
#include "meta/infer.h"

namespace tare {
namespace {

constexpr size_t kMaxOpsFile = size_t{8} << 20;

}  // namespace

Session::Session() : context_(MakeContext()) {}
Session::~Session() = default;

ExitCode Session::AddOpsFiles(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const absl::StatusOr<std::string> text = ReadTextFile(file, kMaxOpsFile);
    if (!text.ok()) return ComplainOfInput(file, text.status());
    const absl::Status status = AddOpsFile(*context_, file, *text);
    if (status.ok()) continue;
    const bool names_file = absl::StartsWith(status.message(), absl::StrCat(file, ":"));  // with line and column
    return ComplainOfInput(names_file ? "" : file, status);
  }
  return kExitOk;
}

std::unique_ptr<Inferrer> Session::NewInferrer(const Program& program) {
  return MakeInferrer(*context_, {.facts = nullptr, .spec = SpecificationFor(program), .use_memo = true});
}

ExitCode ComplainOfInput(std::string_view file, const absl::Status& status) {
  return Complain(file, status) == kExitBug ? kExitBug : kExitBadInput;
}

}  // namespace tare
