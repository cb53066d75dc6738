// Scales and scaled values against tables recorded from the TOSA reference model, ExecuTorch and
// CMSIS-NN's Python reference. A sample lies in tests/data; with TARE_SHARED the whole tables are read.
#include "eval/requantize.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "../test_files.h"
#include "doctest/doctest.h"
#include "ir/status.h"

namespace tare {
namespace {

using Cells = std::vector<std::string>;

std::vector<Cells> ReadTable(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<Cells> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream text(line);
    rows.emplace_back();
    for (std::string cell; std::getline(text, cell, '\t');) rows.back().push_back(cell);
  }
  return rows;
}

// The sample, then the whole table where it is.
std::vector<Cells> Rows(const std::string& name) {
  std::vector<Cells> rows = ReadTable(SourcePath("tests/data/tosa/" + name));
  REQUIRE_GT(rows.size(), 50);
  const std::filesystem::path shared = SharedPath("goldens/" + name);
  if (!shared.empty())
    for (Cells& row : ReadTable(shared)) rows.push_back(std::move(row));
  return rows;
}

struct TypeRange {
  const char* name;
  int32_t min, max;
};
constexpr TypeRange kRanges[] = {
    {"_i8_", INT8_MIN, INT8_MAX}, {"_i16_", INT16_MIN, INT16_MAX}, {"_i32_", INT32_MIN, INT32_MAX}};

std::string Answer(const absl::StatusOr<int32_t>& value) { return value.ok() ? std::to_string(*value) : "error"; }

std::string TosaAnswer(const Cells& row) {
  RescaleElement element;
  if (row[0].ends_with("_16")) element.width = ScaleWidth::k16;
  if (row[0].find("_double_") != std::string::npos) element.rounding = ScaleRounding::kDouble;
  const std::string types =
      row[0].substr(0, row[0].rfind(element.rounding == ScaleRounding::kDouble ? "double" : "single"));
  for (const TypeRange& range : kRanges) {
    if (types.ends_with(range.name)) element.min = range.min, element.max = range.max;
  }
  element.input_zp = std::stoi(row[4]);
  element.output_zp = std::stoi(row[5]);
  return Answer(Rescale(std::stoll(row[1]), {std::stoi(row[2]), std::stoi(row[3])}, element));
}

std::string CmsisAnswer(const Cells& row) {
  const int64_t value = CmsisRequantize(std::stoi(row[1]), {std::stoi(row[2]), std::stoi(row[3])});
  return std::to_string(std::clamp<int64_t>(value + std::stoi(row[5]), std::stoi(row[6]), std::stoi(row[7])));
}

std::string ScaleText(const absl::StatusOr<FixedScale>& scale) {
  return scale.ok() ? std::to_string(scale->multiplier) + " " + std::to_string(scale->shift) : "- -";
}

}  // namespace

TEST_CASE("scaled values equal the recorded ones") {
  for (const Cells& row : Rows("requantize.tsv")) {
    REQUIRE_EQ(row.size(), 9);
    const std::string got = row[0].starts_with("cmsis") ? CmsisAnswer(row) : TosaAnswer(row);
    if (got != row[8]) {
      FAIL_CHECK(row[0] << ' ' << row[1] << " * " << row[2] << " >> " << row[3] << ": " << got << ", not " << row[8]);
    }
  }
}

TEST_CASE("scales become the recorded multipliers and shifts") {
  for (const Cells& row : Rows("scales.tsv")) {
    REQUIRE_EQ(row.size(), 8);
    CAPTURE(row[0]);
    const double scale = std::strtod(row[1].c_str(), nullptr);
    CHECK_EQ(ScaleText(FixedScaleOf(scale, ScaleWidth::k32)), row[2] + " " + row[3]);
    CHECK_EQ(ScaleText(FixedScaleOf(scale, ScaleWidth::k16)), row[4] + " " + row[5]);
    const absl::StatusOr<CmsisScale> cmsis = CmsisScaleOf(scale);
    REQUIRE(cmsis.ok());
    CHECK_EQ(std::to_string(cmsis->multiplier) + " " + std::to_string(cmsis->shift), row[6] + " " + row[7]);
  }
}

