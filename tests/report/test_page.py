"""The page is well-formed and whole, whatever has run; damage is told."""
import html.parser
import os
import unittest

from support import Folder
import page
from stages import STAGES, choose, commands

VOID = {"meta", "img", "br", "link", "hr", "input"}


class Checker(html.parser.HTMLParser):
    """Balanced tags; what is loaded; anchors."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.ids, self.links, self.images = [], [], [], [], []
        self.feed(text)
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"][1:]] if attrs.get("href", "").startswith("#") else []
        self.images += [attrs["src"]] if "src" in attrs else []
        if tag in ("script", "link", "iframe"):
            self.wrong.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class Pages(Folder):
    def check(self):
        text, damage = page.make(self.folder, STAGES, "1")
        checker = Checker(text)
        self.assertEqual(checker.wrong, [])
        self.assertEqual(len(checker.ids), len(set(checker.ids)))
        self.assertEqual(set(checker.links) - set(checker.ids), set())
        self.assertTrue(all(image.startswith("data:image/png;base64,") for image in checker.images))
        return text, damage, checker

    def test_nothing_has_run(self):
        text, damage, checker = self.check()
        self.assertEqual((damage, checker.images), ([], []))
        self.assertNotIn("Quick run", text)
        self.assertEqual(text.count("not run</span>") > 10, True)

    def test_some_has_run(self):
        for recipe in ("setting1", "setting2", "setting3"):
            self.put_losses("F2a", recipe, {"SGD": [2, 2.1, 2.2], "Adam": [1, 1, None]}, medians=recipe != "setting1")
            self.put_noise("F2b", recipe, [(1.0, 0.1)] * 6)
        text, damage, checker = self.check()
        self.assertEqual((damage, len(checker.images)), ([], 3))
        self.assertIn("a &lt;machine&gt;", text)
        self.assertIn("printed &lt;&amp;&gt;", text)

    def test_quick_is_told(self):
        self.put("F6", "generalized_smoothness_setting1", "x", {".txt": "x"}, quick=True)
        self.assertIn("Quick run", self.check()[0])

    def test_damaged(self):
        """A file that was cut, one that is gone, a record that is no JSON: a line for each, and a page."""
        for recipe in ("setting1", "setting2"):
            self.put_losses("F2a", recipe, {"SGD": [2, 2], "Adam": [1, 1]}, medians=True)
        self.put_noise("F2b", "setting1", [(1.0, 0.1)] * 6)
        with open(self.path("F2a", "adam_vs_sgd_setting1.csv"), "r+") as file:
            file.truncate(100)
        os.unlink(self.path("F2a", "adam_vs_sgd_setting2.csv"))
        with open(self.path("stages", "F2b.json"), "r+") as file:
            file.truncate(50)
        text, damage, _ = self.check()
        self.assertEqual(len(damage), 3)
        for name in ("adam_vs_sgd_setting1.csv", "adam_vs_sgd_setting2.csv", "F2b.json"):
            self.assertEqual(sum(name in line and "\n" not in line for line in damage), 1, name)


class Table(unittest.TestCase):
    def test_names(self):
        """Files of a stage are told apart by their commands; quick and full commands differ."""
        for stage in STAGES:
            full, quick = commands(stage, False), commands(stage, True)
            self.assertEqual(len({command.name for command in full}), len(full))
            self.assertTrue({command.name for command in quick} <= {command.name for command in full})
            self.assertFalse({tuple(c.arguments) for c in full} & {tuple(c.arguments) for c in quick if c.program != "x"})

    def test_choose(self):
        self.assertEqual([stage.id for stage in choose(["T2c", "F2a"], STAGES)], ["F2a", "T2c"])
        self.assertEqual(choose(["report"], STAGES), [])
        self.assertEqual([stage for stage in STAGES if stage not in choose([], STAGES)], choose(["tune"], STAGES))
        self.assertRaises(ValueError, choose, ["F2a", "F3"], STAGES)
