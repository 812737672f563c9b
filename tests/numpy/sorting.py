# Sorts, searches and counts.
import cupynumeric as np

n = 50_000
x = (np.arange(n, dtype=np.int64) * 7919) % 100_003
s = np.sort(x)
print("ends", int(s[0]), int(s[n // 2]), int(s[-1]))
print("is sorted", bool((s[1:] >= s[:-1]).all()))
order = np.argsort(x)
print("order", int((order * (np.arange(n) % 13)).sum()))
print("places", int(np.searchsorted(s, np.array([10, 5_000, 99_999])).sum()))
print("different", int(np.unique(x % 997).shape[0]))
