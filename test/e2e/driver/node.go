package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	spec "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// driver is the node plugin on one node.
type driver struct {
	spec.UnimplementedNodeServer
	registration.UnimplementedRegistrationServer
	identity
	backend

	devices string // folder of the device links, "-" for none: /dev/longhorn
	kubelet string
	node    string
}

func (d *driver) folder() string { return filepath.Join(d.kubelet, "plugins", d.name) }
func (d *driver) socket() string { return filepath.Join(d.folder(), "csi.sock") }

// serve answers the kubelet on the driver's socket and registers it.
func (d *driver) serve() error {
	plugin, err := listen(d.socket())
	if err != nil {
		return err
	}
	s := grpc.NewServer()
	spec.RegisterIdentityServer(s, d.identity)
	spec.RegisterNodeServer(s, d)
	go func() { log.Fatal(s.Serve(plugin)) }()

	registry, err := listen(filepath.Join(d.kubelet, "plugins_registry", d.name+"-reg.sock"))
	if err != nil {
		return err
	}
	r := grpc.NewServer()
	registration.RegisterRegistrationServer(r, d)
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	go func() {
		<-end
		r.Stop() // closes its socket, which removes it: the kubelet forgets the driver
	}()
	return r.Serve(registry)
}

func listen(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return net.Listen("unix", path)
}

func (d *driver) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: d.name, Endpoint: d.socket(), SupportedVersions: []string{"1.0.0"}}, nil
}

func (d *driver) NotifyRegistrationStatus(_ context.Context, s *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	log.Printf("registered: %v %s", s.PluginRegistered, s.Error)
	return &registration.RegistrationStatusResponse{}, nil
}

// NodeGetInfo: every node is a zone of its own.
func (d *driver) NodeGetInfo(context.Context, *spec.NodeGetInfoRequest) (*spec.NodeGetInfoResponse, error) {
	r := &spec.NodeGetInfoResponse{NodeId: d.node}
	if d.topology != "" {
		r.AccessibleTopology = &spec.Topology{Segments: map[string]string{d.topology: "zone-of-" + d.node}}
	}
	return r, nil
}

func (d *driver) NodeGetCapabilities(context.Context, *spec.NodeGetCapabilitiesRequest) (*spec.NodeGetCapabilitiesResponse, error) {
	return &spec.NodeGetCapabilitiesResponse{Capabilities: []*spec.NodeServiceCapability{{Type: &spec.NodeServiceCapability_Rpc{
		Rpc: &spec.NodeServiceCapability_RPC{Type: spec.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME}}}}}, nil
}

// stageScript mounts the volume's image by a loop device, under the name of the
// device link if the driver has such. A device that the controller named must be there.
const stageScript = `set -e
if mountpoint -q "$TARGET"; then exit 0; fi
if [ -n "$DEVICE" ] && ! [ -b "$DEVICE" ]; then echo "device $DEVICE of the volume is not on the node" >&2; exit 1; fi
blkid -p "$IMAGE" >/dev/null || mkfs.ext4 -q -F "$IMAGE"
LOOP=$(losetup -n -O NAME -j "$IMAGE" | head -n 1)
[ -n "$LOOP" ] || LOOP=$(losetup -f --show "$IMAGE")
mkdir -p "$TARGET"
if [ "$LINK" != - ]; then
	rm -f "$LINK"
	mknod "$LINK" b $((0x$(stat -c %t $LOOP))) $((0x$(stat -c %T $LOOP)))
	LOOP=$LINK
fi
mount -t ext4 "$LOOP" "$TARGET"`

func (d *driver) NodeStageVolume(ctx context.Context, r *spec.NodeStageVolumeRequest) (*spec.NodeStageVolumeResponse, error) {
	v, err := d.load(r.VolumeId)
	if err != nil {
		return nil, err
	}
	if _, err := d.fault(ctx, "NodeStageVolume", v.Namespace); err != nil {
		return nil, err
	}
	_, err = d.run("NodeStageVolume", stageScript, r.VolumeId, "TARGET="+r.StagingTargetPath, "DEVICE="+r.PublishContext["devicePath"])
	return &spec.NodeStageVolumeResponse{}, err
}

func (d *driver) NodeUnstageVolume(_ context.Context, r *spec.NodeUnstageVolumeRequest) (*spec.NodeUnstageVolumeResponse, error) {
	const unmount = `set -e
if mountpoint -q "$TARGET"; then umount "$TARGET"; fi
losetup -n -O NAME -j "$IMAGE" | head -n 1`
	loop, err := d.run("NodeUnstageVolume", unmount, r.VolumeId, "TARGET="+r.StagingTargetPath)
	if err != nil || loop == "" {
		return &spec.NodeUnstageVolumeResponse{}, err
	}
	if err := exclusive(loop); err != nil {
		err = status.Errorf(codes.Internal, "unmap %s: device %s is still in use: %v", r.VolumeId, loop, err)
		log.Printf("NodeUnstageVolume %s: %v", r.VolumeId, err)
		return nil, err
	}
	_, err = d.run("NodeUnstageVolume", `set -e; losetup -d "$LOOP"; rm -f "$LINK"`, r.VolumeId, "LOOP="+loop)
	return &spec.NodeUnstageVolumeResponse{}, err
}

// exclusive asks the kernel whether anybody mounts or claims the device: open(2)
// with O_EXCL says EBUSY then. Drivers of network storage are told the same when
// they unmap. Detaching a loop device would only be postponed: losetup(8).
func exclusive(device string) error {
	fd, err := syscall.Open("/proc/1/root"+device, syscall.O_RDONLY|syscall.O_EXCL|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return syscall.Close(fd)
}

func (d *driver) NodePublishVolume(_ context.Context, r *spec.NodePublishVolumeRequest) (*spec.NodePublishVolumeResponse, error) {
	const script = `set -e; mkdir -p "$TARGET"; mountpoint -q "$TARGET" || mount --bind "$STAGED" "$TARGET"`
	_, err := d.run("NodePublishVolume", script, r.VolumeId, "STAGED="+r.StagingTargetPath, "TARGET="+r.TargetPath)
	return &spec.NodePublishVolumeResponse{}, err
}

func (d *driver) NodeUnpublishVolume(_ context.Context, r *spec.NodeUnpublishVolumeRequest) (*spec.NodeUnpublishVolumeResponse, error) {
	const script = `set -e; if mountpoint -q "$TARGET"; then umount "$TARGET"; fi; [ ! -d "$TARGET" ] || rmdir "$TARGET"`
	_, err := d.run("NodeUnpublishVolume", script, r.VolumeId, "TARGET="+r.TargetPath)
	return &spec.NodeUnpublishVolumeResponse{}, err
}

// run runs a script in the mount namespace of the node's process 1 and returns
// what it prints.
func (d *driver) run(call, script, volume string, env ...string) (string, error) {
	link := "-"
	if d.devices != "-" {
		link = filepath.Join(d.devices, volume)
	}
	cmd := exec.Command("nsenter", "-t", "1", "-m", "--", "/bin/sh", "-c", script)
	cmd.Env = append(env, "IMAGE="+d.image(volume), "LINK="+link,
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	out, err := cmd.CombinedOutput()
	said := strings.TrimSpace(string(out))
	log.Printf("%s %s: %v %s", call, volume, err, said)
	if err != nil {
		return "", status.Error(codes.Internal, fmt.Sprintf("%s: %v: %s", volume, err, said))
	}
	return said, nil
}
