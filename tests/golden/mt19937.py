# SPDX-License-Identifier: MIT
"""The generator MT19937 (Matsumoto and Nishimura, "Mersenne Twister", 1998), and skipping far
ahead in it: for compat.py."""
from functools import lru_cache

N, M = 624, 397
DEGREE = 19937


def following(x, k):
    """Number k of the recurrence, from those before it."""
    y = x[k - N] & 0x80000000 | x[k - N + 1] & 0x7FFFFFFF
    return x[k - N + M] ^ y >> 1 ^ (0x9908B0DF if y & 1 else 0)


def tempered(y):
    """The output for a number of the recurrence."""
    y ^= y >> 11
    y ^= y << 7 & 0x9D2C5680
    y ^= y << 15 & 0xEFC60000
    return y ^ y >> 18


class Generator:
    """Seeded by init_genrand."""

    def __init__(self, seed):
        self.state = [seed % 2**32]
        for i in range(1, N):
            last = self.state[-1]
            self.state.append((1812433253 * (last ^ last >> 30) + i) % 2**32)
        self.at = N

    def next32(self):
        """The next number."""
        if self.at == N:
            x = self.state
            for k in range(N, 2 * N):
                x.append(following(x, k))
            self.state, self.at = x[N:], 0
        self.at += 1
        return tempered(self.state[self.at - 1])

    def next64(self):
        """A number of 64 bits from two of 32."""
        upper = self.next32()
        return upper * 2**32 + self.next32()

    def skip(self, count):
        """Skip a number of outputs."""
        whole, rest = divmod(count, N)
        if whole > 100:
            self.state = ahead(self.state, whole * N)
            whole = 0
        for _ in range(whole * N + rest):
            self.next32()


@lru_cache(maxsize=None)
def characteristic():
    """The polynomial of least degree that the lowest bits of the recurrence satisfy, as a number
    whose bit j is the coefficient of x^j (Berlekamp and Massey)."""
    x = Generator(5489).state
    for k in range(N, N + 2 * DEGREE):
        x.append(following(x, k))
    window, now, last, length, gap = 0, 1, 1, 0, 1
    for n, number in enumerate(x[N:]):
        window = window << 1 | number & 1
        if (now & window).bit_count() & 1:
            kept = now
            now ^= last << gap
            if 2 * length <= n:
                last, length, gap = kept, n + 1 - length, 0
        gap += 1
    assert length == DEGREE
    return int(format(now, '0%db' % (length + 1))[::-1], 2)


@lru_cache(maxsize=None)
def multiples(by):
    """Of each number of 8 bits above the degree of a polynomial, its multiple that has them."""
    table, degree = [], by.bit_length() - 1
    for top in range(256):
        rest = top << degree
        for i in range(7, -1, -1):
            if rest >> degree + i & 1:
                rest ^= by << i
        table.append(rest ^ top << degree)
    return table


def reduced(polynomial, by):
    """The remainder of a division by a polynomial, 8 bits at a time."""
    table, degree = multiples(by), by.bit_length() - 1
    above = max(0, polynomial.bit_length() - degree)
    for shift in range((above + 7) // 8 * 8 - 8, -1, -8):
        polynomial ^= table[polynomial >> degree + shift] << shift
    return polynomial


def ahead(state, count):
    """The state after `count` numbers: the sum of the numbers of the recurrence that x^count modulo
    the polynomial selects."""
    power = 1
    for bit in format(count, 'b'):
        power = int(format(power, 'b'), 4)  # squared
        power = reduced(power << int(bit), characteristic())
    # The lower 31 bits of the first number are not part of the state: no later number depends on
    # them.
    x = list(state)
    for k in range(N, 2 * N + DEGREE):
        x.append(following(x, k))
    numbers = b''.join(number.to_bytes(4, 'little') for number in x)
    total = 0
    for j in range(DEGREE):
        if power >> j & 1:
            total ^= int.from_bytes(numbers[4 * j:4 * (j + N)], 'little')
    text = total.to_bytes(4 * N, 'little')
    return [int.from_bytes(text[4 * i:4 * i + 4], 'little') for i in range(N)]
