// evolve: a language model changes programs of a population, which is divided into islands. The
// method and its constants are those of OpenEvolve. Each island is a grid whose two axes are the
// length of a program and its distance from other programs; each cell keeps its fittest program. An
// archive keeps the best programs of all islands.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>

#include "base/random.h"
#include "model/asking.h"
#include "model/prompt.h"
#include "model/reply_text.h"
#include "propose/proposers.h"

namespace groma::tuning {
namespace {

constexpr double kEvolveTemperature = 0.7;
constexpr std::size_t kIslands = 5, kPopulation = 1000, kArchive = 100, kBins = 10;
// The number of programs to which the distance of a new program is measured.
constexpr std::size_t kReferences = 20;
constexpr double kExplore = 0.2, kExploit = 0.7, kEliteShare = 0.1, kMigrants = 0.1;
// The number of concurrent proposals. Each one changes a program of the next island.
constexpr std::size_t kWorkers = 2;
// The number of new programs after which an island migrates.
constexpr int kMigrationInterval = 50;
constexpr std::size_t kTop = 3, kDiverse = 2, kAttempts = 3, kInspirations = 5;
// The number of bins by which two cells may differ on each axis and still be near each other.
constexpr int kNear = 2;
// The number of failed edits in a row after which the model is asked for whole texts.
constexpr int kFailedEdits = 2;
constexpr std::size_t kMaxPending = 64;

// A program of the population of an island, and its result.
struct IslandMember {
  std::int64_t id = 0;
  // The id of the program from which the model made this one; 0 if there is none.
  std::int64_t parent = 0;
  std::string text, change;
  double score = 0;
  // The score of the parent; 0 if there is no parent.
  double parent_score = 0;
  // The mean distance to the reference programs when the member was added.
  double distance = 0;
  bool migrated = false;
  GuideFeedback feedback;
};
using Shared = std::shared_ptr<const IslandMember>;

// Returns a cheap distance between two texts, from their lengths, numbers of lines and counts of
// each character.
double distance_of(const std::string& a, const std::string& b) {
  if (a == b) return 0;
  const auto count = [](const std::string& text) {
    std::array<double, 256> letters{};
    for (const char c : text) ++letters[static_cast<unsigned char>(c)];
    return letters;
  };
  const std::array<double, 256> x = count(a), y = count(b);
  double letters = 0;
  for (std::size_t i = 0; i < x.size(); ++i) letters += x[i] == y[i] ? 0 : 0.5;
  const double length = std::abs(static_cast<double>(a.size()) - static_cast<double>(b.size()));
  return 0.1 * length + 10 * std::abs(x['\n'] - y['\n']) + letters;
}

// The position of a cell in the grid of an island: the bin of a program's length, and the bin of
// its distance from other programs. The island keeps its best program for each cell.
struct Cell {
  std::size_t length = 0, distance = 0;
  friend auto operator<=>(const Cell&, const Cell&) = default;
};

// Divides the range of all values seen so far into kBins bins of equal width.
class ValueBins {
 public:
  // Extends the range by a value. The bins of earlier values may change.
  void see(double value) {
    least_ = seen_ ? std::min(least_, value) : value;
    most_ = seen_ ? std::max(most_, value) : value;
    seen_ = true;
  }
  // Returns the number of the value's bin, from 0. Returns 0 if all values so far are equal.
  std::size_t bin(double value) const {
    if (!(most_ > least_)) return 0;
    const double part = std::clamp((value - least_) / (most_ - least_), 0.0, 1.0);
    return std::min(static_cast<std::size_t>(part * kBins), kBins - 1);
  }

 private:
  bool seen_ = false;
  double least_ = 0, most_ = 0;
};

// An island of the population: its members, the fittest first, and the grid of its fittest
// programs.
struct Island {
  std::vector<Shared> members;
  std::map<Cell, Shared> cells;
  int since_migration = 0;
};

bool fitter(const Shared& a, const Shared& b) { return a->score < b->score; }

class Evolve : public Proposer {
 public:
  Evolve(const SearchProblem& problem, std::uint64_t seed, const AskOptions& options)
      : asker_(problem, random_at(seed, 0), options), draws_(random_at(seed, 1)) {}

