// The partial evaluation of expressions and functions, in the interpreter's order and with its
// failures. Machines are in specialise_machine.cc.
#include "mapper/specialise.h"

#include <algorithm>

namespace groma::mapper {

using program::Action;
using program::kNoCode;
using program::Member;
using program::Op;

namespace {

// Less than what the interpreter goes to, where a failure is certain: what needs more is left to
// it.
constexpr int kMaxDepth = 256;
constexpr std::int64_t kMaxItems = 16'384;
constexpr int kMaxTupleDepth = 32;
constexpr std::size_t kMaxChoices = 64;  // of a tuple's item by an index that is not known

}  // namespace

std::vector<Shape> processor_shapes(const Machine& machine) {
  std::vector<Shape> shapes;
  std::int64_t base = 0;
  for (std::size_t i = 0; i < kProcKindCount; ++i) {
    Shape shape;
    shape.kind = static_cast<ProcKind>(i);
    shape.base = base;
    shape.stride = machine.processors_per_node(shape.kind);
    shape.count = shape.stride * machine.node_count();
    base += shape.count;
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Specialised specialise(const BoundProgram& bound, FunctionId function, const TaskPoint& launch,
                       std::optional<ProcKind> kind, Diagnostics& diags) {
  Specialiser specialiser(bound, function, launch, diags);
  specialiser.run(kind);
  return specialiser.take();
}

Specialiser::Specialiser(const BoundProgram& bound, FunctionId function, const TaskPoint& launch,
                         Diagnostics& diags)
    : data_(bound.program().data()),
      machine_(bound.machine()),
      globals_(bound.binding().globals),
      task_(launch),
      function_(function),
      diags_(diags) {
  made_.shapes = processor_shapes(machine_);
  guard_ = made_.expressions.constant(1);
  unsure_ = made_.expressions.constant(0);
}

void Specialiser::run(std::optional<ProcKind> kind) {
  const program::Function& called = data_.functions[function_];
  frames_.emplace_back(called.slots);
  frames_.back()[0] = {TaskValue{}};
  const Partial result = run_body(called.body);
  if (failed_ || hopeless_) return;
  const auto id = places(result);
  if (!id) return;
  Expressions& e = made_.expressions;
  for (const Shape& shape : made_.shapes) {
    if (!kind || shape.kind == *kind) continue;
    const ExprId inside = e.both(e.less_equal(e.constant(shape.base), *id),
                                 e.less(*id, e.constant(shape.base + shape.count)));
    if (shape.count > 0) check(inside);
  }
  if (const auto* processor = result.get<PartialProcessor>()) made_.node = processor->node;
  if (const auto* set = result.get<Places>(); set != nullptr && set->set) {
    const Shape& shape = made_.shapes.back();
    made_.node = e.divide(e.subtract(*id, e.constant(shape.base)), e.constant(shape.stride));
  }
  if (e.full() || e.is(unsure_, 1)) return;
  made_.id = *id;
  made_.unsure = unsure_;
}

Partial Specialiser::fail() {
  failed_ = true;
  return {};
}

Partial Specialiser::hopeless() {
  hopeless_ = failed_ = true;
  return {};
}

// Counts both sides of a choice, and every split as computed anew: no evaluation takes more.
bool Specialiser::tick(std::int64_t steps) {
  steps_ += steps;
  if (steps_ > kMaxSteps || made_.expressions.full()) hopeless();
  return !failed_;
}

void Specialiser::check(ExprId fails) {
  Expressions& e = made_.expressions;
  unsure_ = e.either(unsure_, e.both(guard_, fails));
}

Partial Specialiser::from_value(const Value& value) {
  if (const auto* given = value.get<std::int64_t>()) return number(*given);
  if (const auto* given = value.get<bool>()) {
    return {Truth{made_.expressions.constant(*given ? 1 : 0)}};
  }
  if (const Tuple* tuple = value.tuple()) {
    auto made = std::make_shared<PartialTuple>();
    for (const Value& item : tuple->values) made->values.push_back(from_value(item));
    made->items = tuple->items;
    made->depth = tuple->depth;
    return {std::shared_ptr<const PartialTuple>(std::move(made))};
  }
  if (const auto* text = value.get<std::shared_ptr<const std::string>>()) return {*text};
  if (const auto* view = value.get<std::shared_ptr<const MachineView>>()) return {*view};
  if (const auto* kind = value.get<ProcKind>()) return {*kind};
  if (const auto* kind = value.get<MemKind>()) return {*kind};
  if (const auto* processor = value.get<Processor>()) {
    Expressions& e = made_.expressions;
    return {PartialProcessor{processor->kind, e.constant(processor->node),
                             e.constant(processor->index)}};
  }
  return fail();  // a set in a global: rare
}

Partial Specialiser::run_body(program::List body) {
  for (std::uint32_t i = 0; i < body.count && !failed_; ++i) {
    const Action& action = data_.actions[body.begin + i];
    switch (action.kind) {
      case Action::Kind::kReturn:
        return eval(action.value);
      case Action::Kind::kPrint:
        print(action);
        break;
      case Action::Kind::kAssign: {
        Partial value = eval(action.value);
        frames_.back()[action.target] = std::move(value);
      }
    }
  }
  return fail();
}

// Only the reference evaluation writes; but what it fails at has to fail here.
void Specialiser::print(const Action& action) {
  for (std::uint32_t i = 0; i < action.args.count; ++i) {
    const Partial value = eval(data_.lists[action.args.begin + i]);
    if (failed_ || !tick(text_bytes(value) / 8)) return;
  }
}

std::int64_t Specialiser::text_bytes(const Partial& value) const {
  if (const auto* text = value.get<std::shared_ptr<const std::string>>()) {
    return static_cast<std::int64_t>((*text)->size());
  }
  if (value.get<Places>() != nullptr) return 8 * kMaxTupleItems;
  std::int64_t bytes = 8;
  if (const auto* tuple = value.get<std::shared_ptr<const PartialTuple>>()) {
    for (const Partial& item : (*tuple)->values) bytes += text_bytes(item);
  }
  return bytes;
}

Partial Specialiser::eval(CodeId id) {
  if (!tick(1)) return {};
  if (depth_ >= kMaxDepth) return hopeless();
  ++depth_;
  Partial value = eval_at(id, code(id));
  --depth_;
  return failed_ ? Partial{} : value;
}

Partial Specialiser::eval_at(CodeId id, const Code& node) {
  switch (node.op) {
    case Op::kInt:
    case Op::kBool:
    case Op::kString:
    case Op::kProcKind:
    case Op::kMemKind:
      return constant(node);
    case Op::kLocal:
      return frames_.back()[node.a];
    case Op::kGlobal:
      return from_value(globals_[node.a]);
    case Op::kTuple: {
      Values values;
      for (Element& element : elements(node.a, node.b)) values.push_back(std::move(element.value));
      return make_tuple(std::move(values));
    }
    case Op::kComprehension:
      return comprehension(node);
    case Op::kNegate: {
      const Partial value = eval(node.a);
      return failed_ ? Partial{} : arithmetic(node.op, number(0), value);
    }
    case Op::kNot: {
      const ExprId value = truth(node.a);
      return failed_ ? Partial{} : Partial{Truth{made_.expressions.negation(value)}};
    }
    case Op::kAnd:
    case Op::kOr:
      return logical(node);
    case Op::kConditional:
      return conditional(node);
    case Op::kIndex:
      return index(node);
    case Op::kSlice:
      return slice(node);
    case Op::kCall:
      return call(node);
    case Op::kMachine:
      return machine(node);
    case Op::kMethod:
      return method(node);
    case Op::kMember:
      return member(node);
    case Op::kBroken:
    case Op::kSplice:
    case Op::kAll:
      return fail();
    default:
      static_cast<void>(id);
      return binary(node);
  }
}

Partial Specialiser::constant(const Code& node) {
  switch (node.op) {
    case Op::kInt:
      return number(static_cast<std::int64_t>((std::uint64_t{node.b} << 32) | node.a));
    case Op::kBool:
      return {Truth{made_.expressions.constant(node.a != 0 ? 1 : 0)}};
    case Op::kString:
      return {std::shared_ptr<const std::string>(std::shared_ptr<void>(), &data_.strings[node.a])};
    case Op::kProcKind:
      return {static_cast<ProcKind>(node.a)};
    default:
      return {static_cast<MemKind>(node.a)};
  }
}

std::vector<Specialiser::Element> Specialiser::elements(std::uint32_t begin, std::uint32_t count) {
  std::vector<Element> made;
  made.reserve(count);
  for (std::uint32_t i = 0; i < count && !failed_; ++i) {
    const CodeId id = data_.lists[begin + i];
    const Code& node = code(id);
    if (node.op == Op::kAll) {
      made.push_back({{}, true});
    } else if (node.op == Op::kSplice) {
      const Partial value = eval(node.a);
      const auto values = tuple_values(value);
      if (!values) fail();
      if (failed_ || !tick(static_cast<std::int64_t>(values->size()))) break;
      for (const Partial& item : *values) made.push_back({item});
    } else {
      made.push_back({eval(id)});
    }
    if (static_cast<std::int64_t>(made.size()) > kMaxItems) hopeless();
  }
  return made;
}

std::shared_ptr<const Specialiser::Values> Specialiser::tuple_values(const Partial& value) const {
  if (const auto* tuple = value.get<std::shared_ptr<const PartialTuple>>()) {
    return {*tuple, &(*tuple)->values};
  }
  if (const auto* processor = value.get<PartialProcessor>()) {
    return std::make_shared<const Values>(
        Values{{Number{processor->node}}, {Number{processor->index}}});
  }
  return nullptr;
}

std::optional<std::int64_t> Specialiser::known(const Partial& value) const {
  const auto* given = value.get<Number>();
  return given == nullptr ? std::nullopt : made_.expressions.known(given->id);
}

Partial Specialiser::make_tuple(Values values) {
  if (failed_ || !tick(static_cast<std::int64_t>(values.size()))) return {};
  auto made = std::make_shared<PartialTuple>();
  for (const Partial& value : values) {
    const auto* shared = value.get<std::shared_ptr<const PartialTuple>>();
    const PartialTuple* inner = shared == nullptr ? nullptr : shared->get();
    made->items += inner == nullptr ? 1 : std::max<std::int64_t>(1, inner->items);
    made->depth = std::max(made->depth, inner == nullptr ? 1 : inner->depth + 1);
  }
  if (made->items > kMaxItems || made->depth > kMaxTupleDepth) return hopeless();
  made->values = std::move(values);
  return {std::shared_ptr<const PartialTuple>(std::move(made))};
}

Partial Specialiser::comprehension(const Code& node) {
  const Partial range = eval(node.b);
  const auto values = tuple_values(range);
  if (failed_ || !values) return fail();
  Values made;
  for (const Partial& item : *values) {
    frames_.back()[node.c] = item;
    made.push_back(eval(node.a));
    if (failed_) return {};
  }
  return make_tuple(std::move(made));
}

Partial Specialiser::binary(const Code& node) {
  const Partial left = eval(node.a);
  if (failed_) return {};
  const Partial right = eval(node.b);
  if (failed_) return {};
  if (node.op >= Op::kAdd && node.op <= Op::kModulo) return arithmetic(node.op, left, right);
  return compare(node.op, left, right);
}

Partial Specialiser::arithmetic(Op op, const Partial& left, const Partial& right) {
  const auto* a = left.get<Number>();
  const auto* b = right.get<Number>();
  if (a != nullptr && b != nullptr) return integer_op(op, a->id, b->id);
  const auto left_values = tuple_values(left);
  const auto right_values = tuple_values(right);
  if ((a == nullptr && !left_values) || (b == nullptr && !right_values)) return fail();
  if (left_values && right_values && left_values->size() != right_values->size()) return fail();
  const std::size_t length = left_values ? left_values->size() : right_values->size();
  if (!tick(static_cast<std::int64_t>(length))) return {};
  Values made;
  made.reserve(length);
  for (std::size_t i = 0; i < length && !failed_; ++i) {
    made.push_back(arithmetic(op, left_values ? (*left_values)[i] : left,
                              right_values ? (*right_values)[i] : right));
  }
  return make_tuple(std::move(made));
}

Partial Specialiser::integer_op(Op op, ExprId left, ExprId right) {
  Expressions& e = made_.expressions;
  switch (op) {
    case Op::kAdd:
      check(e.add_overflows(left, right));
      return {Number{e.add(left, right)}};
    case Op::kNegate:
    case Op::kSubtract:
      check(e.subtract_overflows(left, right));
      return {Number{e.subtract(left, right)}};
    case Op::kMultiply:
      check(e.multiply_overflows(left, right));
      return {Number{e.multiply(left, right)}};
    default: {
      const ExprId fails = e.division_fails(left, right);
      if (e.is(fails, 1)) return fail();
      check(fails);
      return {Number{op == Op::kDivide ? e.divide(left, right) : e.modulo(left, right)}};
    }
  }
}

Partial Specialiser::compare(Op op, const Partial& left, const Partial& right) {
  Expressions& e = made_.expressions;
  if (op == Op::kEqual || op == Op::kNotEqual) {
    const ExprId same = equal(left, right);
    if (failed_) return {};
    return {Truth{op == Op::kEqual ? same : e.negation(same)}};
  }
  const auto* a = left.get<Number>();
  const auto* b = right.get<Number>();
  if (a == nullptr || b == nullptr) return fail();
  switch (op) {
    case Op::kLess:
      return {Truth{e.less(a->id, b->id)}};
    case Op::kLessEqual:
      return {Truth{e.less_equal(a->id, b->id)}};
    case Op::kGreater:
      return {Truth{e.less(b->id, a->id)}};
    default:
      return {Truth{e.less_equal(b->id, a->id)}};
  }
}

ExprId Specialiser::equal(const Partial& left, const Partial& right) {
  Expressions& e = made_.expressions;
  const auto* a = left.get<PartialProcessor>();
  const auto* b = right.get<PartialProcessor>();
  if (a != nullptr && b != nullptr) {
    if (a->kind != b->kind) return e.constant(0);
    return e.both(e.equal(a->node, b->node), e.equal(a->index, b->index));
  }
  const auto left_values = tuple_values(left);
  const auto right_values = tuple_values(right);
  if (left_values && right_values) {
    if (left_values->size() != right_values->size()) return fail(), kNoExpr;
    if (!tick(static_cast<std::int64_t>(left_values->size()))) return kNoExpr;
    ExprId same = e.constant(1);
    for (std::size_t i = 0; i < left_values->size() && !failed_; ++i) {
      const ExprId item = equal((*left_values)[i], (*right_values)[i]);
      if (!failed_) same = e.both(same, item);
    }
    return same;
  }
  if (left.v.index() != right.v.index()) return fail(), kNoExpr;
  if (const auto* number = left.get<Number>()) return e.equal(number->id, right.get<Number>()->id);
  if (const auto* truth = left.get<Truth>()) return e.equal(truth->id, right.get<Truth>()->id);
  using Text = std::shared_ptr<const std::string>;
  if (const auto* text = left.get<Text>()) {
    if (!tick(text_bytes(left) / 256)) return kNoExpr;
    return e.constant(**text == **right.get<Text>() ? 1 : 0);
  }
  if (const auto* kind = left.get<ProcKind>()) {
    return e.constant(*kind == *right.get<ProcKind>() ? 1 : 0);
  }
  if (const auto* kind = left.get<MemKind>()) {
    return e.constant(*kind == *right.get<MemKind>() ? 1 : 0);
  }
  return fail(), kNoExpr;
}

// ------------------------------------------------------------------------------------- choices

ExprId Specialiser::truth(CodeId id) {
  const Partial value = eval(id);
  if (failed_) return kNoExpr;
  if (const auto* truth = value.get<Truth>()) return truth->id;
  fail();
  return kNoExpr;
}

bool Specialiser::guarded(ExprId condition, CodeId id, Partial* value) {
  Expressions& e = made_.expressions;
  const ExprId before = guard_;
  guard_ = e.both(guard_, condition);
  *value = eval(id);
  const bool good = !failed_;
  if (!good && !hopeless_) {
    failed_ = false;
    check(e.constant(1));
  }
  guard_ = before;
  return good;
}

Partial Specialiser::logical(const Code& node) {
  Expressions& e = made_.expressions;
  const bool all = node.op == Op::kAnd;
  const ExprId left = truth(node.a);
  if (failed_) return {};
  if (const auto value = e.known(left)) {
    if ((*value != 0) != all) return {Truth{left}};
    const ExprId right = truth(node.b);
    return failed_ ? Partial{} : Partial{Truth{right}};
  }
  Partial right;
  const bool good = guarded(all ? left : e.negation(left), node.b, &right);
  if (failed_) return {};
  const auto* truth = right.get<Truth>();
  if (good && truth == nullptr) return fail();
  // Where the right side fails nothing is claimed: then only the left one's outcome remains.
  if (!good) return {Truth{e.constant(all ? 0 : 1)}};
  return {Truth{all ? e.both(left, truth->id) : e.either(left, truth->id)}};
}

Partial Specialiser::conditional(const Code& node) {
  const ExprId condition = truth(node.a);
  if (failed_) return {};
  Expressions& e = made_.expressions;
  if (const auto value = e.known(condition)) return eval(*value != 0 ? node.b : node.c);
  Partial a, b;
  const bool first = guarded(condition, node.b, &a);
  if (failed_) return {};
  const bool second = guarded(e.negation(condition), node.c, &b);
  if (failed_ || (!first && !second)) return fail();
  if (!first || !second) return first ? a : b;
  return merge(condition, a, b);
}

Partial Specialiser::merge(ExprId condition, const Partial& a, const Partial& b) {
  Expressions& e = made_.expressions;
  const auto* left = a.get<PartialProcessor>();
  const auto* right = b.get<PartialProcessor>();
  if (left != nullptr && right != nullptr && left->kind == right->kind) {
    return {PartialProcessor{left->kind, e.select(condition, left->node, right->node),
                             e.select(condition, left->index, right->index)}};
  }
  const auto places_a = places(a), places_b = places(b);
  if (places_a && places_b) return {Places{e.select(condition, *places_a, *places_b)}};
  if (a.v.index() != b.v.index()) return fail();
  if (const auto* x = a.get<Number>()) {
    return {Number{e.select(condition, x->id, b.get<Number>()->id)}};
  }
  if (const auto* x = a.get<Truth>())
    return {Truth{e.select(condition, x->id, b.get<Truth>()->id)}};
  using Tuples = std::shared_ptr<const PartialTuple>;
  if (const auto* x = a.get<Tuples>()) return merge_tuples(condition, **x, **b.get<Tuples>());
  using Text = std::shared_ptr<const std::string>;
  if (const auto* x = a.get<Text>(); x != nullptr && **x == **b.get<Text>()) return a;
  if (a.machine() != nullptr && a.machine() == b.machine()) return a;
  if (const auto* x = a.get<ProcKind>(); x != nullptr && *x == *b.get<ProcKind>()) return a;
  if (const auto* x = a.get<MemKind>(); x != nullptr && *x == *b.get<MemKind>()) return a;
  if (const auto* x = a.get<TaskValue>(); x && x->parent == b.get<TaskValue>()->parent) return a;
  return fail();
}

Partial Specialiser::merge_tuples(ExprId condition, const PartialTuple& a, const PartialTuple& b) {
  if (a.values.size() != b.values.size()) return fail();
  auto made = std::make_shared<PartialTuple>();
  for (std::size_t i = 0; i < a.values.size() && !failed_; ++i) {
    made->values.push_back(merge(condition, a.values[i], b.values[i]));
  }
  made->items = std::max(a.items, b.items);
  made->depth = std::max(a.depth, b.depth);
  if (failed_) return {};
  return {std::shared_ptr<const PartialTuple>(std::move(made))};
}

// -------------------------------------------------------------------------------------- indices

Partial Specialiser::index(const Code& node) {
  const Partial base = eval(node.c);
  if (failed_) return {};
  if (const auto* view = base.get<std::shared_ptr<const MachineView>>()) {
    return index_machine(node, *view);
  }
  const auto values = tuple_values(base);
  return values ? index_tuple(node, *values) : fail();
}

Partial Specialiser::index_tuple(const Code& node, const Values& values) {
  const std::vector<Element> list = elements(node.a, node.b);
  if (failed_ || list.size() != 1 || list[0].all) return fail();
  const auto* at = list[0].value.get<Number>();
  if (at == nullptr || values.empty()) return fail();
  Expressions& e = made_.expressions;
  const auto length = static_cast<std::int64_t>(values.size());
  if (const auto value = e.known(at->id)) {
    if (*value < -length || *value >= length) return fail();
    return values[static_cast<std::size_t>(*value < 0 ? *value + length : *value)];
  }
  if (values.size() > kMaxChoices) return fail();
  check(e.either(e.less(at->id, e.constant(-length)), e.less_equal(e.constant(length), at->id)));
  const ExprId from_end = e.less(at->id, e.constant(0));
  const ExprId place = e.select(from_end, e.add(at->id, e.constant(length)), at->id);
  Partial chosen = values.back();
  for (std::size_t i = values.size() - 1; i-- > 0 && !failed_;) {
    chosen = merge(e.equal(place, e.constant(static_cast<std::int64_t>(i))), values[i], chosen);
  }
  return chosen;
}

bool Specialiser::slice_end(CodeId id, std::int64_t length, std::int64_t missing,
                            std::int64_t* end) {
  *end = missing;
  if (id == kNoCode) return true;
  const Partial value = eval(id);
  const auto given = known(value);
  if (failed_ || !given) return fail(), false;
  *end = std::clamp<std::int64_t>(*given < 0 ? *given + length : *given, 0, length);
  return true;
}

Partial Specialiser::slice(const Code& node) {
  const Partial base = eval(node.c);
  if (failed_) return {};
  const auto values = base.machine() != nullptr ? sizes_of(*base.machine()) : tuple_values(base);
  if (!values) return fail();
  const auto length = static_cast<std::int64_t>(values->size());
  std::int64_t from = 0, to = 0;
  if (!slice_end(node.a, length, 0, &from) || !slice_end(node.b, length, length, &to)) return {};
  if (from >= to) return make_tuple({});
  return make_tuple({values->begin() + from, values->begin() + to});
}

std::shared_ptr<const Specialiser::Values> Specialiser::sizes_of(const MachineView& view) {
  Values sizes;
  for (std::int64_t size : view.sizes()) sizes.push_back(number(size));
  return std::make_shared<const Values>(std::move(sizes));
}

// ---------------------------------------------------------------------------- calls and members

Partial Specialiser::call(const Code& node) {
  const program::Function& called = data_.functions[node.c];
  std::vector<Element> args = elements(node.a, node.b);
  if (failed_ || args.size() != called.parameters.count) return fail();
  Values slots(called.slots);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].all) return fail();
    if (!check_parameter(data_.parameters[called.parameters.begin + i], args[i].value)) {
      return fail();
    }
    slots[i] = std::move(args[i].value);
  }
  if (!tick(static_cast<std::int64_t>(slots.size()))) return {};
  frames_.push_back(std::move(slots));
  Partial result = run_body(called.body);
  frames_.pop_back();
  return result;
}

