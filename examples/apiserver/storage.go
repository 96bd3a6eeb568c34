package main

import (
	"context"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/espalier-dev/espalier/kube"
)

// A store keeps the objects of the server in memory, so that the example needs no etcd.
type store struct {
	rest.TableConvertor
	validator *kube.Validator

	mu       sync.Mutex
	objects  map[string]*Trellis // by namespace/name
	revision uint64
}

var resource = groupVersion.WithResource("trellises").GroupResource()

func newStore(validator *kube.Validator) *store {
	return &store{TableConvertor: rest.NewDefaultTableConvertor(resource), validator: validator, objects: map[string]*Trellis{}}
}

func (s *store) New() runtime.Object     { return new(Trellis) }
func (s *store) NewList() runtime.Object { return new(TrellisList) }
func (s *store) Destroy()                {}
func (s *store) NamespaceScoped() bool   { return true }
func (s *store) GetSingularName() string { return "trellis" }

func key(ctx context.Context, name string) string {
	return genericapirequest.NamespaceValue(ctx) + "/" + name
}

// put stores an object with the next revision. The caller holds the lock.
func (s *store) put(key string, t *Trellis) *Trellis {
	s.revision++
	t = t.DeepCopyObject().(*Trellis)
	t.ResourceVersion = strconv.FormatUint(s.revision, 10)
	s.objects[key] = t
	return t.DeepCopyObject().(*Trellis)
}

func (s *store) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.objects[key(ctx, name)]; t != nil {
		return t.DeepCopyObject(), nil
	}
	return nil, apierrors.NewNotFound(resource, name)
}

func (s *store) List(ctx context.Context, _ *internalversion.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := &TrellisList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.FormatUint(s.revision, 10)}}
	namespace := genericapirequest.NamespaceValue(ctx)
	for _, t := range s.objects {
		if namespace == "" || t.Namespace == namespace {
			list.Items = append(list.Items, *t.DeepCopyObject().(*Trellis))
		}
	}
	slices.SortFunc(list.Items, func(a, b Trellis) int {
		if a.Namespace+"/"+a.Name < b.Namespace+"/"+b.Name {
			return -1
		}
		return 1
	})
	return list, nil
}

func (s *store) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	t := obj.(*Trellis)
	rest.FillObjectMetaSystemFields(t)
	t.UID = uuid.NewUUID()
	if validate != nil {
		if err := validate(ctx, t); err != nil {
			return nil, err
		}
	}
	// A registry.Store does this with the strategy that it is given.
	if errs := s.validator.Validate(ctx, t); len(errs) > 0 {
		return nil, apierrors.NewInvalid(groupVersion.WithKind("Trellis").GroupKind(), t.Name, errs)
	}
	for _, text := range s.validator.WarningsOnCreate(ctx, t) {
		warning.AddWarning(ctx, "", text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[key(ctx, t.Name)] != nil {
		return nil, apierrors.NewAlreadyExists(resource, t.Name)
	}
	return s.put(key(ctx, t.Name), t), nil
}

func (s *store) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc, validate rest.ValidateObjectUpdateFunc, _ bool, _ *metav1.UpdateOptions) (runtime.Object, bool, error) {
	old, err := s.Get(ctx, name, nil)
	if err != nil {
		return nil, false, err
	}
	obj, err := info.UpdatedObject(ctx, old)
	if err != nil {
		return nil, false, err
	}
	if validate != nil {
		if err := validate(ctx, obj, old); err != nil {
			return nil, false, err
		}
	}
	t := obj.(*Trellis)
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.objects[key(ctx, name)]
	if current == nil {
		return nil, false, apierrors.NewNotFound(resource, name)
	}
	if current.ResourceVersion != old.(*Trellis).ResourceVersion || t.ResourceVersion != "" && t.ResourceVersion != current.ResourceVersion {
		return nil, false, apierrors.NewConflict(resource, name, errChanged)
	}
	return s.put(key(ctx, name), t), false, nil
}

func (s *store) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, _ *metav1.DeleteOptions) (runtime.Object, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.objects[key(ctx, name)]
	if t == nil {
		return nil, false, apierrors.NewNotFound(resource, name)
	}
	if validate != nil {
		if err := validate(ctx, t.DeepCopyObject()); err != nil {
			return nil, false, err
		}
	}
	delete(s.objects, key(ctx, name))
	return t, true, nil
}
