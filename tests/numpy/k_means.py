# Lloyd's algorithm: distances, a choice of the least, sums by choice.
import cupynumeric as np

n, k = 6_000, 5
i = np.arange(n, dtype=np.float64)
points = np.stack([np.sin(i * 0.7) * 3 + (i % 5) * 4, np.cos(i * 0.3) * 2 + (i % 3) * 5], axis=1)
centers = points[:k].copy()
for step in range(6):
    distance = ((points[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    nearest = distance.argmin(axis=1)
    for c in range(k):
        mine = nearest == c
        count = int(mine.sum())
        if count > 0:
            centers[c] = (points * mine[:, None]).sum(axis=0) / count
    print("step", step, "cost", float(distance.min(axis=1).sum()))
print("centers", float(centers.sum()), [int((nearest == c).sum()) for c in range(k)])
