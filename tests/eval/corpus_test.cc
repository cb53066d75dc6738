// Whole networks on recorded inputs against recorded outputs: what PyTorch and the TOSA reference model answered.
// Small ones are in tests/data; all of ../shared/corpus/nets where TARE_SHARED says that it is there.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backends/tosa/program_file.h"
#include "doctest/doctest.h"
#include "eval/eval.h"
#include "formats/npy/npy.h"
#include "ir/status.h"
#include "meta/context_factory.h"

namespace {

using namespace tare;
namespace fs = std::filesystem;

std::string Root() {
  const char* root = std::getenv("TARE_SOURCE_ROOT");
  return root == nullptr ? "." : root;
}

// `<stem>0.npy`, `<stem>1.npy`, … as long as there are.
std::vector<Tensor> ReadAll(const std::string& stem) {
  std::vector<Tensor> tensors;
  for (int k = 0; fs::exists(stem + std::to_string(k) + ".npy"); ++k) {
    const absl::StatusOr<NpyArray> array = ReadNpyFile(stem + std::to_string(k) + ".npy");
    REQUIRE(array.ok());
    Tensor tensor = Tensor::Make(array->dtype, array->shape, nullptr).value();
    if (!array->bytes.empty()) std::memcpy(tensor.mutable_bytes().data(), array->bytes.data(), array->bytes.size());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

struct Distance {
  double max_relative = 0;  // to max(1, |want|)
  double max_abs = 0;
  int64_t differing = 0, elements = 0;
};

template <typename T>
void Measure(const Tensor& got, const Tensor& want, Distance& d) {
  for (int64_t i = 0; i < want.size(); ++i) {
    const double a = static_cast<double>(got.data<T>()[i]), b = static_cast<double>(want.data<T>()[i]);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    ++d.differing;
    d.max_abs = std::max(d.max_abs, std::isnan(a - b) ? INFINITY : std::abs(a - b));
    d.max_relative =
        std::max(d.max_relative, std::isnan(a - b) ? INFINITY : std::abs(a - b) / std::max(1.0, std::abs(b)));
  }
}

Distance DistanceOf(const Tensor& got, const Tensor& want) {
  Distance d;
  d.elements = want.size();
  REQUIRE(std::ranges::equal(got.shape(), want.shape()));
  REQUIRE_EQ(got.dtype(), want.dtype());
  switch (want.dtype()) {
    case DType::kF32:
      Measure<float>(got, want, d);
      break;
    case DType::kI8:
      Measure<int8_t>(got, want, d);
      break;
    case DType::kI16:
      Measure<int16_t>(got, want, d);
      break;
    case DType::kI32:
      Measure<int32_t>(got, want, d);
      break;
    default:
      REQUIRE(std::ranges::equal(got.bytes(), want.bytes()));
  }
  return d;
}

std::vector<Distance> Run(const std::string& file, const std::vector<Tensor>& inputs, const std::vector<Tensor>& want) {
  const std::unique_ptr<Context> context = MakeContext();
  const absl::StatusOr<Program> program = ReadAnyProgramFile(*context, file);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  const absl::StatusOr<EvalResult> result = Evaluate(*program, std::vector<Value>(inputs.begin(), inputs.end()));
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  std::vector<Tensor> got;
  for (size_t i = 0; i < result->outputs.size(); ++i) {
    const bool user = i >= program->outputs.size() || program->outputs[i].kind == OutputKind::kUser;
    if (user && result->outputs[i].kind == ValueKind::kTensor) got.push_back(result->outputs[i].tensor);
  }
  REQUIRE_EQ(got.size(), want.size());
  std::vector<Distance> distances;
  for (size_t i = 0; i < want.size(); ++i) distances.push_back(DistanceOf(got[i], want[i]));
  return distances;
}

// TOSA: integers bit for bit. ATen: 1e-4; where values are quantised on the way, the order of summation may move
// some of them by one step, which is a small part of what the output spans.
void CheckFile(const fs::path& file) {
  CAPTURE(file.generic_string());
  const bool tosa = file.extension() == ".tosa";
  const std::string stem =
      file.generic_string().substr(0, file.generic_string().size() - file.extension().string().size());
  const std::vector<Tensor> want = ReadAll(stem + ".out_");
  const std::vector<Tensor> inputs = ReadAll(tosa ? stem + ".in_" : file.parent_path().generic_string() + "/in_");
  if (want.empty() || inputs.empty()) return;
  const std::string variant = file.stem().string();
  const bool quantised = variant.starts_with("int8") || variant.starts_with("a16w8");
  const std::vector<Distance> distances = Run(file.generic_string(), inputs, want);
  for (size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    const Distance& d = distances[i];
    if (tosa && IsInteger(want[i].dtype())) {
      CHECK_EQ(d.differing, 0);
    } else if (quantised && !tosa) {
      if (d.differing > 0)
        MESSAGE(file.generic_string() << ": " << d.differing << " of " << d.elements << " differ, at most "
                                      << d.max_abs);
      CHECK_LE(d.max_relative, 0.05);
    } else {
      CHECK_LE(d.max_relative, tosa ? 1e-5 : 1e-4);
    }
  }
}

int CheckFolder(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool program = name.ends_with(".pt2") && !name.starts_with("cortex_m");
    if (program || name.ends_with(".tosa")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) CheckFile(file);
  return static_cast<int>(files.size());
}

}  // namespace

TEST_CASE("small networks give what was recorded") {
  CHECK_GT(CheckFolder(Root() + "/tests/data/nets"), 0);
  CHECK_GT(CheckFolder(Root() + "/tests/data/tosa"), 0);
}

TEST_CASE("every network of the corpus gives what was recorded") {
  const char* shared = std::getenv("TARE_SHARED");
  if (shared == nullptr || !fs::exists(fs::path(shared) / "corpus/nets")) return;
  CHECK_GT(CheckFolder(fs::path(shared) / "corpus/nets"), 50);
}
