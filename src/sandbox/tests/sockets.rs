//! The server and every fault, seen by a real client over a real socket.
