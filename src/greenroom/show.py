"""What the commands print: tables, a progress bar, a summary; or one JSON document."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.progress import Progress

    from greenroom.runtime.options import RenderOptions
    from greenroom.runtime.render import RenderReport, Setup

_err = Console(stderr=True, highlight=False)
_out = Console(highlight=False)


def _print_json(document: Any) -> None:
    print(json.dumps(document))  # in ASCII: any terminal and any file name will do


# --- render ---------------------------------------------------------------------------------------


def show_render(
    source: str, output: str, options: RenderOptions, *, quiet: bool, as_json: bool
) -> None:
    """Render with a progress bar on standard error and a summary on standard output."""
    from greenroom.runtime.render import render_with

    silent = quiet or as_json
    with _watched(silent=silent) as watch:
        report = render_with(source, output, options, watch.progress, watch.started)
    if as_json:
        _print_json(report.as_dict())
    elif not quiet:
        _print_report(report)


class _Watch:
    """Turns progress calls into one bar per stage."""

    def __init__(self, bars: Progress | None) -> None:
        self._bars = bars
        self._tasks: dict[str, Any] = {}
        self._began: dict[str, float] = {}

    def progress(self, stage: str, done: int, total: int | None) -> None:
        if self._bars is None or not self._bars.console.is_terminal:
            return
        if stage not in self._tasks:
            self._bars.start()
            self._tasks[stage] = self._bars.add_task(stage, total=total, rate="")
            self._began[stage] = time.monotonic()
        seconds = time.monotonic() - self._began[stage]
        rate = f"{done / seconds:.1f} fps" if seconds > 0.5 else ""
        self._bars.update(self._tasks[stage], completed=done, total=total, rate=rate)

    def started(self, setup: Setup) -> None:
        """Say what runs, before it runs."""
        if self._bars is None:
            return
        for name, value in _setup_rows(setup):
            row = Text.assemble((f"{name:<10} ", "bold"), value)
            self._bars.console.print(row, soft_wrap=True)


@contextmanager
def _watched(*, silent: bool, unit: str = "frames") -> Iterator[_Watch]:
    if silent:
        yield _Watch(None)
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(f"{{task.completed}} {unit}"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    bars = Progress(*columns, console=_err, transient=True)
    try:
        yield _Watch(bars)
    finally:
        if bars.live.is_started:
            bars.stop()


def _setup_rows(setup: Setup) -> list[tuple[str, str]]:
    return [
        ("avatar", setup.avatar),
        ("speech", setup.speech),
        ("device", f"{setup.device}, {setup.precision}, {setup.lanes} lanes"),
        ("weights", setup.weights),
        ("encoder", setup.encoder),
        ("preset", f"{setup.preset}, seed {setup.seed}"),
    ]


def _print_report(report: RenderReport) -> None:
    share = report.bypassed / report.frames if report.frames else 0.0
    rows = [
        ("output", f"{report.output} ({report.bytes / 1e6:.1f} MB)"),
        ("encoder", report.setup.encoder),
        ("frames", f"{report.frames}, {report.seconds:.2f} s at 25 fps"),
        ("speed", f"{report.fps:.1f} fps, {report.speed:.2f} x real time"),
        ("silence", f"{report.bypassed} frames without networks, {share:.0%}"),
    ]
    if report.subtitles:
        rows.append(("subtitles", report.subtitles))
    for name, value in rows:
        _out.print(Text.assemble((f"{name:<10} ", "bold"), value), soft_wrap=True)


# --- lists ----------------------------------------------------------------------------------------


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _add(table: Table, *cells: str) -> None:
    """A row of plain text: a name may look like markup."""
    table.add_row(*map(Text, cells))


def show_voices(*, as_json: bool) -> None:
    """The voices there are, and where another one goes."""
    from dataclasses import asdict

    from greenroom.speech.voices import list_voices, voices_folder

    voices = list_voices()
    if as_json:
        _print_json([{k: str(v) if v else v for k, v in asdict(v).items()} for v in voices])
        return
    table = _table("Voices", "name", "language", "description", "source", "licence")
    for voice in voices:
        _add(table, voice.name, voice.language, voice.description, voice.source, voice.licence)
    _out.print(table)
    _out.print(Text(f"More: put a Kokoro voice at {voices_folder()}/NAME.bin"), soft_wrap=True)


def show_avatars(*, as_json: bool) -> None:
    """The avatars there are."""
    from dataclasses import asdict

    from greenroom.avatar.cache import cache_folder, cache_size
    from greenroom.avatar.package import bundled_avatars

    scenes = list(bundled_avatars())
    if as_json:
        _print_json([{**asdict(s.card), "name": s.name, "scene": s.scene} for s in scenes])
        return
    table = _table("Avatars", "name", "who", "scene", "size", "loop", "engine", "licence")
    for scene in scenes:
        card = scene.card
        who = f"{card.title} (virtual)" if card.virtual else card.title
        _add(
            table,
            scene.name,
            who,
            scene.scene,
            f"{card.width}x{card.height}",
            f"{card.loop_frames / 25:.0f} s",
            card.engine,
            card.licence,
        )
    _out.print(table)
    kept = f"Painted loops: {cache_size() / 1e6:.0f} MB in {cache_folder()}"
    _out.print(Text(kept), soft_wrap=True)


def show_doctor(*, as_json: bool) -> int:
    """Findings; the exit code is 3 if something that a plain render needs is missing."""
    from dataclasses import asdict

    from greenroom.runtime.doctor import examine

    findings = examine()
    if as_json:
        _print_json([asdict(finding) for finding in findings])
    else:
        table = _table("Greenroom's doctor", "what", "state", "found", "remedy")
        colour = {"ok": "green", "optional": "yellow", "missing": "red"}
        for finding in findings:
            state = f"[{colour[finding.state]}]{finding.state}[/]"
            table.add_row(finding.what, state, Text(finding.found), Text(finding.remedy))
        _out.print(table)
    return 3 if any(finding.state == "missing" for finding in findings) else 0


def show_conformance(folder: str, device: str, *, as_json: bool) -> int:
    """The relative error of every recorded output; the exit code is 1 if one is too large."""
    from dataclasses import asdict
    from pathlib import Path

    from greenroom.quality.conformance import THRESHOLD, check_cases, read_cases
    from greenroom.runtime.wiring import choose_device

    chosen = choose_device(device)
    cases = read_cases(Path(folder))
    total = sum(len(case.recordings) for case in cases)
    results = []
    with _watched(silent=as_json, unit="outputs") as watch:
        for result in check_cases(cases, chosen):
            results.append(result)
            watch.progress("networks", len(results), total)
    failed = [result for result in results if not result.passed]
    if as_json:
        rows = [{**asdict(r), "passed": r.passed} for r in results]
        _print_json({"device": str(chosen), "threshold": THRESHOLD, "results": rows})
        return int(bool(failed))
    table = _table(f"Conformance on {chosen}", "network", "case", "batch", "output", "error", "")
    for r in results:
        verdict = "[green]ok[/]" if r.passed else "[red]too large[/]"
        table.add_row(r.network, r.case, str(r.batch), r.output, f"{r.error:.1e}", verdict)
    _out.print(table)
    _out.print(f"{len(results) - len(failed)} of {total} under {THRESHOLD:.0e} (relative, float32)")
    return int(bool(failed))


def show_bench_demo(source: str, save: str | None) -> None:
    """Tables for people, then one JSON document as the last line."""
    from pathlib import Path

    from greenroom.bench.demo import measure
    from greenroom.encode.target import Draft

    with ExitStack() as stack:
        draft = None if save is None else Draft(save, (".json",))  # before minutes of work
        if draft is not None:
            stack.callback(draft.discard)
        result = measure(Path(source), stack.enter_context(_watched(silent=False)).progress)
        if draft is not None:
            draft.path.write_text(json.dumps(result.as_dict(), indent=1) + "\n", encoding="utf-8")
            draft.commit()
    machine = result.machine
    _out.print(
        f"{machine.processor}, {machine.cores} cores, GPU {machine.gpu}; torch {machine.torch}, "
        f"OpenCV {machine.opencv}, PyAV {machine.av}; {machine.date}",
        soft_wrap=True,
    )
    stages = _table(f"One frame of speech; {result.encoder}", "stage", "core-ms", "fps per core")
    for stage in result.stages:
        stages.add_row(stage.name, f"{stage.core_ms:.2f}", f"{1000 / stage.core_ms:.0f}")
    _out.print(stages)
    runs = _table(f"{result.source}, {result.lanes} lanes", "render", "frames", "bypassed", "fps",
                  "x real time")  # fmt: skip
    for run in result.runs:
        runs.add_row(run.name, str(run.frames), str(run.bypassed), f"{run.fps:.1f}",
                     f"{run.times_real_time:.2f}")  # fmt: skip
    _out.print(runs)
    _out.print(f"voice: {result.voice_times_real_time:.2f} x real time")
    _print_json(result.as_dict())
