// `tare`: parses the command line and calls one verb.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <thread>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "tools/exit_code.h"
#include "tools/verbs.h"

namespace {

using namespace tare;

// A failed TARE_CHECK aborts: that is our bug, and said so by the exit code.
void ExitAsBug(int) { _exit(kExitBug); }

void AddOpsFiles(CLI::App* verb, std::vector<std::string>& ops_files) {
  verb->add_option("--ops", ops_files, "Rows of further ops, as in docs/rules.md")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

// `examples` are commands, one a line; the tests run them (tests/house/help_examples.sh).
CLI::App* AddVerb(CLI::App& app, const char* name, const char* what, const char* examples) {
  CLI::App* verb = app.add_subcommand(name, what);
  std::string footer = std::string("Examples:\n  ") + examples;
  for (size_t at = footer.find('\n'); (at = footer.find('\n', at + 1)) != std::string::npos;)
    footer.insert(at + 1, "  ");
  verb->footer(footer);
  return verb;
}

void AddInspect(CLI::App& app, InspectOptions& o, int& exit_code) {
  CLI::App* verb = AddVerb(app, "inspect", "What is in a program: ops, dtypes, parameters, symbols, quantisation",
                           "tare inspect model.pt2          # inputs, outputs, ops, dtypes\n"
                           "tare inspect model.pt2 --graph  # the program, a value a line\n"
                           "tare inspect model.pt2 --dot >model.dot");
  verb->add_option("FILE", o.file, "A .pt2, .tosa or .tare file")->required();
  verb->add_flag("--graph", o.graph, "Print the graphs as text");
  verb->add_flag("--json", o.json, "Print JSON");
  verb->add_flag("--dot", o.dot, "Print the main graph for Graphviz")->excludes("--json");
  AddOpsFiles(verb, o.ops_files);
  verb->callback([&] { exit_code = RunInspect(o); });
}

void AddCheck(CLI::App& app, CheckOptions& o, int& exit_code) {
  CLI::App* verb = AddVerb(app, "check", "Re-infer every value and compare it with what the file states",
                           "tare check model.pt2            # shapes, dtypes, strides of every value\n"
                           "tare check model.pt2 other.pt2 -j 2");
  verb->add_option("FILE", o.files, "Programs")->required();
  verb->add_flag("--json", o.json, "Print JSON, one record per difference");
  verb->add_option("-j,--threads", o.threads, "Files checked at the same time")->check(CLI::Range(1, 1024));
  AddOpsFiles(verb, o.ops_files);
  verb->callback([&] { exit_code = RunCheck(o); });
}

void AddInfer(CLI::App& app, InferOptions& o, int& exit_code) {
  CLI::App* verb = AddVerb(app, "infer", "What a call gives, or whether `call -> result` lines hold",
                           "tare infer 'aten.add.Tensor(f32[2,3], f32[3])'\n"
                           "tare infer 'aten.view.default(f32[s0,6], size=[s0,2,3])'\n"
                           "tare infer 'tosa.ABS.default(i32[2]) | spec=TOSA-1.0+INT'");
  verb->add_option("CALL", o.calls, "A call in the notation of docs/text.md");
  verb->add_option("--file", o.files, "Files of `call -> result` lines")->type_name("FILE")->take_all();
  verb->add_flag("--json", o.json, "Print JSON");
  verb->add_flag("--summary-by-op", o.summary_by_op, "Count the lines of each op");
  AddOpsFiles(verb, o.ops_files);
  verb->callback([&o, &exit_code] {
    if (o.calls.empty() && o.files.empty()) throw CLI::RequiredError("CALL or --file");
    exit_code = RunInfer(o);
  });
}

void AddOpt(CLI::App& app, OptOptions& o, int& exit_code) {
  CLI::App* verb = AddVerb(app, "opt", "Run passes over a program",
                           "tare opt model.pt2 --passes remove-noops,dead-code --stats -o smaller.pt2\n"
                           "tare opt model.pt2 --pipeline inference --diff\n"
                           "tare opt model.pt2 --pipeline inference --bisect 'tare check'");
  verb->add_option("FILE", o.file, "A .pt2, .tosa or .tare file")->required();
  auto* passes = verb->add_option("--passes", o.passes, "Names, in order; see `tare passes`");
  passes->delimiter(',')->type_name("NAME,…")->allow_extra_args(false);
  verb->add_option("--pipeline", o.pipeline, "A named list of passes, or its .toml file")->excludes(passes);
  verb->add_option("-o,--output", o.output, "Write the result; the ending, .pt2, .tosa or .tare, says how");
  verb->add_flag("--timing", o.timing, "Time of every pass");
  verb->add_flag("--stats", o.stats, "What every pass redefined, inserted, erased, re-inferred");
  verb->add_flag("--print-after{*}", o.print_after,
                 "Print the program after each pass that changed it, or after =NAME");
  verb->add_flag("--diff", o.diff, "Print what each pass changed");
  verb->add_flag("--check-meta", o.check_meta, "Re-infer the whole program after each pass and compare");
  verb->add_option("--bisect", o.bisect, "Find the first pass whose output a command rejects; it is given a .pt2")
      ->type_name("CMD");
  verb->add_flag("--json", o.json, "Print JSON");
  AddOpsFiles(verb, o.ops_files);
  verb->callback([&] { exit_code = RunOpt(o); });
}

void AddLower(CLI::App& app, LowerOptions& o, int& exit_code) {
  CLI::App* verb = AddVerb(app, "lower", "Lower a program to TOSA; exit 4 when something has to stay outside",
                           "tare lower model.pt2 --target tosa-1.0+int -o model.tosa --explain");
  verb->add_option("FILE", o.file, "A .pt2 or .tare file")->required();
  verb->add_option("--target", o.target, "A name of `tare targets`, or a specification: tosa-1.0+int+int16")
      ->required();
  verb->add_option("-o,--output", o.output, "Write the result; the ending says how");
  verb->add_flag("--explain", o.explain, "Each node left outside: why, and what helps");
  verb->add_flag("--partial", o.partial, "Write the result although nodes are left outside");
  verb->add_flag("--timing", o.timing, "Time of every pass");
  verb->add_flag("--stats", o.stats, "What every pass redefined, inserted, erased, re-inferred");
  verb->add_flag("--print-after{*}", o.print_after,
                 "Print the program after each pass that changed it, or after =NAME");
  verb->add_flag("--check-meta", o.check_meta, "Re-infer the whole program after each pass and compare");
  verb->add_flag("--json", o.json, "Print JSON");
  AddOpsFiles(verb, o.ops_files);
  verb->callback([&] { exit_code = RunLower(o); });
}

void AddTargets(CLI::App& app, TargetsOptions& o, int& exit_code) {
  CLI::App* verb = AddVerb(app, "targets", "What a program can be lowered to", "tare targets");
  verb->add_flag("--json", o.json, "Print JSON");
  verb->callback([&] { exit_code = RunTargets(o); });
}

void AddDiff(CLI::App& app, DiffOptions& o, int& exit_code) {
  CLI::App* verb = AddVerb(app, "diff", "How two programs differ, value by value; exit 1 when they do",
                           "tare diff before.pt2 after.pt2");
  verb->add_option("A", o.before, "A program")->required();
  verb->add_option("B", o.after, "Another")->required();
  verb->add_flag("--json", o.json, "Print JSON");
  AddOpsFiles(verb, o.ops_files);
  verb->callback([&] { exit_code = RunDiff(o); });
}

void AddOps(CLI::App& app, OpsOptions& o, int& exit_code) {
  CLI::App* verb = AddVerb(app, "ops", "The ops tare knows: schema, rules, checks",
                           "tare ops aten.conv2d.default    # one op: rule, checks, an example\n"
                           "tare ops conv                   # ops with conv in their name\n"
                           "tare ops --check add_c1         # which op says [add_c1]\n"
                           "tare ops --trait mutates --dialect aten");
  verb->add_option("NAME", o.name, "An op, or a part of the names to list");
  verb->add_option("--dialect", o.dialect, "List the ops of a dialect: aten, tosa, cortex_m, …")->type_name("NAME");
  verb->add_option("--trait", o.trait, "List the ops with a trait: view, mutates, …")->type_name("NAME");
  verb->add_option("--check", o.check, "List the ops that a check id may refuse")->type_name("ID");
  verb->add_option("--function", o.function, "List the ops whose row calls a function of docs/rules.md")
      ->type_name("NAME");
  auto* json = verb->add_flag("--json", o.json, "Print JSON: docs/cli.md has the fields");
  auto* markdown = verb->add_flag("--markdown", o.markdown, "Print Markdown")->excludes(json);
  verb->add_option("-o,--output", o.output, "Write an index and a page for each file of rows into a directory")
      ->type_name("DIR")
      ->needs(markdown);
  AddOpsFiles(verb, o.ops_files);
  verb->callback([&] { exit_code = RunOps(o); });
}

void AddPasses(CLI::App& app, PassesOptions& o, int& exit_code) {
  CLI::App* verb = AddVerb(app, "passes", "The passes and pipelines there are", "tare passes");
  verb->add_flag("--json", o.json, "Print JSON");
  verb->callback([&] { exit_code = RunListPasses(o); });
}

void AddBench(CLI::App& app, BenchOptions& o, int& exit_code) {
  CLI::App* verb =
      AddVerb(app, "bench", "How long loading, inferring and replaying a program take", "tare bench model.pt2");
  verb->add_option("FILE", o.file, "A .pt2, .tosa or .tare file")->required();
  verb->add_option("--passes", o.passes, "Passes to time, all by default")->delimiter(',')->allow_extra_args(false);
  verb->add_option("--repeats", o.repeats, "The best of so many runs is reported")->check(CLI::Range(1, 1000000));
  verb->add_flag("--json", o.json, "Print JSON");
  verb->callback([&] { exit_code = RunBench(o); });
}

void AddRun(CLI::App& app, RunVerbOptions& o, int& exit_code) {
  CLI::App* verb = AddVerb(app, "run", "What a program computes, by reference kernels on the CPU",
                           "tare run model.tosa --input in_0.npy -o out_                       # writes out_0.npy\n"
                           "tare run model.tosa --input in_0.npy --compare out_0.npy --tolerance 1e-4");
  verb->add_option("FILE", o.file, "A program")->required();
  verb->add_option("-i,--input", o.inputs, "Inputs in order, each a .npy")->type_name("NPY")->take_all();
  verb->add_option("-o,--output", o.output, "Write output k to PREFIXk.npy")->type_name("PREFIX");
  verb->add_option("--compare", o.compare, "What the outputs should be, in order")->type_name("NPY")->take_all();
  verb->add_option("--tolerance", o.tolerance, "Differences up to this, times max(1, |expected|), are accepted")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--quantize", o.quantize, "Quantise real inputs and dequantise outputs as the program states");
  verb->add_option("--memory", o.memory_mb, "Limit of the memory of all values, in MB")->check(CLI::Range(1, 1 << 20));
  verb->add_flag("--json", o.json, "Print JSON");
  AddOpsFiles(verb, o.ops_files);
  verb->callback([&] { exit_code = RunRun(o); });
}

bool HasVerb(CLI::App& app, const std::string& name) {
  const std::vector<CLI::App*> verbs = app.get_subcommands([&](CLI::App* verb) { return verb->check_name(name); });
  return !verbs.empty();
}

int Run(int argc, char** argv) {
  CLI::App app("tare keeps tensor programs without the tensors: shapes, dtypes, layouts, and rewrites them.", "tare");
  app.set_version_flag("--version", "tare " TARE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  tare inspect model.pt2\n"
      "  tare check model.pt2\n"
      "  tare opt model.pt2 --pipeline inference -o smaller.pt2\n"
      "  tare ops aten.conv2d.default\n"
      "\n"
      "`tare VERB --help` shows options and examples. Exit codes: 0 fine, 1 the answer is no,\n"
      "2 usage, 3 bad input, 4 unsupported, 70 a bug of tare.");
  int exit_code = kExitOk;
  InspectOptions inspect;
  CheckOptions check;
  check.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  InferOptions infer;
  OptOptions opt;
  LowerOptions lower;
  TargetsOptions targets;
  DiffOptions diff;
  OpsOptions ops;
  PassesOptions passes;
  BenchOptions bench;
  RunVerbOptions run;
  AddInspect(app, inspect, exit_code);
  AddCheck(app, check, exit_code);
  AddInfer(app, infer, exit_code);
  AddOpt(app, opt, exit_code);
  AddLower(app, lower, exit_code);
  AddTargets(app, targets, exit_code);
  AddDiff(app, diff, exit_code);
  AddOps(app, ops, exit_code);
  AddPasses(app, passes, exit_code);
  AddBench(app, bench, exit_code);
  AddRun(app, run, exit_code);
  if (argc > 1 && argv[1][0] != '-' && !HasVerb(app, argv[1])) {
    std::cerr << "tare: error: " << argv[1] << ": no such verb; see tare --help\n";
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? kExitOk : kExitUsage;
  }
  return std::fflush(stdout) == 0 ? exit_code : static_cast<int>(kExitBadInput);
}

// Memory of weights goes back to the system as soon as it is free: glibc would keep ever larger pieces.
void ReturnLargeMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 17);
  mallopt(M_TRIM_THRESHOLD, 1 << 17);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGABRT, ExitAsBug);
  ReturnLargeMemory();
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {  // memory that ran out, in a library that throws
    std::cerr << "tare: error: " << error.what() << "\n";
    return kExitBug;
  }
}
