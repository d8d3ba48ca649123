"""Spam tokens: a score, its reasons, and an explanation in words; all offline."""