  std::string_view name() const override { return "evolve"; }
  GuideDetail reads() const override { return GuideDetail::kProfile; }

  // Asks the model to change one program of each of the next islands. Returns the replies that can
  // be used, as proposals.
  std::vector<Proposal> propose(SearchRound& round) override {
    const std::size_t count = std::min(round.max_proposals(), kWorkers);
    std::vector<Attempt> attempts;
    std::vector<ModelQuestion> questions;
    for (std::size_t i = 0; i < count; ++i) {
      Attempt attempt;
      attempt.island = next_island_++ % kIslands;
      attempt.parent = sample(attempt.island);
      const Result<Segments> base = segments_of(round.problem(), text_of(attempt.parent, round));
      if (!base.ok()) return {};
      ModelQuestion& question = questions.emplace_back();
      question.expects_program = true;
      build(question.prompt, round, attempt, *base);
      attempts.push_back(std::move(attempt));
    }
    const auto replies = asker_.ask(round, questions, kEvolveTemperature);
    std::vector<Proposal> proposals;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      if (!replies[i]) continue;
      const Result<Segments> base =
          segments_of(round.problem(), text_of(attempts[i].parent, round));
      const bool mapping = round.problem().is_mapping();
      const ModelAnswer answer = asker_.replies_with_program()
                                     ? read_answer(*replies[i], *base, {mapping, true})
                                     : apply_reply_edits(*replies[i], *base, mapping);
      failed_edits_ = answer.segments ? 0 : failed_edits_ + 1;
      auto proposal =
          asker_.make_proposal(round, answer, "a change of a program of the population");
      if (!proposal) continue;
      proposal->tag = ++tags_;
      proposal->parents = attempts[i].parent == nullptr ? round.history().parents_of(nullptr)
                                                        : std::vector{attempts[i].parent->id};
      attempts[i].change = proposal->why;
      pending_.emplace(tags_, attempts[i]);
      if (pending_.size() > kMaxPending) pending_.erase(pending_.begin());
      proposals.push_back(std::move(*proposal));
    }
    return proposals;
  }

  // Adds a program that ran to its island, the archive and the references. Ignores a program that
  // failed.
  void learn(const Step& step) override {
    const auto found = pending_.find(step.proposal.tag);
    Attempt attempt;
    const bool ours = found != pending_.end();
    if (ours) {
      attempt = std::move(found->second);
      pending_.erase(found);
    }
    if (!step.evaluation.ok()) return;
    IslandMember made;
    made.id = step.number;
    made.text = step.proposal.text;
    made.change = attempt.change;
    made.score = step.evaluation.score;
    made.feedback = step.evaluation.feedback;
    if (attempt.parent != nullptr) {
      made.parent = attempt.parent->id;
      made.parent_score = attempt.parent->score;
    }
    made.distance = distance(made.text);
    lengths_.see(static_cast<double>(made.text.size()));
    distances_.see(made.distance);
    const auto member = std::make_shared<const IslandMember>(std::move(made));
    if (references_.size() < kReferences) references_.push_back(member);
    keep_best(archive_, member, kArchive);
    if (ours) {
      insert(attempt.island, member);
    } else {
      // The text with which the search starts has no island and goes to every island.
      for (std::size_t island = 0; island < kIslands; ++island) insert(island, member);
    }
    limit_population(member);
  }

 private:
  // A question to the model: the island, and the program of that island which the model changes.
  struct Attempt {
    std::size_t island = 0;
    // The program to change; null if it is the text with which the search starts.
    Shared parent;
    std::string change;
  };

  static const std::string& text_of(const Shared& member, const SearchRound& round) {
    return member == nullptr ? round.problem().start : member->text;
  }

  // Returns a random number from 0 to below 1.
  double draw() { return draws_.next_fraction(); }
  std::size_t draw_below(std::size_t count) {
    return std::min(static_cast<std::size_t>(draw() * static_cast<double>(count)), count - 1);
  }

