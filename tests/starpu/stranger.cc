// A program of StarPU that was built without Groma: what the tests of lib/starpu run. It prints
// what its tasks computed, and nothing that depends on where they ran.
//   stranger pieces | tags | coordinates | order | picky
#include <starpu.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr unsigned kSize = 48;

void check(int code, const char* what) {
  if (code == 0) return;
  std::fprintf(stderr, "%s: %d\n", what, code);
  std::exit(1);
}

// ---- Codelets

void scale(void** buffers, void*) {
  auto* const values = reinterpret_cast<float*>(STARPU_VECTOR_GET_PTR(buffers[0]));
  for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); ++i) values[i] *= 3;
}

void fill(void** buffers, void*) {
  auto* const values = reinterpret_cast<float*>(STARPU_MATRIX_GET_PTR(buffers[0]));
  const unsigned stride = STARPU_MATRIX_GET_LD(buffers[0]);
  for (unsigned y = 0; y < STARPU_MATRIX_GET_NY(buffers[0]); ++y) {
    for (unsigned x = 0; x < STARPU_MATRIX_GET_NX(buffers[0]); ++x) values[y * stride + x] += 2;
  }
}

std::atomic<int> runs = 0;
void count(void**, void*) { ++runs; }

std::atomic<bool> may_go = false, is_waiting = false;
void wait(void**, void*) {
  is_waiting = true;
  while (!may_go) {
  }
}
std::vector<std::intptr_t> order;
void note(void**, void* number) { order.push_back(reinterpret_cast<std::intptr_t>(number)); }

int not_on_worker_0(unsigned worker, starpu_task*, unsigned) { return worker != 0; }

// Returns a codelet for CPUs. It is never deleted.
starpu_codelet* codelet(const char* name, starpu_cpu_func_t function, int buffers) {
  auto* const made = new starpu_codelet{};
  made->name = name;
  made->cpu_funcs[0] = function;
  made->nbuffers = buffers;
  made->modes[0] = STARPU_RW;
  made->modes[1] = STARPU_R;
  return made;
}

starpu_task* task_of(starpu_codelet* code, starpu_data_handle_t data = nullptr) {
  starpu_task* const task = starpu_task_create();
  task->cl = code;
  task->handles[0] = data;
  return task;
}

void submit(starpu_task* task) { check(starpu_task_submit(task), "starpu_task_submit"); }

// ---- Programs

// A vector in 8 pieces and a matrix in 4 x 2 pieces: a launch over each.
void run_pieces() {
  std::vector<float> vector(kSize, 1), matrix(kSize * kSize, 1);
  starpu_data_handle_t v, m;
  starpu_vector_data_register(&v, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(vector.data()),
                              kSize, sizeof(float));
  starpu_matrix_data_register(&m, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(matrix.data()),
                              kSize, kSize, kSize, sizeof(float));
  starpu_data_set_name(v, "field");
  starpu_data_filter by_8{}, by_4{}, by_2{};
  by_8.filter_func = starpu_vector_filter_block;
  by_8.nchildren = 8;
  by_4.filter_func = starpu_matrix_filter_vertical_block;
  by_4.nchildren = 4;
  by_2.filter_func = starpu_matrix_filter_block;
  by_2.nchildren = 2;
  starpu_data_partition(v, &by_8);
  starpu_data_map_filters(m, 2, &by_4, &by_2);
  starpu_codelet* const scales = codelet("scale", scale, 1);
  starpu_codelet* const fills = codelet("fill", fill, 1);
  for (int round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < 8; ++i) submit(task_of(scales, starpu_data_get_sub_data(v, 1, i)));
    for (unsigned i = 0; i < 8; ++i) {
      submit(task_of(fills, starpu_data_get_sub_data(m, 2, i / 2, i % 2)));
    }
  }
  starpu_task_wait_for_all();
  starpu_data_unpartition(v, STARPU_MAIN_RAM);
  starpu_data_unpartition(m, STARPU_MAIN_RAM);
  starpu_data_unregister(v);
  starpu_data_unregister(m);
  float sum = 0;
  for (float value : vector) sum += value;
  for (float value : matrix) sum += value;
  std::printf("sum %.1f\n", static_cast<double>(sum));
}

// 6 x 4 tasks whose tags have 16 bits for each coordinate, below a number of the codelet.
void run_tags() {
  starpu_codelet* const counts = codelet("tagged", count, 0);
  for (starpu_tag_t i = 0; i < 24; ++i) {
    starpu_task* const task = task_of(counts);
    task->use_tag = 1;
    task->tag_id = starpu_tag_t{7} << 60 | (i / 4) << 16 | i % 4;
    submit(task);
  }
  starpu_task_wait_for_all();
  std::printf("runs %d\n", runs.load());
}

// 5 data with coordinates, of which the last lies outside of 4.
void run_coordinates() {
  static float values[5];
  starpu_data_handle_t data[5];
  starpu_codelet* const scales = codelet("at", scale, 1);
  for (int i = 0; i < 5; ++i) {
    values[i] = static_cast<float>(i);
    starpu_vector_data_register(&data[i], STARPU_MAIN_RAM,
                                reinterpret_cast<std::uintptr_t>(&values[i]), 1, sizeof(float));
    starpu_data_set_coordinates(data[i], 1, i);
    submit(task_of(scales, data[i]));
  }
  starpu_task_wait_for_all();
  for (starpu_data_handle_t one : data) starpu_data_unregister(one);
  std::printf("last %.1f\n", static_cast<double>(values[4]));
}

// With one worker: the order of tasks of several priorities that wait together.
void run_order() {
  submit(task_of(codelet("wait", wait, 0)));
  while (!is_waiting) std::this_thread::yield();
  starpu_codelet* const notes = codelet("note", note, 0);
  constexpr int kPriorities[] = {0, 5, -3, 0, 9, 5, -3};
  for (int i = 0; i < 7; ++i) {
    starpu_task* const task = task_of(notes);
    task->priority = kPriorities[i];
    task->cl_arg = reinterpret_cast<void*>(static_cast<std::intptr_t>(i));
    submit(task);
  }
  may_go = true;
  starpu_task_wait_for_all();
  std::printf("order");
  for (std::intptr_t number : order) std::printf(" %d", static_cast<int>(number));
  std::printf("\n");
}

// Tasks that cannot run on worker 0.
void run_picky() {
  starpu_codelet* const counts = codelet("picky", count, 0);
  counts->can_execute = not_on_worker_0;
  for (int i = 0; i < 10; ++i) submit(task_of(counts));
  starpu_task_wait_for_all();
  std::printf("runs %d\n", runs.load());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc == 2 ? argv[1] : "";
  check(starpu_init(nullptr), "starpu_init");
  if (mode == "pieces") run_pieces();
  if (mode == "tags") run_tags();
  if (mode == "coordinates") run_coordinates();
  if (mode == "order") run_order();
  if (mode == "picky") run_picky();
  starpu_shutdown();
  return 0;
}
