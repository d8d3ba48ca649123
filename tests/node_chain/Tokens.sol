// SPDX-License-Identifier: BSD-3-Clause
pragma solidity ^0.8.20;

/// A token as most are.
contract Token {
    string public symbol;
    uint8 public immutable decimals;
    mapping(address => uint256) public balanceOf;

    constructor(string memory symbol_, uint8 decimals_) {
        symbol = symbol_;
        decimals = decimals_;
    }

    function mint(address[] calldata owners, uint256 amount) external {
        for (uint256 i = 0; i < owners.length; i++) balanceOf[owners[i]] += amount * (i + 1);
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}

/// A symbol of bytes32, as the first tokens had, and decimals beyond all sense.
contract Ancient {
    bytes32 public constant symbol = "MKR";
    uint256 public constant decimals = 255;

    function balanceOf(address) external pure returns (uint256) {
        return 5;
    }
}

/// Neither symbol nor decimals.
contract Bare {
    function balanceOf(address) external pure returns (uint256) {
        return 5;
    }
}

/// Refuses to speak of one owner.
contract Picky {
    string public constant symbol = "PICKY";
    uint8 public constant decimals = 2;
    address private immutable refused;

    constructor(address refused_) {
        refused = refused_;
    }

    function balanceOf(address owner) external view returns (uint256) {
        require(owner != refused, unicode"not of \u202e<b>this</b> one");
        return 5;
    }
}

/// Answers everything with nothing.
contract Silent {
    fallback() external {}
}

/// Burns all gas that it is given, unless it is asked for its decimals.
contract Glutton {
    uint8 public constant decimals = 0;

    fallback() external {
        assembly {
            invalid()
        }
    }
}

/// Needs a million gas to say a balance.
contract Heavy {
    function balanceOf(address owner) external pure returns (uint256) {
        bytes32 work = bytes32(uint256(uint160(owner)));
        for (uint256 i = 0; i < 5000; i++) work = keccak256(abi.encode(work));
        return work == 0 ? 0 : 5;
    }
}

/// The two functions of Multicall3 that are used, with its interface and behaviour.
contract Multicall3 {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, bytes memory returned) = calls[i].target.call(calls[i].callData);
            require(success || calls[i].allowFailure, "Multicall3: call failed");
            results[i] = Result(success, returned);
        }
    }

    function getEthBalance(address owner) external view returns (uint256) {
        return owner.balance;
    }
}
