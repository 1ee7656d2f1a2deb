"""Prints the coefficients of `special.cu` and of `ir/src/interp/special.rs`, highest power first. Needs mpmath.

Each is the polynomial that meets a function at Chebyshev's points of an interval, computed with 60 digits and rounded
to f64; its greatest error, relative to the function, is printed beside it.
"""

from mpmath import atanh, chebyfit, digamma, erfinv, findroot, log, loggamma, mp, mpf, pi, polyval, sin, sqrt

mp.dps = 60


def fit(name, f, low, high, terms):
    coefficients = [float(c) for c in chebyfit(f, [mpf(low), mpf(high)], terms)]
    points = [mpf(low) + (mpf(high) - mpf(low)) * i / 997 for i in range(998)]
    error = max(abs(polyval([mpf(c) for c in coefficients], x) / f(x) - 1) for x in points)
    print(f"{name}: {terms} terms, error 2^{float(log(error, 2)):.1f}")
    for c in coefficients:
        print(f"    {c!r},")


def near(f, value, width):
    """The function with its removable singularity at 0 filled in."""
    return lambda x: value if abs(x) < width else f(x)


root = findroot(digamma, mpf("1.4616"))
high = float(root)
print("root of digamma:", repr(high), repr(float(root - mpf(high))))
ln2 = log(mpf(2))
ln2_high = mpf(int(ln2 * 2**32)) / 2**32
print("ln 2:", repr(float(ln2_high)), repr(float(ln2 - ln2_high)))
print("(ln 2π - 1) / 2:", repr(float((log(2 * pi) - 1) / 2)))

# ln((1 + s) / (1 - s)) = 2s + s·z·f(z) with z = s².
fit("logarithm", near(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, mpf(2) / 3, mpf("1e-25")), 0, mpf("0.02944"), 8)
# sin(πr) = r·f(r²).
fit("sine", near(lambda z: sin(pi * sqrt(z)) / sqrt(z), pi, mpf("1e-40")), 0, mpf("0.25"), 9)
# ln Γ(2 + t) = t·f(t).
fit("gamma", near(lambda t: loggamma(2 + t).real / t, digamma(2), mpf("1e-35")), mpf("-0.75"), mpf("0.5"), 22)


def stirling(u):
    x = 1 / sqrt(u)
    return x * (loggamma(x).real - (x - mpf(1) / 2) * log(x) + x - log(2 * pi) / 2)


# ln Γ(x) = (x - 1/2) ln x - x + ln(2π)/2 + f(u)/x with u = 1/x².
fit("stirling", near(stirling, mpf(1) / 12, mpf("1e-12")), 0, mpf(1) / 64, 8)
# ψ(3/2 + t) = (3/2 + t - root)·f(t).
fit("digamma", lambda t: digamma(mpf(3) / 2 + t) / (mpf(3) / 2 + t - root), mpf("-0.5"), mpf("0.5"), 23)
# ψ(x) = ln x - 1/(2x) - u·f(u).
fit(
    "digamma at infinity",
    near(lambda u: (log(1 / sqrt(u)) - sqrt(u) / 2 - digamma(1 / sqrt(u))) / u, mpf(1) / 12, mpf("1e-12")),
    0,
    mpf(1) / 64,
    9,
)


def inverse(w):
    """erf⁻¹(x) / x as a function of w = -ln(1 - x²)."""
    x = sqrt(-mp.expm1(-w))
    if w < mpf("1e-25"):
        return sqrt(pi) / 2
    mp.dps = 90
    y = erfinv(sqrt(-mp.expm1(-w)))
    mp.dps = 60
    return y / x


fit("erfinv, w - 3.125 for w < 6.25", lambda t: inverse(t + mpf("3.125")), mpf("-3.125"), mpf("3.125"), 26)
fit("erfinv, √w - 3.25 for w < 16", lambda t: inverse((t + mpf("3.25")) ** 2), mpf("-0.75"), mpf("0.75"), 21)
fit("erfinv, √w - 5 above", lambda t: inverse((t + 5) ** 2), -1, mpf("1.01"), 20)
