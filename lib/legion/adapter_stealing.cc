// Work stealing: answers the two hooks of Legion's own protocol, and exchanges the messages of the
// adapters (stealing.h). In both protocols, a processor may be the thief, which takes tasks, or the
// victim, which gives them away.
#include <algorithm>

#include "evaluate/processors.h"
#include "legion/adapter.h"

namespace groma::legion {
namespace {

bool contains(const std::vector<Processor>& list, const Processor& p) {
  return std::find(list.begin(), list.end(), p) != list.end();
}

}  // namespace

// ---- Legion's own stealing protocol

// Asks the mapper from which processors this one should try to steal. Legion's blacklist holds the
// processors that had nothing to give at the last attempt.
void Adapter::select_steal_targets(MapperContext context, const SelectStealingInput& input,
                                   SelectStealingOutput& output) {
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kNoOperation);
  std::vector<Processor>& refused = call->shards;
  refused.clear();
  for (Legion::Processor p : input.blacklist) refused.push_back(groma_processor(p));
  for (const Processor& p : steal_targets(*call, refused))
    output.targets.insert(realm_processor(p));
}

// Asks the mapper which of the tasks that wait here the thief may take.
void Adapter::permit_steal_request(MapperContext context, const StealRequestInput& input,
                                   StealRequestOutput& output) {
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kNoOperation);
  TaskList& stealable = call->tasks;
  stealable.clear();
  for (const Legion::Task* task : input.stealable_tasks) {
    stealable.add(views_, context, *task, groma_processor(task->target_proc));
  }
  for (std::uint32_t index : tasks_given_to_thief(*call, groma_processor(input.thief_proc))) {
    output.stolen_tasks.insert(stealable[index]);
  }
}

// Returns the processors that the mapper wants to steal from, except those in `refused`. The result
// is valid until `call` is used again.
const std::vector<Processor>& Adapter::steal_targets(HookBuffers& call,
                                                     const std::vector<Processor>& refused) {
  std::vector<Processor>& answer = call.processors;
  answer.clear();
  mapper_->select_steal_targets(call.hands, refused, answer);
  fail_if_refused(validate_steal_targets(answer, mapper_->site().local, mapper_->machine()));
  return answer;
}

// Returns the indices (in call.tasks) of the tasks that the mapper gives to the thief.
const std::vector<std::uint32_t>& Adapter::tasks_given_to_thief(HookBuffers& call,
                                                                const Processor& thief) {
  std::vector<std::uint32_t>& answer = call.indices;
  answer.clear();
  mapper_->permit_steal_request(call.hands, thief, call.tasks.views(), answer);
  fail_if_refused(validate_stolen(answer, call.tasks.views()));
  return answer;
}

// ---- Adapter messages of the victim

// Sends a steal message to the adapter of another processor. The kind of the message is its only
// content.
void Adapter::send_steal_message(MapperContext context, const Processor& whom,
                                 StealMessage message) {
  const ReentrancyGuard alone = calls_.guard_reentrancy(context);
  mapper_runtime_->send_message(context, realm_processor(whom), &message, sizeof message,
                                static_cast<unsigned>(message));
}

