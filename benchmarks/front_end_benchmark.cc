// Reading and checking of programs: a typical file, and ordinary source in bulk. Each checks that
// what it measured had the outcome that it must have.
#include <benchmark/benchmark.h>

#include <string>

#include "groma/program.h"
#include "groma/syntax.h"
#include "syntax/lexer.h"
#include "syntax/parser.h"

namespace {

groma::Source typical() {
  auto source = groma::Source::read(std::string(GROMA_SOURCE_DIR) + "/benchmarks/typical.mapper");
  return source ? *source : groma::Source();
}

// `bytes` of ordinary source: the typical file's statements again and again, each time about
// others.
groma::Source bulk(std::size_t bytes) {
  const std::string text(typical().text());
  std::string all;
  for (int copy = 0; all.size() < bytes; ++copy) {
    const std::string suffix = "_" + std::to_string(copy);
    for (std::size_t at = 0; at < text.size();) {
      // Names in lower case that are not the language's own get the copy's number.
      std::size_t end = at;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
        ++end;
      if (end == at) {
        all += text[at++];
        continue;
      }
      const std::string word = text.substr(at, end - at);
      all += word;
      const bool member = at > 0 && text[at - 1] == '.';
      const bool own = std::islower(static_cast<unsigned char>(word[0])) && word != "def" &&
                       word != "return" && word != "int" && word != "tuple" && word != "for" &&
                       word != "in";
      if (own && !member) all += suffix;
      at = end;
    }
  }
  return groma::Source("bulk.mapper", all);
}

void count(benchmark::State& state, const groma::Source& source) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(source.text().size()));
}

// Text to tokens alone.
void lex(benchmark::State& state, const groma::Source& source) {
  for (auto _ : state) {
    groma::Diagnostics diags(source);
    groma::syntax::Lexer lexer(source, diags, nullptr);
    std::size_t tokens = 0;
    while (lexer.next_token().kind != groma::syntax::TokenKind::kEnd) ++tokens;
    if (tokens < source.text().size() / 10 || diags.has_errors())
      state.SkipWithError("wrong tokens");
  }
  count(state, source);
}

void parse(benchmark::State& state, const groma::Source& source) {
  for (auto _ : state) {
    groma::Diagnostics diags(source);
    const groma::syntax::Tree tree = groma::syntax::parse(source, diags);
    if (tree.statements.empty() || diags.has_errors()) state.SkipWithError("wrong tree");
  }
  count(state, source);
}

void check(benchmark::State& state, const groma::Source& source) {
  for (auto _ : state) {
    groma::Diagnostics diags(source);
    const groma::Program program = groma::compile(source, diags);
    if (program.function_count() == 0 || diags.has_errors()) {
      state.SkipWithError(diags.has_errors() ? diags.all()[0].message.c_str() : "no functions");
    }
  }
  count(state, source);
}

void format(benchmark::State& state, const groma::Source& source) {
  for (auto _ : state) {
    groma::Diagnostics diags(source);
    const auto text = groma::format(source, diags);
    if (!text || text->size() < source.text().size() / 2) state.SkipWithError("wrong text");
  }
  count(state, source);
}

constexpr std::size_t kBulkBytes = std::size_t{4} << 20;

BENCHMARK_CAPTURE(lex, typical, typical())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(parse, typical, typical())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(check, typical, typical())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(format, typical, typical())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(lex, bulk, bulk(kBulkBytes))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(parse, bulk, bulk(kBulkBytes))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check, bulk, bulk(kBulkBytes))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(format, bulk, bulk(kBulkBytes))->Unit(benchmark::kMillisecond);

}  // namespace
