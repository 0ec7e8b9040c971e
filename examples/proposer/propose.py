#!/usr/bin/env python3
"""A proposer for `hone optimize --proposer`: one change of a tile program, then "nothing more".

The change: a tile that is read a second time with block.keep() is not prefetched, because it should still be on the
chip. Where a block's rows are larger than the first-level cache they may have left it. This proposes to read such tiles
the way they were read first, with prefetch. It may win or lose; hone measures.

Usage: propose.py FOLDER   (hone gives the folder; see README.md)
"""
import json
import pathlib
import re
import sys

NOTHING_MORE = 10
KEEP = re.compile(r"block\.keep\((\w+)\)")
EXPECTED = 0.97  # time of the changed pass over that of the best so far


def predictions(profile):
    """One line for each pass at the largest size of the profile, where rows are longest."""
    sizes = [row["x_value"] for row in profile["headroom"]]
    largest = max(sizes, key=int)
    modes = [row["mode"] for row in profile["headroom"] if row["x_value"] == largest and row["mode"] != "full"]
    return [f"predict {mode} @ {largest} = {EXPECTED}" for mode in modes]


def main():
    folder = pathlib.Path(sys.argv[1])
    request = json.loads((folder / "request.json").read_text())
    if any(variant["strategy"] == "proposer" for variant in request["tried"]):
        return NOTHING_MORE
    source = (folder / request["original"]).read_text()
    changed, places = KEEP.subn(r"\1", source)
    if places == 0:
        return NOTHING_MORE
    profile = json.loads((folder / "profile.json").read_text())
    (folder / request["write"]["variant"]).write_text(changed)
    (folder / request["write"]["hypothesis"]).write_text(
        f"The kernel is {profile['bottleneck']['class']}. {places} tiles are read a second time without prefetch. Where a\n"
        "block's rows are larger than the first-level cache, prefetching them again should hide that second read.\n\n"
        + "\n".join(predictions(profile)) + "\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
