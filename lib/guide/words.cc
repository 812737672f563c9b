// Translates words of logs to words of the mapping language, and inserts what the groups of a
// rule's pattern matched into the sentences of the rule.
#include "guide/words.h"

#include <algorithm>
#include <cctype>

#include "groma/harmless.h"

namespace groma::guide {
namespace {

// Limit on the bytes that are shown of the text that a group of a pattern matched.
constexpr std::size_t kShownGroup = 300;

// The names and numbers that Legion and Realm print for processor and memory kinds, and the words
// of the mapping language for these kinds.
constexpr std::pair<std::string_view, std::string_view> kProcessors[] = {
    {"TOC_PROC", "GPU"}, {"LOC_PROC", "CPU"}, {"OMP_PROC", "OMP"}, {"IO_PROC", "IO"},
    {"PY_PROC", "PY"},   {"1", "GPU"},        {"2", "CPU"},        {"4", "IO"},
    {"8", "PY"},         {"7", "OMP"},        {"3", "utility"},    {"UTIL_PROC", "utility"},
    {"GPUs", "GPU"},     {"CPUs", "CPU"},
};
constexpr std::pair<std::string_view, std::string_view> kMemories[] = {
    {"GPU_FB_MEM", "FBMEM"},  {"Framebuffer", "FBMEM"}, {"GPU framebuffer", "FBMEM"},
    {"SYSTEM_MEM", "SYSMEM"}, {"System", "SYSMEM"},     {"Z_COPY_MEM", "ZCMEM"},
    {"Zero-Copy", "ZCMEM"},   {"Zerocopy", "ZCMEM"},    {"SOCKET_MEM", "SOCKMEM"},
    {"Socket", "SOCKMEM"},    {"REGDMA_MEM", "RDMEM"},  {"Registered", "RDMEM"},
    {"system", "SYSMEM"},     {"framebuffer", "FBMEM"}, {"zero-copy", "ZCMEM"},
};

// The command-line flags of Legion that provide processors or memories of a kind.
constexpr std::pair<std::string_view, std::string_view> kFlags[] = {
    {"GPU", "-ll:gpu N"},       {"FBMEM", "-ll:gpu N"},      {"ZCMEM", "-ll:gpu N"},
    {"OMP", "-ll:ocpu N"},      {"SOCKMEM", "-ll:nsize MB"}, {"RDMEM", "-ll:rsize MB"},
    {"SYSMEM", "-ll:csize MB"}, {"CPU", "-ll:cpu N"},
};

// Translates a word of a log to the mapping language by a table. Returns a word that is not in the
// table unchanged.
template <typename Table>
std::string word_of(const Table& table, std::string_view word) {
  for (const auto& [theirs, ours] : table) {
    if (theirs == word) return std::string(ours);
  }
  return std::string(word);
}

}  // namespace

std::string translate_processor_word(std::string_view word) { return word_of(kProcessors, word); }
std::string translate_memory_word(std::string_view word) { return word_of(kMemories, word); }

std::string_view legion_flag_for_kind(std::string_view kind) {
  for (const auto& [of, flag] : kFlags) {
    if (of == kind) return flag;
  }
  return "";
}

// Groups of the pattern that matched nothing are left out. The text of the group `quoted`, a
// message in JSON, is stored under the name `message`.
CapturedGroups captured_groups(const Rule& rule, std::string_view text) {
  CapturedGroups groups;
  if (rule.regex == nullptr) return groups;
  const int count = rule.regex->NumberOfCapturingGroups();
  std::vector<re2::StringPiece> found(static_cast<std::size_t>(count) + 1);
  const re2::StringPiece piece(text.data(), text.size());
  if (!rule.regex->Match(piece, 0, text.size(), RE2::UNANCHORED, found.data(), count + 1)) {
    return groups;
  }
  for (const auto& [number, name] : rule.regex->CapturingGroupNames()) {
    const re2::StringPiece& group = found[static_cast<std::size_t>(number)];
    if (group.data() == nullptr || group.empty()) continue;
    std::string value = harmless(std::string_view(group.data(), group.size()));
    while (!value.empty() && value.back() == ' ') value.pop_back();
    if (value.size() > kShownGroup) value = value.substr(0, kShownGroup) + "...";
    if (name == "prockind") value = translate_processor_word(value);
    if (name == "memkind") value = translate_memory_word(value);
    if (name == "prockind" || name == "memkind") groups["flag"] = legion_flag_for_kind(value);
    groups[name == "quoted" ? "message" : name] = std::move(value);
  }
  return groups;
}

std::string text_of_group(const CapturedGroups& groups, const char* name) {
  const auto found = groups.find(name);
  return found == groups.end() ? std::string() : found->second;
}

// An opening brace without a closing brace stays as it is.
std::string fill_template(std::string_view text, const CapturedGroups& groups) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text[i] == '{' ? text.find('}', i) : std::string_view::npos;
    if (end == std::string_view::npos) {
      made += text[i];
      continue;
    }
    const std::string_view inside = text.substr(i + 1, end - i - 1);
    const std::size_t bar = std::min(inside.find('|'), inside.size());
    const auto found = groups.find(std::string(inside.substr(0, bar)));
    if (found != groups.end()) {
      made += found->second;
    } else {
      made += bar < inside.size() ? inside.substr(bar + 1) : "?";
    }
    i = end;
  }
  return made;
}

// An empty text stays empty. A text that already ends with `.`, `!`, `?`, `:` or `;` gets no full
// stop.
std::string as_sentence(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  if (text.empty()) return text;
  const bool ended = std::string_view(".!?:;").find(text.back()) != std::string_view::npos;
  if (!ended && !text.ends_with(".)")) text += '.';
  const std::string_view word = std::string_view(text).substr(0, text.find(' '));
  // A first word with a point or a slash inside is the name of a file and keeps its first letter.
  if (word.substr(0, word.size() - 1).find_first_of("./") != word.npos) return text;
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// Rules may give the same advice several times, so a sentence that is already in the list is not
// added.
void add_sentence(std::string text, std::vector<std::string>* list) {
  text = as_sentence(std::move(text));
  if (text.empty() || std::find(list->begin(), list->end(), text) != list->end()) return;
  list->push_back(std::move(text));
}

}  // namespace groma::guide
