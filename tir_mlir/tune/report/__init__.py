"""What a search shows: tables, live progress."""
