"""out/report.html: one page that needs nothing beside it. First a verdict for each claim, then every figure beside its claim."""
import base64
import html
import time

import claims
import estimates
import prompt
from figures import FIGURES
from measures import Results
from stages import commands

SOURCE = "https://arxiv.org/abs/2310.01082"
STYLE = """
:root { color: #222; background: #fff; font: 16px/1.5 system-ui, -apple-system, Roboto, "DejaVu Sans", sans-serif; }
body { max-width: 1080px; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid #ddd; }
h3 { font-size: 1.1rem; margin: 0 0 .3rem; }
p { margin: .4rem 0; }
a { color: #1a5490; }
.small, .facts, figcaption { font-size: .85rem; color: #555; }
.notice { border: 1px solid #b58900; background: #fdf6e3; padding: .5rem .8rem; border-radius: 4px; margin: .8rem 0; }
.claim, .figure { border: 1px solid #ddd; border-radius: 6px; padding: .8rem 1rem; margin: .8rem 0; }
.figure { margin: 1.5rem 0; }
.badge { display: inline-block; border-radius: 3px; padding: 0 .5em; font-size: .85rem; font-weight: 600; white-space: nowrap;
         border: 1px solid; }
.yes { color: #14602a; background: #e7f5ea; } .partly { color: #7a5200; background: #fff4d6; }
.no { color: #8f1d14; background: #fdeceb; } .none { color: #555; background: #f2f2f2; }
ul.items { margin: .3rem 0; padding-left: 1.2rem; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr)); gap: .6rem; }
.pictures.rows { grid-template-columns: minmax(0, 1fr); } .pictures.one { max-width: 640px; }
.pictures img { max-width: 100%; height: auto; display: block; }
.pictures img.panels { min-width: 800px; }
.pictures figure { margin: 0; min-width: 0; }
.scroll { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .85rem; }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #e4e4e4; vertical-align: top; }
th { border-bottom: 2px solid #999; } td { font-variant-numeric: tabular-nums; white-space: nowrap; }
td.long { white-space: normal; min-width: 16rem; }
code { font-size: .8rem; overflow-wrap: anywhere; }
pre { font-size: .75rem; overflow-x: auto; background: #f7f7f7; padding: .5rem; }
details { margin: .3rem 0; } summary { cursor: pointer; font-size: .9rem; }
"""
BADGES = {"reproduces": "yes", "partly": "partly", "does not reproduce": "no", "not run": "none", "Adam ahead": "yes",
          "SGD ahead": "no", "undecided": "partly"}


def escape(text):
    return html.escape(str(text), quote=True)


def badge(word):
    return '<span class="badge %s">%s</span>' % (BADGES[word], escape(word))


def cell_of(text):
    return "<td%s>%s</td>" % (' class="long"' if len(text) > 45 else "", escape(text))


def table(rows):
    """Without the columns that have nothing below their header."""
    filled = [i for i in range(len(rows[0])) if i == 0 or any(row[i] for row in rows[1:])]
    rows = [[row[i] for i in filled] for row in rows]
    head = "".join("<th>%s</th>" % escape(cell) for cell in rows[0])
    body = "".join("<tr>%s</tr>\n" % "".join(map(cell_of, row)) for row in rows[1:])
    return '<div class="scroll"><table>\n<thead><tr>%s</tr></thead>\n<tbody>\n%s</tbody></table></div>\n' % (head, body)


def duration(seconds):
    return "%.1f s" % seconds if seconds < 100 else "%.1f min" % (seconds / 60)


