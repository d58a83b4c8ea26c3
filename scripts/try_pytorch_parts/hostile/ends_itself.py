# refused: ended its process
import os

os._exit(0)
