// What the tests of .tosa files share: files, programs with elements for their constants, texts.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "backends/tosa/read.h"
#include "backends/tosa/write.h"
#include "doctest/doctest.h"
#include "ir/context.h"
#include "ir/status.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "meta/check.h"
#include "meta/context_factory.h"
#include "meta/infer.h"

namespace tare {

inline std::string DataFolder() {
  const char* root = std::getenv("TARE_SOURCE_ROOT");
  return std::string(root == nullptr ? "." : root) + "/tests/data/tosa/";
}

inline std::string ReadBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

inline Payload PayloadOf(std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  Payload payload;
  payload.bytes = std::as_bytes(std::span(owner->data(), owner->size()));
  payload.owner = std::move(owner);
  return payload;
}

inline std::unique_ptr<Inferrer> WidestInferrer(Context& context) {
  return MakeInferrer(context, {.facts = nullptr, .spec = std::string(WidestTosaSpec(0)), .use_memo = true});
}

// A program from text; its constants have elements that count up from 1.
inline absl::StatusOr<Program> ParseFilled(Context& context, std::string_view text) {
  const std::unique_ptr<Inferrer> inferrer = WidestInferrer(context);
  TARE_ASSIGN_OR_RETURN(Program program, ParseProgram(context, text, inferrer.get()));
  for (Constant& constant : program.constants) {
    const TensorMeta& tensor = context.metas.Get(constant.meta).tensor;
    int64_t count = 1;
    for (const Dim dim : tensor.shape) count *= dim.value();
    std::string bytes(static_cast<size_t>(count) * static_cast<size_t>(BytesOf(tensor.dtype)), '\0');
    for (int64_t i = 0; i < count; ++i)
      bytes[static_cast<size_t>(i * BytesOf(tensor.dtype))] = static_cast<char>(1 + i % 7);
    constant.payload = PayloadOf(std::move(bytes));
  }
  return program;
}

inline std::string Answer(const absl::Status& status) { return "error: " + std::string(status.message()); }

// Blocks of a file that begin with a line `# title`.
inline std::vector<std::pair<std::string, std::string>> TitledBlocks(const std::string& path) {
  std::vector<std::pair<std::string, std::string>> blocks;
  std::istringstream lines(ReadBytes(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ")) {
      blocks.emplace_back(line.substr(2), "");
    } else if (!blocks.empty() && !line.empty()) {
      blocks.back().second += line + "\n";
    }
  }
  return blocks;
}

}  // namespace tare