// Gives waiting stealable tasks to the processors that requested work. If some of these tasks are
// left, offers work to other processors that can run the first of them. `waiting` has the stealable
// tasks that were neither mapped nor moved; the tasks that are given away are removed from it.
void Adapter::give_or_offer_tasks(MapperContext context, HookBuffers& call,
                                  std::vector<const Legion::Task*>& waiting,
                                  SelectMappingOutput& output) {
  // First, each processor that requested work since the last call gets tasks, or the answer that
  // there are none.
  for (const Processor& thief : std::exchange(stealing_.requests, {})) {
    call.tasks.clear();
    for (const Legion::Task* task : waiting) {
      call.tasks.add(views_, context, *task, groma_processor(task->target_proc));
    }
    const std::vector<std::uint32_t>& given = tasks_given_to_thief(call, thief);
    for (std::uint32_t index : given) {
      output.relocate_tasks[call.tasks[index]] = realm_processor(thief);
      std::erase(waiting, call.tasks[index]);
    }
    if (given.empty()) decline_steal_request(context, thief);
  }
  // Then the processors that can run the first waiting task get an offer of work. A processor that
  // has an open offer from this one gets no second offer.
  stealing_.has_stealable = !waiting.empty();
  if (!stealing_.has_stealable) return;
  call.tasks.clear();
  call.tasks.add(views_, context, *waiting.front(), groma_processor(waiting.front()->target_proc));
  const Machine& all = mapper_->machine();
  const std::int64_t nodes = all.node_count();
  for (const VariantView& variant : call.tasks.views().front().variants) {
    // The search for such processors begins on the node of this processor.
    for (std::int64_t n = 0; n < nodes; ++n) {
      const std::int64_t node = (mapper_->site().local.node + n) % nodes;
      for (std::int64_t i = 0; i < all.processor_count(node, variant.kind); ++i) {
        if (stealing_.processors_offered_to.size() >= StealingState::kMaxOffers) return;
        const Processor p{variant.kind, node, i};
        if (p == mapper_->site().local || contains(stealing_.processors_offered_to, p)) continue;
        stealing_.processors_offered_to.push_back(p);
        send_steal_message(context, p, StealMessage::kOffer);
      }
    }
  }
}

// Tells a thief that there are no tasks to give. The thief forgets the offer, so it gets a new one
// when there is work again.
void Adapter::decline_steal_request(MapperContext context, const Processor& thief) {
  std::erase(stealing_.processors_offered_to, thief);
  send_steal_message(context, thief, StealMessage::kNothing);
}

// Makes Legion call select_tasks_to_map again, so that a request for work is answered soon. Ready
// tasks may be waiting for an event that the mapper has not triggered. The mapper's event is then
// connected to a new Legion event, and the old Legion event is triggered.
void Adapter::retry_task_selection(MapperContext context) {
  const auto waits = events_.open.find(deferral_);
  if (waits == events_.open.end()) return;
  const ReentrancyGuard alone = calls_.guard_reentrancy(context);
  const Legion::Mapping::MapperEvent old = waits->second;
  waits->second = mapper_runtime_->create_mapper_event(context);
  mapper_runtime_->trigger_mapper_event(context, old);
}

// ---- Adapter messages of the thief

// If this processor is idle, requests work from processors that offered some. Does nothing while an
// earlier request has no answer. The mapper chooses among the offers; all other processors of the
// same kind count as refused.
void Adapter::request_work_if_idle(MapperContext context, HookBuffers& call) {
  if (!stealing_.idle() || stealing_.unanswered_requests > 0 ||
      stealing_.offering_processors.empty())
    return;
  std::vector<Processor>& refused = call.shards;
  refused.clear();
  const Machine& all = mapper_->machine();
  const ProcKind kind = mapper_->site().local.kind;
  for (std::int64_t node = 0; node < all.node_count(); ++node) {
    for (std::int64_t i = 0; i < all.processor_count(node, kind); ++i) {
      const Processor p{kind, node, i};
      if (!contains(stealing_.offering_processors, p)) refused.push_back(p);
    }
  }
  for (const Processor& victim : steal_targets(call, refused)) {
    if (!contains(stealing_.offering_processors, victim)) continue;
    ++stealing_.unanswered_requests;
    send_steal_message(context, victim, StealMessage::kRequest);
  }
}

// Handles a message about stealing. Returns false if the message is of another kind; it then
// belongs to the mapper.
bool Adapter::handle_steal_message(MapperContext context, HookBuffers& call,
                                   const Processor& sender, std::uint32_t kind) {
  switch (static_cast<StealMessage>(kind)) {
    case StealMessage::kOffer:
      if (!contains(stealing_.offering_processors, sender))
        stealing_.offering_processors.push_back(sender);
      request_work_if_idle(context, call);
      return true;
    case StealMessage::kRequest:
      if (stealing_.has_stealable) {
        stealing_.requests.push_back(sender);
        retry_task_selection(context);
      } else {
        decline_steal_request(context, sender);
      }
      return true;
    case StealMessage::kNothing:
      stealing_.unanswered_requests -= std::min<std::size_t>(stealing_.unanswered_requests, 1);
      std::erase(stealing_.offering_processors, sender);
      request_work_if_idle(context, call);
      return true;
  }
  return false;
}

}  // namespace groma::legion
