"""Compare the outcomes of calls, which are tables or errors."""

import pandas as pd

from walletframe.errors import WalletframeError


def outcome(ask):
    """Return a call's table, or its error."""
    try:
        return ask()
    except WalletframeError as fault:
        return type(fault), str(fault)


def same(result, expected):
    """Check that two outcomes are equal: tables to the last bit, with Dask's metadata."""
    if not isinstance(expected, pd.DataFrame):
        assert result == expected
        return
    if not isinstance(result, pd.DataFrame):
        meta = result.dtypes.to_dict()
        result = result.compute()
        assert result.dtypes.to_dict() == meta
    pd.testing.assert_frame_equal(result, expected, check_exact=True)
