// The public C++ interface of tare: programs, metadata, rules, passes, files.
//
//   const std::unique_ptr<tare::Context> context = tare::MakeContext();
//   absl::StatusOr<tare::Program> program = tare::ReadProgramFile(*context, "model.pt2");
//
// docs/passes.md walks through a pass, docs/rules.md through the rows of ops.
#pragma once

#include "backends/tosa/program_file.h"
#include "backends/tosa/read.h"
#include "backends/tosa/write.h"
#include "formats/program_file.h"
#include "ir/context.h"
#include "ir/graph.h"
#include "ir/inferrer.h"
#include "ir/program.h"
#include "ir/status.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "meta/check.h"
#include "meta/context_factory.h"
#include "meta/infer.h"
#include "passes/pass.h"
#include "passes/pass_list.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/rewriter.h"
