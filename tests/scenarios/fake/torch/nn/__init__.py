"""See torch of the fake."""
