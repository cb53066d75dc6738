// The public C++ interface of tare: programs, metadata, rules, passes, files.
//
//   const std::unique_ptr<tare::Context> context = tare::MakeContext();
//   absl::StatusOr<tare::Program> program = tare::ReadProgramFile(*context, "model.pt2");
//
// docs/passes.md walks through a pass, docs/rules.md through the rows of ops.
#pragma once

#include "ir/context.h"
#include "ir/graph.h"
#include "ir/inferrer.h"
#include "ir/program.h"
#include "ir/status.h"
#include "ir/text.h"
#include "ir/verify.h"
