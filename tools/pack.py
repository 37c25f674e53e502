"""Packs the recorded demo into a C source: one zlib stream of all files, and a table of them.

usage: pack.py OUT.c ROOT FILE...
src/demo/pack.h declares what is written here."""
import os
import sys
import zlib

out, root, files = sys.argv[1], sys.argv[2], sorted(sys.argv[3:])
texts = [open(path, "rb").read() for path in files]
whole = b"".join(texts)
packed = zlib.compress(whole, 9)
with open(out, "w") as c:
    c.write('#include "demo/pack.h"\n\n')
    c.write("const size_t demo_pack_size = %d, demo_pack_whole_size = %d, demo_pack_count = %d;\n"
            % (len(packed), len(whole), len(files)))
    c.write("const PackedFile demo_pack_files[] = {\n")
    for path, text in zip(files, texts):
        c.write('    { "%s", %d },\n' % (os.path.relpath(path, root), len(text)))
    c.write("};\nconst unsigned char demo_pack[] = {")
    for i in range(0, len(packed), 20):
        c.write("\n    " + "".join("%d, " % b for b in packed[i:i + 20]).rstrip())
    c.write("\n};\n")
