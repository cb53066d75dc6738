#include "tools/infer_lines.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "ir/status.h"
#include "meta/golden.h"
#include "tools/json_writer.h"
#include "tools/suggest.h"

namespace tare {
namespace {

constexpr size_t kMaxLine = 1 << 20;

struct Counts {
  int64_t lines = 0, equal = 0, different = 0, unsupported = 0;
  void Add(GoldenVerdict verdict) {
    ++lines;
    equal += verdict == GoldenVerdict::kEqual;
    different += verdict == GoldenVerdict::kDifferent;
    unsupported += verdict == GoldenVerdict::kUnsupported;
  }
};

struct LineReport {
  std::string file;
  int64_t number = 0;
  GoldenLine line;
  GoldenAnswer answer;
};

std::string_view Word(GoldenVerdict verdict) {
  switch (verdict) {
    case GoldenVerdict::kEqual:
      return "equal";
    case GoldenVerdict::kDifferent:
      return "different";
    case GoldenVerdict::kUnsupported:
      return "unsupported";
  }
  return "";
}

void PrintCounts(const Counts& counts) {
  std::printf("lines %lld, equal %lld, different %lld, unsupported %lld\n", static_cast<long long>(counts.lines),
              static_cast<long long>(counts.equal), static_cast<long long>(counts.different),
              static_cast<long long>(counts.unsupported));
}
void PutCounts(JsonWriter& json, const Counts& counts) {
  json.Field("lines", counts.lines);
  json.Field("equal", counts.equal);
  json.Field("different", counts.different);
  json.Field("unsupported", counts.unsupported);
}

// `line N: ` before the message, whose check id stays.
absl::Status AtLine(int64_t number, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("line ", number, ": ", status.message()));
}

// The answer to a call of no op, with the names that are near.
std::string WithNearNames(const Context& context, const GoldenAnswer& answer) {
  constexpr std::string_view kId = " [text_c2]";
  if (!answer.refused || !answer.got.ends_with(kId)) return answer.got;
  std::vector<std::string> names;
  for (int i = kNumPseudoOps; i < context.ops.size(); ++i) {
    names.emplace_back(context.ops.Name(Op{static_cast<uint16_t>(i)}));
  }
  const std::string_view start = std::string_view(answer.got).substr(0, answer.got.size() - kId.size());
  return Cat(start, DidYouMean(answer.op, names), kId);
}

class LineFiles {
 public:
  LineFiles(Context& context, bool json) : checker_(context), json_(json) {}

  ExitCode Read(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return Complain(file, absl::NotFoundError("cannot be read")), kExitBadInput;
    std::string text;
    for (int64_t number = 1; std::getline(in, text); ++number) {
      if (text.size() > kMaxLine) return Complain(file, InvalidError("golden_c1", "line ", number, " is too long"));
      if (!text.empty() && text.back() == '\r') text.pop_back();
      auto line = SplitGoldenLine(text);
      if (!line.ok()) return Complain(file, AtLine(number, line.status()));
      if (*line) Answer(file, number, **std::move(line));
    }
    return in.bad() ? Complain(file, absl::DataLossError("cannot be read")) : kExitOk;
  }

  const Counts& counts() const { return counts_; }
  const std::map<std::string, Counts>& by_op() const { return by_op_; }
  const std::vector<LineReport>& reports() const { return reports_; }

 private:
  void Answer(const std::string& file, int64_t number, GoldenLine line) {
    LineReport report{file, number, std::move(line), {}};
    report.answer = checker_.Check(report.line);
    counts_.Add(report.answer.verdict);
    by_op_[report.answer.op].Add(report.answer.verdict);
    if (report.answer.verdict == GoldenVerdict::kEqual) return;
    if (json_) {
      reports_.push_back(std::move(report));
      return;
    }
    std::printf("%s:%lld: %s: %s\n", file.c_str(), static_cast<long long>(number),
                std::string(Word(report.answer.verdict)).c_str(), report.line.call.c_str());
    if (report.answer.verdict != GoldenVerdict::kDifferent) return;
    std::string under = report.line.facts;
    if (!report.line.spec.empty()) under = "spec=" + report.line.spec + (under.empty() ? "" : ", " + under);
    if (!under.empty()) under = " | " + under;
    std::printf("  want %s%s\n  got  %s\n", report.line.want.c_str(), under.c_str(), report.answer.got.c_str());
  }

