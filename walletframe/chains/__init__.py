"""Blockchains: the identifiers that the service is known to use, and how they are written.

The 107 identifiers are those that the service's own Python client declares (rango-sdk-py 0.0.1 on
PyPI, April 2026). Newer ones will come: one that is not in the list is none the less asked for.

Names, native coins and chain ids in ``known.csv`` are facts taken from public lists:

- EVM blockchains: https://github.com/ethereum-lists/chains at ded8612 (20 August 2026, MIT
  licence), by chain id; HYPEREVM is not in it, and Gnosis writes its xDAI with a small x;
- the others: https://github.com/cosmos/chain-registry at 627bbab (21 August 2026, CC BY 4.0), its
  folder ``_non-cosmos`` included;
- Dash, IOTA and NEAR: the coin types 5, 4218 and 397 of https://github.com/satoshilabs/slips
  (SLIP-0044, 7 August 2026).

The column ``also`` has the short names of the first two lists, and names of earlier days.
"""

from walletframe.chains.known import Blockchain, find_blockchain, known_blockchains
from walletframe.chains.names import doubt, near, spelled

__all__ = ["Blockchain", "doubt", "find_blockchain", "known_blockchains", "near", "spelled"]
