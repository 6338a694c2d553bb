"""The native stream as values: text in while it is written, sound out while it is made, several contexts on a socket.

``messages`` holds what either side says, ``reading`` turns what clients send into it, ``writing`` what the server sends
into frames; ``conversation`` says what may be said when, ``window`` keeps what was sent of a stream for a while, so
that it can go on after a drop. All of it pure; the sockets are in :mod:`yuliu.server`.
"""
