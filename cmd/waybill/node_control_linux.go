package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/cli"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/node/kernel"
)

// socketDir is where nodes have their sockets: node-ID.sock.
const socketDir = "/run/waybill"

// A nodeClient asks a node, on this machine or at a URL.
type nodeClient struct{ socket, url, tokenFile, ca string }

// addFlag gives cmd the flags that name the node.
func (c *nodeClient) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.socket, "socket", "", "`PATH` of the node's socket; default the only one in "+socketDir)
	cmd.Flags().StringVar(&c.url, "url", "", "https://`HOST:PORT` of a node elsewhere, instead of a socket")
	cmd.Flags().StringVar(&c.tokenFile, "token-file", "", "`FILE` with the token of that node")
	cmd.Flags().StringVar(&c.ca, "ca", "", "`FILE` with the authority of its certificate, PEM; default those of the system")
}

// ask sends a request and returns the answer.
func (c *nodeClient) ask(ctx context.Context, method, path, body string) ([]byte, error) {
	if c.url != "" && c.socket != "" {
		return nil, command.Usage(errors.New("--url and --socket: want one of them"))
	}
	if c.url == "" && c.socket == "" {
		sockets, _ := filepath.Glob(socketDir + "/node-*.sock")
		if len(sockets) != 1 {
			return nil, command.Usage(fmt.Errorf("%d nodes have a socket in %s; name one with --socket", len(sockets),
				socketDir))
		}
		c.socket = sockets[0]
	}
	var transport http.RoundTripper = &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", c.socket)
		},
	}
	base, place, token := "http://node", c.socket, ""
	if c.url != "" {
		var err error
		if transport, token, err = c.transport(); err != nil {
			return nil, command.Usage(err)
		}
		base, place = strings.TrimSuffix(c.url, "/"), c.url
	}
	client := http.Client{Timeout: 10 * time.Second, Transport: transport}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s: no node answers: %w", place, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(strings.TrimSpace(string(text)))
	}
	return text, err
}

// addNodeCommands gives the command of a node those that look at one.
func addNodeCommands(cmd *cobra.Command) {
	cmd.AddCommand(newNodeDoctorCommand(), newNodeStatusCommand(), newNodeWatchCommand(),
		newNodeFilterCommand(), newNodeDetachCommand())
}

func newNodeDetachCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "detach ID",
		Short: "take off the programs that a node with pin has left at its interfaces",
		Long: `Detach takes off the programs that a node with pin: true has left at its interfaces when it ended or was killed, at the
ingress first. End the node before.`,
		Example: "  waybill node detach 1",
		Args:    command.OneArg("the id of the node"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseUint(args[0], 10, 32)
			if err != nil || id == 0 {
				return command.Usage(fmt.Errorf("got %q, want the id of a node", args[0]))
			}
			programs, err := kernel.Unpin(uint32(id))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d programs of node %d taken off\n", programs, id)
			return command.Quiet(err)
		},
	}
}

func newNodeStatusCommand() *cobra.Command {
	var c nodeClient
	var output string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "show what a node did",
		Example: `  waybill node status
  waybill node status -o json`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := c.ask(cmd.Context(), http.MethodGet, "/status", "")
			if err != nil {
				return err
			}
			if output != "table" {
				return writeAnswer(cmd.OutOrStdout(), output, text)
			}
			var s kernel.Status
			if err := json.Unmarshal(text, &s); err != nil {
				return err
			}
			return command.Quiet(writeStatus(cmd.OutOrStdout(), &s))
		},
	}
	c.addFlag(cmd)
	cli.OutputVar(cmd, &output, "table", "json", "yaml")
	return cmd
}

// writeAnswer writes an answer in JSON as a document.
func writeAnswer(w io.Writer, output string, answer []byte) error {
	if output == "json" {
		_, err := w.Write(answer)
		return command.Quiet(err)
	}
	return command.Quiet(cli.WriteDocument(w, output, json.RawMessage(answer)))
}

func writeStatus(out io.Writer, s *kernel.Status) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "node %d %s since %s, ports %s, %d entries on the flow watchlist\n", s.ID, s.Name,
		s.Started.Format(time.DateTime), strings.Join(s.Ports, ", "), s.Watch)
	if s.Error != "" {
		fmt.Fprintf(&b, "a report could not be sent: %s\n", s.Error)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
		fmt.Fprintf(&b, "%-20s %d\n", name, s.Counters[name])
	}
	_, err := out.Write(b.Bytes())
	return err
}

