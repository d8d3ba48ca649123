"""Balances of one token, straight from a blockchain's node, over JSON-RPC.

For EVM blockchains, with the extra ``node``: eth-abi encodes the calls to contracts, and decodes
their results. The URL of the node is as secret as the API key.
"""

from walletframe.node.balances import Agreement, crosscheck, token_balance
from walletframe.node.rpc import NodeStatus
