"""Stages run once, go on after a kill, and say what is wrong in one line. The programs are fakes that keep count."""
import os
import signal
import subprocess
import sys
import time

from support import Folder

HERE = os.path.dirname(os.path.abspath(__file__))
# Counts its run in "count", waits where it is told to, and writes its file as the real programs do.
FAKE = r"""#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in --recipe) recipe=$2 ;; --out) out=$2 ;; esac
    shift
done
echo $$ >"${0%/*}/pid"
echo "$recipe" >>"${0%/*}/count"
[ -e "${0%/*}/slow_$recipe" ] && exec sleep 60
[ -e "${0%/*}/bad_$recipe" ] && { echo "fake: $recipe is bad" >&2; exit 3; }
echo "said $recipe"
echo a,b >"$out/fake_$recipe.csv"
"""
DRIVER = """
import resource, sys
sys.path[:0] = [%r]
import support, run
from stages import Row, Stage
most = @
if most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
rows = [Row("fake", "a b", "fake_{}", "", "--full", "--quick")], [Row("fake", "c", "fake_{}", "", "--full", "--quick")]
sys.exit(run.main(sys.argv[1:], [Stage("S1", "one", rows[0], ""), Stage("S2", "two", rows[1], "")]))
""" % HERE


class Running(Folder):
    def setUp(self):
        super().setUp()
        self.out = self.path("out")
        with open(self.path("fake"), "w") as file:
            file.write(FAKE)
        os.chmod(self.path("fake"), 0o755)

    def start(self, *options, limit=0, out=None, **more):
        driver = DRIVER.replace("@", str(limit))
        words = [sys.executable, "-B", "-c", driver, "--programs", self.folder, "--out", out or self.out, "--threads", "1"]
        return subprocess.Popen(words + list(options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def run_it(self, *options, status=0, **more):
        """What it complained of."""
        child = self.start(*options, **more)
        printed, complaints = (text.decode() for text in child.communicate())
        self.assertEqual(child.returncode, status, printed + complaints)
        return complaints

    def counted(self):
        try:
            with open(self.path("count")) as file:
                return "".join(sorted(file.read().split()))
        except FileNotFoundError:
            return ""

    def touch(self, name):
        open(self.path(name), "w").close()

    def one_line(self, complaints, text):
        self.assertEqual(complaints.count("\n"), 1, complaints)
        self.assertIn(text, complaints)

    def wait_for(self, count):
        for _ in range(400):
            if self.counted() == count:
                return
            time.sleep(0.05)
        self.fail("the fake was not started: " + self.counted())

    def test_once(self):
        self.assertEqual(self.run_it("--stages", "S1"), "")
        self.assertEqual(self.counted(), "ab")
        self.run_it()
        self.run_it()
        self.assertEqual(self.counted(), "abc")
        self.run_it("--stages", "report")
        self.assertEqual(self.counted(), "abc")
        self.run_it("--quick")
        self.assertEqual(self.counted(), "aabbcc")
        self.run_it("--quick", "--version", "9")
        self.assertEqual(self.counted(), "aaabbbccc")
        with open(os.path.join(self.out, "S1", "fake_b.csv"), "a") as file:
            file.write("more\n")
        os.unlink(os.path.join(self.out, "S2", "fake_c.csv"))
        self.run_it("--quick", "--version", "9")
        self.assertEqual(self.counted(), "aaabbbbcccc")

    def test_kill(self):
        """Killed in its second command: that one runs again, the first does not."""
        self.touch("slow_b")
        child = self.start(start_new_session=True)
        self.wait_for("ab")
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        os.unlink(self.path("slow_b"))
        for half in ("S1", "stages"):
            open(os.path.join(self.out, half, "x.1.part"), "w").close()
        self.run_it()
        left = [name for half in ("S1", "stages") for name in os.listdir(os.path.join(self.out, half))]
        self.assertEqual([name for name in left if ".part" in name], [])
        self.assertEqual(self.counted(), "abbc")

    def test_kill_alone(self):
        """Killed without its children: they end too."""
        self.touch("slow_a")
        child = self.start()
        self.wait_for("a")
        child.kill()
        child.communicate()
        with open(self.path("pid")) as file:
            pid = int(file.read())
        for _ in range(100):
            try:
                with open("/proc/%d/stat" % pid) as file:
                    gone = file.read().rsplit(")", 1)[1].split()[0] == "Z"  # one that nobody has waited for is no longer at work
            except FileNotFoundError:
                gone = True
            if gone:
                return
            time.sleep(0.05)
        self.fail("the program goes on")

    def test_interrupt(self):
        self.touch("slow_c")
        child = self.start(start_new_session=True)
        self.wait_for("abc")
        os.killpg(child.pid, signal.SIGINT)
        complaints = child.communicate()[1].decode()
        self.assertEqual(child.returncode, 130)
        self.one_line(complaints, "the next run goes on from here")

    def test_two_at_once(self):
        self.touch("slow_a")
        child = self.start(start_new_session=True)
        self.wait_for("a")
        self.one_line(self.run_it(status=1), "another")
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()

    def test_failure(self):
        """The others go on, the page says so, and only what failed runs again."""
        self.touch("bad_a")
        complaints = self.run_it(status=1)
        self.assertIn("fake: a is bad\n", complaints)
        self.assertIn("reproduce: S1: fake --recipe a --full ended with status 3\n", complaints)
        self.assertEqual(self.counted(), "abc")
        with open(os.path.join(self.out, "report.html"), encoding="utf-8") as file:
            self.assertIn("ended with status 3", file.read())
        os.unlink(self.path("bad_a"))
        self.run_it()
        self.assertEqual(self.counted(), "aabc")

    def test_bad_input(self):
        self.one_line(self.run_it("--stages", "S1 S3", status=2), 'unknown stage "S3"; allowed: S1 S2 report')
        self.one_line(self.run_it(status=1, out=self.path("no", "such")), "its parent does not exist")
        self.one_line(self.run_it(status=1, out=self.path("fake")), "is not a folder")
        self.assertEqual(self.counted(), "")
        self.assertFalse(os.path.exists(self.out))

    def test_disk_full(self):
        """It ends the run before a program starts; what was there stays."""
        self.run_it("--stages", "S1")
        with open(os.path.join(self.out, "stages", "S1.json"), "rb") as file:
            before = file.read()
        self.one_line(self.run_it("--quick", status=1, limit=100), "cannot write")
        self.assertEqual(self.counted(), "ab")
        with open(os.path.join(self.out, "stages", "S1.json"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual([name for name in os.listdir(os.path.join(self.out, "stages")) if name.endswith(".part")], [])
