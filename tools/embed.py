"""Writes files into a C source as arrays, and a header that declares them.

usage: embed.py OUT.c OUT.h ROOT FILE...
A file data/metrics.json becomes data_metrics_json[] and data_metrics_json_size; one NUL
byte stands after the last, so that text can be used as a C string."""
import os
import re
import sys

source, header, root, files = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
with open(source, "w") as c, open(header, "w") as h:
    c.write('#include "embedded.h"\n')
    h.write("/* Made by tools/embed.py from files under data/ and docs/. */\n#ifndef TALARIA_EMBEDDED_H\n#define TALARIA_EMBEDDED_H\n\n#include <stddef.h>\n\n")
    for path in sorted(files):
        name = re.sub(r"[^A-Za-z0-9]", "_", os.path.relpath(path, root))
        with open(path, "rb") as f:
            data = f.read()
        h.write("extern const unsigned char %s[];\nextern const size_t %s_size;\n" % (name, name))
        c.write("\nconst size_t %s_size = %d;\nconst unsigned char %s[] = {" % (name, len(data), name))
        for i in range(0, len(data), 20):
            c.write("\n    " + "".join("%d, " % b for b in data[i:i + 20]).rstrip())
        c.write("\n    0\n};\n")
    h.write("\n#endif\n")
