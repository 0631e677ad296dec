"""Peak memory of a render of one minute of speech and of ten: flat by design.

python scripts/memory.py SPEECH.wav [DEVICE]     prints one JSON document last
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

CHILD = """
import json, resource, sys
from greenroom import RenderOptions, render
report = render(sys.argv[1], sys.argv[2], RenderOptions(device=sys.argv[3]))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"frames": report.frames, "bypassed": report.bypassed, "peak_mb": round(peak),
                  "fps": round(report.fps, 1)}))
"""


def repeated(speech: Path, seconds: int, target: Path) -> None:
    """Speech over and over until `seconds` are full."""
    with wave.open(str(speech)) as source, wave.open(str(target), "wb") as out:
        out.setparams(source.getparams())
        left = seconds * source.getframerate()
        while left > 0:
            source.rewind()
            count = min(left, source.getnframes())
            out.writeframes(source.readframes(count))
            left -= count


def main(speech: Path, device: str = "cpu") -> None:
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for minutes in (1, 10):
            sound = Path(folder) / f"{minutes}.wav"
            repeated(speech, 60 * minutes, sound)
            done = subprocess.run(
                [sys.executable, "-c", CHILD, str(sound), str(Path(folder) / "out.mp4"), device],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            rows[f"{minutes} min"] = json.loads(done.stdout.splitlines()[-1])
            print(f"{minutes} min", rows[f"{minutes} min"], flush=True)
    print(json.dumps({"bench": "memory", "device": device, **rows}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:3])
