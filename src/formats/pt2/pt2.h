// `.pt2` files: programs exported by torch.export, read and written without torch.
//
// Reading maps the file: weights are views of it and are not touched unless their CRC is verified.
// What the file states is kept: names, order, recorded metadata, ranges, source locations, parts that
// tare has no use for. Writing gives a file that torch.export.load accepts; what the format has no
// place for is refused by name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/context.h"
#include "ir/program.h"

namespace tare {

struct ReadOptions {
  // Which model of the archive; "" = the one named "model", or the only one.
  std::string model;
  // Compute the CRC of the stored entries that are read, weights included: about 1 GB/s. Off: weights
  // stay untouched in the mapped file. JSON and deflated entries are always verified.
  bool verify_weights = true;
};

// Errors: NotFound (file, model), InvalidArgument and Unimplemented with a check id zip_c…, pt2_c…,
// json_c…, graph_c…, weight_c…; the message names entry and field.
absl::StatusOr<Program> ReadPt2(Context& context, const std::string& path, const ReadOptions& options = {});
absl::StatusOr<Program> ReadPt2FromMemory(Context& context, std::span<const std::byte> file,
                                          const ReadOptions& options = {});

// The JSON of one program alone: no archive, all constants without bytes.
absl::StatusOr<Program> ReadPt2Json(Context& context, std::string_view json);

// Names of the models in an archive.
absl::StatusOr<std::vector<std::string>> ListPt2Models(const std::string& path);

// Replaces `path` when everything has been written; leaves no file behind when it fails.
// Errors: Unimplemented [write_c1] something the format cannot say, named.
absl::Status WritePt2(const Program& program, const std::string& path);

}  // namespace tare