  // Returns the mean distance of the text to the reference programs.
  double distance(const std::string& text) const {
    if (references_.empty()) return 0;
    double sum = 0;
    for (const Shared& other : references_) sum += distance_of(text, other->text);
    return sum / static_cast<double>(references_.size());
  }

  // Returns the grid cell to which a member belongs under the present scales.
  Cell cell_of(const IslandMember& member) const {
    return {lengths_.bin(static_cast<double>(member.text.size())), distances_.bin(member.distance)};
  }

  // Inserts the member into a list that is sorted by fitness. If the list has more than `most`
  // members, drops the worst one.
  static void keep_best(std::vector<Shared>& list, const Shared& member, std::size_t most) {
    list.insert(std::upper_bound(list.begin(), list.end(), member, fitter), member);
    if (list.size() > most) list.pop_back();
  }

  // Adds a member to an island. After kMigrationInterval members that did not come from other
  // islands, the island sends copies of its best members to its neighbours.
  void insert(std::size_t number, const Shared& member) {
    Island& island = islands_[number];
    Shared& owner = island.cells[cell_of(*member)];
    if (owner == nullptr || fitter(member, owner)) owner = member;
    island.members.insert(
        std::upper_bound(island.members.begin(), island.members.end(), member, fitter), member);
    if (member->migrated || ++island.since_migration < kMigrationInterval) return;
    island.since_migration = 0;
    migrate(number);
  }

  // Copies the best tenth of an island to both neighbours on the ring of islands. Members that came
  // from another island are not copied again.
  void migrate(std::size_t number) {
    const std::vector<Shared> from = islands_[number].members;
    const std::size_t count = share(from.size(), kMigrants);
    for (std::size_t i = 0; i < std::min(count, from.size()); ++i) {
      if (from[i]->migrated) continue;
      IslandMember copy = *from[i];
      copy.migrated = true;
      const auto migrant = std::make_shared<const IslandMember>(std::move(copy));
      for (const std::size_t to : {(number + 1) % kIslands, (number + kIslands - 1) % kIslands}) {
        const std::vector<Shared>& there = islands_[to].members;
        const bool known = std::any_of(there.begin(), there.end(), [&](const Shared& other) {
          return other->text == migrant->text;
        });
        if (!known) insert(to, migrant);
      }
    }
  }

  // Returns the share `part` (0 to 1) of the number `of`, rounded up.
  static std::size_t share(std::size_t of, double part) {
    return static_cast<std::size_t>(std::ceil(static_cast<double>(of) * part));
  }

  // Removes the worst members of all islands until the population is within its limit. Never
  // removes the newest member.
  void limit_population(const Shared& newest) {
    std::size_t all = 0;
    for (const Island& island : islands_) all += island.members.size();
    for (; all > kPopulation; --all) {
      Island* worst = nullptr;
      for (Island& island : islands_) {
        if (island.members.empty() || island.members.back() == newest) continue;
        if (worst == nullptr || fitter(worst->members.back(), island.members.back())) {
          worst = &island;
        }
      }
      if (worst == nullptr) return;
      const Shared gone = worst->members.back();
      worst->members.pop_back();
      std::erase_if(worst->cells, [&](const auto& cell) { return cell.second == gone; });
    }
  }

  // Draws the program to change. With probability kExplore it is any member of the island, with
  // probability kExploit a member of the archive (preferably of this island), and otherwise a
  // member whose probability grows with its fitness.
  Shared sample(std::size_t number) {
    const std::vector<Shared>& members = islands_[number].members;
    if (members.empty()) return archive_.empty() ? nullptr : archive_.front();
    const double how = draw();
    if (how < kExplore) return members[draw_below(members.size())];
    if (how < kExplore + kExploit) {
      std::vector<Shared> own;
      for (const Shared& member : archive_) {
        if (std::find(members.begin(), members.end(), member) != members.end()) {
          own.push_back(member);
        }
      }
      const std::vector<Shared>& from = own.empty() ? archive_ : own;
      return from[draw_below(from.size())];
    }
    double sum = 0;
    for (const Shared& member : members) sum += 1 / member->score;
    double rest = draw() * sum;
    for (const Shared& member : members) {
      rest -= 1 / member->score;
      if (!(rest > 0)) return member;
    }
    return members.front();
  }

