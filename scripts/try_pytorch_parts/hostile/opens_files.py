# refused: PermissionError
with open("/etc/passwd") as file:
    accounts = file.read()
