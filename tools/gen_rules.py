#!/usr/bin/env python3
"""Makes the tables of src/achievements/rules.h out of data/metrics.json and data/unicode_tables.json.

usage: gen_rules.py METRICS UNICODE OUTPUT

An alternative that is a choice of plain words, with or without boundaries, becomes literals by itself.
What is more than that is listed in SPECIAL beside the literal that gives it away and the name of the C
function that looks closer; the alternative is repeated there so that a change of the data breaks the
build instead of the counts."""
import itertools
import json
import sys

B = {"b": 1}
WS = {"ws": "+"}
WS0 = {"ws": "*"}
LINE = {"line": "*"}
YML = {"seq": ["y", {"opt": "a"}, "ml"]}
GIT = [B, "git", WS]
PORTS = ["3000", "5173", "8000", "8080", "9119"]
MANAGERS = ["npm", "pnpm", "yarn", "pip", "uv"]
DONE = ["success", "passed", "built", "compiled", "done"]
EXIT_CODE = {"seq": ["exit_code", {"set": "\"'", "opt": 1}, WS0, {"set": ":="}, WS0, "0"]}

# rule: [(alternative, [(literal, action), ...]), ...]
SPECIAL = {
    "PORT": [([B, {"opt_seq": ["port", WS]}, {"any_of": PORTS}, B, LINE, B,
               {"any_of": ["in use", "already", "taken", "eaddrinuse"]}, B], [(p, "PORT_HEAD") for p in PORTS])],
    "INSTALL": [([B, {"any_of": MANAGERS}, B, LINE, B, {"any_of": ["install", "add"]}, B], [(m, "INSTALL_HEAD") for m in MANAGERS])],
    "SUCCESS": [([B, {"any_of": DONE + [EXIT_CODE, "verified", "ok"]}, B],
                 [(w, "FLAG_BOUNDED") for w in DONE + ["verified", "ok"]] + [("exit_code", "EXIT_CODE")])],
    "RESTART": [([B, "restart"], [("start", "START")]), (["start", B], [("start", "START")])],
    "FILE": [([{"any_of": ["/home/", {"seq": ["~", {"opt": "/"}]}, "./", "/mnt/"]}, {"class": "word . / -", "min": 1}, ".",
               {"any_of": "py js ts tsx jsx css html md json yaml yml svg sql sh".split()}],
              [(p, "PATH") for p in ("/home/", "~", "./", "/mnt/")])],
    "log_read_events": [(["/api/logs"], [("logs", "LOGS")]), ([B, "logs", B], [("logs", "LOGS")])],
    "env_var_error_events": [(["missing ", LINE, "env"], [("missing ", "MISSING")])],
    "docker_conflict_events": [
        (["docker", LINE, {"any_of": ["name", "container"]}, LINE, "already"], [("docker", "DOCKER")]),
        (["container name conflict"], [("conflict", "CONFLICT")]), (["conflict. the container"], [("conflict", "CONFLICT")])],
    "git_events": [(GIT + [{"any_of": ["commit", "push", "merge", "rebase", "status", "diff"]}], [("git", "GIT")])],
    "git_history_events": [
        (GIT + [{"any_of": ["rebase", "merge", "fetch", "pull", "push", "tag", "checkout"]}], [("git", "GIT")]),
        (["merge conflict"], [("conflict", "CONFLICT")]), (["conflict", WS0, "("], [("conflict", "CONFLICT")])],
    "release_events": [(GIT + ["tag"], [("git", "GIT")])],
    "config_events": [
        (["config.", YML], [("config.", "CONFIG")]),
        ([B, {"class": "a-z 0-9 _ -", "min": 1}, "config.", {"any_of": ["js", "ts", "json", YML]}], [("config.", "CONFIG")]),
        ([".env", {"any_of": [B, "."]}], [(".env", "DOT_ENV")])],
    "process_calls": [(["background", WS0, "=", WS0, "true"], [("background", "BACKGROUND")])],
    "skill_events": [([B, "skill"], [("skill", "SKILL")])],
}
CASE_SENSITIVE = {"PATH"}
# The flags of a session, by the pattern that raises them. ERROR is counted by message.
FLAGS = ["PORT", "INSTALL", "SUCCESS", "RESTART", "TINY"]


def words(alternative):
    """Every text that a sequence of plain elements stands for; None where it is more than that."""
    parts = []
    for e in alternative:
        if isinstance(e, str):
            parts.append([e])
        elif "any_of" in e or "seq" in e:
            inner = [words([x]) for x in e["any_of"]] if "any_of" in e else [words(e["seq"])]
            if None in inner:
                return None
            parts.append([w for ws in inner for w in ws])
        elif "opt" in e and "set" not in e:
            parts.append([e["opt"], ""])
        elif "set" in e:
            parts.append(list(e["set"]) + ([""] if e.get("opt") else []))
        else:
            return None
    return ["".join(p) for p in itertools.product(*parts)]


