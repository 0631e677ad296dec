"""Where a spoken sound begins and ends."""

from __future__ import annotations

import numpy as np

from greenroom.base.flow import Samples

FRAME_SECONDS = 0.025
_QUIET = 1e-3  # RMS of one frame: -60 dBFS, far below the weakest consonant of a voice
_MARGIN = 2  # frames kept at each end, so that no onset is cut and no ending clipped


def sounding(pcm: Samples, rate: int) -> slice:
    """The samples from the first to the last audible frame of 25 ms and a margin of 50 ms.

    The slice begins on a whole frame; a sound with nothing audible is kept whole.
    """
    frame = round(rate * FRAME_SECONDS)
    padded = np.pad(pcm, (0, -len(pcm) % frame)).reshape(-1, frame)
    loud = np.flatnonzero(np.sqrt(np.mean(np.square(padded, dtype=np.float64), axis=1)) > _QUIET)
    if not len(loud):
        return slice(0, len(pcm))
    first = max(int(loud[0]) - _MARGIN, 0)
    last = int(loud[-1]) + 1 + _MARGIN
    return slice(first * frame, min(last * frame, len(pcm)))
