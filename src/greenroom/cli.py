"""The command line: parses, wires, hands over; no logic. Rooms are imported inside commands."""

from __future__ import annotations

import sys
import traceback
from typing import Annotated

import typer

from greenroom import __version__
from greenroom.base.errors import GreenroomError
from greenroom.process import INTERRUPTED, INTERRUPTS, execute

EXIT_CODES = """Exit codes: 0 done, 1 a fault of ours, 2 bad input or option, 3 a voice, avatar,
preset or weights are missing or broken, 4 the device or the encoder cannot be had,
5 the output cannot be written, 130 interrupted."""

app = typer.Typer(
    name="greenroom",
    help="A neural news anchor that is always on air: text or speech in, video out.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: importing rich for it would double its time
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document and no prose.")]


def _version(*, value: bool) -> None:
    if value:
        print(f"greenroom {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=lambda value: _version(value=value),
            is_eager=True,
        ),
    ] = False,
) -> None:
    pass


@app.command()
def render(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SCRIPT_OR_AUDIO",
            help="A script file, the text itself, any audio file, or - for standard input.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option("-o", "--output", help="The .mp4 or .mov to write; replaced only on success."),
    ] = "out.mp4",
    avatar: Annotated[str, typer.Option(help="Who speaks: see greenroom avatars.")] = "vera",
    preset: Annotated[str, typer.Option(help="A named way to run.")] = "demo",
    voice: Annotated[str, typer.Option(help="Whose voice: see greenroom voices.")] = "af_heart",
    locale: Annotated[str, typer.Option(help="How figures are read: en-US or en-GB.")] = "en-US",
    lexicon: Annotated[
        str | None, typer.Option(help="A file of words and how to say them.")
    ] = None,
    speed: Annotated[float, typer.Option(help="Pace of the voice, 0.5 to 2.")] = 1.0,
    loudness: Annotated[
        str, typer.Option(help="Programme loudness in LUFS (EBU R128), or off.")
    ] = "-23",
    seed: Annotated[int, typer.Option(help="Another seed is another head motion.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    batch_size: Annotated[
        int, typer.Option(min=0, max=64, help="Rows per network call; 0 = what suits the device.")
    ] = 0,
    encoder: Annotated[str, typer.Option(help="auto, libx264 or h264_nvenc.")] = "auto",
    x264_preset: Annotated[
        str | None, typer.Option(help="Effort of libx264: ultrafast to placebo.")
    ] = None,
    crf: Annotated[int | None, typer.Option(min=0, max=51, help="Quality of libx264.")] = None,
    silence_bypass: Annotated[
        bool, typer.Option(help="Show the loop's own frames in silence, without the networks.")
    ] = True,
    subtitles: Annotated[
        str | None, typer.Option(help="Also write subtitles (.srt or .vtt) to this file.")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="The argument is the text itself.")] = False,
    file: Annotated[bool, typer.Option("--file", help="The argument is a path.")] = False,
    clobber: Annotated[bool, typer.Option(help="Replace an existing output.")] = True,
    cache: Annotated[bool, typer.Option(help="Keep the painted loop in the cache folder.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Render a script or a sound to a film of the anchor."""
    if text and file:
        raise typer.BadParameter("--text and --file exclude each other")
    from greenroom.runtime.options import RenderOptions
    from greenroom.show import show_render

    options = RenderOptions(
        kind="text" if text else "file" if file else "auto",
        avatar=avatar,
        preset=preset,
        voice=voice,
        locale=locale,
        lexicon=lexicon,
        speed=speed,
        loudness=_loudness(loudness),
        seed=seed,
        device=device,
        batch_size=batch_size,
        encoder=encoder,
        x264_preset=x264_preset,
        crf=crf,
        silence_bypass=silence_bypass,
        subtitles=subtitles,
        clobber=clobber,
        cache=cache,
    )
    show_render(source, output, options, quiet=quiet, as_json=as_json)


def _loudness(value: str) -> float | None:
    if value == "off":
        return None
    try:
        return float(value)
    except ValueError:
        raise typer.BadParameter(
            f"--loudness {value!r} is neither off nor a number such as -23"
        ) from None


@app.command()
def voices(as_json: JsonFlag = False) -> None:
    """List the voices: bundled, from files, from the system."""
    from greenroom.show import show_voices

    show_voices(as_json=as_json)


@app.command()
def avatars(as_json: JsonFlag = False) -> None:
    """List the avatars, and the size of their loops."""
    from greenroom.show import show_avatars

    show_avatars(as_json=as_json)


@app.command()
def doctor(as_json: JsonFlag = False) -> None:
    """Say what is found, and how to get what is missing."""
    from greenroom.show import show_doctor

    raise typer.Exit(show_doctor(as_json=as_json))


@app.command()
def conformance(
    folder: Annotated[str, typer.Argument(help="A folder of recorded outputs.")],
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu",
    as_json: JsonFlag = False,
) -> None:
    """Hold our networks against recorded outputs."""
    from greenroom.show import show_conformance

    raise typer.Exit(show_conformance(folder, device, as_json=as_json))


bench = typer.Typer(help="Measure this machine.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(bench, name="bench")


@bench.command("demo")
def bench_demo(
    source: Annotated[
        str, typer.Argument(metavar="SCRIPT", help="The script to speak and to render.")
    ] = "examples/bulletin.txt",
    save: Annotated[str | None, typer.Option(help="Also write the JSON document here.")] = None,
) -> None:
    """Speed of the demo engine, stage by stage, and of whole renders with and without bypass."""
    from greenroom.show import show_bench_demo

    show_bench_demo(source, save)


def run() -> int:
    """Run sys.argv, print what went wrong, and give the exit code."""
    try:
        result = app(standalone_mode=False)
        return result if isinstance(result, int) else 0
    except GreenroomError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if INTERRUPTS.seen:  # in the middle of an import, say, which then says that it failed
            print("interrupted", file=sys.stderr)
            return INTERRUPTED
        show = getattr(error, "show", None)  # a usage error of the parser
        if show is None:
            traceback.print_exc()
            return 1
        show()
        return int(getattr(error, "exit_code", 2))


def main() -> None:
    """The command `greenroom`."""
    execute(run)
