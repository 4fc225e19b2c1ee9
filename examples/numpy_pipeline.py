"""A trainer with numpy and mpi4py: a network cut into stages, one a rank, that fits a random teacher.

    mpiexec -n 2 python3 examples/numpy_pipeline.py [STEPS]

Activations go to the next rank, their gradients back to the one before, as float32 arrays, all on
tag 0; the settings travel as a pickled object. It knows nothing of tahmpi; a policy for it is
examples/policies/numpy_pipeline.ini. Rank 0 prints the loss every tenth step and at the end.
"""
import sys

import numpy as np
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, SIZE = WORLD.rank, WORLD.size
FIRST, LAST = RANK == 0, RANK == SIZE - 1
WIDTH, BATCH, MICROBATCHES = 128, 128, 4


class Layer:
    """x -> x + tanh(x W) / 2: its output keeps the size of its input, whatever the depth."""

    def __init__(self, random):
        self.weight = random.standard_normal((WIDTH, WIDTH)).astype(np.float32) / np.sqrt(WIDTH)
        self.gradient = np.zeros_like(self.weight)
        self.seen = []

    def forward(self, x):
        hidden = np.tanh(x @ self.weight)
        self.seen.append((x, hidden))
        return x + hidden / 2

    def backward(self, dy):
        x, hidden = self.seen.pop(0)
        inner = dy * (1 - hidden * hidden) / 2
        self.gradient += x.T @ inner
        return dy + inner @ self.weight.T

    def update(self, rate):
        self.weight -= rate * self.gradient
        self.gradient[:] = 0


def receive(rank):
    array = np.empty((BATCH, WIDTH), np.float32)
    WORLD.Recv(array, rank)
    return array


def step(layers, inputs, targets, rate):
    """All microbatches forward, then all backward; returns the loss, on the last rank."""
    loss, gradients, sends = 0.0, [], []
    for x, target in zip(inputs, targets):
        y = x if FIRST else receive(RANK - 1)
        for layer in layers:
            y = layer.forward(y)
        if LAST:
            error = y - target
            loss += float(np.mean(error * error)) / MICROBATCHES
            gradients.append(error * np.float32(2 / (BATCH * MICROBATCHES)))
        else:
            sends.append((WORLD.Isend(y, RANK + 1), y))
    for i in range(MICROBATCHES):
        dy = gradients[i] if LAST else receive(RANK + 1)
        for layer in reversed(layers):
            dy = layer.backward(dy)
        if not FIRST:
            sends.append((WORLD.Isend(dy, RANK - 1), dy))
    MPI.Request.Waitall([request for request, _ in sends])
    for layer in layers:
        layer.update(rate)
    return loss


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    settings = WORLD.bcast({"steps": steps, "rate": np.float32(0.1), "seed": 1} if FIRST else None)
    random = np.random.default_rng(settings["seed"])  # the same data on every rank
    teacher = [Layer(random) for _ in range(2)]
    layers = [Layer(np.random.default_rng(settings["seed"] + 100 * RANK + i + 1))
              for i in range(2)]
    for i in range(settings["steps"]):
        inputs = random.standard_normal((MICROBATCHES, BATCH, WIDTH)).astype(np.float32)
        targets = []
        for x in inputs:
            for layer in teacher:
                x = layer.forward(x)
                layer.seen.clear()
            targets.append(x)
        loss = step(layers, inputs, targets, settings["rate"])
        loss = WORLD.bcast(loss, SIZE - 1)
        if FIRST and (i % 10 == 0 or i == settings["steps"] - 1):
            print(f"step {i} loss {loss:.5f}", flush=True)


main()
