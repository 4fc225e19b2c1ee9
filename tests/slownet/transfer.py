"""transfer.py serve: takes one connection, reads it to its end, answers with one byte.
transfer.py send HOST BYTES: sends BYTES to a serve on HOST, prints the seconds until its answer."""
import socket
import sys
import time

PORT = 7000

if sys.argv[1] == "serve":
    connection = socket.create_server(("", PORT)).accept()[0]
    while connection.recv(65536):
        pass
    connection.sendall(b"!")
else:
    for attempt in range(100):
        try:
            connection = socket.create_connection((sys.argv[2], PORT))
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    start = time.monotonic()
    connection.sendall(bytes(int(sys.argv[3])))
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
    print(time.monotonic() - start)
