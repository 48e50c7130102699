#!/usr/bin/env python3
"""run.py: every figure and table into a folder, stage by stage, ending with report.html. Run by `make reproduce`.

    run.py --programs FOLDER [--out FOLDER] [--threads N] [--library FILE] [--version V] [--quick] [--stages "F2a T2c"]

Ends with 0; 1 when something failed or a file is damaged, 2 for wrong options, 130 when interrupted: always with one line that says
so. The next run goes on where this one ended."""
import argparse
import ctypes
import os
import platform
import subprocess
import sys

import page
from records import write_whole
from running import Runner, Trouble, run
from stages import STAGES


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def library_facts(path):
    """Kernel, BLAS and compiler as the shared library tells them; nothing where it cannot be asked."""
    try:
        library = ctypes.CDLL(path)
        library.linattn_build_info.restype = library.linattn_kernel_name.restype = ctypes.c_char_p
        blas = ctypes.create_string_buffer(128)
        library.linattn_blas_info(blas)
        kernel = next(k for k in (3, 2, 1) if library.linattn_kernel_available(k) == 1)
        return ["kernel " + library.linattn_kernel_name(kernel).decode(), blas.value.decode(),
                library.linattn_build_info().decode()]
    except (OSError, AttributeError, StopIteration):
        return []


def machine(library):
    return "; ".join(["%s, %d processors" % (processor(), os.cpu_count() or 1)] + library_facts(library))


def commit():
    """Of the tree this program lies in; empty outside one."""
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        found = subprocess.run(["git", "-C", here, "describe", "--always", "--dirty", "--exclude", "*"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, check=True)
        return found.stdout.decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def read_options(words):
    parser = argparse.ArgumentParser(description="Runs the study's stages and makes its page.")
    parser.add_argument("--programs", required=True, help="folder of the programs")
    parser.add_argument("--out", default="out", help="folder for the results (out)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="runs at a time (one a processor)")
    parser.add_argument("--library", default="", help="the shared library, asked for kernel and BLAS")
    parser.add_argument("--version", default="unknown", help="version of the library")
    parser.add_argument("--quick", action="store_true", help="short runs that prove nothing")
    parser.add_argument("--stages", default="", help='some stages alone, such as "F2a T2c"; report: the page alone')
    return parser.parse_args(words)


def main(words=None, table=None):
    options = read_options(words)
    table = STAGES if table is None else table
    names = options.stages.split()
    runner = Runner(options.programs, options.out, options.threads, options.version, machine(options.library), commit(), say)
    try:
        run(runner, names, options.quick, table)
        text, damage = page.make(options.out, table, options.version)
        path = os.path.join(options.out, "report.html")
        try:
            write_whole(path, text)
        except OSError as error:
            raise Trouble('cannot write "%s": %s' % (path, error.strerror)) from None
    except Trouble as trouble:
        print("reproduce: %s" % trouble, file=sys.stderr)
        return trouble.status
    except KeyboardInterrupt:
        print("reproduce: interrupted; the next run goes on from here", file=sys.stderr)
        return 130
    for line in damage + runner.failures:
        print("reproduce: %s" % line, file=sys.stderr)
    say("The page: %s" % path)
    return 1 if damage or runner.failures else 0


def say(text, end="\n"):
    print(text, end=end, flush=True)


if __name__ == "__main__":
    sys.exit(main())
