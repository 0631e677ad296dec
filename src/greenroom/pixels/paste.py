"""Faces into pictures.

A face is painted on a canvas (h, w) that `Placement.matrix` lays into the picture:

    face   = keep * detail(x + flow) + (1 - keep) * colour        premultiplied, of opacity a
    result = mask * (face + (1 - a) * backdrop) + (1 - mask) * picture

in this order:

1. `colour` and `detail` become Y, U, V and 1 - a on their own pixels. From premultiplied RGBA this
   is linear (Y = 219 (Kr R + Kg G + Kb B) + 16 a and so on, in code values), so whatever follows
   composes Y, U and V as it would compose R, G and B.
2. `colour` is multiplied by 1 - keep on the canvas.
3. The planes are looked up bilinearly where the picture has samples: Y at the centres of pixels; U,
   V and a second 1 - a and keep at the centres of 2 x 2 blocks, in planes that hold the mean of
   each point and the one a column to its left (left-sited chroma, see colour.py). Beyond the
   edges of canvas and detail, their last pixels are repeated.
4. The blend, once per byte of NV12; the mask is looked up likewise and is 0 beyond the canvas.
   Then half is added and the fraction dropped.

Where the mask is 0, the picture's own bytes stay. Without a backdrop, the picture is behind the
face.

`PasteBack` is the name to call. On a CPU, a canvas that fills whole pixels upright goes the fast
way of paste_cpu.py; everything else goes through `paste_reference`, the text above in float32 on
the device of the faces. The device's own way is to be a kernel beside its twin in kernels/, chosen
here: per 2 x 2 block four look-ups for Y and two for U and V, places computed from the matrix.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from greenroom.base.flow import Faces, Pixels, Placement
from greenroom.pixels.colour import premultiplied_code, split
from greenroom.pixels.paste_cpu import BoxPaste
from greenroom.pixels.place import Place, covering_box, look_up, upright_box


class PasteBack:
    """Puts the faces of one avatar, on canvases (h, w), into its pictures (H, W).

    Made once per avatar. `paste` may run on several threads at once; OpenCV stays on the thread
    that calls it only if whoever starts those threads has called `cv2.setNumThreads(1)`, which
    holds for the whole process.
    """

    def __init__(
        self, placement: Placement, canvas: tuple[int, int], picture: tuple[int, int]
    ) -> None:
        self._placement = placement
        box = upright_box(placement.matrix, canvas, picture)
        self._fast = BoxPaste(placement, canvas, box) if box else None

    def paste(self, faces: Faces, picture: Pixels, row: int = 0) -> Pixels:
        """Put one face of a batch into an NV12 picture (H * 3 // 2, W) -> a new picture."""
        if self._fast and faces.colour.device.type == "cpu":
            return self._fast.paste(faces, picture, row)
        return paste_reference(faces, picture, self._placement, row)


def paste_back(faces: Faces, picture: Pixels, placement: Placement, row: int = 0) -> Pixels:
    """Put one face into one picture -> a new picture; for many, make a `PasteBack` once."""
    height, width = split(picture)[0].shape
    canvas = faces.colour.shape[2], faces.colour.shape[3]
    return PasteBack(placement, canvas, (height, width)).paste(faces, picture, row)


def paste_reference(faces: Faces, picture: Pixels, placement: Placement, row: int = 0) -> Pixels:
    """The formula above in float32 on the device of the faces -> a new picture."""
    height, width = split(picture)[0].shape
    canvas = faces.colour.shape[2], faces.colour.shape[3]
    device, out = faces.colour.device, np.array(picture)
    box = covering_box(placement.matrix, canvas, (height, width))
    if box.width == 0 or box.height == 0:
        return out
    place = Place(placement.matrix.to(device), canvas, box)
    luma, chroma = _face(faces, placement, row, place)
    mask, chroma_mask = place.masks(placement.mask.to(device))
    behind = picture if placement.backdrop is None else placement.backdrop
    box.luma(out)[:] = _blend(luma[0], luma[3], mask, box.luma(behind), box.luma(picture))
    box.chroma(out)[:] = _blend(
        _pairs(chroma[1:3]),
        _pairs(chroma[[3, 3]]),
        _pairs(torch.stack([chroma_mask] * 2)),
        box.chroma(behind),
        box.chroma(picture),
    )
    return out


def _face(faces: Faces, placement: Placement, row: int, place: Place) -> tuple[Tensor, Tensor]:
    """Y, U, V as premultiplied code values and 1 - a (4, rows, columns), for luma and chroma."""
    colour = premultiplied_code(faces.colour[row].float())
    if faces.keep is None or faces.flow is None:
        return look_up(colour, place.luma), look_up(place.left(colour), place.chroma)
    assert placement.detail is not None, "a face that keeps detail needs Placement.detail"
    rgba = torch.tensor(placement.detail, device=colour.device).float().movedim(-1, 0) / 255
    detail, keep, flow = premultiplied_code(rgba), faces.keep[row].float(), faces.flow[row].float()
    canvas = torch.cat([(1 - keep) * colour, keep])

    def compose(canvas: Tensor, detail: Tensor, points: Tensor) -> Tensor:
        moved = points + look_up(flow, points).movedim(0, -1)
        found = look_up(canvas, points)
        return found[4] * look_up(detail, moved) + found[:4]

    return (
        compose(canvas, detail, place.luma),
        compose(place.left(canvas), place.left(detail), place.chroma),
    )


def _blend(
    colour: Tensor, clear: Tensor, mask: Tensor, backdrop: Pixels, picture: Pixels
) -> Pixels:
    behind, old = (
        torch.tensor(side, dtype=torch.float32, device=mask.device) for side in (backdrop, picture)
    )
    new = mask * (colour + clear * behind) + (1 - mask) * old
    new = (new + 0.5).floor().clamp(0, 255)
    out: Pixels = torch.where(mask > 0, new, old).to(torch.uint8).cpu().numpy()
    return out


def _pairs(planes: Tensor) -> Tensor:
    """(2, rows, columns) -> (rows, 2 columns), side by side as NV12 has U and V."""
    return planes.movedim(0, -1).flatten(1)
