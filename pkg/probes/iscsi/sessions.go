package iscsi

import (
	"context"
	"path"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const (
	sessionClass    = "sys/class/iscsi_session"
	connectionClass = "sys/class/iscsi_connection"
)

// extra are further attributes of drivers/scsi/scsi_transport_iscsi.c that explain a session.
var extra = []string{"target_state", "tpgt", "creator", "abort_tmo", "lu_reset_tmo", "tgt_reset_tmo", "erl", "targetalias", "initiatoralias"}

func sessions(ctx context.Context, h host.Host) []probes.ISCSISession {
	names, _ := h.ReadDir(sessionClass)
	conns, _ := h.ReadDir(connectionClass)
	names, conns = probes.Sorted(names, byNumber), probes.Sorted(conns, byNumber)
	var out []probes.ISCSISession
	for _, n := range names {
		if ctx.Err() != nil {
			break
		}
		dir := path.Join(sessionClass, n)
		read := func(a string) string { return value(h, path.Join(dir, a)) }
		s := probes.ISCSISession{
			Name: n, Target: read("targetname"), State: read("state"), RecoveryTmo: read("recovery_tmo"),
			Iface: read("ifacename"), Initiator: read("initiatorname"),
		}
		for _, a := range extra {
			if v := read(a); v != "" {
				s.Attrs = append(s.Attrs, probes.Attr{Name: a, Value: v})
			}
		}
		s.Disks, s.HCTLs = disks(h, path.Join(dir, "device"))
		for _, c := range conns {
			if strings.HasPrefix(c, "connection"+strings.TrimPrefix(n, "session")+":") {
				s.Connections = append(s.Connections, connection(h, c))
			}
		}
		out = append(out, s)
	}
	return out
}

func connection(h host.Host, name string) probes.ISCSIConnection {
	read := func(a string) string { return value(h, path.Join(connectionClass, name, a)) }
	return probes.ISCSIConnection{
		Name: name, State: read("state"), Address: read("address"), Port: read("port"),
		PersistentAddress: read("persistent_address"), PersistentPort: read("persistent_port"),
	}
}

// disks lists device/targetH:C:T/H:C:T:L/block/NAME of a session.
func disks(h host.Host, device string) (names, hctls []string) {
	targets, _ := h.ReadDir(device)
	for _, t := range targets {
		if !strings.HasPrefix(t, "target") {
			continue
		}
		units, _ := h.ReadDir(path.Join(device, t))
		for _, u := range units {
			if strings.Count(u, ":") != 3 {
				continue
			}
			blocks, _ := h.ReadDir(path.Join(device, t, u, "block"))
			for _, b := range blocks {
				names, hctls = append(names, b), append(hctls, u)
			}
		}
	}
	return names, hctls
}

// value reads an attribute. A session that is not logged in answers ENOTCONN or
// EINVAL for some of them, and "(null)" for names that were never set.
func value(h host.Host, p string) string {
	v := attr.Text(h, p)
	if v == "(null)" || v == "<NULL>" {
		return ""
	}
	return v
}

// byNumber sorts session2 before session10.
func byNumber(a, b *string) int {
	if d := number(*a) - number(*b); d != 0 {
		return d
	}
	return strings.Compare(*a, *b)
}

func number(s string) int {
	digits := strings.TrimLeft(s, "abcdefghijklmnopqrstuvwxyz_")
	digits, _, _ = strings.Cut(digits, ":")
	n, _ := strconv.Atoi(digits)
	return n
}
