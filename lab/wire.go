//go:build linux

package lab

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	attach "github.com/cilium/ebpf/link"
)

// A wire is the middle of a link that may lose packets: two interfaces, and programs that pass what comes by one to
// the other, or not.
type wire struct {
	ns    *namespace
	ends  [2]int // numbers of the interfaces
	names [2]string
	links [2]attach.Link
	lost  float64 // share of the packets
}

// open lets link i pass.
func (w *wire) open(n *namespace, i int) error {
	w.ns = n
	return n.do(func() error {
		w.names = [2]string{fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)}
		for end, name := range w.names {
			if err := run("", "ip", "link", "set", "dev", name, "up"); err != nil {
				return err
			}
			index, err := net.InterfaceByName(name)
			if err != nil {
				return err
			}
			w.ends[end] = index.Index
		}
		for end := range w.ends {
			program, err := w.program(end)
			if err != nil {
				return err
			}
			w.links[end], err = attach.AttachTCX(attach.TCXOptions{
				Interface: w.ends[end], Program: program, Attach: ebpf.AttachTCXIngress,
			})
			if err := errors.Join(err, program.Close()); err != nil {
				return err
			}
		}
		return nil
	})
}

// program passes packets from one end to the other, but for the share that is lost.
func (w *wire) program(end int) (*ebpf.Program, error) {
	const drop = 2 // TCX_DROP
	return ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "wire", Type: ebpf.SchedCLS, License: "GPL",
		Instructions: asm.Instructions{
			asm.FnGetPrandomU32.Call(),
			asm.LoadImm(asm.R1, int64(w.lost*math.MaxUint32), asm.DWord),
			asm.JLT.Reg(asm.R0, asm.R1, "lose"),
			asm.Mov.Imm(asm.R1, int32(w.ends[1-end])),
			asm.Mov.Imm(asm.R2, 0),
			asm.FnRedirect.Call(),
			asm.Return(),
			asm.Mov.Imm(asm.R0, drop).WithSymbol("lose"),
			asm.Return(),
		},
	})
}

// lose makes the wire lose a share of the packets.
func (w *wire) lose(share float64) error {
	w.lost = share
	for end := range w.ends {
		program, err := w.program(end)
		if err == nil {
			err = errors.Join(w.links[end].Update(program), program.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *wire) close() error {
	var errs []error
	for _, l := range w.links {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	return errors.Join(errs...)
}

// forgetHash attaches a program to the interface of a host: switches then choose among equal routes by addresses and
// ports, and not by the random number that a socket has given to its packets.
func forgetHash() (io.Closer, error) {
	index, err := net.InterfaceByName("eth0")
	if err != nil {
		return nil, err
	}
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "forget_hash", Type: ebpf.SchedCLS, License: "GPL",
		Instructions: asm.Instructions{
			asm.FnSetHashInvalid.Call(),
			asm.Mov.Imm32(asm.R0, -1), // TCX_NEXT
			asm.Return(),
		},
	})
	if err != nil {
		return nil, err
	}
	l, err := attach.AttachTCX(attach.TCXOptions{
		Interface: index.Index, Program: program, Attach: ebpf.AttachTCXEgress,
	})
	return l, errors.Join(err, program.Close())
}
