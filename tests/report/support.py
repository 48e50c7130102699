"""A folder of results made by hand, for tests of what is computed from one."""
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "reproduce"))

from measures import Results  # noqa: E402
from records import Records, checksum  # noqa: E402

# The smallest PNG: one black pixel.
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c636000000002000148afa471"
                    "0000000049454e44ae426082")


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(os.path.join(self.folder, "stages"))

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def put(self, stage, name, line, files, quick=False):
        """A command on record: files by their endings."""
        os.makedirs(self.path(stage), exist_ok=True)
        sums = {}
        for ending, content in files.items():
            with open(self.path(stage, name + ending), "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
            sums[name + ending] = checksum(self.path(stage, name + ending))
        records = Records(self.folder)
        records.write(stage, records.read(stage) + [
            {"line": line, "name": name, "quick": quick, "version": "1", "commit": "", "threads": 1, "machine": "a <machine>",
             "date": "2020-01-01 00:00", "seconds": 1.5, "failed": "", "files": sums}])

    def put_losses(self, stage, recipe, losses, medians=False, steps=100):
        """losses: {optimizer: [loss of each seed at the last step, or None for a run that diverged before]}."""
        rows = ["recipe,optimizer,seed,step,train_loss,eval_loss,grad_norm,clipped,learning_rate"]
        median_rows = ["recipe,optimizer,seed,step,median_error"]
        for k, values in losses.items():
            for seed, loss in enumerate(values):
                for step in [0, 50] + ([steps] if loss is not None else []):
                    value = loss if step == steps else 7.0
                    rows.append("%s,%s,%d,%d,1,%r,1,0,0.02" % (recipe, k, seed, step, value))
                    median_rows.append("%s,%s,%d,%d,%r" % (recipe, k, seed, step, value))
        files = {".csv": "\n".join(rows) + "\n", ".txt": "printed <&>\n", ".png": PNG}
        if medians:
            files["_medians.csv"] = "\n".join(median_rows) + "\n"
        self.put(stage, "adam_vs_sgd_" + recipe, "adam_vs_sgd --recipe %s --steps %d" % (recipe, steps), files)

    def put_noise(self, stage, recipe, pairs, distance=0.1):
        """pairs: (excess kurtosis, the surrogate's) of each seed."""
        rows = ["recipe,seed,mean,sd,skewness,excess_kurtosis,sixth_dominated,surrogate_mean,surrogate_sd,surrogate_skewness,"
                "surrogate_excess_kurtosis,ks_distance,ks_p"]
        rows += ["%s,%d,2,1,0.5,%r,0,2,1,0.1,%r,%r,0.005" % (recipe, seed, a, b, distance) for seed, (a, b) in enumerate(pairs)]
        self.put(stage, "gradient_error_" + recipe, "gradient_error --recipe " + recipe, {"_summary.csv": "\n".join(rows) + "\n"})

    def results(self):
        return Results(self.folder)
