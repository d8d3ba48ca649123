"""What a call comes to: the same table to the last bit, or the same error."""

import pandas as pd

from walletframe.errors import WalletframeError


def outcome(ask):
    """Give a table, or the error in its place."""
    try:
        return ask()
    except WalletframeError as fault:
        return type(fault), str(fault)


def same(found, expected):
    """Compare two frames to the last bit, and what Dask says of its own; or two errors."""
    if not isinstance(expected, pd.DataFrame):
        assert found == expected
        return
    if not isinstance(found, pd.DataFrame):
        meta = found.dtypes.to_dict()
        found = found.compute()
        assert found.dtypes.to_dict() == meta
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
