package main

import (
	"context"
	"log"
	"os"
	"path/filepath"

	spec "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// controller makes, attaches, enlarges and removes volumes; the sidecars ask it.
type controller struct {
	spec.UnimplementedControllerServer
	identity
	backend
}

func (c *controller) serve(socket string) error {
	l, err := listen(socket)
	if err != nil {
		return err
	}
	s := grpc.NewServer()
	spec.RegisterIdentityServer(s, c)
	spec.RegisterControllerServer(s, c)
	return s.Serve(l)
}

func (c *controller) ControllerGetCapabilities(context.Context, *spec.ControllerGetCapabilitiesRequest) (*spec.ControllerGetCapabilitiesResponse, error) {
	r := &spec.ControllerGetCapabilitiesResponse{}
	for _, t := range []spec.ControllerServiceCapability_RPC_Type{
		spec.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME,
		spec.ControllerServiceCapability_RPC_PUBLISH_UNPUBLISH_VOLUME,
		spec.ControllerServiceCapability_RPC_EXPAND_VOLUME,
	} {
		r.Capabilities = append(r.Capabilities, &spec.ControllerServiceCapability{Type: &spec.ControllerServiceCapability_Rpc{
			Rpc: &spec.ControllerServiceCapability_RPC{Type: t}}})
	}
	return r, nil
}

// CreateVolume gives a volume the name that the provisioner chose. With the
// parameter zonal it lies in the zone that the provisioner prefers.
func (c *controller) CreateVolume(ctx context.Context, r *spec.CreateVolumeRequest) (*spec.CreateVolumeResponse, error) {
	v := volume{ID: r.Name, Namespace: r.Parameters["csi.storage.k8s.io/pvc/namespace"], Bytes: r.CapacityRange.GetRequiredBytes()}
	if _, err := c.fault(ctx, "CreateVolume", v.Namespace); err != nil {
		return nil, err
	}
	if old, err := c.load(v.ID); err == nil {
		v = old
	} else {
		if r.Parameters["zonal"] == "true" {
			for _, t := range r.AccessibilityRequirements.GetPreferred() {
				v.Zone = t.Segments[c.topology]
				break
			}
		}
		if err := resize(c.image(v.ID), v.Bytes); err != nil {
			return nil, err
		}
		if err := c.save(v); err != nil {
			return nil, err
		}
	}
	made := &spec.Volume{VolumeId: v.ID, CapacityBytes: v.Bytes}
	if v.Zone != "" {
		made.AccessibleTopology = []*spec.Topology{{Segments: map[string]string{c.topology: v.Zone}}}
	}
	log.Printf("CreateVolume %s for %s", v.ID, v.Namespace)
	return &spec.CreateVolumeResponse{Volume: made}, nil
}

// DeleteVolume puts the image aside and does not remove it: the lab finds the
// loop device of a node that lost power by it.
func (c *controller) DeleteVolume(ctx context.Context, r *spec.DeleteVolumeRequest) (*spec.DeleteVolumeResponse, error) {
	v, err := c.load(r.VolumeId)
	if status.Code(err) == codes.NotFound {
		return &spec.DeleteVolumeResponse{}, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := c.fault(ctx, "DeleteVolume", v.Namespace); err != nil {
		return nil, err
	}
	if v.Node != "" {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s is still attached to node %s", v.ID, v.Node)
	}
	if err := os.Rename(c.image(v.ID), c.image("deleted-"+v.ID)); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return &spec.DeleteVolumeResponse{}, os.Remove(c.record(v.ID))
}

func (c *controller) ControllerPublishVolume(ctx context.Context, r *spec.ControllerPublishVolumeRequest) (*spec.ControllerPublishVolumeResponse, error) {
	v, err := c.load(r.VolumeId)
	if err != nil {
		return nil, err
	}
	wrong, err := c.fault(ctx, "ControllerPublishVolume", v.Namespace)
	if err != nil {
		return nil, err
	}
	if v.Node != "" && v.Node != r.NodeId {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s is attached to node %s", v.ID, v.Node)
	}
	v.Node = r.NodeId
	if err := c.save(v); err != nil {
		return nil, err
	}
	log.Printf("ControllerPublishVolume %s to %s", v.ID, v.Node)
	answer := map[string]string{}
	if wrong != "" {
		answer["devicePath"] = wrong
	}
	return &spec.ControllerPublishVolumeResponse{PublishContext: answer}, nil
}

func (c *controller) ControllerUnpublishVolume(ctx context.Context, r *spec.ControllerUnpublishVolumeRequest) (*spec.ControllerUnpublishVolumeResponse, error) {
	v, err := c.load(r.VolumeId)
	if status.Code(err) == codes.NotFound {
		return &spec.ControllerUnpublishVolumeResponse{}, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := c.fault(ctx, "ControllerUnpublishVolume", v.Namespace); err != nil {
		return nil, err
	}
	if v.Node == r.NodeId {
		v.Node = ""
		err = c.save(v)
	}
	log.Printf("ControllerUnpublishVolume %s from %s", v.ID, r.NodeId)
	return &spec.ControllerUnpublishVolumeResponse{}, err
}

// ControllerExpandVolume leaves the filesystem as it is: ext4 grows under a mount only
// for root with CAP_SYS_RESOURCE (fs/ext4/resize.c), which a rented machine's root may lack.
func (c *controller) ControllerExpandVolume(ctx context.Context, r *spec.ControllerExpandVolumeRequest) (*spec.ControllerExpandVolumeResponse, error) {
	v, err := c.load(r.VolumeId)
	if err != nil {
		return nil, err
	}
	if _, err := c.fault(ctx, "ControllerExpandVolume", v.Namespace); err != nil {
		return nil, err
	}
	v.Bytes = max(v.Bytes, r.CapacityRange.GetRequiredBytes())
	if err := resize(c.image(v.ID), v.Bytes); err != nil {
		return nil, err
	}
	return &spec.ControllerExpandVolumeResponse{CapacityBytes: v.Bytes}, c.save(v)
}

// resize makes a sparse file or enlarges it.
func resize(path string, bytes int64) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() >= bytes {
		return err
	}
	return f.Truncate(bytes)
}
