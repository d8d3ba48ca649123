"""Writes change the same frames as with pandas's own columns."""

import pandas as pd
import pytest


def write(frame):
    """Write into the first row of a frame, or of a column."""
    if isinstance(frame, pd.Series):
        frame.iloc[0] = 9
    else:
        frame.iloc[0, 0] = 9


MAKERS = {
    "itself": lambda frame: frame,
    "copy": lambda frame: frame.copy(),
    "shallow copy": lambda frame: frame.copy(deep=False),
    "rows": lambda frame: frame[1:3],
    "rows by place": lambda frame: frame.iloc[1:3],
    "rows by label": lambda frame: frame.loc[1:2],
    "rows by mask": lambda frame: frame[[False, True, True, False]],
    "rows in turn": lambda frame: frame.take([2, 1]),
    "columns": lambda frame: frame[["a"]],
    "columns by label": lambda frame: frame.loc[:, ["a"]],
    "a column": lambda frame: frame["a"],
    "a column's copy": lambda frame: frame["a"].copy(),
    "a column's rows": lambda frame: frame["a"].iloc[2:],
    "a row's column": lambda frame: frame.iloc[1:]["a"],
    "a series of it": lambda frame: pd.Series(frame["a"]),
    "a frame of it": lambda frame: pd.DataFrame({"a": frame["a"]}),
    "a frame of the frame": pd.DataFrame,
    "another index": lambda frame: frame.reset_index(drop=True),
    "another name": lambda frame: frame.rename(columns={"a": "c"}),
    "another order": lambda frame: frame.sort_values("b"),
    "one more column": lambda frame: frame.assign(c=frame["a"]),
    "filled": lambda frame: frame.fillna(0),
    "joined": lambda frame: pd.concat([frame]),
    "joined sideways": lambda frame: pd.concat([frame, frame["a"].rename("c")], axis=1),
    "merged": lambda frame: frame.merge(frame[["b"]], on="b"),
    "shifted by none": lambda frame: frame.shift(0),
    "of the same dtype": lambda frame: frame.astype(frame.dtypes.to_dict()),
    "the head": lambda frame: frame.head(2),
}


@pytest.mark.filterwarnings(r"ignore:\s*A value is trying to be set")  # by pandas 2
@pytest.mark.parametrize("backwards", [False, True], ids=["into it", "into the frame"])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_writes_are_shared_as_with_int64(make, backwards):
    """Copies, slices and other frames share a column of amounts as they share Int64."""
    seen = []
    for dtype in ("Int64", "amount"):
        frame = pd.DataFrame({"a": pd.array([1, 2, None, 4], dtype=dtype), "b": [4, 3, 2, 1]})
        made = make(frame)
        write(frame if backwards else made)
        column = made if isinstance(made, pd.Series) else made.iloc[:, 0]
        seen.append([each.astype("Int64").tolist() for each in (frame["a"], column)])
    assert seen[1] == seen[0]


@pytest.mark.parametrize("dtype", ["Int64", "amount"])
def test_a_chained_write_changes_a_copy_alone(dtype):
    """Rows of a mask are a copy; pandas warns of the write, and the frame is unchanged."""
    frame = pd.DataFrame({"a": pd.array([1, 2, 3], dtype=dtype)})
    with pytest.warns(Warning, match="copy|chained"):
        frame[frame["a"] > 1]["a"] = 9
    assert frame["a"].astype("Int64").tolist() == [1, 2, 3]