def swallowed(long, rule):
    """Whether a word may be left out since each of its places is counted through a word inside it."""
    for inner in rule:
        at = long.find(inner)
        if inner == long or at < 0 or long.find(inner, at + 1) >= 0:
            continue
        before, after = at, len(long) - at - len(inner)
        # Nothing else of the rule may end in what stands before, or begin in what comes after.
        if not any(z.endswith(long[:k]) for z in rule for k in range(1, before + 1)) and \
                not any(z.startswith(long[len(long) - k:]) for z in rule for k in range(1, after + 1)):
            return True
    return False


class Table:
    def __init__(self):
        self.actions = {}  # literal -> [(action, argument)]

    def add(self, literal, action, argument="0"):
        entry = self.actions.setdefault(literal, [])
        if (action, argument) not in entry:
            entry.append((action, argument))

    def pattern(self, name, alternatives, plain, bounded, argument):
        """plain, bounded: the actions of a word without and with boundaries."""
        special, free = list(SPECIAL.get(name, [])), []
        for alternative in alternatives:
            known = [s for s in special if s[0] == alternative]
            if known:
                special.remove(known[0])
                for literal, action in known[0][1]:
                    self.add(literal, action, argument if action.startswith("FLAG") else "0")
                continue
            with_bounds = alternative[0] == B and alternative[-1] == B
            texts = words(alternative[1:-1] if with_bounds else alternative)
            if texts is None:
                sys.exit("gen_rules.py: %s: no rule for %s" % (name, json.dumps(alternative)))
            if with_bounds:
                for text in texts:
                    # rules.c looks only at the neighbours of a bounded word.
                    assert text[0].isalnum() and text[-1].isalnum(), text
                    self.add(text, bounded, argument)
            else:
                free += texts
        if special:
            sys.exit("gen_rules.py: %s: not in the data: %s" % (name, json.dumps(special[0][0])))
        kept = [t for t in free if plain == "FLAG" or not swallowed(t, free)]
        for text in kept:
            # Hits come in order of their ends: that is the order of their starts unless one holds another.
            if plain != "FLAG" and any(text != other and text in other for other in kept):
                sys.exit("gen_rules.py: %s: '%s' lies inside another word" % (name, text))
            self.add(text, plain, argument)


def c_text(s):
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else "\\%03o" % b for b in s.encode()) + '"'


def word_pages(ranges):
    """A bit a code point, pages of 256; equal pages are kept once."""
    word = set(c for first, last in ranges for c in range(first, last + 1))
    index, pages = [], []
    for page in range(0x110000 >> 8):
        bits = tuple(sum(1 << b for b in range(8) if page * 256 + byte * 8 + b in word) for byte in range(32))
        if bits not in pages:
            pages.append(bits)
        index.append(pages.index(bits))
    assert len(pages) < 256
    return index, pages


def needles(metrics):
    for name, m in metrics.items():
        if m["kind"] == "tool_calls" and m["name_contains_any"] != [""]:
            for needle in m["name_contains_any"]:
                yield needle, name


def main():
    metrics_path, unicode_path, output = sys.argv[1:]
    doc = json.load(open(metrics_path, encoding="utf-8"))
    table = Table()
    for name, pattern in doc["patterns"].items():
        error = name == "ERROR"
        table.pattern(name, pattern["alts"], "FLAG", "ERROR_WORD" if error else "FLAG_BOUNDED",
                      "0" if error else "FLAG_" + name if name in FLAGS else "0")
    for name, metric in doc["metrics"].items():
        alternatives = metric.get("alts") or metric.get("plus", {}).get("alts")
        if alternatives:
            table.pattern(name, alternatives, "COUNT", "COUNT_BOUNDED", "METRIC_" + name.upper())
    index, pages = word_pages(json.load(open(unicode_path))["word_ranges"])
    with open(output, "w") as out:
        p = lambda *a: print(*a, file=out)
        p("/* Made by tools/gen_rules.py out of data/metrics.json; not to be edited. */")
        p('#include "achievements/rules.h"\n')
        p("const Literal rule_literals[] = {")
        for literal, actions in table.actions.items():
            if len(actions) > 3:
                sys.exit("gen_rules.py: '%s' has more than three actions" % literal)
            exact = all(a in CASE_SENSITIVE for a, _ in actions)
            p("    { STR_INIT(%s), %s, %d, { %s } }," % (c_text(literal), "true" if exact else "false", len(actions),
              ", ".join("{ ACT_%s, %s }" % a for a in actions)))
        p("};\nconst size_t rule_literals_n = ARRAY_LEN(rule_literals);\n")
        p("const Needle rule_needles[] = {")
        for needle, name in needles(doc["metrics"]):
            p("    { STR_INIT(%s), METRIC_%s }," % (c_text(needle), name.upper()))
        p("};\nconst size_t rule_needles_n = ARRAY_LEN(rule_needles);\n")
        p("const unsigned char rule_word_index[0x1100] = {\n    %s\n};" % ", ".join(map(str, index)))
        p("const unsigned char rule_word_pages[][32] = {")
        for page in pages:
            p("    { %s }," % ", ".join(map(str, page)))
        p("};")


main()
