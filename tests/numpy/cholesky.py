# A linear system by Cholesky's factors.
import cupynumeric as np

n = 256
x = np.arange(n, dtype=np.float64)
a = np.exp(-np.abs(x[:, None] - x[None, :]) / 40.0) + 2.0 * np.eye(n)
b = np.cos(x * 0.1)
lower = np.linalg.cholesky(a)
print("diagonal", float(np.log(np.diagonal(lower)).sum()))
print("residual is small", bool(np.abs(lower @ lower.T - a).max() < 1e-9))
y = np.linalg.solve(a, b)
print("solution", float(y.sum()), float((y * y).sum()))
print("it solves", bool(np.abs(a @ y - b).max() < 1e-8))
