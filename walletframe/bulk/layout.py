"""What lies where in the folder of a bulk run, and how it is told from any other folder.

::

    FOLDER/wallets/part-000001.parquet      a row for each wallet that is ok
    FOLDER/holdings/part-000001.parquet     a row for each of its balances
    FOLDER/failed/part-000001.parquet       a row for each wallet that was asked for and is not ok
    FOLDER/.walletframe/                    nothing for readers: the service's name, a lock, and
                                            during a run the answers that are in no part yet

The parts are cut by number and not by blockchain: identifiers are whatever people write, which is
no safe name of a folder, and a file for each of them in each part would be many small ones. A part
counts from the moment at which its wallets are there, which come last.

Files of wallets and holdings never change and never go: a program that reads them while a run goes
on finds no wallet twice, and none by half. (A file that is replaced is no way to take a row out:
DuckDB then reads the old one's end with the new one's data.) What fails may come right later; so
those rows are apart, and a row in failed counts only while its wallet is in no part of wallets.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from walletframe.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMAT = 1
_PART = re.compile(r"part-(\d{6,})\.parquet")


@dataclass(frozen=True, slots=True)
class Layout:
    """The places in a folder.

    Attributes
    ----------
    root : Path
        The folder.
    """

    root: Path

    @property
    def wallets(self) -> Path:
        """The folder of the parts of wallets."""
        return self.root / "wallets"

    @property
    def holdings(self) -> Path:
        """The folder of the parts of holdings."""
        return self.root / "holdings"

    @property
    def failed(self) -> Path:
        """The folder of the wallets that are not ok."""
        return self.root / "failed"

    @property
    def inner(self) -> Path:
        """The folder that is nothing for readers."""
        return self.root / ".walletframe"

    @property
    def marker(self) -> Path:
        """The file that says what all this is."""
        return self.inner / "dataset.json"

    def service(self) -> str | None:
        """Return the name of the service that was asked; None where there is no dataset.

        Raises
        ------
        DatasetError
            Where the dataset is of another format.
        """
        try:
            marker = json.loads(self.marker.read_text(encoding="utf-8"))
            if marker["format"] == FORMAT:
                return str(marker["service"])
            made = f"is of format {marker['format']}, and this walletframe knows {FORMAT}"
        except FileNotFoundError:
            return None
        except (ValueError, LookupError, TypeError) as fault:
            made = f"has a marker that can't be read: {fault!r}"
        raise DatasetError(f"{self.root} {made}", hint="choose another folder")


def part_name(number: int) -> str:
    """Return the name of the files of a part.

    Parameters
    ----------
    number : int
        From 1.

    Returns
    -------
    str
        The same for wallets and holdings.

    Examples
    --------
    >>> part_name(7)
    'part-000007.parquet'
    """
    return f"part-{number:06}.parquet"


def part_numbers(folder: Path) -> list[int]:
    """Return the numbers of the parts in a folder.

    Parameters
    ----------
    folder : Path
        That of wallets or that of holdings.

    Returns
    -------
    list of int
        In order; other files are left alone.
    """
    found = [_PART.fullmatch(path.name) for path in folder.glob("part-*")]
    return sorted(int(match[1]) for match in found if match)


@contextmanager
def told(root: Path) -> Iterator[None]:
    """Turn what goes wrong with the files of a folder into one error.

    Parameters
    ----------
    root : Path
        The folder.

    Yields
    ------
    None
        While files are read and written.

    Raises
    ------
    DatasetError
        For a disk that is full, a folder that is read-only, a file that is broken, and the like.
    """
    try:
        yield
    except DatasetError:
        raise
    except (OSError, pa.ArrowException) as fault:
        reason = str(fault)
    else:
        return
    raise DatasetError(
        f"{root}: {reason}",
        hint="what was written before is whole: once this is mended, the same call goes on there",
    )