  GoldenChecker checker_;
  bool json_;
  Counts counts_;
  std::map<std::string, Counts> by_op_;
  std::vector<LineReport> reports_;
};

ExitCode AnswerCalls(Context& context, const InferOptions& options) {
  GoldenChecker checker(context);
  ExitCode worst = kExitOk;
  JsonWriter json;
  const auto answer_all = [&] {
    for (const std::string& call : options.calls) {
      auto line = SplitGoldenLine(call);
      GoldenAnswer answer;
      if (!line.ok() || !*line) {
        worst = Worse(worst, Complain(call, line.ok() ? InvalidError("golden_c1", "no call") : line.status()));
        continue;
      }
      answer = checker.Check(**line);
      answer.got = WithNearNames(context, answer);
      const bool wants = !(*line)->want.empty();
      const bool unsupported = answer.verdict == GoldenVerdict::kUnsupported;
      if (answer.verdict != GoldenVerdict::kEqual) worst = Worse(worst, unsupported ? kExitUnsupported : kExitNo);
      if (options.json) {
        json.Object([&] {
          json.Field("call", (*line)->call);
          json.Field(answer.refused ? "error" : "result",
                     answer.refused && answer.got.starts_with("error: ") ? answer.got.substr(7) : answer.got);
          if (wants) json.Field("verdict", Word(answer.verdict));
        });
      } else if (wants) {
        std::printf("%s: %s\n", std::string(Word(answer.verdict)).c_str(), answer.got.c_str());
      } else {
        std::printf("%s\n", answer.got.c_str());
      }
    }
  };
  if (!options.json) {
    answer_all();
  } else {
    json.Array(answer_all);
    json.Print();
  }
  return worst;
}

void PrintJson(const LineFiles& files, bool by_op) {
  JsonWriter json;
  json.Object([&] {
    PutCounts(json, files.counts());
    json.Key("differences");
    json.Array([&] {
      for (const LineReport& report : files.reports()) {
        json.Object([&] {
          json.Field("file", report.file);
          json.Field("line", report.number);
          json.Field("verdict", Word(report.answer.verdict));
          json.Field("call", report.line.call);
          json.Field("want", report.line.want);
          json.Field("facts", report.line.facts);
          json.Field("spec", report.line.spec);
          json.Field("got", report.answer.got);
        });
      }
    });
    if (!by_op) return;
    json.Key("ops");
    json.Object([&] {
      for (const auto& counted : files.by_op()) {
        json.Key(counted.first);
        json.Object([&] { PutCounts(json, counted.second); });
      }
    });
  });
  json.Print();
}

}  // namespace

ExitCode AnswerLines(Context& context, const InferOptions& options) {
  ExitCode worst = options.calls.empty() ? kExitOk : AnswerCalls(context, options);
  if (options.files.empty()) return worst;
  LineFiles files(context, options.json);
  for (const std::string& file : options.files) worst = Worse(worst, files.Read(file));
  if (options.json) {
    PrintJson(files, options.summary_by_op);
  } else {
    if (options.summary_by_op) {
      for (const auto& [op, counts] : files.by_op()) {
        std::printf("%-56s ", op.c_str());
        PrintCounts(counts);
      }
    }
    PrintCounts(files.counts());
  }
  return Worse(worst, files.counts().equal == files.counts().lines ? kExitOk : kExitNo);
}

}  // namespace tare
