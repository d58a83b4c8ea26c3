# refused: takes more than
while True:
    pass
