package main

import (
	"context"

	spec "github.com/container-storage-interface/spec/lib/go/csi"
)

// identity is what every part of the driver says of itself.
type identity struct {
	spec.UnimplementedIdentityServer

	name     string
	topology string // the key of the nodes' zones, "" for a storage that every node reaches
}

func (i identity) GetPluginInfo(context.Context, *spec.GetPluginInfoRequest) (*spec.GetPluginInfoResponse, error) {
	return &spec.GetPluginInfoResponse{Name: i.name, VendorVersion: "1"}, nil
}

func (i identity) GetPluginCapabilities(context.Context, *spec.GetPluginCapabilitiesRequest) (*spec.GetPluginCapabilitiesResponse, error) {
	r := &spec.GetPluginCapabilitiesResponse{}
	services := []spec.PluginCapability_Service_Type{spec.PluginCapability_Service_CONTROLLER_SERVICE}
	if i.topology != "" {
		services = append(services, spec.PluginCapability_Service_VOLUME_ACCESSIBILITY_CONSTRAINTS)
	}
	for _, t := range services {
		r.Capabilities = append(r.Capabilities, &spec.PluginCapability{Type: &spec.PluginCapability_Service_{
			Service: &spec.PluginCapability_Service{Type: t}}})
	}
	return r, nil
}

func (i identity) Probe(context.Context, *spec.ProbeRequest) (*spec.ProbeResponse, error) {
	return &spec.ProbeResponse{}, nil
}
