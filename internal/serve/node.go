package serve

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// nodes runs modules in Node.js. Tasks with the same process settings share processes.
type nodes struct {
	options  *Options
	launcher *task.Launcher

	mu     sync.Mutex
	shared []*sharedNode // the newest is the first
}

// sharedNode is a Node.js that several tasks use.
type sharedNode struct {
	node     *task.Node
	settings nodeSettings
	modules  map[string]string // paths of modules that it may have loaded, with the version of the file
	users    int
}

// nodeSettings are the settings that tasks in the same processes have in common.
type nodeSettings struct {
	directory string
	env       []string
	children  int
}

// serve makes a module the handler of a service's task.
func (n *nodes) serve(t config.Task, made *service) error {
	shared, err := n.share(t)
	if err != nil {
		return err
	}
	module := task.NodeModule{Task: t.Name, Path: t.Module.Path, Timeout: t.Timeout, KillDelay: t.Program.KillDelay}
	made.task.Handler = func(ctx context.Context, job *shim.Job) error { return shared.node.Run(ctx, module, job) }
	made.begin = func() { shared.node.Load(module) }
	made.close = func() { n.leave(shared) }
	return nil
}

// share returns processes for a task. Node.js caches imported modules, so a changed module needs new processes.
func (n *nodes) share(t config.Task) (*sharedNode, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	settings := nodeSettings{t.Program.Directory, variables(t.Program.Env), t.Program.Children}
	i := slices.IndexFunc(n.shared, func(s *sharedNode) bool {
		version, isKnown := s.modules[t.Module.Path]
		return reflect.DeepEqual(s.settings, settings) && (!isKnown || version == t.Module.Version)
	})
	if i < 0 {
		made, err := n.make(settings)
		if err != nil {
			return nil, err
		}
		i, n.shared = 0, slices.Insert(n.shared, 0, made)
	}
	shared := n.shared[i]
	shared.modules[t.Module.Path] = t.Module.Version
	shared.users++
	return shared, nil
}

func (n *nodes) make(settings nodeSettings) (*sharedNode, error) {
	program, err := task.FindNode(context.Background())
	if err != nil {
		return nil, fmt.Errorf("find Node.js: %w", err)
	}
	node := task.NewNode(task.NodeConfig{
		Program:   program,
		Directory: settings.directory,
		Env:       settings.env,
		Processes: settings.children,
		Setup:     n.setup(),
		Launcher:  n.launcher,
		Logger:    n.options.Logger,
	})
	return &sharedNode{node: node, settings: settings, modules: make(map[string]string)}, nil
}

// leave ends processes that no task uses any more.
func (n *nodes) leave(shared *sharedNode) {
	n.mu.Lock()
	shared.users--
	isLast := shared.users == 0
	if i := slices.Index(n.shared, shared); isLast && i >= 0 {
		n.shared = slices.Delete(n.shared, i, i+1)
	}
	n.mu.Unlock()
	if isLast {
		shared.node.Close()
	}
}

// setup returns the settings of the helpers. It is not used if only the files are checked.
func (n *nodes) setup() task.NodeSetup {
	setup := task.NodeSetup{Schema: pgx.Identifier{n.options.Schema}.Sanitize()}
	if pool := n.options.Pool; pool != nil {
		setup.Database, setup.MaxConnections = nodeDatabase(pool.ConnConfig), int(pool.MaxConns)
	}
	return setup
}
