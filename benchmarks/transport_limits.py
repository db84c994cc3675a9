"""What the machine can do at most: AES, and opening what was sealed. Of one core, in CPU time."""

import time
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from anonloom_transport import Lock, SealingKey, Suite, SystemEntropy

#: Buffers that stay in the cache; the best of them is the limit.
BUFFERS = (1 << 16, 1 << 18, 1 << 20)
_SECONDS = 0.15
_TIMES = 5


def compared(call: Callable[[], int], limit: Callable[[], float], times: int = 9) -> list[float]:
    """Return rate, limit and share of a call that does something so many times; their medians.

    A shared machine changes its speed from one second to the next: each call is compared with the
    limit of the same moment.
    """
    results = []
    for _ in range(times):
        most, began = limit(), time.process_time()
        done = call()
        reached = done / (time.process_time() - began)
        results.append((reached, most, reached / most))
    return [median(figures) for figures in zip(*results, strict=True)]


def rate(call: Callable[[], object], times: int = _TIMES) -> float:
    """Return how often something can be done in a CPU second: the best of a few tries."""
    best = 0.0
    for _ in range(times):
        done, began = 0, time.process_time()
        while (spent := time.process_time() - began) < _SECONDS:
            for _ in range(8):
                call()
            done += 8
        best = max(best, done / spent)
    return best


def aes_rate(times: int = _TIMES) -> float:
    """Return bytes per CPU second that OpenSSL encrypts with AES-128, the best of a few tries."""
    cipher = Cipher(algorithms.AES(bytes(16)), modes.ECB()).encryptor()
    rates = []
    for size in BUFFERS:
        plain = memoryview(np.zeros(size, np.uint8))
        sealed = memoryview(np.zeros(size + 15, np.uint8))
        rates.append(size * rate(partial(cipher.update_into, plain, sealed), times))
    return max(rates)


def kem_rate(suite: Suite, times: int = _TIMES) -> float:
    """Return how many keys per CPU second can be got out of what a sender encapsulated."""
    own, other = X25519PrivateKey.generate(), X25519PrivateKey.generate().public_key()
    if suite == "x25519":
        return rate(lambda: own.exchange(other), times)
    mlkem = MLKEM768PrivateKey.generate()
    _, sealed = mlkem.public_key().encapsulate()
    return rate(lambda: (own.exchange(other), mlkem.decapsulate(sealed)), times)


def hpke_rate(suite: Suite, size: int) -> float:
    """Return how many HPKE envelopes per CPU second can be opened."""
    key = SealingKey.draw(suite, SystemEntropy())
    sealed = Lock.read(suite, key.public).seal(bytes(size), b"benchmark")
    return rate(lambda: key.open(sealed, b"benchmark"))
