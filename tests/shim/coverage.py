"""The calls of the configured MPI against shim/mpi_calls.def and tests/shim/passthrough.txt."""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ["TAH_SOURCE"]
LIBRARY = os.environ["TAH_LIB"]
MPICC = os.environ["MPICC"]
# What a preloaded library may bring into every process; sanitizers' own libraries in such builds.
NEEDED = re.compile(r"lib(c|m|dl|pthread|hwloc|asan|ubsan|tsan)\.so\.|ld-linux")

TABLE = """
#include "shim/mpi_header.h"
#define EACH(kind, name, ...) TABLE_ROW name
#include "shim/calls_each.h"
"""


def output(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def preprocess(text):
    return output(MPICC, "-E", "-P", "-I", SOURCE, "-xc", "-", text=text)


def declared(header):
    """Names of the MPI functions that preprocessed C declares: followed by (, outside any others."""
    names, depth = set(), 0
    for token in re.finditer(r"[(){}]|[A-Za-z_]\w*", header):
        word = token.group()
        if word in "({":
            depth += 1
        elif word in ")}":
            depth -= 1
        elif depth == 0 and re.match(r"MPIX?_", word) and header[token.end():].lstrip()[:1] == "(":
            names.add(word)
    # The cast in a macro's value, not a function.
    return names - {"MPI_Aint"}


def symbols(library, *options):
    lines = output("nm", "-D", *options, library).splitlines()
    return [line.split()[-1].split("@")[0] for line in lines]


def mpi_library():
    """The MPI library that programs load."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        subprocess.run([MPICC, "-xc", "-", "-o", program], text=True, check=True,
                       input="#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }")
        return re.search(r"libmpi(?:ch)?\.so\S* => (\S+)", output("ldd", program)).group(1)


def exported(library):
    """Functions only: MPI_UNWEIGHTED and the like are data."""
    return set(re.findall(r" [TW] (MPIX?_[A-Z]\w*)$", output("nm", "-D", library), re.MULTILINE))


def passthrough():
    """(name or pattern, reason) of each line."""
    with open(os.path.join(SOURCE, "tests/shim/passthrough.txt"), encoding="ascii") as lines:
        return [line.strip().partition(" ")[::2] for line in lines
                if line.strip() and not line.startswith("#")]


def listed(name, patterns):
    return any(name == p or (p.endswith("*") and name.startswith(p[:-1])) for p in patterns)


def unknown(calls, table, patterns):
    return sorted(name for name in calls if name not in table and not listed(name, patterns))


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def case(self, title, wrong, what):
        self.count += 1
        self.failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {self.count} - {title}")
        for name in wrong:
            print(f"#   {name}: {what}")

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def main():
    tap = Tap()
    table = set(re.findall(r"TABLE_ROW (\w+)", preprocess(TABLE)))
    lines = passthrough()
    patterns = [pattern for pattern, _ in lines]

    calls = declared(preprocess("#include <mpi.h>\n"))
    tap.case("mpi.h is read", [] if len(calls) > 300 and "MPI_Send" in calls else ["mpi.h"],
             f"only {len(calls)} calls found")
    tap.case("every call that mpi.h declares is taken, or listed as safe to pass through",
             unknown(calls, table, patterns), "in neither shim/mpi_calls.def nor passthrough.txt")
    tap.case("so is every call that the MPI library exports",
             unknown(exported(mpi_library()), table, patterns),
             "in neither shim/mpi_calls.def nor passthrough.txt")
    new = declared("int MPI_Recv(void *buf, int n); extern int MPI_Recv_later(void (*f)(int)) ;")
    tap.case("a call that is new would be found",
             [] if unknown(new, table, patterns) == ["MPI_Recv_later"] else ["MPI_Recv_later"],
             "not found")
    tap.case("what is listed as safe has a reason, once",
             [p for p, reason in lines if not reason.strip() or patterns.count(p) > 1],
             "no reason, or listed twice")
    tap.case("no call is both taken and listed by name",
             [p for p in patterns if p in table], "in the table too")
    families = [p for p in patterns if p.endswith("*") and
                re.match(r"MPIX?_(I?[BSR]?send|I?m?recv|I?m?probe|Wait|Test|Start|Request|Cancel)",
                         p, re.IGNORECASE)]
    tap.case("no family of point-to-point or completion calls is listed", families, "too wide")

    mine = set(symbols(LIBRARY, "--defined-only"))
    wanted = table | {"P" + name for name in table}
    tap.case("the library exports the table by both names", sorted(wanted - mine), "not exported")
    tap.case("and nothing else", sorted(mine - wanted), "exported")
    tap.case("no symbol of MPI is left undefined",
             [s for s in symbols(LIBRARY, "--undefined-only") if re.match(r"P?MPIX?_|ompi_|mpi_", s)],
             "undefined")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", LIBRARY))
    tap.case("it needs nothing but libc, libm and hwloc",
             [name for name in needed if not NEEDED.match(name)], "needed")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
