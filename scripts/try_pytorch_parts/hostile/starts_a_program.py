# refused: Error
import subprocess

subprocess.run(["/bin/sh", "-c", "true"], check=True)
