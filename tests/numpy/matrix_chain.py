# Products of matrices (DGEMM), whose data has to lie as the library wants it.
import cupynumeric as np

n = 300
a = np.arange(n * n, dtype=np.float64).reshape(n, n) % 7 - 3
b = np.arange(n * n, dtype=np.float64).reshape(n, n) % 11 - 5
c = np.eye(n) * 0.5
for step in range(4):
    c = (c @ a) * 1e-2 + c.T
    c = np.dot(b, c) * 1e-3
    print("step", step, "sum", float(c.sum()))
print("corner", float(c[0, 0]), float(c[-1, 0]), float(c[0, -1]), float(c[-1, -1]))
