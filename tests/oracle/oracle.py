"""Holds the library against the independent decoder; prints TAP.

oracle.py SOURCE FRESH: SOURCE is the top of the source tree (golden frames), FRESH a program that
writes random frames and what the library decodes them to into a directory.
"""
import os
import subprocess
import sys
import tempfile

from decoder import Reject, decode

KEY = b'tahmpi golden k1'


def read(*path):
    with open(os.path.join(*path), 'rb') as file:
        return file.read()


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def case(self, passed, name, note=''):
        self.count += 1
        self.failed += not passed
        print('%sok %d - %s' % ('' if passed else 'not ', self.count, name))
        if note:
            print('# ' + note)

    def decodes(self, folder, name):
        """The frame NAME.frame decodes to NAME.tensor, bit for bit."""
        expected, note = read(folder, name + '.tensor'), ''
        try:
            got = decode(read(folder, name + '.frame'), KEY)
        except Reject as reject:
            got, note = None, 'rejected: ' + reject.name
        self.case(got == expected, name, note)

    def rejects(self, folder, name, error):
        try:
            decode(read(folder, name + '.frame'), KEY)
            got = 'accepted'
        except Reject as reject:
            got = reject.name
        self.case(got == error, 'bad: ' + name, '' if got == error else got)


def names(folder):
    return sorted(file[:-len('.frame')] for file in os.listdir(folder) if file.endswith('.frame'))


def main():
    source, fresh = sys.argv[1:]
    tap = Tap()
    golden, bad = (os.path.join(source, 'tests', part) for part in ('golden', 'golden-bad'))
    for name in names(golden):
        tap.decodes(golden, name)
    expected = dict(line.split() for line in read(bad, 'expected.txt').decode().splitlines())
    tap.case(sorted(expected) == names(bad), 'every bad frame has its error')
    for name, error in sorted(expected.items()):
        tap.rejects(bad, name, error)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([fresh, folder], check=True)
        for name in names(folder):
            tap.decodes(folder, name)
    print('1..%d' % tap.count)
    return 1 if tap.failed else 0


if __name__ == '__main__':
    sys.exit(main())
