# SPDX-License-Identifier: Apache-2.0
"""Pictures of wooden toys on a table, by tracing rays: balls, blocks, cans and cones.

Rays are arrays [n, 3]. The light of a point is that of a lamp with an area, whose shadows are soft, and of the room; paths of
light (J. Kajiya, The rendering equation, 1986) are followed for some reflections, one where training images have to be fast.
"""
import numpy as np

NAMES = ["ball", "block", "can", "cone"]
FAR = np.float32(1e9)
EDGE = np.float32(1e-3)  # where a reflected ray begins, so that it does not meet its own surface


def unit(v):
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-9)


def noise(rng, points, scale):
    """Smooth noise of points [n, 2], -1 to 1: random numbers at a lattice, interpolated."""
    lattice = rng.random((64, 64), np.float32) * 2 - 1
    at = points * np.float32(scale)
    cell = np.floor(at).astype(np.int64)
    part = at - cell
    part = part * part * (3 - 2 * part)
    x, y = cell[:, 0] % 64, cell[:, 1] % 64
    x1, y1 = (x + 1) % 64, (y + 1) % 64
    top = lattice[y, x] * (1 - part[:, 0]) + lattice[y, x1] * part[:, 0]
    low = lattice[y1, x] * (1 - part[:, 0]) + lattice[y1, x1] * part[:, 0]
    return top * (1 - part[:, 1]) + low * part[:, 1]


class Toy:
    """A toy that stands on the table at (x, z), with a radius, a height, an angle and a color."""

    def __init__(self, kind, x, z, radius, height, angle, color, gloss):
        self.kind, self.x, self.z, self.radius, self.angle = kind, x, z, np.float32(radius), angle
        self.height = np.float32(2 * radius if kind in (0, 1) else height)
        self.color, self.gloss = np.float32(color), np.float32(gloss)
        cos, sin = np.float32(np.cos(angle)), np.float32(np.sin(angle))
        self.turn = np.float32([[cos, 0, -sin], [0, 1, 0], [sin, 0, cos]])
        self.base = np.float32([x, 0, z])

    def hit(self, origin, direction):
        """(distance, normal) of rays; FAR: no hit."""
        o, d = (origin - self.base) @ self.turn.T, direction @ self.turn.T
        distance, normal = (ball, block, can, cone)[self.kind](o, d, self.radius, self.height)
        return distance, normal @ self.turn


def solved(a, b, c):
    """The smaller and the greater root of a t^2 + 2 b t + c; FAR: there is none."""
    root = b * b - a * c
    s = np.sqrt(np.maximum(root, 0))
    a = np.where(np.abs(a) < 1e-9, np.float32(1e-9), a)
    t0, t1 = (-b - s) / a, (-b + s) / a
    none = root < 0
    return np.where(none, FAR, np.minimum(t0, t1)), np.where(none, FAR, np.maximum(t0, t1))


def ball(o, d, r, height):
    center = np.float32([0, r, 0])
    p = o - center
    t, _ = solved((d * d).sum(1), (p * d).sum(1), (p * p).sum(1) - r * r)
    t = np.where(t > EDGE, t, FAR)
    return t, (p + t[:, None] * d) / r


def block(o, d, r, height):
    d = np.where(np.abs(d) < 1e-7, np.float32(1e-7), d)
    p = o - np.float32([0, r, 0])
    near, far = (-r * np.sign(d) - p) / d, (r * np.sign(d) - p) / d
    axis = near.argmax(1)
    t = near.max(1)
    t = np.where((t < far.min(1)) & (t > EDGE), t, FAR)
    normal = np.zeros_like(d)
    rows = np.arange(len(d))
    normal[rows, axis] = -np.sign(d[rows, axis])
    return t, normal


def closest(*hits):
    t, normal = hits[0]
    for other, other_normal in hits[1:]:
        is_closer = other < t
        t, normal = np.where(is_closer, other, t), np.where(is_closer[:, None], other_normal, normal)
    return t, normal


def disc(o, d, r, y, up):
    dy = np.where(np.abs(d[:, 1]) < 1e-7, np.float32(1e-7), d[:, 1])
    t = (y - o[:, 1]) / dy
    x, z = o[:, 0] + t * d[:, 0], o[:, 2] + t * d[:, 2]
    normal = np.zeros_like(d)
    normal[:, 1] = up
    return np.where((t > EDGE) & (x * x + z * z < r * r), t, FAR), normal


