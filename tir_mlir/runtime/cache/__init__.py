"""The on-disk cache of compiled code: storage, the fingerprint of the installation, crash records."""
