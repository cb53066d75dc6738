// One op as a page for people, and as JSON for other tools.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/status.h"
#include "meta/function_table.h"
#include "tools/op_view.h"

namespace tare {
namespace {

constexpr std::string_view kIndent = "           ";

void PutRow(std::string& page, std::string_view label, std::string_view text) {
  std::string start = Cat("  ", label);
  start.resize(std::max(start.size() + 1, kIndent.size()), ' ');
  CatTo(page, start, text, "\n");
}

// `Tensor(a)?[]` of an argument.
std::string TypeText(const SchemaArg& arg) {
  Schema only;
  only.returns.push_back(arg);
  only.returns[0].name.clear();
  only.returns[0].has_default = false;
  return Print(only).substr(std::string_view("() -> ").size());
}

std::string DefaultText(const SchemaArg& arg) {
  Schema only;
  only.args.push_back(arg);
  only.args[0].keyword_only = false;
  const std::string text = Print(only);
  const size_t equals = text.find('=');
  return text.substr(equals + 1, text.rfind(") -> ") - equals - 1);
}

void WriteArguments(JsonWriter& json, std::string_view key, const std::vector<SchemaArg>& args) {
  json.Key(key);
  json.Array([&] {
    for (const SchemaArg& arg : args) {
      json.Object([&] {
        if (!arg.name.empty()) json.Field("name", arg.name);
        json.Field("type", TypeText(arg));
        if (arg.has_default) json.Field("default", DefaultText(arg));
        if (arg.keyword_only) json.Field("keyword_only", true);
      });
    }
  });
}

template <typename List>
void WriteTexts(JsonWriter& json, std::string_view key, const List& texts) {
  json.Key(key);
  json.Array([&] {
    for (const auto& text : texts) json.Value(std::string_view(text));
  });
}

void WriteRule(JsonWriter& json, const RuleText& rule) {
  json.Field("file", rule.file);
  json.Field("line", rule.line);
  json.Field("family", rule.family);
  json.Key("let");
  json.Array([&] {
    for (const RuleText::Let& let : rule.lets) {
      json.Object([&] {
        json.Field("name", let.name);
        json.Field("value", let.value);
      });
    }
  });
  json.Key("results");
  json.Array([&] {
    for (const RuleText::Result& result : rule.results) {
      json.Object([&] {
        const auto field = [&](std::string_view name, const std::string& text) {
          if (!text.empty()) json.Field(name, text);
        };
        field("shape", result.shape);
        field("dtype", result.dtype);
        field("layout", result.layout);
        field("offset", result.offset);
        field("result", result.result);
      });
    }
  });
  json.Field("tuple", rule.several);
  json.Field("alias", rule.alias);
  json.Key("checks");
  json.Array([&] {
    for (const RuleText::Check& check : rule.checks) {
      json.Object([&] {
        json.Field("id", check.id);
        json.Field("that", check.that);
        json.Field("say", check.say);
      });
    }
  });
  std::vector<std::string_view> functions;
  for (const int function : rule.functions) functions.push_back(FunctionTable()[static_cast<size_t>(function)].name);
  WriteTexts(json, "functions", functions);
}

}  // namespace

std::string PageOf(const Context& context, const OpView& view) {
  const OpDef& def = *view.def;
  std::string page = Cat(def.name, "\n");
  if (!def.doc.empty()) PutRow(page, "", def.doc);
  if (!def.schema_text.empty()) PutRow(page, "schema", def.schema_text);
  if (view.rule.has_value()) {
    for (const auto& [name, text] : RuleFields(*view.rule)) PutRow(page, name, text);
    for (const RuleText::Check& check : view.rule->checks) {
      PutRow(page, "check", Cat(check.id, ": ", check.say));
      PutRow(page, "", Cat("  unless ", check.that));
    }
  } else {
    PutRow(page, "rule", "none: metadata is what the file states");
  }
  std::string_view label = "traits";
  for (const std::string_view trait : TraitsOf(def)) {
    PutRow(page, label, Cat(trait, ": ", MeaningOf(trait)));
    label = "";
  }
  if (view.rule.has_value()) {
    label = "where";
    for (const int function : view.rule->functions) {
      const RuleFunctionRow& row = FunctionTable()[static_cast<size_t>(function)];
      PutRow(page, label, Cat(row.signature, ": ", row.doc));
      label = "";
    }
  }
  if (view.example.has_value()) {
    PutRow(page, "example", Cat("tare infer '", view.example->call, "'"));
    PutRow(page, "", view.example->answer);
  }
  if (!def.source.empty()) PutRow(page, "source", def.source);
  if (!view.rule.has_value()) return page;
  const RuleText& rule = *view.rule;
  PutRow(page, "row", Cat(rule.file, ":", rule.line, rule.family.empty() ? "" : ", family ", rule.family));
  if (!view.twins.empty()) {
    PutRow(page, "shared",
           absl::StrJoin(view.twins, ", ", [&](std::string* out, Op op) { CatTo(*out, context.ops.Name(op)); }));
  }
  return page;
}

void WriteOp(JsonWriter& json, const Context& context, const OpView& view) {
  const OpDef& def = *view.def;
  json.Object([&] {
    json.Field("name", def.name);
    json.Field("dialect", DialectOf(def.name));
    json.Field("doc", def.doc);
    json.Field("schema", def.schema_text);
    if (const Schema* schema = context.ops.schema(view.op)) {
      WriteArguments(json, "arguments", schema->args);
      json.Field("variadic", schema->variadic);
      WriteArguments(json, "returns", schema->returns);
    }
    WriteTexts(json, "traits", TraitsOf(def));
    json.Field("source", def.source);
    json.Field("has_rule", view.rule.has_value());
    if (view.rule.has_value()) WriteRule(json, *view.rule);
    std::vector<std::string_view> twins;
    for (const Op twin : view.twins) twins.push_back(context.ops.Name(twin));
    WriteTexts(json, "same_row", twins);
    if (!view.example.has_value()) return;
    json.Key("example");
    json.Object([&] {
      json.Field("call", view.example->call);
      json.Field("answer", view.example->answer);
    });
  });
}

}  // namespace tare
