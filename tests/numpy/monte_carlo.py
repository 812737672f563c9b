# Paths of a price by random numbers of our own, the same in every run.
import cupynumeric as np

paths, steps = 20_000, 16
state = np.arange(paths, dtype=np.uint64) * 2_654_435_761 % 4_294_967_291
price = np.full(paths, 100.0)
for step in range(steps):
    state = (state * 48_271) % 2_147_483_647
    uniform = state.astype(np.float64) / 2_147_483_647.0
    price *= np.exp((uniform - 0.5) * 0.1 + 0.001)
payoff = np.maximum(price - 100.0, 0.0)
print("price", float(price.mean()), "payoff", float(payoff.mean()))
inside = (np.where(price > 100.0, 1, 0)).sum()
print("in the money", int(inside))
