"""The mark that a film was made by machine, for people and for programs.

The EU AI Act, article 50(2), asks for a machine-readable one. There are two here: the comment that
every player shows, and an XMP packet with the IPTC property DigitalSourceType, which is what
newsrooms and platforms look for.
"""

from __future__ import annotations

import struct
from pathlib import Path

COMMENT = "Synthetic media: made by machine with Greenroom"
# IPTC NewsCodes: media from a trained algorithm joined with other media, here face and loop.
SOURCE_TYPE = "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia"
XMP_BOX = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")  # XMP part 3: uuid box of MPEG-4 files

XMP = f"""<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about=""
    xmlns:xmp="http://ns.adobe.com/xap/1.0/"
    xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
    xmp:CreatorTool="Greenroom"
    Iptc4xmpExt:DigitalSourceType="{SOURCE_TYPE}"/>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="r"?>"""


def append_xmp(path: Path) -> None:
    """Add the XMP packet to a finished mp4 as its last box, where no offset has to move."""
    body = XMP_BOX + XMP.encode()
    with path.open("ab") as file:
        file.write(struct.pack(">I4s", 8 + len(body), b"uuid") + body)
