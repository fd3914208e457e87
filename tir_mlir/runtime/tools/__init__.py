"""External tools and files: finding them, running them, writing files atomically."""
