"""Writes the built page into a C source: every file as it is and gzipped, with its type and ETag.

usage: assets.py OUT.c FOLDER
The table is that of src/http/assets.h. Without FOLDER/index.html a small page takes its place that
says how to build the real one. The output depends on the bytes alone: no times, no paths."""
import gzip
import hashlib
import os
import sys

TYPES = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
    ".json": "application/json", ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2", ".map": "application/json",
}
PLACEHOLDER = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Talaria</title>
<h1>Talaria</h1>
<p>The server runs; this binary was built without its page.</p>
<p>In the source folder: <code>node web/build.mjs</code>, then <code>script/build</code>.</p>
<p>The API is described at <a href="/openapi.json">/openapi.json</a>.</p>
"""


def files_of(folder):
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            if os.path.splitext(name)[1] in TYPES:
                with open(path, "rb") as f:
                    found["/" + os.path.relpath(path, folder).replace(os.sep, "/")] = f.read()
    found.setdefault("/index.html", PLACEHOLDER)
    return found


def array(out, name, data):
    out.write("static const unsigned char %s[] = {" % name)
    for i in range(0, len(data), 20):
        out.write("\n    " + "".join("%d, " % b for b in data[i:i + 20]).rstrip())
    out.write("\n};\n\n")


def main():
    target, folder = sys.argv[1], sys.argv[2]
    rows = []
    with open(target, "w") as out:
        out.write('/* Made by tools/assets.py. */\n#include "http/assets.h"\n\n')
        for n, (path, data) in enumerate(sorted(files_of(folder).items())):
            zipped = gzip.compress(data, 9, mtime=0)
            keep = len(zipped) < len(data) * 0.9
            array(out, "file_%d" % n, data or b"\0")
            if keep:
                array(out, "zipped_%d" % n, zipped)
            etag = hashlib.sha256(data).hexdigest()[:24]
            rows.append('    { "%s", "%s", "\\"%s\\"", file_%d, %s, %d, %d },\n' % (
                path, TYPES[os.path.splitext(path)[1]], etag, n,
                "zipped_%d" % n if keep else "NULL", len(data), len(zipped) if keep else 0))
        out.write("const Asset assets[] = {\n%s};\nconst size_t n_assets = %d;\n" % ("".join(rows), len(rows)))


main()
