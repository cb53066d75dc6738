#include "ir/schema.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "ir/stores.h"

namespace tare {
namespace {

TEST_CASE("schemas print in one spelling and read back") {
  StringPool pool;
  for (const auto& [text, want] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", ""},
           {"aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> (Tensor(a!))",
            "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"},
           {"(str a=\"\\\"'\\\\\") -> Tensor y", "(str a=\"\\\"'\\\\\") -> (Tensor y)"},
           {"(Tensor(a) self, int dim=0) -> Tensor(a)[]", ""},
           {"(Tensor(a -> *) self) -> Tensor(a)", "(Tensor(a) self) -> Tensor(a)"},
           {"(Tensor self, SymInt[2]? x=None, int[2] stride=1, SymInt[1] dim=[]) -> (Tensor values, Tensor indices)",
            "(Tensor self, SymInt[2]? x=None, int[2] stride=[1, 1], SymInt[1] dim=[]) -> (Tensor values, Tensor "
            "indices)"},
           {"(Tensor?[] indices, Tensor(a!)[] out, float p=1e-05, float q=1, str m='none', bool[3] mask) -> ()",
            "(Tensor?[] indices, Tensor(a!)[] out, float p=1e-05, float q=1.0, str m=\"none\", bool[3] mask) -> ()"},
           {"(*, ScalarType dtype=long, MemoryFormat f=contiguous_format, Layout l=strided, Device d=\"cpu\", int "
            "r=Mean, "
            "Scalar s=inf, ScalarType? t=6) -> SymInt",
            "(*, ScalarType dtype=i64, MemoryFormat f=contiguous_format, Layout l=strided, Device d=\"cpu\", int r=1, "
            "Scalar s=inf, ScalarType? t=f32) -> SymInt"},
           {"(Any pred, Graph body, ..., Generator? g=None) -> Any",
            "(Any pred, Graph body, Generator? g=None, ...) -> Any"},
           {"(bool a=True, float[]? s=None, int[] d=[0,1], Scalar[] v) -> float",
            "(bool a=True, float[]? s=None, int[] d=[0, 1], Scalar[] v) -> float"},
       }) {
    const absl::StatusOr<Schema> schema = ParseSchema(text, pool);
    REQUIRE_MESSAGE(schema.ok(), schema.status().ToString());
    const std::string printed = Print(*schema);
    CHECK_EQ(printed, want.empty() ? text : want);
    const absl::StatusOr<Schema> again = ParseSchema(printed, pool);
    REQUIRE_MESSAGE(again.ok(), again.status().ToString());
    CHECK_EQ(Print(*again), printed);
  }
}

TEST_CASE("fields of arguments") {
  StringPool pool;
  const Schema s = *ParseSchema("(Tensor(a!)? x, Tensor?[] y, *, SymInt[2]? z=None) -> Tensor(a!)", pool);
  CHECK(s.IndexOf("z") == 2);
  CHECK(s.IndexOf("w") == -1);
  CHECK((s.args[0].optional && s.args[0].writes && s.args[0].alias == 'a' && !s.args[0].list));
  CHECK((s.args[1].list && s.args[1].element_optional && !s.args[1].optional));
  CHECK((s.args[2].list && s.args[2].optional && s.args[2].list_size == 2 && s.args[2].keyword_only));
  CHECK(s.args[2].default_value.is_none());
}

TEST_CASE("what is no schema is refused with its column") {
  StringPool pool;
  for (const std::string_view text :
       {"", "(", "(Tensor", "(Tensor x", "(Tensor x)", "(Tensor x) ->", "(Tensor x) -> Tensor y z",
        "(Tensor x, Tensor x) -> ()", "(int[99999] x) -> ()", "(int x=) -> ()", "(int x=abc) -> ()", "(str x='a) -> ()",
        "(int x=1.2.3) -> ()", "(int x=[1) -> ()", "(Tensor(a! x) -> ()", "(int[ x) -> ()",
        "((((((((((((((((((((((((int)))) x) -> ()"}) {
    CAPTURE(text);
    const absl::StatusOr<Schema> schema = ParseSchema(text, pool);
    REQUIRE(!schema.ok());
    CHECK(std::string(schema.status().message()).find("[schema_c1]") != std::string::npos);
  }
}

// Schemas of a file, one a line: set TARE_SCHEMAS to check more than the tables hold.
TEST_CASE("schemas of a file" * doctest::skip(std::getenv("TARE_SCHEMAS") == nullptr)) {
  StringPool pool;
  std::ifstream file(std::getenv("TARE_SCHEMAS"));
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const absl::StatusOr<Schema> schema = ParseSchema(line, pool);
    CHECK_MESSAGE(schema.ok(), schema.status().ToString());
    if (!schema.ok()) continue;
    const absl::StatusOr<Schema> again = ParseSchema(Print(*schema), pool);
    CHECK_MESSAGE((again.ok() && Print(*again) == Print(*schema)), line, "\n", Print(*schema));
  }
  CHECK(count > 0);
}

}  // namespace
}  // namespace tare
