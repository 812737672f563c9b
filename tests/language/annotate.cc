#include "language/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/program.h"
#include "support/files.h"

namespace groma::testing {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i == 0 ? "" : "\n") + lines[i];
  return text;
}

std::vector<std::string> words_of(std::string_view text, char separator = ' ') {
  std::vector<std::string> words;
  std::istringstream stream{std::string(text)};
  for (std::string word; std::getline(stream, word, separator);) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// The rest of a line that begins with `# KEYWORD:`.
std::optional<std::string_view> directive(std::string_view line, std::string_view keyword) {
  const std::string start = fmt::format("# {}:", keyword);
  if (!line.starts_with(start)) return std::nullopt;
  line.remove_prefix(start.size());
  while (line.starts_with(' ')) line.remove_prefix(1);
  while (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_answer(std::string_view line) {
  while (line.starts_with(' ')) line.remove_prefix(1);
  for (std::string_view start :
       {"# expect-", "#   note", "#   help:", "#   fix:", "# prints:", "# places:", "# answer:"}) {
    if (line.starts_with(start)) return true;
  }
  return false;
}

std::vector<std::int64_t> numbers(std::string_view text, char separator) {
  std::vector<std::int64_t> found;
  for (const std::string& word : words_of(text, separator)) found.push_back(std::stoll(word));
  return found;
}

// ------------------------------------------------------------------------------------ questions

std::string placed_words(const Placement& placement) {
  std::string text;
  const auto pair = [](const Processor& p) { return fmt::format("{},{}", p.node, p.index); };
  const int dimensions = placement.domain.box.dimensions();
  const std::int64_t row = dimensions == 0 ? 1 : placement.domain.box.extents[dimensions - 1];
  for (std::size_t i = 0; i < placement.points.size(); ++i) {
    if (i > 0) text += static_cast<std::int64_t>(i) % row == 0 ? " | " : " ";
    if (placement.sets.empty()) {
      text += pair(placement.points[i]);
      continue;
    }
    text += "{";
    for (const Processor& p : placement.sets[i]) text += (text.ends_with("{") ? "" : " ") + pair(p);
    text += "}";
  }
  return text;
}

PlaceQuery place_query(const std::vector<std::string>& words) {
  PlaceQuery query;
  std::vector<std::int64_t> extents, lower;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--task") query.task = value;
    if (words[i] == "--function") query.function = value;
    if (words[i] == "--from") query.from = find_proc_kind(value);
    if (words[i] == "--domain") extents = numbers(value, 'x');
    if (words[i] == "--lower") lower = numbers(value, 'x');
    if (words[i] == "--parent") {
      const auto pair = numbers(value, ',');
      query.parent = {pair.at(0), pair.at(1)};
    }
  }
  lower.resize(extents.size());
  query.domain = Rect{Point(lower), Point(extents)};
  return query;
}

// Answers one `# ask:` in words, with the statement that took the decision.
class Asker {
 public:
  Asker(const Program& program, const std::vector<std::string>& words)
      : program_(program), words_(words) {
    if (words.size() > 2) read_region(words[2]);
  }

  std::string answer() const {
    const std::string& question = words_.at(0);
    if (question == "task") return task();
    if (question == "memories") return memories();
    if (question == "layout") return layout();
    if (question == "index") return function(program_.index_function(words_.at(1), kind(2)));
    if (question == "single") return function(program_.single_function(words_.at(1), kind(2)));
    if (question == "limit") {
      const auto found = program_.instance_limit(words_.at(1), *kind(2));
      if (!found) return "nothing";
      constexpr std::string_view kScopes[] = {"", " SAME_NODE", " Machine"};
      return fmt::format("{}{}{}", found->limit, kScopes[static_cast<std::size_t>(found->scope)],
                         by(found->origin));
    }
    if (question == "collect") {
      const auto found = program_.collect_memory(words_.at(1), region_);
      return found ? "yes" + by(*found) : "nothing";
    }
    if (question == "replicate") {
      const auto found = program_.control_replicate(words_.at(1));
      return found ? "yes" + by(*found) : program_.replicates_any() ? "no" : "nothing";
    }
    const auto found = program_.task_steal(words_.at(1), *kind(2));
    if (!found) return "nothing";
    return (found->scope == StealScope::kSameNode ? "SAME_NODE" : "ANY_NODE") + by(found->origin);
  }

 private:
  void read_region(std::string_view word) {
    const std::size_t colon = word.find(':');
    if (word[0] < '0' || word[0] > '9') return;
    region_.position = std::stoll(std::string(word.substr(0, colon)));
    if (colon != word.npos) aliases_ = words_of(word.substr(colon + 1), ',');
    views_.assign(aliases_.begin(), aliases_.end());
    region_.aliases = views_;
  }

  std::optional<ProcKind> kind(std::size_t i) const { return find_proc_kind(words_.at(i)); }

  // The statement's text on one line.
  std::string by(DecisionOrigin origin) const {
    std::string text;
    for (const char c : program_.source().text(program_.range(origin))) {
      const bool space = c == ' ' || c == '\n' || c == '\r';
      if (!space || !text.ends_with(' ')) text += space ? ' ' : c;
    }
    return fmt::format(" by `{}`", text);
  }

  std::string task() const {
    const auto found = program_.task(words_.at(1));
    if (!found) return "nothing";
    std::string text;
    for (ProcKind each : found->kinds)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(each));
    return text + by(found->origin);
  }

  std::string memories() const {
    std::string text;
    for (const auto& [memory, origin] : program_.memories(words_.at(1), region_, *kind(3))) {
      text += fmt::format("{}{}{}", text.empty() ? "" : "; ", name_of(memory), by(origin));
    }
    return text.empty() ? "nothing" : text;
  }

  std::string layout() const {
    const auto found =
        program_.layout(words_.at(1), region_, *kind(3), *find_mem_kind(words_.at(4)));
    if (!found) return "nothing";
    const LayoutSpec& spec = found->layout;
    constexpr std::string_view kSigns[] = {"", "==", "!=", "<", "<=", ">", ">="};
    std::string text = spec.fields == FieldOrder::kSoa ? "SOA" : "AOS";
    text += spec.dimensions == DimensionOrder::kC ? " C_order" : " F_order";
    if (spec.compact) text += " Compact";
    if (spec.exact) text += " Exact";
    if (spec.align_op != AlignOp::kNone) {
      text +=
          fmt::format(" Align {} {}", kSigns[static_cast<int>(spec.align_op)], spec.align_bytes);
    }
    return text + by(found->origin);
  }

  std::string function(const std::optional<MappingFunctionDecision>& found) const {
    if (!found) return "nothing";
    return std::string(program_.function_name(found->function)) + by(found->origin);
  }

  const Program& program_;
  const std::vector<std::string>& words_;
  std::vector<std::string> aliases_;
  std::vector<std::string_view> views_;
  RegionNames region_;
};

class Lines final : public LogSink {
 public:
  void log(LogLevel, std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

// ------------------------------------------------------------------------------------ answers

class Annotator {
 public:
  Annotator(const std::string& name, std::string_view text)
      : source_(name, without_answers(text)),
        lines_(lines_of(source_.text())),
        before_(lines_.size()) {}

  Annotated run() {
    Diagnostics diags(source_);
    const Program program = compile(source_, diags);
    for (const Diagnostic& diagnostic : diags.all()) {
      made_.errors += diagnostic.severity == Severity::kError;
    }
    take(diags, 0);
    std::optional<BoundProgram> bound;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (const auto spec = directive(lines_[i], "machine")) {
        bound = bind_to(program, std::string(*spec), i + 1);
      } else if (const auto options = directive(lines_[i], "place")) {
        if (bound) place_on(*bound, place_query(words_of(*options)), i + 1);
      } else if (const auto question = directive(lines_[i], "ask")) {
        const Program& asked = bound ? bound->program() : program;
        after_[i + 1].push_back("# answer: " + Asker(asked, words_of(*question)).answer());
      }
    }
    made_.text = joined(with_answers());
    return std::move(made_);
  }

 private:
  std::optional<BoundProgram> bind_to(const Program& program, std::string spec, std::size_t under) {
    if (spec.ends_with(".json")) spec = in_tree("tests/language/machines/" + spec).string();
    const Result<Machine> machine = load_machine(spec);
    if (!machine) {
      after_[under].push_back("# answer: " + machine.error().message);
      return std::nullopt;
    }
    Diagnostics diags(source_);
    Lines log;
    auto bound = bind(program, *machine, diags, &log);
    take(diags, under);
    print(log, under);
    return bound;
  }

  void place_on(const BoundProgram& bound, const PlaceQuery& query, std::size_t under) {
    Diagnostics diags(source_);
    Lines log;
    const auto placement = place(bound, query, diags, &log);
    take(diags, under);
    if (placement) after_[under].push_back("# places: " + placed_words(*placement));
    print(log, under);
  }

  void print(const Lines& log, std::size_t under) {
    constexpr std::size_t kShown = 20;
    for (std::size_t i = 0; i < std::min(kShown, log.lines.size()); ++i) {
      std::string line = "# prints: " + log.lines[i];
      while (line.ends_with(' ')) line.pop_back();
      after_[under].push_back(line);
    }
    if (log.lines.size() > kShown) {
      after_[under].push_back(fmt::format("# prints: ... ({} lines)", log.lines.size()));
    }
  }

  // Notes every diagnostic once, however many questions bring it up.
  void take(const Diagnostics& diags, std::size_t under) {
    for (const Diagnostic& diagnostic : diags.sorted()) {
      made_.ids.insert(diagnostic.id);
      made_.any_problem = made_.any_problem || diagnostic.severity != Severity::kNote;
      const bool known = std::any_of(taken_.begin(), taken_.end(), [&](const Diagnostic& other) {
        return other.id == diagnostic.id && other.range == diagnostic.range &&
               other.message == diagnostic.message;
      });
      if (known) continue;
      taken_.push_back(diagnostic);
      if (!diagnostic.range) {
        for (std::string& line : words_for(diagnostic, std::nullopt)) after_[under].push_back(line);
        continue;
      }
      const Position at = source_.position(diagnostic.range->begin);
      before_[at.line - 1].push_back(diagnostic);
    }
  }

  // The comment of a diagnostic; `@LINE:` and column are filled in where it stands.
  std::vector<std::string> words_for(const Diagnostic& diagnostic,
                                     std::optional<Position> at) const {
    const std::string place = at ? fmt::format("@+LINE:{}", at->column) : "";
    std::vector<std::string> words = {fmt::format("# expect-{}{} [{}] {}",
                                                  name_of(diagnostic.severity), place,
                                                  name_of(diagnostic.id), diagnostic.message)};
    for (const DiagNote& note : diagnostic.notes) {
      const std::string where =
          note.range ? fmt::format(" at `{}`", first_line(source_.text(*note.range))) : "";
      words.push_back(fmt::format("#   note{}: {}", where, note.message));
    }
    for (const std::string& help : diagnostic.helps) words.push_back("#   help: " + help);
    for (const Fix& fix : diagnostic.fixes) {
      words.push_back(fmt::format("#   fix: {}{}", fix.title, fix.sure ? " (sure)" : ""));
    }
    return words;
  }

  static std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find('\n'));
  }

  std::vector<std::string> with_answers() const {
    std::vector<std::string> all;
    const auto append = [&all](const std::map<std::size_t, std::vector<std::string>>& from,
                               std::size_t at) {
      if (const auto found = from.find(at); found != from.end()) {
        all.insert(all.end(), found->second.begin(), found->second.end());
      }
    };
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      append(after_, i);
      std::vector<std::string> block;
      for (const Diagnostic& diagnostic : before_[i]) {
        const Position at = source_.position(diagnostic.range->begin);
        for (std::string& line : words_for(diagnostic, at)) block.push_back(std::move(line));
      }
      for (std::size_t k = 0; k < block.size(); ++k) {
        if (const std::size_t mark = block[k].find("@+LINE:"); mark != std::string::npos) {
          block[k].replace(mark, 6, fmt::format("@+{}", block.size() - k));
        }
        all.push_back(block[k]);
      }
      all.push_back(lines_[i]);
    }
    append(after_, lines_.size());
    return all;
  }

  Source source_;
  std::vector<std::string> lines_;
  std::vector<std::vector<Diagnostic>> before_;  // by the line (from 0) that they are about
  std::map<std::size_t, std::vector<std::string>> after_;  // by the lines before them
  std::vector<Diagnostic> taken_;
  Annotated made_;
};

}  // namespace

std::string without_answers(std::string_view text) {
  std::vector<std::string> kept;
  for (std::string& line : lines_of(text)) {
    if (!is_answer(line)) kept.push_back(std::move(line));
  }
  return joined(kept);
}

Annotated annotate(const std::string& name, std::string_view text) {
  return Annotator(name, text).run();
}

std::vector<Diagnostic> compiled(const std::string& text) {
  const Source source("fixed", text);
  Diagnostics diags(source);
  compile(source, diags);
  return diags.sorted();
}

std::string fixed(const std::string& text) {
  constexpr int kMaxRounds = 20;
  std::string mended = text;
  for (int round = 0; round < kMaxRounds; ++round) {
    std::vector<Fix> sure;
    for (const Diagnostic& diagnostic : compiled(mended)) {
      for (const Fix& fix : diagnostic.fixes) {
        if (fix.sure) sure.push_back(fix);
      }
    }
    std::size_t applied = 0;
    mended = apply_fixes(Source("fixed", mended), sure, &applied);
    if (applied == 0) break;
  }
  return mended;
}

}  // namespace groma::testing
