// Files that are damaged or hostile are refused, by name; none is believed.
#include "backends/tosa/read.h"

#include <functional>
#include <random>

#include "backends/tosa/file_ops.h"
#include "backends/tosa/tosa_generated.h"
#include "tosa_fixture.h"

namespace tare {
namespace {

using FileType = tosafile::DType;

// A file as lists of what its tables hold, to be changed and built.
struct TensorSketch {
  std::string name;
  std::vector<int32_t> shape;
  FileType type = FileType::INT8;
  std::string data;
  bool variable = false, unranked = false;
};
struct ShapeSketch {
  std::string name;
  uint32_t rank = 0;
  std::string data;
};
struct OpSketch {
  uint32_t number = 0;
  std::vector<std::string> inputs, outputs;
  std::function<uint32_t(flatbuffers::FlatBufferBuilder&)> attribute;  // none: an empty table
  int tag = -1;                                                        // -1: the operator's number
};
struct RegionSketch {
  std::string name = "main";
  std::vector<TensorSketch> tensors;
  std::vector<ShapeSketch> shapes;
  std::vector<OpSketch> operators;
  std::vector<std::string> inputs, outputs;
  int blocks = 1;
};
struct FileSketch {
  int major = 1, minor = 0;
  std::vector<RegionSketch> regions;
};

std::string Build(const FileSketch& file) {
  flatbuffers::FlatBufferBuilder builder;
  const auto bytes = [&](const std::string& data) {
    builder.ForceVectorAlignment(data.size(), 1, 8);
    return builder.CreateVector(reinterpret_cast<const uint8_t*>(data.data()), data.size());
  };
  std::vector<flatbuffers::Offset<tosafile::Region>> regions;
  for (const RegionSketch& region : file.regions) {
    std::vector<flatbuffers::Offset<tosafile::Tensor>> tensors;
    for (const TensorSketch& t : region.tensors) {
      const auto name = builder.CreateString(t.name);
      const auto shape = builder.CreateVector(t.shape);
      flatbuffers::Offset<flatbuffers::Vector<uint8_t>> data = 0;
      if (!t.data.empty()) data = bytes(t.data);
      tensors.push_back(tosafile::CreateTensor(builder, name, shape, t.type, data, t.variable, t.unranked));
    }
    std::vector<flatbuffers::Offset<tosafile::Shape>> shapes;
    for (const ShapeSketch& s : region.shapes) {
      const auto name = builder.CreateString(s.name);
      const auto data = bytes(s.data);
      shapes.push_back(tosafile::CreateShape(builder, name, s.rank, data));
    }
    std::vector<flatbuffers::Offset<tosafile::Operator>> operators;
    for (const OpSketch& op : region.operators) {
      const uint32_t attribute = op.attribute ? op.attribute(builder) : tosafile::CreateNoAttribute(builder).o;
      const auto inputs = builder.CreateVectorOfStrings(op.inputs);
      const auto outputs = builder.CreateVectorOfStrings(op.outputs);
      const auto tag = static_cast<tosafile::Attribute>(op.tag < 0 ? static_cast<int>(op.number) : op.tag);
      operators.push_back(
          tosafile::CreateOperator(builder, op.number, tag, flatbuffers::Offset<void>(attribute), inputs, outputs));
    }
    const auto name = builder.CreateString(region.name);
    const auto all_operators = builder.CreateVector(operators);
    const auto all_tensors = builder.CreateVector(tensors);
    const auto all_shapes = builder.CreateVector(shapes);
    const auto inputs = builder.CreateVectorOfStrings(region.inputs);
    const auto outputs = builder.CreateVectorOfStrings(region.outputs);
    const auto block =
        tosafile::CreateBasicBlock(builder, name, all_operators, all_tensors, inputs, outputs, all_shapes);
    const std::vector<flatbuffers::Offset<tosafile::BasicBlock>> blocks(static_cast<size_t>(region.blocks), block);
    regions.push_back(tosafile::CreateRegion(builder, name, builder.CreateVector(blocks)));
  }
  const auto version = tosafile::CreateVersion(builder, file.major, file.minor, 0, false);
  tosafile::FinishTosaGraphBuffer(builder, tosafile::CreateTosaGraph(builder, version, builder.CreateVector(regions)));
  return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
}

std::string Ints(std::initializer_list<int64_t> values) {
  return std::string(reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(int64_t));
}
template <typename T>
std::string Raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// x -> RESCALE -> y -> RESHAPE -> z, with the constants they need.
FileSketch Good() {
  RegionSketch main;
  main.tensors = {{"x", {2, 3}, FileType::INT32},
                  {"m", {1}, FileType::INT32, Raw(int32_t{1 << 30})},
                  {"s", {1}, FileType::INT8, Raw(int8_t{31})},
                  {"zi", {1}, FileType::INT32, Raw(int32_t{0})},
                  {"zo", {1}, FileType::INT8, Raw(int8_t{-3})},
                  {"y", {2, 3}, FileType::INT8},
                  {"z", {3, 2}, FileType::INT8}};
  main.shapes = {{"shape", 2, Ints({3, 2})}};
  for (const char* name : {"m", "s", "zi", "zo"}) main.operators.push_back({67, {}, {name}, nullptr});
  main.operators.push_back({75, {}, {"shape"}, nullptr});
  main.operators.push_back(
      {66, {"x", "m", "s", "zi", "zo"}, {"y"}, [](flatbuffers::FlatBufferBuilder& builder) {
         return tosafile::CreateRescaleAttribute(builder, true, tosafile::RoundingMode::SINGLE_ROUND).o;
       }});
  main.operators.push_back({57, {"y", "shape"}, {"z"}, nullptr});
  main.inputs = {"x"};
  main.outputs = {"z"};
  return {1, 0, {main}};
}

constexpr size_t kRescaleAt = 5, kReshapeAt = 6;

absl::StatusOr<Program> Read(Context& context, const std::string& bytes) { return ReadTosa(context, PayloadOf(bytes)); }

auto WithRounding(uint32_t mode) {
  return [mode](flatbuffers::FlatBufferBuilder& builder) {
    return tosafile::CreateRescaleAttribute(builder, true, static_cast<tosafile::RoundingMode>(mode)).o;
  };
}

}  // namespace

TEST_CASE("the sketch of the other cases is a good file") {
  const auto context = MakeContext();
  const absl::StatusOr<Program> program = Read(*context, Build(Good()));
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  CHECK_EQ(PrintProgram(*context, *program),
           "graph main(%x: i32[2,3]) {\n"
           "  %shape = tosa.CONST_SHAPE.default(shape=[3,2]) : [int(3), int(2)]\n"
           "  %y = tosa.RESCALE.default(%x, dtype=i8, scale=[0.5], in_zp=0, out_zp=-3) : i8[2,3]\n"
           "  %z = tosa.RESHAPE.default(%y, shape=%shape) : i8[3,2]\n"
           "  return %z\n"
           "}\n");
}

TEST_CASE("what is wrong with a file is named") {
  struct Case {
    const char* what;
    const char* check;
    std::function<void(FileSketch&)> change;
  };
  const auto main = [](FileSketch& file) -> RegionSketch& { return file.regions[0]; };
  const auto branch = [](const char* yes, const char* no) {
    return OpSketch{70, {"p", "x"}, {"z"}, [=](flatbuffers::FlatBufferBuilder& builder) {
                      return tosafile::CreateCondIfAttributeDirect(builder, yes, no).o;
                    }};
  };
  const auto with_branch = [&](FileSketch& file, const char* yes, const char* no) {
    main(file).tensors = {{"p", {1}, FileType::BOOL}, {"x", {2}, FileType::INT8}, {"z", {2}, FileType::INT8}};
    main(file).shapes.clear();
    main(file).inputs = {"p", "x"};
    main(file).operators = {branch(yes, no)};
    RegionSketch body;
    body.tensors = {{"a", {2}, FileType::INT8}, {"b", {2}, FileType::INT8}};
    body.operators = {{68, {"a"}, {"b"}, nullptr}};
    body.inputs = {"a"};
    body.outputs = {"b"};
    for (const char* name : {"yes", "no"}) {
      body.name = name;
      file.regions.push_back(body);
    }
  };
  const auto context = MakeContext();
  for (const auto& [what, check, change] : std::initializer_list<Case>{
           {"two branches", "", [&](FileSketch& f) { with_branch(f, "yes", "no"); }},
           {"one body for both branches", "tosa_read_c13", [&](FileSketch& f) { with_branch(f, "yes", "yes"); }},
           {"a body that is main", "tosa_read_c13", [&](FileSketch& f) { with_branch(f, "yes", "main"); }},
           {"a body that is not there", "tosa_read_c13", [&](FileSketch& f) { with_branch(f, "yes", "maybe"); }},
           {"version 0.80", "tosa_read_c2", [&](FileSketch& f) { f.major = 0, f.minor = 80; }},
           {"version 1.2", "tosa_read_c2", [&](FileSketch& f) { f.minor = 2; }},
           {"no region", "tosa_read_c13", [&](FileSketch& f) { f.regions.clear(); }},
           {"two blocks", "tosa_read_c13", [&](FileSketch& f) { main(f).blocks = 2; }},
           {"a region nobody names", "tosa_read_c13",
            [&](FileSketch& f) { (f.regions.push_back(f.regions[0]), f.regions[1].name = "other"); }},
           {"two regions of one name", "tosa_read_c13", [&](FileSketch& f) { f.regions.push_back(f.regions[0]); }},
           {"no name", "tosa_read_c4", [&](FileSketch& f) { main(f).tensors[0].name = ""; }},
           {"a name twice", "tosa_read_c4", [&](FileSketch& f) { main(f).tensors[5].name = "x"; }},
           {"a tensor called as a shape", "tosa_read_c4", [&](FileSketch& f) { main(f).shapes[0].name = "x"; }},
           {"a name that is not UTF-8", "tosa_read_c4", [&](FileSketch& f) { main(f).tensors[0].name = "\xff"; }},
           {"an unknown input", "tosa_read_c4", [&](FileSketch& f) { main(f).inputs = {"w"}; }},
           {"an unknown output", "tosa_read_c4", [&](FileSketch& f) { main(f).outputs = {"w"}; }},
           {"an unknown operand", "tosa_read_c4",
            [&](FileSketch& f) { main(f).operators[kReshapeAt].inputs[0] = "w"; }},
           {"element type 0", "tosa_read_c5", [&](FileSketch& f) { main(f).tensors[0].type = FileType::UNKNOWN; }},
           {"element type 99", "tosa_read_c5", [&](FileSketch& f) { main(f).tensors[0].type = FileType(99); }},
           {"a type without a dtype", "tosa_read_c5",
            [&](FileSketch& f) { main(f).tensors[0].type = FileType::FP4E2M1; }},
           {"an extent of 0", "tosa_read_c6",
            [&](FileSketch& f) {
              main(f).tensors[0].shape = {0, 3};
            }},
           {"a negative extent", "tosa_read_c6",
            [&](FileSketch& f) {
              main(f).tensors[0].shape = {-2, 3};
            }},
           {"rank 33", "tosa_read_c6", [&](FileSketch& f) { main(f).tensors[0].shape.assign(33, 1); }},
           {"2^70 elements", "tosa_read_c6",
            [&](FileSketch& f) {
              main(f).tensors[0].shape = {INT32_MAX, INT32_MAX, 256};
            }},
           {"an extent that is not stated", "tosa_read_c8",
            [&](FileSketch& f) {
              main(f).tensors[0].shape = {-1, 3};
            }},
           {"no rank", "tosa_read_c8", [&](FileSketch& f) { main(f).tensors[0].unranked = true; }},
           {"a variable", "tosa_read_c8", [&](FileSketch& f) { main(f).tensors[0].variable = true; }},
           {"a constant too short", "tosa_read_c7", [&](FileSketch& f) { main(f).tensors[1].data = "abc"; }},
           {"a shape too short", "tosa_read_c7", [&](FileSketch& f) { main(f).shapes[0].rank = 3; }},
           {"a shape of very many values", "tosa_read_c3", [&](FileSketch& f) { main(f).shapes[0].rank = 4000000000; }},
           {"operator 0", "tosa_read_c8", [&](FileSketch& f) { main(f).operators[kReshapeAt].number = 0; }},
           {"operator 200", "tosa_read_c8",
            [&](FileSketch& f) { main(f).operators[kReshapeAt].number = 200, main(f).operators[kReshapeAt].tag = 57; }},
           {"CUSTOM", "tosa_read_c8",
            [&](FileSketch& f) { main(f).operators[kReshapeAt].number = 69, main(f).operators[kReshapeAt].tag = 57; }},
           {"too few operands", "tosa_read_c9", [&](FileSketch& f) { main(f).operators[kReshapeAt].inputs = {"y"}; }},
           {"two results", "tosa_read_c9",
            [&](FileSketch& f) {
              main(f).tensors.push_back({"q", {2}});
              main(f).operators[kReshapeAt].outputs = {"z", "q"};
            }},
           {"no result", "tosa_read_c9", [&](FileSketch& f) { main(f).operators[kReshapeAt].outputs = {}; }},
           {"a tensor as a shape", "tosa_read_c9",
            [&](FileSketch& f) {
              main(f).operators[kReshapeAt].inputs = {"y", "x"};
            }},
           {"a shape as a tensor", "tosa_read_c9",
            [&](FileSketch& f) {
              main(f).operators[kReshapeAt].inputs = {"shape", "shape"};
            }},
           {"attribute of another operator", "tosa_read_c9",
            [&](FileSketch& f) { main(f).operators[kRescaleAt].tag = 57; }},
           {"a CONST with an input", "tosa_read_c9", [&](FileSketch& f) { main(f).operators[0].inputs = {"x"}; }},
           {"a multiplier that is an input", "tosa_read_c10",
            [&](FileSketch& f) { main(f).operators[kRescaleAt].inputs[1] = "x"; }},
           {"rounding mode 0", "tosa_read_c11",
            [&](FileSketch& f) { main(f).operators[kRescaleAt].attribute = WithRounding(0); }},
           {"rounding mode 9", "tosa_read_c11",
            [&](FileSketch& f) { main(f).operators[kRescaleAt].attribute = WithRounding(9); }},
           {"a value made twice", "tosa_read_c12",
            [&](FileSketch& f) { main(f).operators[kReshapeAt].outputs = {"y"}; }},
           {"an input that is made", "tosa_read_c12",
            [&](FileSketch& f) {
              main(f).inputs = {"x", "y"};
            }},
           {"an input twice", "tosa_read_c12",
            [&](FileSketch& f) {
              main(f).inputs = {"x", "x"};
            }},
           {"an operand that nobody makes", "tosa_read_c12", [&](FileSketch& f) { main(f).inputs = {}; }},
           {"a user before its operand", "tosa_read_c12",
            [&](FileSketch& f) { std::swap(main(f).operators[kRescaleAt], main(f).operators[kReshapeAt]); }},
           {"an operator that uses its own result", "tosa_read_c12",
            [&](FileSketch& f) {
              main(f).operators[kReshapeAt].inputs = {"z", "shape"};
            }},
           {"no outputs", "tosa_read_c13", [&](FileSketch& f) { main(f).outputs = {}; }},
           {"a negative multiplier", "tosa_read_c14",
            [&](FileSketch& f) { main(f).tensors[1].data = Raw(int32_t{-1}); }},
           {"shift 1", "tosa_read_c14", [&](FileSketch& f) { main(f).tensors[2].data = Raw(int8_t{1}); }},
           {"shift 63", "tosa_read_c14", [&](FileSketch& f) { main(f).tensors[2].data = Raw(int8_t{63}); }},
           {"multipliers of another width", "tosa_read_c14",
            [&](FileSketch& f) { main(f).tensors[1].type = FileType::INT16; }},
           {"a small multiplier rounded twice", "tosa_read_c14",
            [&](FileSketch& f) {
              main(f).tensors[1].data = Raw(int32_t{3});
              main(f).operators[kRescaleAt].attribute = WithRounding(3);
            }},
       }) {
    CAPTURE(what);
    FileSketch file = Good();
    change(file);
    const absl::StatusOr<Program> program = Read(*context, Build(file));
    CHECK_MESSAGE(CheckIdOf(program.status()) == check, program.status().message());
    if (program.ok()) CHECK_EQ(Verify(*program), absl::OkStatus());
  }
}

TEST_CASE("errors name the operator and what it makes") {
  const auto context = MakeContext();
  FileSketch file = Good();
  file.regions[0].operators[kReshapeAt].inputs = {"y", "x"};
  CHECK_EQ(Read(*context, Build(file)).status().message(),
           "operator 6, RESHAPE, which makes z: input x must be a shape [tosa_read_c9]");
}

TEST_CASE("bytes that are no file of the format are refused") {
  const auto context = MakeContext();
  const std::string good = Build(Good());
  for (size_t size = 0; size < good.size(); ++size) {
    const absl::Status status = Read(*context, good.substr(0, size)).status();
    CAPTURE(size);
    const bool only_padding_is_lost = size + 4 > good.size();
    CHECK((only_padding_is_lost || !CheckIdOf(status).empty()));
  }
  std::string other = good;
  other[4] = 'X';
  CHECK_EQ(CheckIdOf(Read(*context, other).status()), "tosa_read_c1");
  CHECK(IsTosa(std::as_bytes(std::span(good))));
  CHECK_FALSE(IsTosa(std::as_bytes(std::span(other))));
  CHECK_FALSE(IsTosa({}));
}

TEST_CASE("changed bytes give an error with a name or a program that is well-formed") {
  const auto context = MakeContext();
  std::mt19937 random(7);
  for (const std::string& good : {Build(Good()), ReadBytes(DataFolder() + "t5_encoder_train.tosa-1.0_fp.1.tosa")}) {
    for (int round = 0; round < 4000; ++round) {
      std::string bytes = good;
      for (int k = 0; k <= round % 3; ++k) {
        const size_t at = random() % bytes.size();
        const uint32_t kind = random() % 3;
        if (kind == 0) bytes[at] = static_cast<char>(random());
        if (kind == 1) bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
        if (kind == 2) bytes[at] = static_cast<char>(random() % 2 == 0 ? 0xff : 0x7f);
      }
      const absl::StatusOr<Program> program = Read(*context, bytes);
      if (!program.ok()) {
        CHECK_FALSE(CheckIdOf(program.status()).empty());
        continue;
      }
      CHECK_EQ(Verify(*program), absl::OkStatus());
      const absl::StatusOr<std::string> written = WriteTosa(*program);
      if (written.ok()) CHECK(Read(*context, *written).ok());
    }
  }
}

// One long vector named by very many operators: linear in the file's size, or it would take hours.
TEST_CASE("tables that share a vector are not walked again and again") {
  flatbuffers::FlatBufferBuilder builder;
  const auto name = builder.CreateString("x");
  const std::vector<flatbuffers::Offset<flatbuffers::String>> names(200000, name);
  const auto all_names = builder.CreateVector(names);
  const auto op = tosafile::CreateOperator(builder, 68, tosafile::Attribute::NONE, 0, all_names, all_names);
  const std::vector<flatbuffers::Offset<tosafile::Operator>> operators(200000, op);
  const auto all_operators = builder.CreateVector(operators);
  const auto block = tosafile::CreateBasicBlock(builder, name, all_operators);
  const auto region = tosafile::CreateRegion(builder, name, builder.CreateVector(&block, 1));
  const auto version = tosafile::CreateVersion(builder, 1, 0, 0, false);
  tosafile::FinishTosaGraphBuffer(builder,
                                  tosafile::CreateTosaGraph(builder, version, builder.CreateVector(&region, 1)));
  const auto context = MakeContext();
  const std::string bytes(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  CHECK_EQ(CheckIdOf(Read(*context, bytes).status()), "tosa_read_c3");
}

// A long name that very many operands share, each of which would be looked up.
TEST_CASE("long names that are named often cost little") {
  flatbuffers::FlatBufferBuilder builder;
  const auto name = builder.CreateString(std::string(2000000, 'x'));
  const std::vector<flatbuffers::Offset<flatbuffers::String>> names(400000, name);
  const std::vector<int32_t> extents = {2};
  const auto shape = builder.CreateVector(extents);
  const auto named = tosafile::CreateTensor(builder, name, shape, FileType::INT8);
  const auto op = tosafile::CreateOperator(builder, 55, tosafile::Attribute::NONE, 0, builder.CreateVector(names));
  const auto block = tosafile::CreateBasicBlock(builder, builder.CreateString("main"), builder.CreateVector(&op, 1),
                                                builder.CreateVector(&named, 1));
  const auto region = tosafile::CreateRegion(builder, name, builder.CreateVector(&block, 1));
  const auto version = tosafile::CreateVersion(builder, 1, 0, 0, false);
  tosafile::FinishTosaGraphBuffer(builder,
                                  tosafile::CreateTosaGraph(builder, version, builder.CreateVector(&region, 1)));
  const auto context = MakeContext();
  const std::string bytes(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  CHECK_FALSE(CheckIdOf(Read(*context, bytes).status()).empty());
}

}  // namespace tare
