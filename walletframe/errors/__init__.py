"""The errors and warnings of walletframe.

::

    Exception
    └── WalletframeError
        ├── AddressError         (ValueError)    one or more wallets that can't be read
        ├── AmountError          (ArithmeticError)  a value that is not an exact amount
        │   ├── AmountPrecisionError             digits would be lost, or are lost already
        │   └── AmountValueError (ValueError)    the same, when set in a column
        ├── ArgumentError        (TypeError)     an argument of the wrong type
        ├── ColumnsError         (KeyError)      a frame lacks what a method needs
        ├── PricesError          (ValueError)    prices that can't be used
        ├── UnknownTokenError    (LookupError)   a frame holds no such token
        ├── AmbiguousTokenError  (ValueError)    a symbol that several tokens share
        ├── UnknownWalletError   (LookupError)   a frame has no such wallet
        ├── UnknownBlockchainError (LookupError) a list has no such blockchain
        ├── FramesNeededError    (AttributeError) asked of a folder on the disk
        ├── SettingsError        (ValueError)    a setting that is unknown, missing or wrong
        ├── TokenListError       (ValueError)    a list of tokens that can't be read
        ├── LedgerError          (ValueError)    holdings that the sandbox can't serve
        ├── CacheError           (OSError)       cached answers can't be read
        ├── SnapshotError        (ValueError)    holdings that can't be saved or compared
        ├── UnknownSnapshotError (LookupError)   there is no snapshot, or none so early
        ├── HistoryError         (OSError)       a snapshot can't be read
        ├── DatasetError         (OSError)       a file or folder of holdings can't be used
        ├── ClusterError         (RuntimeError)  a cluster that can't fetch, or is gone
        ├── FetchError           (RuntimeError)  wallets failed, and on_failure="raise"
        └── MissingExtraError    (ImportError)   an optional dependency is not installed

    KeyboardInterrupt
    └── FetchInterrupted         a fetch that was stopped, with all that was finished

    UserWarning
    └── WalletframeWarning
        ├── AnswerWarning        unrequested wallets, or unreadable balances
        ├── CacheWarning         the cache can't be written or read
        ├── FetchWarning         some wallets failed
        ├── InputWarning         the input may not be what you meant
        ├── PricesWarning        none of the prices is for a token in the holdings
        ├── RenamedWarning       (DeprecationWarning) something was renamed
        ├── SpamWarning          rows were left out since their tokens look like spam
        └── TestKeyWarning       the shared test key is in use

Every error says what happened, then, after a blank line, what to do about it. All of them carry
plain data, survive pickling, and never hold the API key. What Python and a shell spell differently,
such as ``folder=…`` and ``--folder``, is written once, as in `spelling`.
"""

from walletframe.errors.fetches import (
    CacheError,
    ClusterError,
    DatasetError,
    FetchError,
    FetchInterrupted,
    FramesNeededError,
    HistoryError,
    SnapshotError,
    UnknownSnapshotError,
)
from walletframe.errors.inputs import (
    AddressError,
    AmbiguousTokenError,
    AmountError,
    AmountPrecisionError,
    AmountValueError,
    ArgumentError,
    ColumnsError,
    LedgerError,
    MissingExtraError,
    PricesError,
    SettingsError,
    TokenListError,
    UnknownBlockchainError,
    UnknownTokenError,
    UnknownWalletError,
)
from walletframe.errors.root import (
    AnswerWarning,
    CacheWarning,
    FetchWarning,
    InputWarning,
    PricesWarning,
    RenamedWarning,
    SpamWarning,
    TestKeyWarning,
    WalletframeError,
    WalletframeWarning,
)
from walletframe.errors.spelling import Argument, Either, Piece, Spelled, Text, token_text

__all__ = [
    "AddressError",
    "AmbiguousTokenError",
    "AmountError",
    "AmountPrecisionError",
    "AmountValueError",
    "AnswerWarning",
    "Argument",
    "ArgumentError",
    "CacheError",
    "CacheWarning",
    "ClusterError",
    "ColumnsError",
    "DatasetError",
    "Either",
    "FetchError",
    "FetchInterrupted",
    "FetchWarning",
    "FramesNeededError",
    "HistoryError",
    "InputWarning",
    "LedgerError",
    "MissingExtraError",
    "Piece",
    "PricesError",
    "PricesWarning",
    "RenamedWarning",
    "SettingsError",
    "SnapshotError",
    "SpamWarning",
    "Spelled",
    "TestKeyWarning",
    "Text",
    "TokenListError",
    "UnknownBlockchainError",
    "UnknownSnapshotError",
    "UnknownTokenError",
    "UnknownWalletError",
    "WalletframeError",
    "WalletframeWarning",
    "token_text",
]
