# Stockham's Fourier transform of complex numbers, a product and a few slices in each step. (The library's
# own transform needs a GPU.)
import cupynumeric as np


def transform(x, sign):
    n = x.shape[0]
    x = x.reshape(n, 1)
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        turn = np.exp(sign * 2j * np.pi * np.arange(x.shape[1]) / (2 * x.shape[1]))
        even, odd = x[:half], x[half:] * turn[None, :]
        x = np.concatenate([even + odd, even - odd], axis=1)
    return x.reshape(n)


n = 1 << 11
i = np.arange(n, dtype=np.float64)
signal = np.sin(i * 0.01) + 0.5 * np.cos(i * 0.37)
spectrum = transform(signal.astype(np.complex128), -1)
power = np.abs(spectrum) ** 2
print("power", float(power.sum()))
print("peak", int(power[: n // 2].argmax()))
back = transform(spectrum, 1).real / n
print("error is small", bool(np.abs(back - signal).max() < 1e-9))