def can(o, d, r, height):
    t, _ = solved(d[:, 0] ** 2 + d[:, 2] ** 2, o[:, 0] * d[:, 0] + o[:, 2] * d[:, 2], o[:, 0] ** 2 + o[:, 2] ** 2 - r * r)
    y = o[:, 1] + t * d[:, 1]
    t = np.where((t > EDGE) & (y > 0) & (y < height), t, FAR)
    p = o + t[:, None] * d
    normal = np.stack([p[:, 0] / r, np.zeros_like(t), p[:, 2] / r], 1)
    return closest((t, normal), disc(o, d, r, height, 1))


def cone(o, d, r, height):
    k = (r / height) ** 2
    w, v = height - o[:, 1], -d[:, 1]
    a = d[:, 0] ** 2 + d[:, 2] ** 2 - k * v * v
    b = o[:, 0] * d[:, 0] + o[:, 2] * d[:, 2] - k * w * v
    c = o[:, 0] ** 2 + o[:, 2] ** 2 - k * w * w
    best = np.full(len(o), FAR)
    for t in solved(a, b, c):
        y = o[:, 1] + t * d[:, 1]
        best = np.where((t > EDGE) & (y > 0) & (y < height) & (t < best), t, best)
    p = o + best[:, None] * d
    normal = unit(np.stack([p[:, 0], k * (height - p[:, 1]), p[:, 2]], 1))
    return best, normal


