# refused: Error
import tempfile

with tempfile.NamedTemporaryFile("w", delete=False) as file:
    file.write("left behind")
