#include "ir/lineage.h"

#include <doctest/doctest.h>

#include <vector>

namespace tare {
namespace {

TEST_CASE("locations read stack traces and module stacks") {
  Lineage lineage;
  struct Case {
    std::string_view trace, modules, want;
  };
  for (const auto& [trace, modules, want] : std::initializer_list<Case>{
           {"  File \"/a/run.py\", line 3, in main\n    f()\n  File \"/a/model.py\", line 41, in forward\n    return "
            "x\n",
            "L__self__,,my.Net;L__self___enc,enc.layers.0,my.nets.Encoder", "model.py:41 in Encoder.forward"},
           {"File \"m.py\", line 7, in f", "", "m.py:7 in f"},
           {"", "a,path,a.b.C;L['x'].y[0],enc.l[0],torch.nn.Linear[a,b]", "in Linear[a,b]"},
           {"", "", ""},
           {"File \"", "", ""},
           {"File \"m.py\", line x", "k", "m.py:0"},
       }) {
    const std::vector<MetadataEntry> entries = {{"stack_trace", trace}, {"nn_module_stack", modules}};
    const LocId loc = lineage.AddSource(entries);
    CHECK(lineage.AddSource(entries) == loc);
    CHECK_EQ(lineage.Describe(loc), want);
    CHECK(lineage.Metadata(loc)[0].second == trace);
  }
}

TEST_CASE("passes are noted on top of the source") {
  Lineage lineage;
  const std::vector<MetadataEntry> entries = {{"stack_trace", "File \"m.py\", line 7, in f"}};
  const LocId source = lineage.AddSource(entries);
  const LocId once = lineage.AddPass(source, "fold-a");
  const LocId twice = lineage.AddPass(once, "fold-b");
  CHECK(lineage.AddPass(source, "fold-a") == once);
  CHECK(lineage.PassOf(source) == "");
  CHECK(lineage.PassOf(twice) == "fold-b");
  CHECK(lineage.Parent(twice) == once);
  CHECK(lineage.Source(twice).line == 7);
  CHECK_EQ(lineage.Describe(twice), "m.py:7 in f, redefined by fold-b");
  CHECK_EQ(lineage.Describe(lineage.AddPass(LocId{}, "fold-a")), "created by fold-a");
  CHECK(lineage.Metadata(LocId{}).empty());
  CHECK_EQ(lineage.Describe(LocId{}), "");
}

TEST_CASE("a name is given once") {
  Lineage lineage;
  CHECK(lineage.UniqueName("a") == "a");
  const NodeId a = lineage.AddNode("a");  // the reserved one
  CHECK(lineage.NameOf(a) == "a");
  CHECK(lineage.NameOf(lineage.AddNode("a")) == "a_1");
  CHECK(lineage.UniqueName("") == "value");
  CHECK(lineage.Find("a_1") == NodeId{1});
  CHECK(!lineage.Find("value").has_value());
  const Lineage copy(lineage, 1);
  CHECK(copy.Find("a") == a);
  CHECK(!copy.Find("a_1").has_value());
}

}  // namespace
}  // namespace tare