class Page:
    def __init__(self, results, stages, version):
        self.r, self.stages, self.version = results, stages, version
        self.entries = {stage.id: results.entries(stage.id) for stage in stages}
        self.all = [entry for stage in stages for entry in self.entries[stage.id]]

    # ---- Head ----------------------------------------------------------------------------------------------------------------

    def head(self):
        quick = sum(entry["quick"] for entry in self.all)
        facts = ["liblinattn " + "; ".join(sorted({"%s%s" % (e["version"], ", commit " + e["commit"] if e["commit"] else "")
                                                  for e in self.all}) or [self.version])]
        facts += sorted({e["machine"] for e in self.all})
        dates = sorted(e["date"] for e in self.all)
        ran = sum(bool(self.entries[stage.id]) for stage in self.stages)
        facts.append("%d of %d stages run; %s of computing%s; page made %s UTC" % (
            ran, len(self.stages), duration(sum(e["seconds"] for e in self.all)),
            ", %s to %s UTC" % (dates[0], dates[-1]) if dates else "", time.strftime("%Y-%m-%d %H:%M", time.gmtime())))
        text = "<h1>Linear attention and the optimisation of transformers: what reproduces</h1>\n"
        text += ('<p>The figures and tables of Ahn, Cheng, Song, Yun, Jadbabaie, Sra, <i>Linear attention is (maybe) all you need '
                 '(to understand transformer optimization)</i>, ICLR 2024, <a href="%s">arXiv:2310.01082</a>, computed anew, and '
                 "what its reviewers asked for. Published numbers are the paper's or its public notebooks'.</p>\n" % SOURCE)
        text += '<p class="facts">%s</p>\n' % "<br>\n".join(escape(fact) for fact in facts)
        if quick:
            text += ('<p class="notice"><b>Quick run.</b> %s on this page ran with few seeds, short runs and small samples '
                     "(<code>QUICK=1</code>): the pictures show what there is to see, the verdicts prove nothing.</p>\n"
                     % ("Everything" if quick == len(self.all) else "%d of %d commands" % (quick, len(self.all))))
        failed = [e for e in self.all if e["failed"]]
        if failed:
            text += '<p class="notice"><b>Failed:</b> %s</p>\n' % "; ".join(
                "<code>%s</code> %s" % (escape(e["line"]), escape(e["failed"])) for e in failed)
        return text

    # ---- Verdicts ------------------------------------------------------------------------------------------------------------

    def whether(self, work, *arguments):
        """What comes out of files, or None where sound files are not those this version makes."""
        try:
            return work(*arguments)
        except (KeyError, ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError):
            self.r.records.spoilt('files in "%s" are not those this version makes; "make reproduce" makes them anew'
                                 % self.r.folder)
            return None

    def item(self, item):
        if item.estimate.count == 0:
            return "<li>%s: not run</li>" % escape(item.label)
        mark = "holds" if claims.holds(item) else "the opposite" if claims.opposite(item) else "undecided"
        note = "; %s" % item.note if item.note else ""
        return "<li>%s: <b>%s</b>, n = %d%s: %s</li>" % (
            escape(item.label), escape(estimates.text(item.estimate)), item.estimate.count, escape(note), mark)

    def verdicts(self):
        text = '<h2 id="claims">The claims</h2>\n<p class="small">%s</p>\n' % escape(claims.RULE)
        text += self.verdicts_of(claims.CLAIMS)
        text += ('<h2 id="prompt">And of prompt attention</h2>\n<p class="small">Why softmax would slow gradient descent: claims of '
                 "&ldquo;Gradient Descent and Attention Models: Challenges Posed by the Softmax Function&rdquo; (ICLR 2025 "
                 "submission).</p>\n")
        return text + self.verdicts_of(prompt.CLAIMS)

    def verdicts_of(self, table):
        text = ""
        for claim in table:
            items = self.whether(claim.items, self.r) or []
            known = sum(item.estimate.count > 0 for item in items)
            held = sum(claims.holds(item) for item in items if item.estimate.count > 0)
            text += '<div class="claim" id="claim-%s"><h3>%s %s</h3>\n' % (
                claim.key, badge(claims.verdict(items)), escape(claim.text))
            if known:
                text += '<p>%d of %d numbers hold. Measured: %s (<a href="#%s">%s</a>).</p>\n<ul class="items">%s</ul>\n' % (
                    held, known, escape(claim.says), claim.figures, claim.figures, "\n".join(self.item(item) for item in items))
            else:
                text += "<p>Stage %s has not run.</p>\n" % claim.figures
            text += "</div>\n"
        return text

    def questions(self):
        text = ('<h2 id="questions">What reviewers asked</h2>\n<p class="small">Error of SGD over that of Adam; one is ahead when '
                "the 95% interval does not hold 1.</p>\n")
        for question, stage, items in self.whether(claims.questions, self.r) or []:
            text += '<div class="claim"><h3>%s</h3>\n<ul class="items">' % escape(question)
            for item in items:
                note = "; " + item.note if item.note and item.estimate.count else ""
                text += "<li>%s %s: <b>%s</b>%s</li>\n" % (badge(claims.ahead(item)), escape(item.label), escape(
                    estimates.text(item.estimate)), escape(note))
            text += '</ul><p class="small"><a href="#%s">%s</a></p></div>\n' % (stage, stage)
        return text

    # ---- Figures -------------------------------------------------------------------------------------------------------------

    def image(self, stage, name, ending):
        """The PNG, whose letters are larger than the SVG's, as data; a row of panels that would shrink too far scrolls."""
        path = self.r.file(stage, name, ending + ".png")
        if path is None:
            return None
        with open(path, "rb") as file:
            data = file.read()
        width = int.from_bytes(data[16:20], "big")  # of PNG's first chunk
        kind = ' class="panels"' if width > 1200 else ""
        return '<div class="scroll"><img%s alt="%s" src="data:image/png;base64,%s"></div>' % (
            kind, escape(name + ending), base64.b64encode(data).decode("ascii"))

    def pictures(self, figure):
        text = ""
        for name, ending in figure.pictures:
            image = self.image(figure.stage, name, ending)
            if image:
                text += "<figure>%s<figcaption>%s</figcaption></figure>\n" % (image, escape(name + ending))
            elif self.r.entry(figure.stage, name):
                text += '<p class="small">The picture of %s is missing or damaged, or there was no gnuplot.</p>\n' % escape(name)
        kind = " rows" if ' class="panels"' in text else " one" if len(figure.pictures) == 1 else ""
        return '<div class="pictures%s">\n%s</div>\n' % (kind, text) if text else ""

    def says(self, stage, entry):
        """What the program printed, and its command line."""
        path = self.r.file(stage, entry["name"], ".txt")
        if path is None:
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            printed = file.read()
        return ("<details><summary><code>%s</code> &mdash; %s, %s threads, %s UTC</summary>\n<pre>%s</pre></details>\n"
                % (escape(entry["line"]), duration(entry["seconds"]), entry["threads"], escape(entry["date"]), escape(printed)))

    def why(self, figure):
        """Why there is nothing to show."""
        entries = self.entries.get(figure.stage)
        if not entries:
            return "Stage %s has not run." % figure.stage
        if any(figure.stage in line for line in self.r.records.damage):
            return "Files of stage %s are damaged." % figure.stage
        return "Not part of quick runs." if all(entry["quick"] for entry in entries) else "This part of the stage has not run."

    def figure(self, figure, first):
        text = '<div class="figure"%s><h3>%s</h3>\n' % (' id="%s"' % figure.stage if first else "", escape(figure.title))
        if figure.claim:
            text += "<p>%s</p>\n" % escape(figure.claim)
        rows = self.whether(figure.table, self.r) or []
        shown = self.pictures(figure)
        if len(rows) < 2 and not shown:
            return text + '<p>%s <span class="small">%s</span></p></div>\n' % (badge("not run"), escape(self.why(figure)))
        text += shown + (table(rows) if len(rows) > 1 else "")
        if figure.published:
            text += '<p class="small">Published: %s</p>\n' % escape(figure.published)
        names = {name for name, _ in figure.pictures}
        for entry in self.entries.get(figure.stage, []):
            if entry["name"] in names:
                text += self.says(figure.stage, entry)
        return text + "</div>\n"

    def figures(self):
        text, seen = '<h2 id="figures">The figures</h2>\n', set()
        text += ('<p class="small">Errors are 10^(mean over seeds of log10), condition numbers geometric means, in brackets 95% '
                 "intervals by Student's t. Runs that diverged are counted and left out. Seeds are 0, 1, 2, ...; none was "
                 "chosen. A click on a command shows all it printed.</p>\n")
        for figure in FIGURES + prompt.FIGURES:
            text += self.figure(figure, figure.stage not in seen)
            seen.add(figure.stage)
        return text

    # ---- Stages --------------------------------------------------------------------------------------------------------------

    def times(self):
        rows = [["stage", "what", "state", "time", "cut, against the paper"]]
        for stage in self.stages:
            entries = self.entries[stage.id]
            quick = any(entry["quick"] for entry in entries)
            wanted = [" ".join([command.program] + command.arguments) for command in commands(stage, quick)]
            well = sum(entry["line"] in wanted and not entry["failed"] for entry in entries)
            failed = any(entry["failed"] for entry in entries)
            state = "not run" if not entries else "failed" if failed else "done" if well == len(wanted) else \
                "%d of %d commands" % (well, len(wanted))
            cut = "Few seeds, short runs, small samples. %s" % ("At full length: " + stage.cut if stage.cut else "")
            rows.append([stage.id, stage.shows, state + (", quick" if quick else ""),
                         duration(sum(e["seconds"] for e in entries)) if entries else "", cut if quick else stage.cut])
        rows.append(["", "all", "", duration(sum(e["seconds"] for e in self.all)), ""])
        return '<h2 id="stages">Stages and times</h2>\n' + table(rows)

    def whole(self):
        body = self.head() + self.verdicts() + self.questions() + self.figures() + self.times()
        return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>What reproduces</title>\n'
                "<style>%s</style>\n</head>\n<body>\n%s</body>\n</html>\n" % (STYLE, body))


def make(folder, stages, version):
    """The page as text, and what was damaged."""
    results = Results(folder)
    text = Page(results, stages, version).whole()
    return text, results.records.damage
