"""What the tests share lies in tests.support; a package, so that no other of that name stands before it."""