class Scene:
    """Toys, a table, a wall behind it and a lamp, and the camera."""

    def __init__(self, rng, n_toys, toys=None):
        self.rng = rng
        self.toys = toys if toys is not None else self._toys(n_toys)
        self.wood, self.light_wood = self._wood()
        self.wall = rng.uniform(0.35, 0.9, 3).astype(np.float32) * np.float32(rng.uniform(0.6, 1))
        self.lamp = np.float32([rng.uniform(-5, 5), rng.uniform(5, 8), rng.uniform(-5, 0.5)])
        self.lamp_size = np.float32(rng.uniform(0.5, 1.6))
        self.warmth = np.float32([1, rng.uniform(0.86, 0.98), rng.uniform(0.7, 0.95)])
        self.room = np.float32(rng.uniform(0.28, 0.55))
        self.seed = int(rng.integers(1 << 30))
        self.depth = rng.uniform(2.5, 6)  # of the table behind the middle
        height, distance = rng.uniform(1.6, 4), rng.uniform(4.6, 7)
        self.eye = np.float32([rng.uniform(-1.5, 1.5), height, -distance])
        self.target = np.float32([rng.uniform(-0.3, 0.3), rng.uniform(0.2, 0.6), rng.uniform(-0.2, 0.5)])
        self.zoom = np.float32(rng.uniform(1.25, 1.7))
        self.blur = 0.0

    def _wood(self):
        tone = np.float32([0.62, 0.42, 0.26]) * np.float32(self.rng.uniform(0.35, 1.35))
        return tone, tone * np.float32(self.rng.uniform(1.1, 1.5))

    def _toys(self, n):
        rng, toys = self.rng, []
        for _ in range(20 * n):
            if len(toys) == n:
                break
            kind, radius = int(rng.integers(4)), rng.uniform(0.22, 0.52)
            x, z = rng.uniform(-1.9, 1.9), rng.uniform(-1.4, 1.6)
            if all(np.hypot(x - t.x, z - t.z) > 1.25 * (radius + t.radius) for t in toys):
                height = radius * (rng.uniform(1.7, 3.2) if kind == 2 else rng.uniform(2, 3.4))
                toys.append(Toy(kind, x, z, radius, height, rng.uniform(0, 6.3), paint(rng), rng.uniform(0, 0.12)))
        return toys

    def hit(self, origin, direction):
        """(distance, normal, number) of the nearest surface: toys, then the table, then the wall; -1: none."""
        n = len(origin)
        best, normal, which = np.full(n, FAR), np.zeros((n, 3), np.float32), np.full(n, -1)
        for i, toy in enumerate(self.toys):
            t, m = toy.hit(origin, direction)
            closer = t < best
            best, normal[closer], which[closer] = np.where(closer, t, best), m[closer], i
        dy = np.where(np.abs(direction[:, 1]) < 1e-7, np.float32(1e-7), direction[:, 1])
        t = -origin[:, 1] / dy
        z = origin[:, 2] + t * direction[:, 2]
        closer = (t > EDGE) & (t < best) & (z < self.depth)
        best, normal[closer], which[closer] = np.where(closer, t, best), np.float32([0, 1, 0]), len(self.toys)
        dz = np.where(np.abs(direction[:, 2]) < 1e-7, np.float32(1e-7), direction[:, 2])
        t = (self.depth - origin[:, 2]) / dz
        closer = (t > EDGE) & (t < best)
        best, normal[closer], which[closer] = np.where(closer, t, best), np.float32([0, 0, -1]), len(self.toys) + 1
        return best, normal, which

    def colors(self, points, which):
        """(reflected share of light [n, 3], gloss [n])"""
        n = len(self.toys)
        color = np.broadcast_to(self.wall, points.shape).copy()
        gloss = np.zeros(len(points), np.float32)
        for i, toy in enumerate(self.toys):
            color[which == i], gloss[which == i] = toy.color, toy.gloss
        table = which == n
        if table.any():
            color[table], gloss[table] = self.planks(points[table][:, [0, 2]]), 0.06
        return color, gloss

    def planks(self, at):
        """The grain of wood, of points [n, 2] of the table."""
        rng = np.random.default_rng(self.seed)
        plank = np.floor(at[:, 1] / np.float32(0.9)).astype(np.int64)
        shade = rng.random(64, np.float32)[plank % 64]
        warped = at * np.float32([0.35, 3]) + np.stack([3 * shade, 7 * shade], 1)
        grain = noise(rng, warped, 2) + np.float32(0.5) * noise(rng, warped, 7) + np.float32(0.3) * noise(rng, warped * [4, 1], 9)
        share = np.clip(0.45 + 0.32 * grain + 0.25 * (shade - 0.5), 0, 1)[:, None]
        joint = np.abs(at[:, 1] / np.float32(0.9) - np.rint(at[:, 1] / np.float32(0.9))) < 0.012
        return (self.wood * (1 - share) + self.light_wood * share) * np.where(joint, 0.45, 1)[:, None]

    def direct(self, points, normal, rng):
        """Light from a random point of the lamp."""
        to = self.lamp + (rng.random(points.shape, np.float32) - 0.5) * self.lamp_size - points
        distance = np.linalg.norm(to, axis=1)
        to = to / distance[:, None]
        facing = np.maximum((normal * to).sum(1), 0)
        lit = facing > 0
        blocked = np.zeros(len(points), bool)
        if lit.any():
            start = points[lit] + normal[lit] * EDGE
            for toy in self.toys:
                blocked[lit] |= toy.hit(start, to[lit])[0] < distance[lit]
        return (facing * ~blocked * np.float32(1.1))[:, None] * self.warmth

    def light(self, origin, direction, rng, bounces):
        """The light that arrives along rays."""
        total, weight = np.zeros_like(origin), np.ones_like(origin)
        for i in range(bounces + 1):
            t, normal, which = self.hit(origin, direction)
            away = which < 0
            total += np.where(away[:, None], weight * self.room, 0)
            points = origin + np.minimum(t, 1e4)[:, None] * direction
            color, gloss = self.colors(points, which)
            weight = np.where(away[:, None], 0, weight)
            share = self.direct(points, normal, rng)
            if i == bounces:  # the room, less of it where surfaces are near the table
                share = share + self.room * (0.65 + 0.35 * normal[:, 1:2])
            total += weight * color * share
            mirrors = rng.random(len(points), np.float32) < gloss + 0.5 * gloss * (1 + (normal * direction).sum(1)) ** 3 * 8
            spread = unit(normal + unit(rng.standard_normal(points.shape).astype(np.float32)))
            straight = direction - 2 * (direction * normal).sum(1)[:, None] * normal
            direction = np.where(mirrors[:, None], straight, spread).astype(np.float32)
            weight = weight * np.where(mirrors[:, None], 1, color)
            origin = points + normal * EDGE
        return total

    def rays(self, height, width, rng, is_middle=False):
        """Of each pixel, through a random place in it."""
        ahead = unit(self.target - self.eye)
        right = unit(np.cross(ahead, [0, 1, 0]).astype(np.float32))
        up = np.cross(right, ahead)
        y, x = np.mgrid[:height, :width].astype(np.float32)
        jitter = 0.5 if is_middle else rng.random((2, height, width), np.float32)
        x, y = (x + (jitter if is_middle else jitter[0])) - width / 2, height / 2 - (y + (jitter if is_middle else jitter[1]))
        scale = np.float32(2 / (height * self.zoom)) * np.float32(0.5)
        through = ahead + scale * (x.ravel()[:, None] * right + y.ravel()[:, None] * up)
        focus = np.float32(np.linalg.norm(self.target - self.eye))
        lens = (rng.standard_normal((height * width, 2)).astype(np.float32) * np.float32(self.blur)) @ np.stack([right, up])
        origin = self.eye + lens
        return origin, unit(self.eye + through * focus - origin).astype(np.float32)

    def render(self, height, width, samples=1, bounces=0):
        """An image [height, width, 3] of bytes."""
        rng, total = np.random.default_rng(self.seed + 1), 0
        for _ in range(samples):
            total = total + self.light(*self.rays(height, width, rng), rng, bounces)
        shown = np.clip(total / samples, 0, None).reshape(height, width, 3)
        shown = shown / (1 + 0.25 * shown)  # bright parts are compressed, as on film
        return (255 * np.clip(shown * 1.12, 0, 1) ** np.float32(1 / 2.2)).astype(np.uint8)

    def boxes(self, height, width, least=30):
        """(kinds, boxes [n, 4]) of the toys of which at least so many pixels are visible, from their whole outlines."""
        rng = np.random.default_rng(0)
        origin, direction = self.rays(height, width, rng, is_middle=True)
        _, _, which = self.hit(origin, direction)
        kinds, boxes = [], []
        for i, toy in enumerate(self.toys):
            if (which == i).sum() < least:
                continue
            whole = (toy.hit(origin, direction)[0] < FAR).reshape(height, width)
            if (which == i).sum() < 0.35 * whole.sum():
                continue
            rows, columns = np.flatnonzero(whole.any(1)), np.flatnonzero(whole.any(0))
            kinds.append(toy.kind)
            boxes.append([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1])
        return np.array(kinds, np.int64), np.array(boxes, np.float32).reshape(-1, 4)


