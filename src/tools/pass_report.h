// What one pass did, for people and for tools; `opt` and `lower` print the same.
#pragma once

#include <string>

#include "passes/pass_manager.h"
#include "tools/json_writer.h"

namespace tare {

// "NAME: 0.120 ms, 3 redefined, …" in one line; times and answers of the memo only with `timing`.
std::string PassLine(const PassStats& stats, bool timing);

// Fields of an object that stands open.
void WritePassFields(JsonWriter& json, const PassStats& stats);

}  // namespace tare
