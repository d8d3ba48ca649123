"""Detection of spam tokens: scores, reasons and explanations, without requests."""
