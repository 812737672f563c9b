# Sums, extremes and scans along either dimension.
import cupynumeric as np

x = (np.arange(600 * 500, dtype=np.float64).reshape(600, 500) * 0.37) % 11.0 - 5.0
print("rows", float((x.sum(axis=1) ** 2).sum()))
print("columns", float((x.sum(axis=0) ** 2).sum()))
print("extremes", float(x.min()), float(x.max()), int(x.argmax()))
print("mean", float(x.mean()), "variance", float(x.var()))
print("product", float(np.prod(1.0 + x[0, :20] * 1e-2)))
print("scan", float(np.cumsum(x[:, 3])[-1]), float(np.cumsum(x, axis=0)[299].sum()))
print("any", bool((x > 5.99).any()), "all", bool((x >= -5.0).all()), "count", int((x > 1.0).sum()))
