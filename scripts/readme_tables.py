"""Writes the tables of README.md from the committed figures in docs/bench.

python scripts/readme_tables.py           rewrite README.md
python scripts/readme_tables.py --check   exit 1 if README.md is not what the figures say
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- speed -->", "<!-- /speed -->"


def speed_table(figures: dict[str, Any]) -> str:
    """What `greenroom bench demo` saved, as Markdown."""
    machine = figures["machine"]
    rows = [
        f"`greenroom bench demo`, {machine['date']}: {machine['processor']}, {machine['cores']} "
        f"cores, no GPU, torch {machine['torch']}, {figures['encoder']}, 1080×1920, the script "
        f"examples/{figures['source']}. The voice is left out; by itself it speaks at "
        f"{figures['voice_times_real_time']:.2f} × real time.",
        "",
        "| stage | core-ms per frame of speech |",
        "|---|---|",
        *(f"| {stage['name']} | {stage['core_ms']:.1f} |" for stage in figures["stages"]),
        "",
        "| render | frames | without networks | fps | × real time |",
        "|---|---|---|---|---|",
        *(
            f"| {run['name']} | {run['frames']} | {run['bypassed']} | {run['fps']:.1f} "
            f"| {run['times_real_time']:.2f} |"
            for run in figures["runs"]
        ),
    ]
    return "\n".join(rows)


def readme() -> tuple[str, str]:
    """README.md as it is and as the figures want it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    figures = json.loads((ROOT / "docs" / "bench" / "demo.json").read_text(encoding="utf-8"))
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return text, f"{before}{BEGIN}\n{speed_table(figures)}\n{END}{after}"


def main() -> int:
    """Rewrite or check."""
    text, wanted = readme()
    if "--check" in sys.argv:
        return int(text != wanted)
    (ROOT / "README.md").write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
