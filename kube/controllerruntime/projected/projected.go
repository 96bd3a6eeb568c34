// Package projected makes managers of controller-runtime whose caches hold only
// the fields that a controller reads, which is a fraction of the memory and of
// the time that whole objects take. See package projection for how.
//
//	mgr, err := projected.NewManager(config, manager.Options{},
//		projected.Type[Widget]("example.com", "widgets", "status"))
//
// What the manager's client, its cache and its API reader return of the
// resources of the rules is projected. The same clients refuse writes that could
// lose what was projected away; patches of kept fields pass. Whoever has to
// replace a whole object, or to read what no rule keeps, does so with the client
// of [Manager.Whole].
package projected

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/espalier-dev/espalier/projection"
)

// A Manager is a manager whose clients are projected.
type Manager struct {
	manager.Manager

	projection *projection.Projection
	whole      client.Client
}

// NewManager returns a manager that is made by controller-runtime with these
// options, and with a transport that projects by the rules. It changes no
// configuration: the manager has a copy, which is what GetConfig returns, so
// that clients that are made of it are projected, too.
//
// NewManager fails where a rule is wrong, and where the options have an HTTP
// client for the cache or the client, which would go around the transport.
// Functions in the options that make caches and clients are given the copy. The
// client for leader election is not projected if it has a configuration of its
// own.
func NewManager(
	config *rest.Config, options manager.Options, rules ...projection.Rule,
) (*Manager, error) {
	if config == nil {
		return nil, errors.New("projected: the configuration is nil")
	}
	if options.Cache.HTTPClient != nil || options.Client.HTTPClient != nil {
		return nil, errors.New("projected: an HTTP client in the options would go around the projection: " +
			"leave it out, and wrap the transport of the configuration instead")
	}
	p, err := projection.New(projection.Options{}, rules...)
	if err != nil {
		return nil, fmt.Errorf("projected: %w", err)
	}
	projected := rest.CopyConfig(config)
	projected.Wrap(p.Transport)
	m, err := manager.New(projected, options)
	if err != nil {
		return nil, err
	}
	whole, err := client.New(config, client.Options{Scheme: m.GetScheme(), Mapper: m.GetRESTMapper()})
	if err != nil {
		return nil, err
	}
	return &Manager{m, p, whole}, nil
}

// Whole returns a client without cache and without projection: it reads and
// writes whole objects. Any number of goroutines can use it.
func (m *Manager) Whole() client.Client { return m.whole }

// Projection returns the projection of the manager's clients, which counts what
// it does.
func (m *Manager) Projection() *projection.Projection { return m.projection }

// Type returns the rule of a resource that keeps the fields of a Go type, such
// as a controller's own, smaller struct, and the paths, as [projection.Rule] has
// it. T can be in a scheme or not.
func Type[T any](group, resource string, keep ...string) projection.Rule {
	return projection.Rule{Group: group, Resource: resource, Type: reflect.TypeFor[T](), Keep: keep}
}
