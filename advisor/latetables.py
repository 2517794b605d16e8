"""`__init__` of records by their number of fields, letters standing for the names; `latemethods` puts the names in.

Written out because Python keeps what it compiled of a module: to compile them at each start took 2 % of an answer.
"""

from collections.abc import Callable

put = object.__setattr__  # past the refusal of frozen records; gives the instance its dict at once

# fmt: off
INITS: tuple[Callable[..., None], ...] = (
    lambda self, a: put(self, "__dict__", {"a": a}),
    lambda self, a, b: put(self, "__dict__", {"a": a, "b": b}),
    lambda self, a, b, c: put(self, "__dict__", {"a": a, "b": b, "c": c}),
    lambda self, a, b, c, d: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d}),
    lambda self, a, b, c, d, e: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e}),
    lambda self, a, b, c, d, e, f: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f}),
    lambda self, a, b, c, d, e, f, g: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g}),
    lambda self, a, b, c, d, e, f, g, h: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h}),
    lambda self, a, b, c, d, e, f, g, h, i: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i}),
    lambda self, a, b, c, d, e, f, g, h, i, j: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m, n: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m, "n": n}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m, n, o: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m, "n": n, "o": o}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m, "n": n, "o": o, "p": p}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m, "n": n, "o": o, "p": p, "q": q}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m, "n": n, "o": o, "p": p, "q": q, "r": r}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m, "n": n, "o": o, "p": p, "q": q, "r": r, "s": s}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m, "n": n, "o": o, "p": p, "q": q, "r": r, "s": s, "t": t}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m, "n": n, "o": o, "p": p, "q": q, "r": r, "s": s, "t": t, "u": u}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u, v: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m, "n": n, "o": o, "p": p, "q": q, "r": r, "s": s, "t": t, "u": u, "v": v}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u, v, w: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m, "n": n, "o": o, "p": p, "q": q, "r": r, "s": s, "t": t, "u": u, "v": v, "w": w}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u, v, w, x: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m, "n": n, "o": o, "p": p, "q": q, "r": r, "s": s, "t": t, "u": u, "v": v, "w": w, "x": x}),
    lambda self, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u, v, w, x, y: put(self, "__dict__", {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "j": j, "k": k, "m": m, "n": n, "o": o, "p": p, "q": q, "r": r, "s": s, "t": t, "u": u, "v": v, "w": w, "x": x, "y": y}),
)
