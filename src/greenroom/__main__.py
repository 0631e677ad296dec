"""The command `greenroom`, and python -m greenroom."""

from greenroom.process import execute


def _run() -> int:
    from greenroom.cli import run  # takes a moment, in which Ctrl-C may come

    return run()


def main() -> None:
    """Run sys.argv and end the process."""
    execute(_run)


if __name__ == "__main__":
    main()
