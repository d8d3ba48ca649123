"""Shards: the wallets of a list, each in the one that its address decides, and a folder for each.

How many there are is in a marker beside them: each wallet is found again where it was.
"""
# FOLDER/.walletframe/shards.json      the format, the service, and how many shards there are
# FOLDER/shard-000, shard-001, …       each the folder of a bulk run

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from walletframe.bulk.files import FORMAT, Layout, dataset_errors, key_of
from walletframe.disk import private_file, private_folder, publish
from walletframe.errors import ArgumentError, DatasetError
from walletframe.numerals import many

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from walletframe.address import WalletAddress

_MARKER = "shards.json"
_MOST = 10_000


@dataclass(frozen=True, slots=True, repr=False)
class Shard:
    """What one task fetches."""

    root: Path
    wallets: list[WalletAddress]
    positions: list[int]  # of each, in the whole list
    kept: pd.DataFrame | None

    def __repr__(self) -> str:
        return f"<{self.root.name}: {many(len(self.wallets), 'wallet')}>"

    def places(self) -> dict[str, int]:
        """Give the positions by the wallets' keys."""
        return dict(zip(map(key_of, self.wallets), self.positions, strict=True))


def require_number(shards: object) -> None:
    """Refuse what is no number of shards."""
    if not isinstance(shards, int) or isinstance(shards, bool) or not 1 <= shards <= _MOST:
        raise ArgumentError(f"shards: {shards!r}", hint=f"a whole number from 1 to {_MOST:,}")


def claim(root: Path, service: str, shards: int) -> None:
    """Mark a folder as that of a fetch into shards; refuse what it is already, if that differs."""
    with dataset_errors(root):
        private_folder(root / Layout(root).inner.name)
        made_with = _marked(root)
        if made_with is None:
            others = sorted({path.name for path in root.iterdir()} - {Layout(root).inner.name})
            if others or Layout(root).service() is not None:
                held = ", ".join(map(repr, others[:3])) or "what fetch_to_parquet wrote"
                raise DatasetError(
                    f"{root} holds other files: {held}",
                    hint="give a new or an empty folder, or that of an earlier fetch on a cluster",
                )
            _mark(root, {"format": FORMAT, "service": service, "shards": shards})
        elif made_with["service"] != service:
            raise DatasetError(
                f"{root} holds wallets of the service {made_with['service']!r}, not of {service!r}",
                hint="choose another folder for each service",
            )
        elif made_with["shards"] != shards:
            raise DatasetError(
                f"{root} is cut into {made_with['shards']} shards, not {shards}: wallets that it "
                "has would be asked for again",
                hint=f"give shards={made_with['shards']}, or another folder",
            )


def cut(
    root: Path, wallets: list[WalletAddress], kept: pd.DataFrame | None, shards: int
) -> list[Shard]:
    """Cut a list of distinct wallets; shards without any are left out, but for the one of none."""
    found: dict[int, list[int]] = defaultdict(list)
    for position, wallet in enumerate(wallets):
        found[crc32(key_of(wallet).encode("utf-8", "surrogatepass")) % shards].append(position)
    return [
        Shard(
            root / f"shard-{number:03}",
            [wallets[position] for position in positions],
            positions,
            None if kept is None else kept.take(np.array(positions)).reset_index(drop=True),
        )
        for number, positions in sorted(found.items()) or [(0, [])]
    ]


def _marked(root: Path) -> dict[str, Any] | None:
    try:
        marker = json.loads((Layout(root).inner / _MARKER).read_text(encoding="utf-8"))
        if marker["format"] == FORMAT:
            return {"service": str(marker["service"]), "shards": int(marker["shards"])}
        made = f"is of format {marker['format']}, and this walletframe knows {FORMAT}"
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError) as fault:
        made = f"has a marker that can't be read: {fault!r}"
    raise DatasetError(f"{root} {made}", hint="choose another folder")


def _mark(root: Path, marker: dict[str, Any]) -> None:
    unfinished = Layout(root).inner / "shards.tmp"
    unfinished.unlink(missing_ok=True)
    with private_file(unfinished) as file:
        file.write(json.dumps(marker).encode())
    publish(unfinished, Layout(root).inner / _MARKER)
