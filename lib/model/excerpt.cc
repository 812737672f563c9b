// Chooses passages of long texts for a prompt.
#include "model/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numeric>
#include <set>

#include "groma/line_edits.h"
#include "search/lines.h"

namespace groma::tuning {
namespace {

constexpr std::size_t kMaxQueryBytes = 1 << 18, kMaxWordBytes = 64;
// Limits on a passage of a source, in lines, and of a document, in bytes.
constexpr std::size_t kMaxPassageLines = 60, kGoodDocumentBytes = 600, kMaxDocumentBytes = 1'600;
// The part of the best score by which a preferred passage counts more.
constexpr double kPreferred = 0.05;
// The part of a passage's score that what it names gets, too.
constexpr double kOfDefinition = 0.8;
// The weight of a part of a name, as a part of that of the name.
constexpr double kOfPart = 0.33;
// The part of the best score below which a passage of a source is not chosen.
constexpr double kLeastChosen = 0.1;
// Documents of at most this part of the bytes are quoted as a whole.
constexpr std::size_t kWholePart = 4;
// The part of the best score below which a passage of a document is not quoted.
constexpr double kLeastQuoted = 0.3;
// The constants of BM25.
constexpr double kSaturation = 1.2, kLengthWeight = 0.75;
// The bytes of a line that says what is left out, and the names that it lists at most.
constexpr std::size_t kGapLine = 160, kMaxGapNames = 8;
// A gap with at most this number of bytes is shown.
constexpr std::size_t kSmallGap = 300;

// English words that say nothing about a passage.
constexpr std::array<std::string_view, 40> kCommonWords = {
    "about", "after", "all",  "also", "an",   "and",  "are",  "as",    "at",   "be",
    "but",   "by",    "can",  "do",   "each", "for",  "from", "has",   "have", "if",
    "in",    "into",  "is",   "it",   "its",  "more", "not",  "of",    "on",   "one",
    "or",    "so",    "than", "that", "the",  "this", "to",   "where", "with", "you"};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Calls use(word) for a word in lower case, unless it is a number, a single letter or a common one.
template <typename Use>
void use_word(std::string_view word, const Use& use) {
  if (word.size() < 2 || word.size() > kMaxWordBytes || is_digit(word.front())) return;
  std::string lower;
  for (const char c : word) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (std::find(kCommonWords.begin(), kCommonWords.end(), lower) != kCommonWords.end()) return;
  use(lower);
}

// Calls use(word, is_part) for each word of the text, and for each part of a name that has several.
template <typename Use>
void for_each_word(std::string_view text, const Use& use) {
  for (std::size_t at = 0; at < text.size();) {
    if (!in_word(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && in_word(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    at = end;
    use_word(name, [&](const std::string& word) { use(word, false); });
    // Parts end before an underscore and before an upper-case letter behind another letter.
    std::size_t begin = 0;
    for (std::size_t i = 1; i <= name.size(); ++i) {
      const bool ends = i == name.size() || name[i] == '_' || name[i - 1] == '_' ||
                        (is_upper(name[i]) && !is_upper(name[i - 1]));
      if (!ends) continue;
      const std::string_view part = name.substr(begin, i - begin);
      begin = i;
      if (part.size() < name.size() && part != "_") {
        use_word(part, [&](const std::string& word) { use(word, true); });
      }
    }
  }
}

bool is_blank(std::string_view line) { return trimmed(line).empty(); }
bool is_indented(std::string_view line) {
  return !line.empty() && (line.front() == ' ' || line.front() == '\t');
}

// Collects lines of a text to passages. The lines are views of the text, one after the other.
class PassageMaker {
 public:
  // Adds a line to the current passage.
  void add(std::string_view line) {
    current_.text = current_.lines == 0 ? line
                                        : std::string_view(current_.text.data(),
                                                           current_.text.size() + line.size());
    ++current_.lines;
  }
  // Ends the current passage. The next line begins another one.
  void end() {
    if (current_.lines == 0) return;
    passages_.push_back(current_);
    current_ = {{}, current_.first_line + current_.lines, 0};
  }
  const Passage& current() const { return current_; }
  std::vector<Passage> take() {
    end();
    return std::move(passages_);
  }

 private:
  Passage current_;
  std::vector<Passage> passages_;
};

// Returns the names that a passage of a source defines, as far as a look at its lines without
// indentation tells: the word before the first parenthesis, or behind `struct` or `#define`.
std::vector<std::string> names_defined_in(std::string_view passage) {
  std::vector<std::string> names;
  for (const std::string_view line : lines_of(passage)) {
    if (is_blank(line) || is_indented(line) || line.starts_with("//") || line.starts_with("/*")) {
      continue;
    }
    std::size_t end = std::string_view::npos, begin = 0;
    for (const std::string_view keyword : {"#define ", "struct ", "class "}) {
      if (!line.starts_with(keyword)) continue;
      begin = end = keyword.size();
      while (end < line.size() && in_word(line[end])) ++end;
    }
    if (end == line.npos) {
      end = line.find('(');
      if (end == line.npos) continue;
      while (end > 0 && line[end - 1] == ' ') --end;
      begin = end;
      while (begin > 0 && in_word(line[begin - 1])) --begin;
    }
    const std::string name(line.substr(begin, end - begin));
    if (name.size() < 2 || name == "if" || name == "for" || name == "while") continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// Returns by what a passage of a source is preferred: 1, and more if it is the entry of a kernel or
// has loops, in which the time goes.
double preference(std::string_view passage) {
  double factor = 1;
  for (const std::string_view entry : {"__global__", "__kernel", "kernel void", "omp parallel"}) {
    if (passage.find(entry) != passage.npos) factor = 2;
  }
  int loops = 0;
  for (std::size_t at = passage.find("for ("); at != passage.npos && loops < 3;
       at = passage.find("for (", at + 1)) {
    ++loops;
  }
  return factor + 0.25 * loops;
}

// Returns the line that says which passages, first ... last - 1, are left out.
std::string gap_line(std::span<const Passage> passages, std::size_t first, std::size_t last) {
  const std::size_t end = passages[last - 1].first_line + passages[last - 1].lines - 1;
  std::string line = fmt::format("[lines {} to {} are left out", passages[first].first_line, end);
  std::size_t listed = 0;
  for (std::size_t i = first; i < last; ++i) {
    for (const std::string& name : names_defined_in(passages[i].text)) {
      if (listed == kMaxGapNames || line.size() + name.size() + 10 > kGapLine) {
        return line + ", ...]\n";
      }
      line += (listed++ == 0 ? ": " : ", ") + name;
    }
  }
  return line + "]\n";
}

// Chooses passages of a source for at most `most_bytes` bytes: again and again the one with the
// highest score that still fits. When a passage is chosen, the scores of those that define what it
// names rise, since it cannot be understood without them. Returns for each passage whether it is
// chosen.
std::vector<bool> choose_passages(std::span<const Passage> passages, std::vector<double> scores,
                                  std::size_t most_bytes) {
  std::map<std::string, std::size_t, std::less<>> defined_in;
  for (std::size_t i = 0; i < passages.size(); ++i) {
    for (std::string& name : names_defined_in(passages[i].text)) {
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      defined_in.emplace(std::move(name), i);
    }
  }
  std::vector<bool> chosen(passages.size());
  // Each chosen passage may make one more gap.
  const auto cost = [&](std::size_t i) { return passages[i].text.size() + kGapLine; };
  double least = 0;
  for (std::size_t bytes = 2 * kGapLine;;) {
    std::size_t best = passages.size();
    for (std::size_t i = 0; i < passages.size(); ++i) {
      const bool fits = !chosen[i] && bytes + cost(i) <= most_bytes;
      if (fits && (best == passages.size() || scores[i] > scores[best])) best = i;
    }
    if (best == passages.size() || scores[best] < least) break;
    if (least == 0) least = kLeastChosen * scores[best];
    chosen[best] = true;
    bytes += cost(best);
    // A definition counts once for each passage that names it.
    std::set<std::size_t> named;
    for_each_word(passages[best].text, [&](const std::string& word, bool) {
      const auto found = defined_in.find(word);
      if (found != defined_in.end()) named.insert(found->second);
    });
    for (const std::size_t i : named) scores[i] += kOfDefinition * scores[best];
  }
  // A small gap would save no more than the line that stands for it.
  for (std::size_t i = 0; i < passages.size();) {
    const std::size_t first = i;
    std::size_t gap = 0;
    for (; i < passages.size() && !chosen[i]; ++i) gap += passages[i].text.size();
    if (gap <= kSmallGap) {
      std::fill(chosen.begin() + static_cast<std::ptrdiff_t>(first),
                chosen.begin() + static_cast<std::ptrdiff_t>(i), true);
    }
    if (i == first) ++i;
  }
  return chosen;
}

// Returns the numbers of all passages, the one with the highest score first.
std::vector<std::size_t> best_first(const std::vector<double>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return order;
}

// Returns the heading of Markdown in a line, or an empty text.
std::string_view heading_in(std::string_view line) {
  if (!line.starts_with('#')) return {};
  line = line.substr(std::min(line.find_first_not_of('#'), line.size()));
  return line.starts_with(' ') ? trimmed(line) : std::string_view();
}

}  // namespace

void add_query_words(std::string_view text, double weight, QueryWords* query) {
  for_each_word(text.substr(0, kMaxQueryBytes), [&](const std::string& word, bool is_part) {
    double& of_word = (*query)[word];
    of_word = std::max(of_word, is_part ? kOfPart * weight : weight);
  });
}

std::vector<Passage> passages_of_source(std::string_view text) {
  PassageMaker maker;
  std::string_view before;
  for (const std::string_view line : lines_of(text)) {
    const bool begins = !is_blank(line) && !is_indented(line) && !line.starts_with('}') &&
                        (is_blank(before) || before.starts_with('}'));
    // Short groups of declarations stay together.
    const bool has_enough = maker.current().lines >= 4;
    if ((begins && has_enough) || maker.current().lines == kMaxPassageLines) maker.end();
    maker.add(line);
    before = line;
  }
  return maker.take();
}

std::vector<Passage> passages_of_document(std::string_view text) {
  PassageMaker maker;
  bool after_blank = false;
  for (const std::string_view line : lines_of(text)) {
    const std::size_t bytes = maker.current().text.size();
    if (!heading_in(line).empty() || (after_blank && bytes >= kGoodDocumentBytes) ||
        bytes + line.size() > kMaxDocumentBytes) {
      maker.end();
    }
    maker.add(line);
    after_blank = is_blank(line);
  }
  return maker.take();
}

std::vector<double> scores_of(std::span<const Passage> passages, const QueryWords& query) {
  // How often each word of the query is in each passage, and in how many passages it is.
  std::vector<std::map<std::string, double>> counts(passages.size());
  std::map<std::string, double> passages_with;
  std::vector<double> lengths(passages.size());
  for (std::size_t i = 0; i < passages.size(); ++i) {
    for_each_word(passages[i].text, [&](const std::string& word, bool) {
      ++lengths[i];
      if (query.contains(word) && ++counts[i][word] == 1) ++passages_with[word];
    });
  }
  const auto number = static_cast<double>(passages.size());
  const double mean =
      std::max(1.0, std::accumulate(lengths.begin(), lengths.end(), 0.0) / std::max(1.0, number));
  std::vector<double> scores(passages.size());
  for (std::size_t i = 0; i < passages.size(); ++i) {
    for (const auto& [word, count] : counts[i]) {
      const double with = passages_with[word];
      const double rarity = std::log(1 + (number - with + 0.5) / (with + 0.5));
      const double length = 1 - kLengthWeight + kLengthWeight * lengths[i] / mean;
      scores[i] +=
          query.at(word) * rarity * count * (kSaturation + 1) / (count + kSaturation * length);
    }
  }
  return scores;
}

std::string excerpt_of_source(std::string_view text, std::size_t most_bytes,
                              const QueryWords& query) {
  if (text.size() <= most_bytes) return std::string(text);
  const std::vector<Passage> passages = passages_of_source(text);
  std::vector<double> scores = scores_of(passages, query);
  const double best = *std::max_element(scores.begin(), scores.end());
  for (std::size_t i = 0; i < passages.size(); ++i) {
    // A preference decides between passages that fit the query about equally.
    scores[i] += kPreferred * preference(passages[i].text) * std::max(best, 1.0);
  }
  const std::vector<bool> shown = choose_passages(passages, std::move(scores), most_bytes);
  std::string excerpt;
  for (std::size_t i = 0; i < passages.size();) {
    if (shown[i]) {
      excerpt += passages[i++].text;
      continue;
    }
    const std::size_t first = i;
    while (i < passages.size() && !shown[i]) ++i;
    if (!excerpt.empty() && excerpt.back() != '\n') excerpt += '\n';
    excerpt += gap_line(passages, first, i);
  }
  return excerpt;
}

std::string quote_documents(std::span<const NamedText> documents, std::size_t most_bytes,
                            const QueryWords& query) {
  std::string all;
  for (const NamedText& document : documents) {
    if (all.size() + document.text.size() > most_bytes / kWholePart) {
      all.clear();
      break;
    }
    all += fmt::format("From {}:\n{}\n\n", one_line(document.name, 80), trimmed(document.text));
  }
  if (!all.empty() && all.size() <= most_bytes) return all;
  struct DocumentPassage {
    std::size_t document;
    std::string_view heading;
  };
  std::vector<Passage> passages;
  std::vector<DocumentPassage> of;
  for (std::size_t d = 0; d < documents.size(); ++d) {
    std::string_view heading;
    for (const Passage& passage : passages_of_document(documents[d].text)) {
      const std::string_view begins = heading_in(passage.text.substr(0, passage.text.find('\n')));
      if (!begins.empty()) heading = begins;
      passages.push_back(passage);
      of.push_back({d, begins.empty() ? heading : std::string_view()});
    }
  }
  const std::vector<double> scores = scores_of(passages, query);
  std::string quoted;
  // The document of the last passage that is quoted.
  std::size_t last = documents.size();
  const std::vector<std::size_t> order = best_first(scores);
  for (const std::size_t best : order) {
    if (scores[best] <= kLeastQuoted * scores[order.front()]) break;
    const std::size_t document = of[best].document;
    const std::string_view text = trimmed(passages[best].text);
    // A heading alone says nothing.
    const bool is_heading = !heading_in(text.substr(0, text.find('\n'))).empty();
    if (is_heading && text.find('\n') == text.npos) continue;
    std::string quotation;
    if (document != last) {
      quotation += fmt::format("From {}:\n", one_line(documents[document].name, 80));
    }
    if (!of[best].heading.empty()) {
      quotation += fmt::format("(below \"{}\")\n", one_line(of[best].heading, 80));
    }
    quotation += text;
    quotation += "\n\n";
    if (quoted.size() + quotation.size() > most_bytes) continue;
    quoted += quotation;
    last = document;
  }
  return quoted;
}

}  // namespace groma::tuning
