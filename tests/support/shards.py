"""Folders that each hold some of the parts of a bulk run, as a cluster writes them."""

from walletframe.bulk.files import Paths, part_numbers
from walletframe.disk import create_private_folder


def write_shards(whole, folder, parts=1):
    """Link this many parts of a folder into each shard."""
    source = Paths(whole)
    for place, number in enumerate(part_numbers(source.wallets)):
        shard = Paths(folder / f"shard-{place // parts:03}")
        for name in ("wallets", "holdings", "failed", ".walletframe"):
            create_private_folder(shard.root / name)
        shard.marker.write_bytes(source.marker.read_bytes())
        for name in ("wallets", "holdings"):
            path = whole / name / f"part-{number:06}.parquet"
            (shard.root / name / path.name).hardlink_to(path)
    return folder