  // Returns up to kInspirations programs for the prompt, without the parent: the best tenth of the
  // island, members of cells near the parent's, and random members.
  std::vector<Shared> inspirations(const Island& island, const Shared& parent) {
    std::vector<Shared> chosen;
    const auto add = [&](const Shared& member) {
      const bool known = std::find(chosen.begin(), chosen.end(), member) != chosen.end();
      if (member != parent && !known && chosen.size() < kInspirations) chosen.push_back(member);
    };
    if (island.members.empty()) return chosen;
    const std::size_t elite = share(island.members.size(), kEliteShare);
    for (std::size_t i = 0; i <= std::min(elite, island.members.size() - 1); ++i) {
      add(island.members[i]);
    }
    if (parent != nullptr) {
      const Cell own = cell_of(*parent);
      const auto near = [](std::size_t a, std::size_t b) {
        return std::abs(static_cast<int>(a) - static_cast<int>(b)) <= kNear;
      };
      for (const auto& [cell, member] : island.cells) {
        if (near(cell.length, own.length) && near(cell.distance, own.distance)) add(member);
      }
    }
    for (std::size_t i = 0; i < kInspirations; ++i) {
      add(island.members[draw_below(island.members.size())]);
    }
    return chosen;
  }

  // Returns true if the model is asked for whole programs instead of edits. Some models cannot
  // write edits.
  bool whole() const { return asker_.replies_with_program() || failed_edits_ >= kFailedEdits; }

  // Builds the prompt for a change: the descriptions of the language and the problem, the parent,
  // recent attempts, other programs, failures and the task. A program is shown only once.
  void build(Prompt& prompt, SearchRound& round, const Attempt& attempt, const Segments& base) {
    const SearchProblem& problem = round.problem();
    const Island& island = islands_[attempt.island];
    prompt.add_system_text(system_introduction(problem, round.evaluator()));
    add_language_card(prompt, problem);
    add_problem(prompt, problem);
    add_budget(prompt, round);
    add_state(prompt, round, attempt.parent);
    add_attempts(prompt, round, island);
    std::vector<Shared> shown = {attempt.parent};
    const auto add = [&](std::string_view title, const std::vector<Shared>& members,
                         std::size_t most) {
      prompt.add_heading(fmt::format("{}\n", title), RemovalStage::kHistory);
      for (const Shared& member : members) {
        if (most == 0) break;
        if (std::find(shown.begin(), shown.end(), member) != shown.end()) continue;
        shown.push_back(member);
        --most;
        prompt.add_user_text(
            fmt::format("#{} {}\n{}", member->id, words_of(*member, round.evaluator()),
                        as_fenced_block(member->text)),
            RemovalStage::kHistory);
      }
    };
    const std::vector<Shared> inspiring = inspirations(island, attempt.parent);
    add("\nTHE BEST PROGRAMS", island.members, kTop);
    add("\nPROGRAMS THAT DIFFER", different(island), kDiverse);
    add("\nPROGRAMS THAT MAY INSPIRE", inspiring, kInspirations);
    add_failures(prompt, round, base, std::min(round.detail(), reads()));
    prompt.add_user_text("\nCURRENT PROGRAM\n" + as_fenced_block(base.text()) + "\n" +
                         asker_.take_remarks());
    add_task(prompt, problem);
  }

  // Returns the members of an island, the one with the largest distance from the references first.
  static std::vector<Shared> different(const Island& island) {
    std::vector<Shared> members = island.members;
    std::stable_sort(members.begin(), members.end(),
                     [](const Shared& a, const Shared& b) { return a->distance > b->distance; });
    return members;
  }

  // Returns the score of a member in words.
  static std::string words_of(const IslandMember& member, const Evaluator& evaluator) {
    Evaluation evaluation;
    evaluation.status = Evaluation::Status::kOk;
    evaluation.score = member.score;
    return format_score(evaluation, evaluator);
  }

