"""What is searched: the schedules of the library with their parameters free, generic rules, functions of users."""
