"""The errors a user can meet: each says what, got, wanted and remedy, and carries an exit code."""

from __future__ import annotations


class GreenroomError(Exception):
    """Something a user can mend. Raised at doors only; inside the house there are asserts."""

    exit_code = 1

    def __init__(self, what: str, *, got: str = "", wanted: str = "", remedy: str = "") -> None:
        self.what, self.got, self.wanted, self.remedy = what, got, wanted, remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        rows = [self.what]
        rows += [
            f"  {name}: {text}"
            for name, text in (
                ("got", self.got),
                ("wanted", self.wanted),
                ("remedy", self.remedy),
            )
            if text
        ]
        return "\n".join(rows)


class InputError(GreenroomError):
    """The script, the sound or an option cannot be used."""

    exit_code = 2


class AssetError(GreenroomError):
    """A voice, an avatar, a preset or weights are missing or broken."""

    exit_code = 3


class DeviceError(GreenroomError):
    """The device, the precision or the encoder that was asked for cannot be had."""

    exit_code = 4


class OutputError(GreenroomError):
    """The result cannot be written."""

    exit_code = 5


class MissingExtraError(AssetError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the library {library}, which is not installed",
            remedy=f"pip install 'greenroom[{extra}]'",
        )
