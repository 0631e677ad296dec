"""The README: its tables are what the committed figures say, its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_tables_are_made_from_the_figures() -> None:
    script = ROOT / "scripts" / "readme_tables.py"
    assert subprocess.run([sys.executable, script, "--check"], check=False).returncode == 0


def test_links_lead_to_files() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    files = [link for link in links if not link.startswith("/")]  # /…/ is a pronunciation
    assert "docs/vera.jpg" in files
    assert [link for link in files if not (ROOT / link).exists()] == []
