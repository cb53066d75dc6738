// The C interface: each function turns a status into a code and keeps its text with the context.
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "backends/tosa/program_file.h"
#include "capi/status_code.h"
#include "formats/program_file.h"
#include "ir/status.h"
#include "ir/text.h"
#include "meta/check.h"
#include "meta/context_factory.h"
#include "meta/infer.h"
#include "passes/pass_list.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "tare/tare.h"

struct tare_context {
  std::unique_ptr<tare::Context> context;
  mutable std::mutex mutex;
  mutable std::map<std::thread::id, std::string> errors;  // of each thread's last failed call
};

struct tare_program {
  tare_context* owner;
  tare::Program program;
};

namespace {

tare_status Keep(const tare_context* context, tare_status code, std::string_view text) {
  const std::lock_guard lock(context->mutex);
  context->errors[std::this_thread::get_id()] = text;
  return code;
}

tare_status Keep(const tare_context* context, const absl::Status& status) {
  if (status.ok()) return TARE_OK;
  return Keep(context, tare::StatusCodeOf(status), std::string_view(status.message().data(), status.message().size()));
}

// A file that cannot be read is bad input, whatever the reason.
tare_status KeepOfInput(const tare_context* context, const absl::Status& status) {
  const tare_status code = Keep(context, status);
  return code == TARE_OK || code == TARE_BUG ? code : TARE_BAD_INPUT;
}

tare_status RunSelected(tare_program* program, const std::vector<tare::Pass>& passes) {
  const std::unique_ptr<tare::Inferrer> inferrer = tare::MakeInferrer(
      *program->owner->context, {.facts = nullptr, .spec = tare::SpecificationFor(program->program), .use_memo = true});
  return Keep(program->owner, tare::RunPasses(program->program, *inferrer, passes).status());
}

constexpr size_t kMaxRowsFile = size_t{8} << 20, kMaxPipelineFile = size_t{1} << 20;

}  // namespace

extern "C" {

int tare_api_version(void) { return TARE_API_VERSION; }
const char* tare_version(void) { return TARE_VERSION; }

tare_context* tare_context_create(void) {
  tare_context* context = new (std::nothrow) tare_context;
  if (context != nullptr) context->context = tare::MakeContext();
  return context;
}

void tare_context_destroy(tare_context* context) { delete context; }

const char* tare_error_text(const tare_context* context) {
  const std::lock_guard lock(context->mutex);
  const auto found = context->errors.find(std::this_thread::get_id());
  return found == context->errors.end() ? "" : found->second.c_str();
}

tare_status tare_context_add_ops(tare_context* context, const char* path) {
  const absl::StatusOr<std::string> text = tare::ReadTextFile(path, kMaxRowsFile);
  if (!text.ok()) return KeepOfInput(context, text.status());
  return KeepOfInput(context, tare::AddOpsFile(*context->context, path, *text));
}

tare_status tare_program_load(tare_context* context, const char* path, tare_program** program) {
  absl::StatusOr<tare::Program> loaded = tare::ReadAnyProgramFile(*context->context, path);
  if (!loaded.ok()) return KeepOfInput(context, loaded.status());
  *program = new tare_program{context, *std::move(loaded)};
  return TARE_OK;
}

void tare_program_destroy(tare_program* program) { delete program; }

int64_t tare_program_num_nodes(const tare_program* program) {
  int64_t nodes = 0;
  for (const tare::ProgramGraph& owner : program->program.graphs) nodes += owner.graph.num_nodes();
  return nodes;
}

char* tare_program_text(const tare_program* program) {
  const std::string text = tare::PrintProgram(*program->owner->context, program->program);
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

void tare_free(char* text) { std::free(text); }

tare_status tare_program_check(tare_program* program, tare_check_counts* counts) {
  const std::unique_ptr<tare::Inferrer> inferrer = tare::MakeInferrer(
      *program->owner->context, {.facts = nullptr, .spec = tare::SpecificationFor(program->program), .use_memo = true});
  const tare::CheckReport report = tare::CheckProgram(program->program, *inferrer);
  if (counts != nullptr) *counts = {report.values, report.equal, report.different, report.declared};
  if (report.different == 0) return TARE_OK;
  if (const absl::Status refusal = tare::RefusalOf(program->program, report); !refusal.ok()) {
    return Keep(program->owner, refusal);
  }
  return Keep(program->owner, TARE_NO,
              tare::NameOfValue(program->program, report.differences[0]) + " is not what the program states");
}

tare_status tare_program_run_passes(tare_program* program, const char* passes) {
  std::vector<tare::Pass> selected;
  for (const absl::string_view name : absl::StrSplit(passes, ',', absl::SkipEmpty())) {
    absl::StatusOr<tare::Pass> pass =
        tare::MakePass(*program->owner->context, tare::BuiltinPasses(), std::string_view(name.data(), name.size()));
    if (!pass.ok()) return Keep(program->owner, pass.status());
    selected.push_back(*std::move(pass));
  }
  return RunSelected(program, selected);
}

tare_status tare_program_run_pipeline(tare_program* program, const char* path) {
  tare::Context& context = *program->owner->context;
  const absl::StatusOr<std::string> text = tare::ReadTextFile(path, kMaxPipelineFile);
  if (!text.ok()) return KeepOfInput(program->owner, text.status());
  const absl::StatusOr<tare::Pipeline> pipeline = tare::ParsePipeline(context, tare::BuiltinPasses(), path, *text);
  if (!pipeline.ok()) return Keep(program->owner, pipeline.status());
  const std::unique_ptr<tare::Inferrer> inferrer = tare::MakeInferrer(
      context, {.facts = nullptr, .spec = tare::SpecificationFor(program->program), .use_memo = true});
  return Keep(program->owner, tare::RunPipeline(program->program, *inferrer, *pipeline).status());
}

tare_status tare_program_write(const tare_program* program, const char* path) {
  return Keep(program->owner, tare::WriteAnyProgramFile(program->program, path));
}

}  // extern "C"