def paint(rng):
    """A color of toys: strong, or that of bare wood."""
    if rng.random() < 0.15:
        return np.float32([0.75, 0.56, 0.36]) * np.float32(rng.uniform(0.8, 1.1))
    hue = rng.uniform(0, 6)
    pure = np.clip(np.abs((hue + np.float32([0, 4, 2])) % 6 - 3) - 1, 0, 1)
    white = rng.uniform(0.03, 0.35)
    return ((white + (1 - white) * pure) * rng.uniform(0.45, 0.9)).astype(np.float32)


def table():
    """The scene of the image in the README."""
    rng = np.random.default_rng(7)
    red, blue, green, yellow = [0.72, 0.07, 0.05], [0.05, 0.2, 0.62], [0.1, 0.45, 0.14], [0.86, 0.58, 0.05]
    wood, teal, orange = [0.74, 0.55, 0.36], [0.05, 0.42, 0.45], [0.85, 0.3, 0.04]
    toys = [Toy(0, -1.35, -0.55, 0.42, 0, 0, red, 0.10), Toy(1, 0.05, 0.35, 0.42, 0, 0.5, blue, 0.05),
            Toy(2, 1.25, 0.1, 0.36, 1.15, 0, yellow, 0.08), Toy(3, -0.65, 0.95, 0.42, 1.25, 0, green, 0.05),
            Toy(0, 0.62, -0.85, 0.26, 0, 0, teal, 0.10), Toy(1, -0.42, -0.75, 0.25, 0, 0.15, wood, 0.02),
            Toy(3, 1.95, 1.1, 0.4, 1.15, 0, orange, 0.05), Toy(2, -1.85, 0.95, 0.3, 0.75, 0, [0.5, 0.08, 0.35], 0.07)]
    scene = Scene(rng, 0, toys)
    scene.wood, scene.light_wood = np.float32([0.30, 0.16, 0.075]), np.float32([0.50, 0.31, 0.16])
    scene.wall, scene.depth = np.float32([0.26, 0.33, 0.38]), 5.5
    scene.lamp, scene.lamp_size, scene.warmth = np.float32([-3.5, 6, -3]), np.float32(1.8), np.float32([1, 0.93, 0.82])
    scene.room, scene.eye, scene.target = np.float32(0.30), np.float32([0.35, 2.5, -5.6]), np.float32([0.05, 0.35, 0.1])
    scene.zoom, scene.blur = np.float32(1.75), 0.03
    return scene
