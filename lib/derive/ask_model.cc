// Asks a language model for the map of samples. The task is that of arXiv 2604.10387: the model
// sees the first points and answers with a function, here in Groma's total language.
#include <fmt/format.h>

#include <algorithm>

#include "groma/domain_derivation.h"
#include "groma/harmless.h"

namespace groma::domains {
namespace {

// Limits on the bytes of diagnostics, and on the wrong samples, that one question shows.
constexpr std::size_t kMaxShownBytes = 2000;
constexpr std::size_t kMaxShownSamples = 8;

constexpr std::string_view kInstructions =
    R"(You find the rule behind a list of points. The k-th point of a domain is a function of k alone,
k = 0, 1, 2, ... You see the first points. Write the function for every k, also for k far beyond the
list. It is tested for k up to 1,000,000. Do not list the points themselves: a table of the samples
is wrong for all other k. A small table of the digits of a self-similar set is allowed.

Answer with one fenced block that has one line in this language, and nothing else in the block:

k => (E, E)

There is one E for each coordinate. E is an expression of whole numbers:

  + - * / %             / rounds down
  & | ^ << >>           bits
  < <= > >= == != && || !     0 or 1
  c ? a : b             a if c is not 0, else b
  (a, b), t[i]          a tuple; item i of a tuple or a table, from 0
  [1, 2], [(0, 0), (1, 0)]    a table of constants
  let y = a in b, let (x, y) = a in b     b with names for a
  min(a, b) max(a, b) abs(a) isqrt(a) icbrt(a) ilog(b, a) popc(a)
  root(m => f, a)       the largest m >= 0 for which f is at most a; f must not decrease
  fold(a, s, r, start, (v, q, i) => f)    starts with v = start and computes v = f for each of the r
                        lowest digits q of a in base s, the lowest first; i counts them from 0
  horner(b, a, s, T)    the sum of T[q] * b^i over the digits q of a in base s; T is a table

There are no loops, functions or comments. Two examples:

k => (k % 5, k / 5)                             rows of 5
k => horner(2, k, 4, [(0, 0), (1, 0), (0, 1), (1, 1)])    the Z-order of the plane
)";

// Returns the text of the only fenced block, or the whole text if there is no fence. Returns
// nullopt and sets `why` if there are several blocks.
std::optional<std::string> answer_in(std::string_view text, std::string* why) {
  std::string inside;
  int blocks = 0;
  bool is_inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
    if (line.substr(first).starts_with("```")) {
      is_inside = !is_inside;
      blocks += is_inside ? 1 : 0;
      continue;
    }
    if (is_inside) inside += std::string(line) + "\n";
  }
  if (blocks > 1) {
    *why = fmt::format("it has {} fenced blocks instead of one", blocks);
    return std::nullopt;
  }
  std::string answer = blocks == 1 ? inside : std::string(text);
  const std::size_t begin = answer.find_first_not_of(" \t\r\n");
  answer.erase(0, std::min(begin, answer.size()));
  answer.erase(answer.find_last_not_of(" \t\r\n") + 1);
  if (answer.empty()) {
    *why = "it has no answer";
    return std::nullopt;
  }
  if (answer.size() > kMaxAnswerBytes) {
    *why = fmt::format("its answer has {} bytes; at most {} are allowed", answer.size(),
                       kMaxAnswerBytes);
    return std::nullopt;
  }
  return answer;
}

std::string sample_line(std::size_t k, const Point& point) {
  return fmt::format("{} -> ({})\n", k, fmt::join(point.coordinates(), ", "));
}

class MapQuestions {
 public:
  MapQuestions(llm::ChatClient& client, const Samples& samples, const ModelOptions& options,
               const llm::ChatClient::ReplyWatcher& watch)
      : client_(client), samples_(samples), options_(options), watch_(watch) {}