TEST_CASE("scales that cannot be written are refused by name") {
  struct Case {
    double scale;
    ScaleWidth width;
    std::string_view check;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [scale, width, check] : std::initializer_list<Case>{
           {-1.0, ScaleWidth::k32, "tosa_scale_c1"},
           {kInfinity, ScaleWidth::k32, "tosa_scale_c1"},
           {std::nan(""), ScaleWidth::k16, "tosa_scale_c1"},
           {536870912.0, ScaleWidth::k32, "tosa_scale_c2"},
           {536870911.9, ScaleWidth::k32, "tosa_scale_c2"},  // rounds up to 2^29
           {8192.0, ScaleWidth::k16, "tosa_scale_c2"},
       }) {
    CAPTURE(scale);
    CHECK_EQ(CheckIdOf(FixedScaleOf(scale, width).status()), check);
  }
  const absl::StatusOr<std::vector<FixedScale>> many = FixedScalesOf(std::vector<double>{0.5, -1.0}, ScaleWidth::k32);
  CHECK_EQ(many.status().message(), "channel 1: scale -1 is not a finite number >= 0 [tosa_scale_c1]");
  CHECK_EQ(CheckIdOf(many.status()), "tosa_scale_c1");
  CHECK_EQ(CheckIdOf(CmsisScaleOf(-0.5).status()), "cmsis_scale_c1");
}

TEST_CASE("what RESCALE may not do is refused by name") {
  const FixedScale half{1 << 30, 31};
  CHECK_EQ(CheckIdOf(Rescale(1, {1, 1}, {}).status()), "rescale_c1");
  CHECK_EQ(CheckIdOf(Rescale(1, {-1, 31}, {}).status()), "rescale_c1");
  CHECK_EQ(CheckIdOf(Rescale(1, {1 << 15, 20}, {.width = ScaleWidth::k16}).status()), "rescale_c1");
  CHECK_EQ(CheckIdOf(Rescale(int64_t{1} << 30, half, {}).status()), "rescale_c2");
  CHECK_EQ(CheckIdOf(Rescale(int64_t{1} << 47, {1, 62}, {.width = ScaleWidth::k16}).status()), "rescale_c2");
  CHECK_EQ(CheckIdOf(Rescale(int64_t{1} << 46, {INT16_MAX, 2}, {.width = ScaleWidth::k16}).status()), "rescale_c3");
  CHECK_EQ(CheckIdOf(Rescale(INT32_MAX, {1 << 30, 62}, {.output_zp = 127}).status()), "");
  CHECK_EQ(CheckIdOf(Rescale(1 << 20, {INT32_MAX, 22}, {.output_zp = INT32_MAX}).status()), "rescale_c4");
}

TEST_CASE("a fixed scale comes back from its real number") {
  for (const double scale : {0.0, 1.0, 0.5, 1.0 / 3, 1e-3, 1e-9, 3e-14, 1e-18, 5e8}) {
    CAPTURE(scale);
    const FixedScale fixed = FixedScaleOf(scale, ScaleWidth::k32).value();
    CHECK_EQ(FixedScaleOf(RealScaleOf(fixed), ScaleWidth::k32).value(), fixed);
  }
}

TEST_CASE("the reciprocal of a window divides as integers do") {
  for (const int32_t count : {1, 2, 3, 7, 9, 49, 64, 100, 1024, 4095}) {
    for (const int32_t sum : {0, 1, -1, 127 * count, -128 * count, count, 3 * count + count / 2}) {
      CAPTURE(count);
      CAPTURE(sum);
      const double exact = std::floor(static_cast<double>(sum) / count + 0.5);
      CHECK_LE(std::abs(*ApplyScale32(sum, ReciprocalScaleOf(count), ScaleRounding::kSingle) - exact), 1);
    }
  }
}

TEST_CASE("scales that users of other systems reported [F15, G08]") {
  struct Case {
    double scale;
    std::string_view want;
  };
  for (const auto& [scale, want] : std::initializer_list<Case>{
           {1.0, "1073741824 30"},
           {0.25, "1073741824 32"},
           {0.3, "1288490189 32"},
           {1.0 / 3, "1431655765 32"},
           {0.005008711752452655, "1376784203 38"},
           {0x1p29, "- -"},
           {1e-10, "461168601 62"},
           {0.5416631102561951 * 0.003441296052187681 / 0.1264280378818512, "2026365287 37"},
       }) {
    CAPTURE(scale);
    CHECK_EQ(ScaleText(FixedScaleOf(scale, ScaleWidth::k32)), want);
  }
  CHECK_EQ(*CmsisScaleOf(0.5416631102561951 * 0.003441296052187681 / 0.1264280378818512), CmsisScale{2026365287, -6});
}

TEST_CASE("codes of 8 bits become codes of 16 bits [F05]") {
  const FixedScale scale = FixedScaleOf(0.04 / 0.0001, ScaleWidth::k32).value();
  CHECK_EQ(scale, FixedScale{1677721600, 22});
  const RescaleElement element{.input_zp = 102, .min = INT16_MIN, .max = INT16_MAX};
  for (const auto& [code, want] :
       std::initializer_list<std::pair<int32_t, int32_t>>{{110, 3200}, {115, 5200}, {120, 7200}, {125, 9200}}) {
    CHECK_EQ(Rescale(code, scale, element).value(), want);
  }
}

}  // namespace tare
