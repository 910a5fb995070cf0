"""The file formats: loading, checking, error positions, and the values that are built from them."""