  ModelAnswer ask() {
    request_.temperature = options_.temperature;
    request_.max_tokens = options_.reply_tokens;
    using Role = llm::ChatMessage::Role;
    request_.messages.push_back({Role::kSystem, std::string(kInstructions)});
    std::string question = fmt::format("These are the first {} points, k -> ({}):\n\n",
                                       samples_.points.size(), fmt::join(samples_.names, ", "));
    for (std::size_t k = 0; k < samples_.points.size(); ++k) {
      question += sample_line(k, samples_.points[k]);
    }
    request_.messages.push_back({Role::kUser, std::move(question)});
    for (int round = 0; round <= options_.repairs; ++round) {
      auto reply = client_.ask(request_, watch_);
      if (!reply) {
        best_.error = reply.error();
        break;
      }
      count(*reply);
      const std::string mistake = examine(*reply);
      if (mistake.empty()) break;
      // Only the last exchange is repeated, so that prompts stay short.
      request_.messages.resize(2);
      request_.messages.push_back(
          {Role::kAssistant,
           reply->text.empty() ? "(empty)" : reply->text.substr(0, 2 * kMaxAnswerBytes)});
      request_.messages.push_back({Role::kUser, mistake + "Answer again, in the same form.\n"});
    }
    return std::move(best_);
  }

 private:
  void count(const llm::ChatReply& reply) {
    ++best_.rounds;
    best_.usage.input_tokens += reply.usage.input_tokens;
    best_.usage.output_tokens += reply.usage.output_tokens;
    best_.usage.estimated = best_.usage.estimated || reply.usage.estimated;
    if (reply.money) best_.money = best_.money.value_or(0) + *reply.money;
  }

  // Reads the reply and keeps its formula if no earlier one yields more samples. Returns the
  // mistakes in words for the model, or "" if there are none.
  std::string examine(const llm::ChatReply& reply) {
    std::string why;
    auto text = answer_in(reply.text, &why);
    const bool is_cut_off = reply.finish == llm::ChatReply::Finish::kLength;
    if (!text || is_cut_off) {
      if (is_cut_off) why = "it was cut off at the limit of tokens";
      return refuse_reply(why, fmt::format("Your reply could not be used: {}.\n", why));
    }
    Diagnostics diags(Source("answer", *text));
    auto formula = Formula::read(diags, samples_.dimensions());
    if (!formula) {
      std::string shown;
      for (const Diagnostic& diagnostic : diags.sorted())
        shown += render(diags.source(), diagnostic);
      return refuse_reply("it is not a map of the language",
                          "Your answer has mistakes:\n" + shown.substr(0, kMaxShownBytes));
    }
    return compare(std::move(*text), std::move(*formula));
  }

  std::string refuse_reply(const std::string& why, std::string words) {
    if (best_.text.empty()) best_.refusal = "the model gave no usable answer: " + why;
    return words;
  }

  std::string compare(std::string text, Formula formula) {
    std::size_t wrong = 0;
    std::string shown;
    for (std::size_t k = 0; k < samples_.points.size(); ++k) {
      const auto point = formula.point(static_cast<std::int64_t>(k));
      if (point == samples_.points[k]) continue;
      if (++wrong > kMaxShownSamples) continue;
      shown += point ? fmt::format("k = {} gives ({}), and must give ({})\n", k,
                                   fmt::join(std::as_const(*point).coordinates(), ", "),
                                   fmt::join(samples_.points[k].coordinates(), ", "))
                     : fmt::format("k = {} has no value: {}\n", k, formula.why());
    }
    if (best_.text.empty() || wrong < least_wrong_) {
      least_wrong_ = wrong;
      best_.text = std::move(text);
      best_.refusal.clear();
      const auto shared = std::make_shared<Formula>(std::move(formula));
      best_.point = [shared](std::int64_t k) { return shared->point(k); };
    }
    if (wrong == 0) return "";
    return fmt::format("Your answer gives {} of the {} points wrong:\n{}", wrong,
                       samples_.points.size(), shown);
  }

  llm::ChatClient& client_;
  const Samples& samples_;
  const ModelOptions& options_;
  const llm::ChatClient::ReplyWatcher& watch_;
  llm::ChatRequest request_;
  ModelAnswer best_;
  std::size_t least_wrong_ = 0;
};

}  // namespace

ModelAnswer ask_for_map(llm::ChatClient& client, const Samples& samples,
                        const ModelOptions& options, const llm::ChatClient::ReplyWatcher& watch) {
  return MapQuestions(client, samples, options, watch).ask();
}

}  // namespace groma::domains
