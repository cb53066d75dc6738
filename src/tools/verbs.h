// What each verb of `tare` is asked for, and the function that answers. The command line is parsed
// in main.cc; a verb prints its answer on stdout, diagnostics on stderr, and returns the exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tare {

struct InspectOptions {
  std::string file;
  bool graph = false, json = false, dot = false;
  std::vector<std::string> ops_files;
};
int RunInspect(const InspectOptions& options);

struct CheckOptions {
  std::vector<std::string> files;
  bool json = false;
  int threads = 1;
  std::vector<std::string> ops_files;
};
int RunCheck(const CheckOptions& options);

struct InferOptions {
  std::vector<std::string> calls;  // answered one by one on stdout
  std::vector<std::string> files;  // of `call -> result` lines
  bool json = false;
  bool summary_by_op = false;  // counts of each op before the sum
  std::vector<std::string> ops_files;
};
int RunInfer(const InferOptions& options);

struct OptOptions {
  std::string file;
  std::vector<std::string> passes;
  std::string pipeline;  // a name below pipelines/ or a file
  std::string output;    // ends in .pt2 or .tare; "" = none
  bool json = false, timing = false, stats = false, diff = false, check_meta = false;
  std::string print_after;  // a pass, or "*" for each that changed the program; "" = none
  std::string bisect;       // command run on a .pt2; exit 0 = good
  std::vector<std::string> ops_files;
};
int RunOpt(const OptOptions& options);

struct LowerOptions {
  std::string file, target;
  std::string output;  // "" = none
  bool json = false, timing = false, stats = false, explain = false, partial = false, check_meta = false;
  std::string print_after;  // as of OptOptions
  std::vector<std::string> ops_files;
};
int RunLower(const LowerOptions& options);

struct TargetsOptions {
  bool json = false;
};
int RunTargets(const TargetsOptions& options);

struct DiffOptions {
  std::string before, after;
  bool json = false;
  std::vector<std::string> ops_files;
};
int RunDiff(const DiffOptions& options);

struct OpsOptions {
  std::string name;                             // an op, or part of names; "" = all
  std::string dialect, trait, check, function;  // "" = any
  bool json = false, markdown = false;
  std::string output;  // directory of Markdown pages; "" = one page on stdout
  std::vector<std::string> ops_files;
};
int RunOps(const OpsOptions& options);

struct PassesOptions {
  bool json = false;
};
int RunListPasses(const PassesOptions& options);

struct RunVerbOptions {
  std::string file;
  std::vector<std::string> inputs;   // .npy, in the order of the user's inputs
  std::vector<std::string> compare;  // .npy, in the order of the user's outputs
  std::string output;                // outputs are written to OUTPUT0.npy, OUTPUT1.npy, …; "" = none
  double tolerance = 0;
  bool quantize = false, json = false;
  int64_t memory_mb = 4096;
  std::vector<std::string> ops_files;
};
int RunRun(const RunVerbOptions& options);

struct BenchOptions {
  std::string file;
  std::vector<std::string> passes;
  int repeats = 20;
  bool json = false;
};
int RunBench(const BenchOptions& options);

}  // namespace tare
