package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// startEtcd starts an etcd on free ports of loopback. It returns its URL for clients, and a function that
// stops it and removes its data.
func startEtcd(ctx context.Context) (address string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "espalier-etcd")
	if err != nil {
		return "", nil, err
	}
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	c := embed.NewConfig()
	c.Dir = dir
	c.UnsafeNoFsync = true
	c.ListenClientUrls, c.AdvertiseClientUrls = anyPort, anyPort
	c.ListenPeerUrls, c.AdvertisePeerUrls = anyPort, anyPort
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	e, err := embed.StartEtcd(c)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	stop = func() {
		e.Close()
		_ = os.RemoveAll(dir)
	}
	select {
	case <-e.Server.ReadyNotify():
		return "http://" + e.Clients[0].Addr().String(), stop, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(time.Minute):
		err = errors.New("etcd is not ready after a minute")
	}
	stop()
	return "", nil, err
}
