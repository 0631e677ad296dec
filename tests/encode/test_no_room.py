"""A disk that fills up: the system's own limit on the size of a file stands in for it."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from film_kit import encoder_for, film, noisy, shown

from greenroom.base.errors import OutputError
from greenroom.base.flow import Packet
from greenroom.encode.mux import Mp4File

OLD = b"an older film"


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file of this process may grow beyond `size` bytes. Python ignores SIGXFSZ by itself."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_wherever_the_room_ends_nothing_half_written_is_left(tmp_path: Path) -> None:
    frames, path = film(noisy(15)), tmp_path / "out.mp4"
    encoder = encoder_for(frames)
    packets = [*encoder.push(frames), *encoder.close()]

    def attempt(packets: list[Packet]) -> None:
        with Mp4File(path) as sink:
            sink.start(encoder.streams)
            for packet in packets:
                sink.send(packet)

    attempt(packets)
    size = path.stat().st_size
    assert size > 60_000  # more than the buffers of libav: limits below strike in send, too
    path.write_bytes(OLD)
    # The last bytes are the index moved to the front, and behind them the mark.
    for limit in [0, 1, 40, 30_000, size // 2, size - 5000, size - 1000, size - 100, size - 1]:
        with pytest.raises(OutputError) as caught, room_for(limit):
            attempt(packets)
        assert "no room left" in str(caught.value)
        assert "File too large" in caught.value.got
        assert "out.mp4" in str(caught.value)
        assert path.read_bytes() == OLD
        assert [entry.name for entry in tmp_path.iterdir()] == ["out.mp4"]
    with room_for(size):
        attempt(packets)
    assert len(shown(path)) == 15
