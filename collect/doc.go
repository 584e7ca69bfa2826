// Package collect is where bytes enter and leave Waybill: UDP sockets that receive telemetry reports, capture files,
// and the paced sender behind "waybill replay". It does not look into the bytes.
//
// Nothing is lost without a number: the datagrams that ReadBatch returned plus Socket.Drops are the datagrams that
// reached the socket. What network cards and the kernel's input queues drop before that is theirs to count.
//
// Linux is the main platform. Elsewhere the same functions exist, but read and send one datagram per system call, open
// one socket per address and know no drop count.
package collect
