"""Verdicts from CSV files whose answers are known."""
import math
import unittest

from support import Folder
import claims
import estimates
import measures


def item(low, high, above=1):
    return claims.Item("", estimates.Estimate((low + high) / 2, low, high, 3), above, "")


class Rule(unittest.TestCase):
    def test_rule(self):
        missing = claims.Item("", estimates.NONE, 1, "")
        single = claims.Item("", estimates.Estimate(9, math.nan, math.nan, 1), 1, "")
        for items, wanted in (([], "not run"), ([missing], "not run"), ([item(1.1, 2)], "reproduces"),
                              ([item(1.1, 2), missing], "reproduces"), ([item(1, 2)], "undecided"),
                              ([item(1, 2), item(0.5, 0.9)], "does not reproduce"),
                              ([item(0.5, 0.9)], "does not reproduce"), ([item(1.1, 2), item(0.9, 2)], "partly"),
                              ([single], "undecided"), ([item(0.1, 0.2, 0)], "reproduces")):
            self.assertEqual(claims.verdict(items), wanted)

    def test_ahead(self):
        self.assertEqual([claims.ahead(item(*ends)) for ends in ((1.1, 2), (0.5, 0.9), (0.5, 2))],
                         ["Adam ahead", "SGD ahead", "undecided"])


class Leads(Folder):
    def test_ratio(self):
        """Ratios 2, 4, 8: their geometric mean is 4, the logs' standard error ln 2 / sqrt(3)."""
        self.put_losses("F2a", "setting1", {"SGD": [2, 8, 8], "Adam": [1, 2, 1]})
        first = claims.beats(self.results())[0]
        self.assertAlmostEqual(first.estimate.middle, 4)
        t = 0.95 * math.sqrt(2 / (4 * 0.975 * 0.025))
        self.assertAlmostEqual(first.estimate.high, 4 * math.exp(t * math.log(2) / math.sqrt(3)))
        self.assertEqual(first.estimate.count, 3)

    def test_verdicts(self):
        self.assertEqual(claims.verdict(claims.beats(self.results())), "not run")
        ahead, behind = {"SGD": [2, 2.1, 2.2], "Adam": [1, 1, 1]}, {"SGD": [1, 1, 1], "Adam": [2, 2.1, 2.2]}
        self.put_losses("F2a", "setting1", ahead)
        self.assertEqual(claims.verdict(claims.beats(self.results())), "reproduces")
        self.put_losses("F2a", "setting2", ahead, medians=True)
        self.put_losses("F2a", "setting3", behind, medians=True)
        self.assertEqual(claims.verdict(claims.beats(self.results())), "partly")

    def test_medians_judge_heavy_tails(self):
        """Without a file of medians, setting 3 has no number: its mean is none."""
        self.put_losses("F2a", "setting3", {"SGD": [2, 2], "Adam": [1, 1]})
        self.assertEqual(claims.beats(self.results())[2].estimate.count, 0)

    def test_diverged(self):
        """A run that ends early is counted and left out, with its partner."""
        self.put_losses("F2a", "setting1", {"SGD": [3, None, 3, None], "Adam": [1, 1, 1, None]})
        found = measures.lead(self.results(), "F2a", "adam_vs_sgd_setting1")
        self.assertEqual(len(found.logs), 2)
        self.assertEqual(found.diverged, {"SGD": 2, "Adam": 1})
        self.assertIn("3 runs diverged", claims.beats(self.results())[0].note)

    def test_depth(self):
        """Adam's lead e^(L/2): a layer more makes it e^(1/2) times as large."""
        for depth in (2, 4, 6, 8):
            self.put_losses("F8", "depth%d" % depth, {"SGD": [math.exp(depth / 2)] * 2, "Adam": [1, 1]})
        self.assertAlmostEqual(claims.deeper(self.results())[0].estimate.middle, math.exp(0.5))

    def test_heavier(self):
        """Leads 6 (setting 3) and 2 (sphere): a factor of 3."""
        self.put_losses("F2a", "setting3", {"SGD": [6, 6.6, 5.4545454545], "Adam": [1, 1, 1]}, medians=True)
        self.put_losses("F7", "sphere", {"SGD": [2, 2.2, 1.8181818182], "Adam": [1, 1, 1]})
        first = claims.heavier(self.results())[0]
        self.assertAlmostEqual(first.estimate.middle, 3, places=8)
        self.assertTrue(claims.holds(first))


class Others(Folder):
    def test_noise(self):
        """Heavier at all of six initialisations holds, at all of three does not yet."""
        self.put_noise("F2b", "setting1", [(1.0, 0.1)] * 6)
        self.put_noise("F2b", "setting2", [(1.0, 0.1)] * 3)
        found = claims.heavy_noise(self.results())
        self.assertEqual([claims.holds(one) for one in found], [True, False, False])

    def test_condition(self):
        head = ("recipe,step,numbers,seeds,mean,sd,geometric_mean,low,high,wide_low,wide_high,above,above_low,above_high,"
                "one_batch_mean,one_batch_sd\n")
        self.put("T2c", "condition_number_setting1", "condition_number", {"_summary.csv": head +
                 "setting1,750,diagonal,100,2,1,2,1.5,2.5,0.9,4,1,0.9,1,2,1\nsetting1,750,eigenvalues,100,2,1,2,1.5,2.5,nan,nan,1,"
                 "0.9,1,2,1\n"})
        wide, narrow = (claims.condition(kind)(self.results())[0] for kind in ("diagonal", "eigenvalues"))
        self.assertEqual((wide.estimate.low, narrow.estimate.low), (0.9, 1.5))  # batches count where there are several

    def test_smoothness(self):
        """Medians of the second half: 8 and 2, whatever was before; a step downwards is counted."""
        rows = ["recipe,optimizer,seed,step,smoothness,gradient_ratio,gradient_norm,zero_step"]
        for seed in range(3):
            for k, values in (("SGD", [900, 8, -1, 9]), ("Adam", [500, 2, 1, 3])):
                rows += ["s,%s,%d,%d,%r,1,1,0" % (k, seed, step, x) for step, x in zip((0, 50, 75, 100), values)]
        self.put("F2d", "directional_smoothness_setting1", "directional_smoothness --steps 100", {".csv": "\n".join(rows) + "\n"})
        values, logs, negatives = measures.smoothness(self.results(), "F2d", "directional_smoothness_setting1")
        self.assertEqual(values, {"SGD": [8] * 3, "Adam": [2] * 3})
        self.assertAlmostEqual(logs[0], math.log(4))
        self.assertEqual(negatives, {"SGD": [3, 9], "Adam": [0, 9]})
