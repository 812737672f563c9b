// A matrix product without any mark and without any macro of the launch, as a search for whole
// files begins with it.
kernel void matmul(int rows, int columns, int depth, global const float* a, global const float* b,
                   global float* c) {
  const int i = get_global_id(1), j = get_global_id(0);
  if (i >= rows || j >= columns) return;
  float sum = 0;
  for (int k = 0; k < depth; ++k) sum += a[i * depth + k] * b[k * columns + j];
  c[i * columns + j] = sum;
}
