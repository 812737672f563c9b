// One layer of a transformer decoder for one token, in single precision with weights of 8 bits.
// The host runs the kernels in the order of this file, once for each layer:
//   norm_f32, matvec_q8_f32 (queries, keys, values), rotate_f32, store_cache_f32,
//   scores_f32, softmax_f32, values_f32, matvec_q8_f32 (output), add_f32,
//   norm_f32, matvec_q8_f32 (gate and up), silu_f32, matvec_q8_f32 (down), add_f32
// All matrices are in row-major order. A weight matrix is stored in blocks of 32 weights of a row:
// a scale in single precision, then 32 signed bytes.

// ---------------------------------------------------------------------------------- parameters

#define WIDTH_f32 2048        // the elements of a token's state
#define HEADS_f32 32          // the heads of attention
#define KV_HEADS_f32 8        // the heads of keys and values; four heads share each of them
#define HEAD_WIDTH_f32 64     // WIDTH / HEADS
#define MAX_TOKENS_f32 4096   // the rows of the cache
#define GROUP_f32 64          // the work items of a work-group of the reductions
#define ROWS_f32 4            // the rows that a work-group of matvec_q8 computes
#define LANES_f32 16          // the work items that share a row of matvec_q8
#define EPSILON_f32 1e-5f

typedef struct {
  float scale;
  char weights[32];
} block_q8_f32;

// ------------------------------------------------------------------------------------- helpers

