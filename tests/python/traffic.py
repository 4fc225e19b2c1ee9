"""An mpi4py program: arrays by their buffers, and pickled objects, by every kind of call.

What can be observed is written to $MT_OUT/python.RANK, as the C test programs do. Values are in
steps of 1/4, so that they shrink under a lossless codec.
"""
import os
import sys

import numpy as np
from mpi4py import MPI

try:
    from mpi4py.util import pkl5
except ImportError:  # mpi4py before 3.1
    pkl5 = None

WORLD = MPI.COMM_WORLD
RANK, SIZE = WORLD.rank, WORLD.size
LEFT, RIGHT = (RANK - 1) % SIZE, (RANK + 1) % SIZE
N = 6000


def values(seed, dtype=np.float32, n=N):
    return ((7 * np.arange(n) + 13 * seed) % 64 - 32).astype(dtype) / 4


def bfloat16(array):
    """The bytes of an array as bfloat16 values, as trainers send them."""
    return (array.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)


def from_bfloat16(data):
    return (data.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


class Notes:
    def __init__(self):
        self.file = open(os.path.join(os.environ["MT_OUT"], f"python.{RANK}"), "w")

    def say(self, *words):
        print(*words, file=self.file)

    def check(self, label, got, wanted):
        if np.array_equal(got, wanted):
            self.say("data", label, "exact")
        elif got.shape == wanted.shape and got.dtype == wanted.dtype:
            off = (got - wanted).astype(np.float64)
            self.say("data", label, "off", np.sqrt(np.mean(off**2) / np.mean(wanted**2)),
                     np.abs(off).max() / np.abs(wanted).max())
        else:
            self.say("data", label, "WRONG")

    def object(self, label, got, seed):
        same = (isinstance(got, dict) and got["step"] == seed and
                np.array_equal(got["activation"], values(seed)) and
                got["text"] == "token " * 2000)
        self.say("object", label, "exact" if same else "WRONG")

    def status(self, label, status, datatype):
        self.say("status", label, status.Get_source(), status.Get_tag(),
                 status.Get_count(datatype), status.Get_elements(datatype))


def thing(seed):
    return {"step": seed, "activation": values(seed), "text": "token " * 2000}


def buffers(notes):
    out, got, status = values(RANK), np.empty(N, np.float32), MPI.Status()
    WORLD.Sendrecv(out, RIGHT, 1, got, LEFT, 1, status)
    notes.check("Sendrecv", got, values(LEFT))
    notes.status("Sendrecv", status, MPI.FLOAT)

    got[:] = -1
    requests = [WORLD.Irecv(got, LEFT, 2), WORLD.Isend(out, RIGHT, 2)]
    statuses = [MPI.Status(), MPI.Status()]
    MPI.Request.Waitall(requests, statuses)
    notes.check("Waitall", got, values(LEFT))
    notes.status("Waitall", statuses[0], MPI.FLOAT)

    request = WORLD.Isend(out, RIGHT, 3)
    WORLD.Probe(MPI.ANY_SOURCE, MPI.ANY_TAG, status)
    notes.status("Probe", status, MPI.FLOAT)
    WORLD.Recv(got, status.Get_source(), status.Get_tag())
    notes.check("Probe", got, values(LEFT))
    request.Wait()

    request = WORLD.Isend(out, RIGHT, 4)
    message = WORLD.Mprobe(LEFT, 4, status)
    notes.status("Mprobe", status, MPI.FLOAT)
    message.Recv(got, status)
    notes.check("Mprobe", got, values(LEFT))
    request.Wait()

    twice, doubles = values(RANK, np.float64), np.empty(N)
    WORLD.Sendrecv(twice, RIGHT, 5, doubles, LEFT, 5, status)
    notes.check("doubles", doubles, values(LEFT, np.float64))

    send, receive = WORLD.Send_init(out, RIGHT, 6), WORLD.Recv_init(got, LEFT, 6)
    for step in range(3):
        out[:] = values(RANK + step)
        MPI.Prequest.Startall([receive, send])
        while not MPI.Request.Testall([receive, send]):
            pass
        notes.check("persistent", got, values(LEFT + step))
    send.Free()
    receive.Free()

    half = WORLD.Split(RANK % 2, -RANK)
    half.Sendrecv(out, half.rank, 7, got, half.rank, 7)
    notes.check("Split", got, out)
    half.Free()

    raw = np.empty(2 * N, np.uint8)
    WORLD.Sendrecv([bfloat16(values(RANK)), MPI.BYTE], RIGHT, 8, [raw, MPI.BYTE], LEFT, 8, status)
    notes.check("bfloat16", from_bfloat16(raw), values(LEFT))
    notes.status("bfloat16", status, MPI.BYTE)


def objects(notes):
    status = MPI.Status()
    request = WORLD.isend(thing(RANK), RIGHT, 1)
    notes.object("recv", WORLD.recv(None, MPI.ANY_SOURCE, MPI.ANY_TAG, status), LEFT)
    notes.say("from", status.Get_source(), status.Get_tag())
    request.wait()
    notes.object("sendrecv", WORLD.sendrecv(thing(RANK), RIGHT, 2, None, LEFT, 2), LEFT)
    request = WORLD.irecv(bytearray(1 << 20), LEFT, 3)
    WORLD.send(thing(RANK), RIGHT, 3)
    notes.object("irecv", request.wait(), LEFT)
    request = WORLD.isend(thing(RANK), RIGHT, 4)
    notes.object("mprobe", WORLD.mprobe(LEFT, 4).recv(), LEFT)
    request.wait()
    request = WORLD.issend(thing(RANK), RIGHT, 5)
    message = None
    while message is None:
        message = WORLD.improbe(LEFT, 5)
    notes.object("improbe", message.irecv().wait(), LEFT)
    request.wait()
    for got in WORLD.allgather(thing(RANK)):
        notes.object("allgather", got, got["step"])


def objects_out_of_band(notes):
    """Protocol 5: the arrays of an object as messages of their own."""
    world = pkl5.Intracomm(WORLD)
    request = world.isend(thing(RANK), RIGHT, 1)
    notes.object("pkl5 recv", world.recv(None, LEFT, 1), LEFT)
    request.wait()
    request = world.isend(thing(RANK), RIGHT, 2)
    notes.object("pkl5 mprobe", world.mprobe(LEFT, 2).recv(), LEFT)
    request.wait()
    notes.object("pkl5 sendrecv", world.sendrecv(thing(RANK), RIGHT, 3, None, LEFT, 3), LEFT)


def main():
    notes = Notes()
    buffers(notes)
    objects(notes)
    if pkl5 is not None and "in-band" not in sys.argv:
        objects_out_of_band(notes)
    notes.file.close()


main()