  // Adds to the prompt the score and the feedback of the current program, its cell, and how the
  // program compares with its own parent.
  void add_state(Prompt& prompt, const SearchRound& round, const Shared& parent) {
    if (parent == nullptr) {
      prompt.add_user_text("FITNESS of the current program: not known, it was not run yet\n");
      return;
    }
    const Cell cell = cell_of(*parent);
    prompt.add_user_text(
        fmt::format("FITNESS of the current program (#{}): {}\nFEATURES: length {}/{}, "
                    "distance from others {}/{}\n",
                    parent->id, words_of(*parent, round.evaluator()), cell.length + 1, kBins,
                    cell.distance + 1, kBins));
    if (parent->parent_score > 0) {
      const double change = parent->score / parent->parent_score;
      prompt.add_user_text(
          fmt::format("FOCUS: it {} its parent\n", change < 0.999   ? "is better than"
                                                   : change > 1.001 ? "is worse than"
                                                                    : "is as good as"));
    }
    const GuideDetail detail = std::min(round.detail(), reads());
    std::vector<FeedbackLine> lines = feedback_lines(parent->feedback, detail);
    if (!lines.empty()) prompt.add_user_text("LAST EXECUTION OUTPUT\n");
    for (FeedbackLine& line : lines) prompt.add_user_text(std::move(line.text), line.stage);
  }

  // Adds to the prompt the latest members of the island, each with its change and whether it
  // improved on its parent.
  static void add_attempts(Prompt& prompt, const SearchRound& round, const Island& island) {
    std::vector<Shared> recent = island.members;
    std::stable_sort(recent.begin(), recent.end(),
                     [](const Shared& a, const Shared& b) { return a->id > b->id; });
    prompt.add_heading("\nPREVIOUS ATTEMPTS\n", RemovalStage::kHistory);
    std::size_t shown = 0;
    for (const Shared& member : recent) {
      if (member->parent == 0 || shown == kAttempts) continue;
      ++shown;
      prompt.add_user_text(
          fmt::format("#{} {}: {} ({})\n", member->id,
                      member->change.empty() ? std::string("a change") : member->change,
                      words_of(*member, round.evaluator()),
                      member->score < member->parent_score ? "improved" : "regressed"),
          RemovalStage::kHistory);
    }
  }

  // Adds the task to the prompt: to write edits in SEARCH/REPLACE form, or a whole text if the
  // model cannot write edits.
  void add_task(Prompt& prompt, const SearchProblem& problem) const {
    if (whole()) {
      prompt.add_user_text("TASK: write a better one.\n" +
                           whole_reply_instructions(problem, asker_.replies_with_program()));
      return;
    }
    prompt.add_user_text(
        "TASK: make the current program better. Say in one line what you change. Then write edits "
        "in exactly this form, each SEARCH a part of the current program, letter for letter" +
        std::string(problem.is_mapping() ? "" : " within one marked segment") +
        ":\n<<<<<<< SEARCH\n<lines of the current program>\n=======\n<the lines instead>\n"
        ">>>>>>> REPLACE\nFor example:\n");
    prompt.add_user_text(
        problem.is_mapping()
            ? "<<<<<<< SEARCH\nTask * CPU;\n=======\nTask * OMP, CPU;\n>>>>>>> REPLACE\n"
            : "<<<<<<< SEARCH\n  int width = 4;\n=======\n  int width = 8;\n"
              ">>>>>>> REPLACE\n");
    prompt.add_user_text("An empty SEARCH adds lines at the end.\n");
  }

  ModelAsker asker_;
  RandomNumbers draws_;
  std::array<Island, kIslands> islands_;
  std::vector<Shared> archive_, references_;
  ValueBins lengths_, distances_;
  // The proposals without a result, by their tag.
  std::map<std::int64_t, Attempt> pending_;
  std::int64_t tags_ = 0;
  std::size_t next_island_ = 0;
  int failed_edits_ = 0;
};

}  // namespace

std::unique_ptr<Proposer> make_evolve_proposer(const SearchProblem& problem, std::uint64_t seed,
                                               const AskOptions& options) {
  return std::make_unique<Evolve>(problem, seed, options);
}

}  // namespace groma::tuning