func newNodeWatchCommand() *cobra.Command {
	var c nodeClient
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "change the flow watchlist of a node",
		Long:  "Watch changes the flow watchlist of a running node, until its file is read again (SIGHUP) or it ends.",
	}
	add := &cobra.Command{
		Use: "add ENTRY", Short: "add an entry, as it stands in a file",
		Example: "  waybill node watch add '{name: web, protocol: tcp, dst_port: 443, sample: 100}'",
		Args:    command.OneArg("entry"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := c.ask(cmd.Context(), http.MethodPost, "/watch", args[0])
			return err
		},
	}
	list := &cobra.Command{
		Use: "list", Short: "print the entries",
		Example: "  waybill node watch list",
		Args:    command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := c.ask(cmd.Context(), http.MethodGet, "/watch", "")
			if err == nil {
				_, err = cmd.OutOrStdout().Write(text)
			}
			return command.Quiet(err)
		},
	}
	remove := &cobra.Command{
		Use: "remove NAME", Short: "remove an entry",
		Example: "  waybill node watch remove web",
		Args:    command.OneArg("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := c.ask(cmd.Context(), http.MethodDelete, "/watch/"+url.PathEscape(args[0]), "")
			return err
		},
	}
	for _, sub := range []*cobra.Command{add, list, remove} {
		c.addFlag(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

func newNodeDoctorCommand() *cobra.Command {
	var file, output string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "say whether this machine can be an INT node, and what to do",
		Long: `Doctor looks at the kernel, its programs, capabilities, the clock and sysctls; with a file also
at the ports: driver, MTU, offloads and which mode is therefore right. It changes nothing. The exit code is 1
if a node cannot work.`,
		Example: `  waybill node doctor
  waybill node doctor --config node.yaml -o json`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var c *kernel.Config
			if file != "" {
				var err error
				if c, err = kernel.Load(file); err != nil {
					return command.Invalid(cmd.ErrOrStderr(), file, err)
				}
			}
			return tellFindings(cmd.OutOrStdout(), kernel.Examine(c), output)
		},
	}
	cli.ConfigVar(cmd.Flags(), &file, "`FILE` of the node, whose ports are looked at too")
	cli.OutputVar(cmd, &output, "table", "json", "yaml")
	return cmd
}

func tellFindings(out io.Writer, findings []kernel.Finding, output string) error {
	if output != "table" {
		if err := cli.WriteDocument(out, output, findings); err != nil {
			return command.Quiet(err)
		}
	} else {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, f := range findings {
			fmt.Fprintf(w, "%s\t%s\t%s\n", f.Verdict, f.What, f.Found)
			if f.Do != "" {
				fmt.Fprintf(w, "\t\t-> %s\n", f.Do)
			}
		}
		if err := w.Flush(); err != nil {
			return command.Quiet(err)
		}
	}
	if slices.ContainsFunc(findings, func(f kernel.Finding) bool { return f.Verdict == kernel.Bad }) {
		return errors.New("a node cannot work here")
	}
	return nil
}

// serveNode answers questions about n at a socket of this machine, and if address is not "" metrics there, until ctx is
// done.
func serveNode(ctx context.Context, n *kernel.Node, socket, address string) error {
	l, err := kernel.ListenLocal(socket)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	servers := []*http.Server{{Handler: n.Handler(), ReadHeaderTimeout: 10 * time.Second}}
	listeners := []net.Listener{l}
	if address != "" {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return errors.Join(fmt.Errorf("http: %w", err), listeners[0].Close())
		}
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", n.Handler())
		servers = append(servers, &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second})
		listeners = append(listeners, l)
	}
	for i := range servers {
		go func() { _ = servers[i].Serve(listeners[i]) }()
		context.AfterFunc(ctx, func() { _ = servers[i].Close() })
	}
	return nil
}

// socketOf returns where a node has its socket if nobody says.
func socketOf(c *kernel.Config) string {
	return filepath.Join(socketDir, fmt.Sprintf("node-%d.sock", c.ID))
}
