"""How each kind of operation is written as checked Python."""
