package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

func newTopCommand() *cobra.Command {
	var server serverFlags
	var every time.Duration
	var filter string
	cmd := &cobra.Command{
		Use:   "top [VIEW]",
		Short: "show flows, hops, queues, drops, events and exporters live, on a full screen",
		Long: `Top shows on a full screen what goes on, and asks the server again every second. VIEW is what it begins with: flows, hops,
queues, drops, events or exporters; the keys 1 to 6 and the tabulator change it. Arrows choose a row and the column to sort by, enter
shows a flow hop by hop, a node with its ports and queues, an event with its evidence; / filters, ? lists all keys, q ends it.`,
		Example: `  waybill top
  waybill top queues
  waybill top --server http://collector:8080 --every 5s`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return command.Usage(fmt.Errorf("unexpected argument %q", args[1]))
			}
			return nil
		},
		ValidArgs: topViewNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if every < minWatch {
				return command.Usage(fmt.Errorf("--every is %v; it must be at least %v", every, minWatch))
			}
			first := 0
			if len(args) == 1 {
				if first = slices.Index(topViewNames(), args[0]); first < 0 {
					return command.Usage(fmt.Errorf("there is no view %q; allowed: %s", args[0],
						strings.Join(topViewNames(), ", ")))
				}
			}
			c, err := server.client()
			if err != nil {
				return command.Usage(err)
			}
			return runTop(cmd, newTop(c, every, first, filter))
		},
	}
	f := cmd.Flags()
	server.register(f)
	DurationVar(f, &every, "every", time.Second, "ask again every `DURATION`, at least 100ms")
	f.StringVar(&filter, "filter", "", "begin with this filter `EXPRESSION`")
	_ = cmd.RegisterFlagCompletionFunc("filter",
		func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			view := topViewNames()[0]
			if len(args) > 0 {
				view = args[0]
			}
			return server.completeFilter(view)(cmd, args, word)
		})
	return cmd
}

// runTop shows t until somebody ends it. The terminal is as before then, also after a panic and SIGTERM.
func runTop(cmd *cobra.Command, t *top) error {
	in, isFile := cmd.InOrStdin().(*os.File)
	switch {
	case !command.IsTerminal(cmd.OutOrStdout()):
		return errors.New(
			"standard output is no terminal; `waybill flows --watch 1s` and the other lists write anywhere")
	case !isFile || !command.IsTerminal(in):
		return errors.New("standard input is no terminal, and the keys come from there")
	case os.Getenv("TERM") == "dumb":
		return errors.New("TERM is dumb: such a terminal cannot be drawn on; `waybill flows --watch 1s` goes anywhere")
	}
	out, _ := command.FileOf(cmd.OutOrStdout())
	t.view = newView(out, false)
	// the terminal is gone
	ctx, stop := signal.NotifyContext(cmp.Or(cmd.Context(), context.Background()), syscall.SIGHUP)
	defer stop() // also the stream
	t.ctx = ctx
	if answer := t.ask(); answer.err != nil { // before the screen is taken: a wrong address is said as everywhere
		return explain(t.client, answer.err)
	}
	program := tea.NewProgram(t, tea.WithContext(ctx), tea.WithInput(io.Reader(in)), tea.WithOutput(out),
		tea.WithFilter(quitOnInterrupt))
	go func() { // a server that has no stream has no latest event; what is wrong with it the lists say too
		// The stream begins with what goes on: what was over before is asked for.
		events, err := client.Get[client.EventList](ctx, t.client, "events", client.Query{Limit: 1})
		if err == nil && len(events.Events) > 0 {
			program.Send(topEvent{&events.Events[0]})
		}
		_ = t.client.StreamEvents(ctx, client.Query{}, client.Stream[client.Event]{
			Item: func(e *client.Event) error { program.Send(topEvent{e}); return nil },
			Lost: func(n uint64) { program.Send(topLost(n)) },
		})
	}()
	_, err := program.Run()
	switch {
	case err == nil, ctx.Err() != nil:
		return nil
	case errors.Is(err, tea.ErrProgramPanic):
		return errors.New("a defect ended it; what is above says where")
	}
	return err
}

// quitOnInterrupt ends the program on SIGINT as on SIGTERM: in order, which waits for who reads the keys.
func quitOnInterrupt(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.InterruptMsg); ok {
		return tea.QuitMsg{}
	}
	return msg
}
