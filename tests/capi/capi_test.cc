#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
// The C interface: codes, texts, ownership, threads.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "doctest/doctest.h"
#include "tare/tare.h"

namespace {

namespace fs = std::filesystem;

using ContextPtr = std::unique_ptr<tare_context, decltype(&tare_context_destroy)>;
using ProgramPtr = std::unique_ptr<tare_program, decltype(&tare_program_destroy)>;

std::string DataFile(const char* name) {
  return std::string(std::getenv("TARE_SOURCE_ROOT")) + "/tests/data/nets/" + name;
}

// A file that goes away with this value.
struct TemporaryFile {
  explicit TemporaryFile(const std::string& name, const std::string& text = "")
      : path((fs::temp_directory_path() / (std::to_string(getpid()) + name)).string()) {
    if (!text.empty()) std::ofstream(path) << text;
  }
  ~TemporaryFile() { fs::remove(path); }
  const std::string path;
};

ProgramPtr Load(tare_context* context, const std::string& path, tare_status want = TARE_OK) {
  tare_program* program = nullptr;
  CHECK_EQ(tare_program_load(context, path.c_str(), &program), want);
  CHECK_EQ(program != nullptr, want == TARE_OK);
  return ProgramPtr(program, tare_program_destroy);
}

std::string TextOf(const tare_program* program) {
  char* text = tare_program_text(program);
  std::string copy = text;
  tare_free(text);
  return copy;
}

constexpr char kText[] =
    "graph main(%x: f32[2,3]) {\n"
    "  %c = aten.clone.default(%x) : f32[2,3]\n"
    "  %y = aten.relu.default(%c) : f32[2,3]\n"
    "  return %y\n"
    "}\n";

}  // namespace

TEST_CASE("a program is loaded, checked, rewritten and written") {
  const ContextPtr context(tare_context_create(), tare_context_destroy);
  const TemporaryFile in("in.tare", kText), out("out.tare");
  const ProgramPtr program = Load(context.get(), in.path);
  CHECK_EQ(TextOf(program.get()), kText);
  CHECK_EQ(tare_program_num_nodes(program.get()), 4);  // placeholder, two ops, output

  tare_check_counts counts;
  CHECK_EQ(tare_program_check(program.get(), &counts), TARE_OK);
  CHECK_EQ(counts.values, 3);
  CHECK_EQ(counts.equal, 3);
  CHECK_EQ(tare_program_check(program.get(), nullptr), TARE_OK);

  CHECK_EQ(tare_program_run_passes(program.get(), "remove-noops,dead-code"), TARE_OK);
  CHECK_EQ(tare_program_num_nodes(program.get()), 3);
  CHECK_EQ(tare_program_write(program.get(), out.path.c_str()), TARE_OK);
  CHECK_EQ(TextOf(Load(context.get(), out.path).get()), TextOf(program.get()));
}

TEST_CASE("what fails says why, with the command's code") {
  const ContextPtr context(tare_context_create(), tare_context_destroy);
  CHECK_EQ(std::string(tare_error_text(context.get())), "");
  Load(context.get(), "/no/such/file.pt2", TARE_BAD_INPUT);
  CHECK_NE(std::string(tare_error_text(context.get())), "");

  const TemporaryFile in("in.tare", kText);
  const ProgramPtr program = Load(context.get(), in.path);
  CHECK_EQ(tare_program_run_passes(program.get(), "no-such-pass"), TARE_USAGE);
  CHECK_NE(std::strstr(tare_error_text(context.get()), "no-such-pass"), nullptr);
  CHECK_EQ(tare_program_run_pipeline(program.get(), "/no/such/pipeline.toml"), TARE_BAD_INPUT);
  CHECK_EQ(tare_program_write(program.get(), "x.onnx"), TARE_USAGE);
  CHECK_EQ(tare_context_add_ops(context.get(), "/no/such/ops.toml"), TARE_BAD_INPUT);
  CHECK_EQ(TextOf(program.get()), kText);

  const TemporaryFile wrong("wrong.tare",
                            "graph main(%x: f32[2]) {\n  %y = aten.relu.default(%x) : f32[3]\n  return %y\n}\n");
  const ProgramPtr differs = Load(context.get(), wrong.path);
  tare_check_counts counts;
  CHECK_EQ(tare_program_check(differs.get(), &counts), TARE_NO);
  CHECK_EQ(counts.different, 1);
  CHECK_NE(std::strstr(tare_error_text(context.get()), "%y"), nullptr);
}

TEST_CASE("TOSA files load, check and are written") {
  const ContextPtr context(tare_context_create(), tare_context_destroy);
  const ProgramPtr program = Load(context.get(), DataFile("../tosa/unet_int8.tosa-1.0_int.tosa"));
  tare_check_counts counts;
  CHECK_EQ(tare_program_check(program.get(), &counts), TARE_OK);
  CHECK_GT(counts.equal, 50);
  const TemporaryFile written(".tosa");
  CHECK_EQ(tare_program_write(program.get(), written.path.c_str()), TARE_OK);
  CHECK_EQ(TextOf(Load(context.get(), written.path).get()), TextOf(program.get()));
}

TEST_CASE("threads share a context and have their own error texts") {
  const ContextPtr context(tare_context_create(), tare_context_destroy);
  const std::vector<const char*> files = {"ds_cnn/train.pt2", "ds_cnn/int8.pt2", "gru/train.pt2", "unet/core.pt2"};
  std::vector<std::string> texts(files.size());
  std::vector<int> own_error(files.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < files.size(); ++i) {
    threads.emplace_back([&, i] {
      const std::string gone = "/gone/" + std::to_string(i);
      tare_program* program = nullptr;
      tare_program_load(context.get(), gone.c_str(), &program);
      own_error[i] = tare_error_text(context.get())[0] != '\0';
      if (tare_program_load(context.get(), DataFile(files[i]).c_str(), &program) != TARE_OK) return;
      tare_program_run_passes(program, "remove-noops,compose-permutes,compose-views,dead-code");
      if (tare_program_check(program, nullptr) == TARE_OK) texts[i] = TextOf(program);
      tare_program_destroy(program);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < files.size(); ++i) {
    CAPTURE(i);
    CHECK(own_error[i]);
    const ContextPtr alone(tare_context_create(), tare_context_destroy);
    const ProgramPtr program = Load(alone.get(), DataFile(files[i]));
    tare_program_run_passes(program.get(), "remove-noops,compose-permutes,compose-views,dead-code");
    CHECK_EQ(texts[i], TextOf(program.get()));
  }
}