bool Specialiser::check_parameter(const program::Parameter& parameter, const Partial& argument) {
  using syntax::ParamType;
  switch (parameter.type) {
    case ParamType::kAny:
      return argument.get<std::monostate>() == nullptr;
    case ParamType::kInt:
      return argument.get<Number>() != nullptr;
    case ParamType::kBool:
      return argument.get<Truth>() != nullptr;
    case ParamType::kMSpace:
      return argument.machine() != nullptr;
    case ParamType::kTask:
      return argument.get<TaskValue>() != nullptr;
    case ParamType::kIPoint:
    case ParamType::kISpace: {
      const auto values = tuple_values(argument);
      return values && tick(static_cast<std::int64_t>(values->size())) &&
             std::all_of(values->begin(), values->end(),
                         [](const Partial& value) { return value.get<Number>() != nullptr; });
    }
  }
  return false;
}

Partial Specialiser::member(const Code& node) {
  const Partial base = eval(node.a);
  if (failed_) return {};
  if (const auto* task = base.get<TaskValue>()) return task_member(node, *task);
  const auto values = base.machine() != nullptr ? sizes_of(*base.machine()) : tuple_values(base);
  if (!values || node.member > Member::kLen) return fail();
  if (node.member == Member::kLen) return number(static_cast<std::int64_t>(values->size()));
  if (node.member == Member::kSize) return make_tuple(*values);
  if (!tick(2 * static_cast<std::int64_t>(values->size()))) return {};
  Partial volume = number(1);
  for (const Partial& size : *values) {
    if (size.get<Number>() == nullptr) return fail();
    volume = integer_op(Op::kMultiply, volume.get<Number>()->id, size.get<Number>()->id);
    if (failed_) return {};
  }
  return volume;
}

Partial Specialiser::task_member(const Code& node, TaskValue task) {
  const auto tuple_of = [&](const Point& point) {
    Values values;
    for (std::int64_t coordinate : point.coordinates()) values.push_back(number(coordinate));
    return make_tuple(std::move(values));
  };
  const bool needs_index = node.member >= Member::kIpoint && node.member <= Member::kIlo;
  if (task.parent && node.member != Member::kName) return fail();
  if (needs_index && (task_.processor || task_.parent)) return fail();
  switch (node.member) {
    case Member::kName:
      return {std::make_shared<const std::string>(task.parent ? task_.parent_name : task_.name)};
    case Member::kIspace:
      return tuple_of(task_.domain.extents);
    case Member::kIlo:
      return tuple_of(task_.domain.lower);
    case Member::kIpoint: {
      Values values;
      for (int i = 0; i < task_.domain.dimensions(); ++i) {
        values.push_back({Number{made_.expressions.coordinate(i, task_.domain.extents[i])}});
      }
      return make_tuple(std::move(values));
    }
    case Member::kParent:
      return task_.parent ? Partial{TaskValue{true}} : fail();
    default:
      return fail();
  }
}

}  // namespace groma::mapper