// Adds `value` over all work items of the group. Every work item gets the sum. `shared` has one
// element for each work item.
float sum_of_group_f32(float value, __local float* shared) {
  const int item = get_local_id(0);
  shared[item] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
    if (item < step) shared[item] += shared[item + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float sum = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return sum;
}

// Returns the greatest `value` of all work items of the group.
float max_of_group_f32(float value, __local float* shared) {
  const int item = get_local_id(0);
  shared[item] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
    if (item < step) shared[item] = fmax(shared[item], shared[item + step]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float most = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return most;
}

// Returns the product of a block of weights and 32 elements of a vector.
float block_times_vector_f32(__global const block_q8_f32* block, __global const float* vector) {
  float sum = 0;
  for (int i = 0; i < 32; ++i) {
    sum += (float)block->weights[i] * vector[i];
  }
  return block->scale * sum;
}

// ------------------------------------------------------------------------------- normalisation

// y = x / sqrt(mean(x^2) + EPSILON) * gain. One work-group.
__kernel void norm_f32(__global const float* x, __global const float* gain, __global float* y) {
  __local float shared[GROUP_f32];
  const int item = get_local_id(0);
  float squares = 0;
  for (int i = item; i < WIDTH_f32; i += get_local_size(0)) {
    squares += x[i] * x[i];
  }
  const float mean = sum_of_group_f32(squares, shared) / WIDTH_f32;
  const float factor = 1 / sqrt(mean + EPSILON_f32);
  for (int i = item; i < WIDTH_f32; i += get_local_size(0)) {
    y[i] = x[i] * factor * gain[i];
  }
}

// --------------------------------------------------------------------------- matrix and vector

// y = W x. W has `rows` rows of `columns` weights; `columns` is a multiple of 32. A work-group of
// ROWS x LANES work items computes ROWS rows; the last group may have fewer.
__kernel void matvec_q8_f32(__global const block_q8_f32* w, __global const float* x,
                            __global float* y, int rows, int columns) {
  __local float shared[ROWS_f32][LANES_f32];
  const int lane = get_local_id(0), row_of_group = get_local_id(1);
  const int row = get_group_id(1) * ROWS_f32 + row_of_group;
  const int blocks = columns / 32;
  float sum = 0;
  if (row < rows) {
    for (int b = lane; b < blocks; b += LANES_f32) {
      sum += block_times_vector_f32(w + row * blocks + b, x + 32 * b);
    }
  }
  shared[row_of_group][lane] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0 && row < rows) {
    float total = 0;
    for (int i = 0; i < LANES_f32; ++i) {
      total += shared[row_of_group][i];
    }
    y[row] = total;
  }
}

// ------------------------------------------------------------------------------------ position

// Turns each pair of elements of the queries and keys by an angle that depends on the position of
// the token. One work item for each pair of a head; dimension 1 goes over the heads of queries,
// then over those of keys.
__kernel void rotate_f32(__global float* queries, __global float* keys, int position) {
  const int pair = get_global_id(0), head = get_global_id(1);
  if (pair >= HEAD_WIDTH_f32 / 2) return;
  const float power = (float)(2 * pair) / HEAD_WIDTH_f32;
  const float angle = position / pow(10000.0f, power);
  const float c = cos(angle), s = sin(angle);
  __global float* state = head < HEADS_f32 ? queries + head * HEAD_WIDTH_f32
                                           : keys + (head - HEADS_f32) * HEAD_WIDTH_f32;
  const float a = state[2 * pair], b = state[2 * pair + 1];
  state[2 * pair] = a * c - b * s;
  state[2 * pair + 1] = a * s + b * c;
}

// Copies the keys and values of the token to its row of the cache. The cache has for each head of
// keys and values MAX_TOKENS rows of HEAD_WIDTH elements.
__kernel void store_cache_f32(__global const float* keys, __global const float* values,
                              __global float* key_cache, __global float* value_cache,
                              int position) {
  const int i = get_global_id(0), head = get_global_id(1);
  if (i >= HEAD_WIDTH_f32) return;
  const int row = (head * MAX_TOKENS_f32 + position) * HEAD_WIDTH_f32;
  key_cache[row + i] = keys[head * HEAD_WIDTH_f32 + i];
  value_cache[row + i] = values[head * HEAD_WIDTH_f32 + i];
}

// ----------------------------------------------------------------------------------- attention

// scores[head][token] = query[head] . key[token] / sqrt(HEAD_WIDTH). One work item for each token
// in the cache; dimension 1 goes over the heads.
__kernel void scores_f32(__global const float* queries, __global const float* key_cache,
                         __global float* scores, int tokens) {
  const int token = get_global_id(0), head = get_global_id(1);
  if (token >= tokens) return;
  const int kv_head = head / (HEADS_f32 / KV_HEADS_f32);
  __global const float* query = queries + head * HEAD_WIDTH_f32;
  __global const float* key = key_cache + (kv_head * MAX_TOKENS_f32 + token) * HEAD_WIDTH_f32;
  float sum = 0;
  for (int i = 0; i < HEAD_WIDTH_f32; ++i) {
    sum += query[i] * key[i];
  }
  scores[head * MAX_TOKENS_f32 + token] = sum / sqrt((float)HEAD_WIDTH_f32);
}

// Turns the scores of each head into weights with the sum 1. One work-group for each head.
__kernel void softmax_f32(__global float* scores, int tokens) {
  __local float shared[GROUP_f32];
  const int item = get_local_id(0), head = get_group_id(0);
  __global float* row = scores + head * MAX_TOKENS_f32;
  float most = -INFINITY;
  for (int i = item; i < tokens; i += get_local_size(0)) {
    most = fmax(most, row[i]);
  }
  most = max_of_group_f32(most, shared);
  float sum = 0;
  for (int i = item; i < tokens; i += get_local_size(0)) {
    row[i] = exp(row[i] - most);
    sum += row[i];
  }
  sum = sum_of_group_f32(sum, shared);
  for (int i = item; i < tokens; i += get_local_size(0)) {
    row[i] /= sum;
  }
}

// y[head] = sum over tokens of weights[head][token] * value[token]. One work item for each element
// of a head; dimension 1 goes over the heads.
__kernel void values_f32(__global const float* weights, __global const float* value_cache,
                         __global float* y, int tokens) {
  const int i = get_global_id(0), head = get_global_id(1);
  if (i >= HEAD_WIDTH_f32) return;
  const int kv_head = head / (HEADS_f32 / KV_HEADS_f32);
  __global const float* row = weights + head * MAX_TOKENS_f32;
  __global const float* values = value_cache + kv_head * MAX_TOKENS_f32 * HEAD_WIDTH_f32;
  float sum = 0;
  for (int token = 0; token < tokens; ++token) {
    sum += row[token] * values[token * HEAD_WIDTH_f32 + i];
  }
  y[head * HEAD_WIDTH_f32 + i] = sum;
}

// -------------------------------------------------------------------------------- feed forward

// gate = gate / (1 + exp(-gate)) * up, for each of `size` elements.
__kernel void silu_f32(__global float* gate, __global const float* up, int size) {
  const int i = get_global_id(0);
  if (i >= size) return;
  const float g = gate[i];
  gate[i] = g / (1 + exp(-g)) * up[i];
}

// x = x + y, for each of `size` elements.
__kernel void add_f32(__global float* x, __global const float* y, int size) {
  const int i = get_global_id(0);
  if (i < size) x[i] += y[i];
}

// ----------------------------------------------------------------------------------- embedding

// Copies the row of a token from the table of embeddings, whose weights have 8 bits. One work item
// for each block of 32 elements.
__kernel void embed_q8_f32(__global const block_q8_f32* table, __global float* x, int token) {
  const int b = get_global_id(0);
  const int blocks = WIDTH_f32 / 32;
  if (b >= blocks) return;
  __global const block_q8_f32* block = table + token * blocks + b;
  for (int i = 0; i < 32; ++i) {
    x[32 * b + i] = block->scale * (float)block->weights[i];
  }
}

// Finds the greatest logit and its index. One work-group; `best` gets one index.
__kernel void argmax_f32(__global const float* logits, __global int* best, int size) {
  __local float shared[GROUP_f32];
  __local int index[GROUP_f32];
  const int item = get_local_id(0);
  float most = -INFINITY;
  int at = 0;
  for (int i = item; i < size; i += get_local_size(0)) {
    if (logits[i] > most) {
      most = logits[i];
      at = i;
    }
  }
  shared[item] = most;
  index[item] = at;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
    if (item < step && shared[item + step] > shared[item]) {
      shared[item] = shared[item + step];
      index[item] = index[item + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) *best = index[0];
}

// ------------------------------------------------------------------------------------ sampling

// Divides the logits by the temperature and turns them into probabilities. One work-group.
__kernel void probabilities_f32(__global float* logits, float temperature, int size) {
  __local float shared[GROUP_f32];
  const int item = get_local_id(0);
  float most = -INFINITY;
  for (int i = item; i < size; i += get_local_size(0)) {
    logits[i] /= temperature;
    most = fmax(most, logits[i]);
  }
  most = max_of_group_f32(most, shared);
  float sum = 0;
  for (int i = item; i < size; i += get_local_size(0)) {
    logits[i] = exp(logits[i] - most);
    sum += logits[i];
  }
  sum = sum_of_group_f32(sum, shared);
  for (int i = item; i < size; i += get_local_size(0)) {
    logits[i] /= sum;
  }
}

// Draws a token: the first one up to which the probabilities exceed `draw`, from 0 to 1. One work
// item goes through all probabilities.
__kernel void draw_token_f32(__global const float* probabilities, __global int* drawn, float draw,
                             int size) {
  if (get_global_id(0) != 0) return;
  float sum = 0;
  for (int i = 0; i < size; ++i) {
    sum += probabilities[i];
    if (sum > draw) {
      *drawn = i;
      return;
    }
  }
  *drawn = size - 1;
}

// -------------------------------------------------------------------------------- quantisation

// Stores a vector as blocks of 32 weights of 8 bits. One work item for each block.
__kernel void quantise_q8_f32(__global const float* x, __global block_q8_f32* blocks, int size) {
  const int b = get_global_id(0);
  if (32 * b >= size) return;
  float most = 0;
  for (int i = 0; i < 32; ++i) {
    most = fmax(most, fabs(x[32 * b + i]));
  }
  const float scale = most / 127;
  const float inverse = scale == 0 ? 0 : 1 / scale;
  blocks[b].scale = scale;
  for (int i = 0; i < 32; ++i) {
    blocks[b].weights[i] = (char)rint(x[32 * b + i] * inverse);
  }
}

// Moves the last `kept` rows of the cache of each head to its beginning, when the cache is full.
// One work item for each element of a row; dimension 1 goes over the heads. The rows are moved one
// after the other, because the old and the new rows may overlap.
__kernel void shift_cache_f32(__global float* cache, int kept) {
  const int i = get_global_id(0), head = get_global_id(1);
  if (i >= HEAD_WIDTH_f32) return;
  __global float* rows = cache + head * MAX_TOKENS_f32 * HEAD_WIDTH_f32;
  for (int row = 0; row < kept; ++row) {
    rows[row * HEAD_WIDTH_f32 + i] = rows[(MAX_TOKENS_f32 - kept + row) * HEAD_WIDTH_f32 + i];
  }
}

// ------------------------------------------------------------------------------ several tokens

// Y = X W^T for `tokens` tokens at once, when a prompt is read. X has a row for each token, Y too.
// A work-group of 16 x 16 work items computes a tile of Y: dimension 0 goes over the rows of W,
// dimension 1 over the tokens.
#define TILE_f32 16

__kernel void matmul_q8_f32(__global const block_q8_f32* w, __global const float* x,
                            __global float* y, int rows, int columns, int tokens) {
  __local float w_tile[TILE_f32][TILE_f32];
  __local float x_tile[TILE_f32][TILE_f32];
  const int across = get_local_id(0), down = get_local_id(1);
  const int row = get_group_id(0) * TILE_f32 + across;
  const int token = get_group_id(1) * TILE_f32 + down;
  const int blocks = columns / 32;
  float sum = 0;
  for (int first = 0; first < columns; first += TILE_f32) {
    // Each work item loads one weight and one element. The weight is that of the row of the
    // group's first row plus `down`, so that the loads of a row stand next to each other.
    const int w_row = get_group_id(0) * TILE_f32 + down;
    const int column = first + across;
    float weight = 0;
    if (w_row < rows) {
      __global const block_q8_f32* block = w + w_row * blocks + column / 32;
      weight = block->scale * (float)block->weights[column % 32];
    }
    w_tile[down][across] = weight;
    x_tile[down][across] = token < tokens ? x[token * columns + column] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE_f32; ++k) {
      sum += w_tile[across][k] * x_tile[down][k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < rows && token < tokens) y[token * rows + row] = sum;
}
