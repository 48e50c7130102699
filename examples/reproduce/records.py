"""What has been run: out/stages/<id>.json, and the files it tells of.

A record lists the commands of its stage that ended, each with version, commit, machine, seconds and the CRC-32 of every file it
made. It is written anew after each command, beside its place and renamed, so it is whole or not there; a command is done when
its line and version are those wanted and its files are as it left them."""
import json
import os
import zlib


def write_whole(path, text):
    """A file that is whole or as it was; OSError when it cannot be."""
    part = "%s.%d.part" % (path, os.getpid())
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError:
        if os.path.exists(part):
            os.unlink(part)
        raise


def checksum(path):
    crc = 0
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            crc = zlib.crc32(block, crc)
    return crc


class Records:
    """The records in a folder of results, and the damage that was met while reading."""

    def __init__(self, folder):
        self.folder = folder
        self.damage = []
        self._sound = {}

    def path(self, stage):
        return os.path.join(self.folder, "stages", stage + ".json")

    def read(self, stage):
        """The commands on record, none when there is no record or a damaged one."""
        path = self.path(stage)
        try:
            with open(path, encoding="utf-8") as file:
                entries = json.load(file)["commands"]
            for entry in entries:
                if not isinstance(entry["files"], dict) or not isinstance(entry["line"], str):
                    raise ValueError
                float(entry["seconds"])
                entry["version"], entry["quick"], entry["name"], entry["failed"], entry["commit"], entry["date"], entry["machine"]
            return entries
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError):
            self.spoilt('the record "%s" is damaged; "make reproduce STAGES=%s" makes it anew' % (path, stage))
            return []

    def write(self, stage, entries):
        write_whole(self.path(stage), json.dumps({"stage": stage, "commands": entries}, indent=1) + "\n")

    def spoilt(self, line):
        if line not in self.damage:
            self.damage.append(line)

    def sound(self, stage, name):
        """Whether a file is as it is on record: it is, is missing, or was changed."""
        path = os.path.join(self.folder, stage, name)
        if path not in self._sound:
            wanted = {key: crc for entry in self.read(stage) for key, crc in entry["files"].items()}.get(name)
            try:
                self._sound[path] = wanted is not None and checksum(path) == wanted
                if wanted is not None and not self._sound[path]:
                    self.spoilt('"%s" is not as stage %s left it; "make reproduce STAGES=%s" makes it anew' % (path, stage, stage))
            except OSError as error:
                self._sound[path] = False
                self.spoilt('cannot read "%s": %s; "make reproduce STAGES=%s" makes it anew' % (path, error.strerror, stage))
        return self._sound[path]

    def done(self, stage, entries, line, version):
        """The entry of this command, if it ended well and need not run again."""
        for entry in entries:
            if entry["line"] == line and entry["version"] == version and not entry["failed"]:
                whole = all(self._as_left(stage, name, crc) for name, crc in entry["files"].items())
                return entry if whole else None
        return None

    def _as_left(self, stage, name, crc):
        try:
            return checksum(os.path.join(self.folder, stage, name)) == crc
        except OSError:
            return False
