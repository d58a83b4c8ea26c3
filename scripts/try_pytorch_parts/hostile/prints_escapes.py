# refused: does not run
print("\x1b[2J\x1b[31mimported: everything")
raise RuntimeError("\x1b[2J\x1b[31mimported: everything\x07")
