# A five-point stencil on slices of one array, two fields that change places.
import cupynumeric as np

n = 400
grid = np.zeros((n + 2, n + 2))
grid[:, 0] = 10.0
grid[0, :] = 5.0
grid[n // 2, n // 3] = 100.0
for step in range(10):
    center = grid[1:-1, 1:-1]
    work = 0.2 * (center + grid[1:-1, 2:] + grid[1:-1, :-2] + grid[:-2, 1:-1] + grid[2:, 1:-1])
    change = float(np.abs(work - center).sum())
    grid[1:-1, 1:-1] = work
    print("step", step, "change", change)
print("sum", float(grid.sum()), "max", float(grid.max()))
