package bundle_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// mustGather writes lists of what Kubernetes has and one file for each custom resource.
func mustGather(o original) files {
	const top = "must-gather.local.123/quay-io-openshift-must-gather-sha256-4f68/"
	out := files{top + "timestamp": fmt.Appendf(nil, "%s +0000 UTC m=+0.1\n%s +0000 UTC m=+60.1\n", o.taken.Add(-time.Minute).Format("2006-01-02 15:04:05.000000000"), o.taken.Format("2006-01-02 15:04:05.000000000")),
		top + "event-filter.html": []byte("<html>")}
	group := func(r raw) string {
		if r.group == "" {
			return "core"
		}
		return r.group
	}
	for _, g := range grouped(o, func(r raw) string {
		builtin := r.group == "" || r.group == "apps" || r.group == "batch" || r.group == "policy" || r.group == "discovery.k8s.io"
		switch {
		case r.namespace == "":
			return "cluster-scoped-resources/" + group(r) + "/" + r.resource + "/" + r.name + ".yaml"
		case strings.HasPrefix(r.namespace, "kube-"):
			return "" // not among those of the operators
		case builtin:
			return "namespaces/" + r.namespace + "/" + group(r) + "/" + r.resource + ".yaml"
		}
		return "namespaces/" + r.namespace + "/" + group(r) + "/" + r.resource + "/" + r.name + ".yaml"
	}) {
		var v any = map[string]any{"kind": g.objects[0].kind + "List", "apiVersion": g.objects[0].m["apiVersion"], "items": objectsOf(g.objects)}
		if strings.Count(g.key, "/") != 3 || strings.HasPrefix(g.key, "cluster") {
			v = g.objects[0].m
		}
		out[top+g.key] = append([]byte("---\n"), mustYAML(v)...)
	}
	for name, data := range o.logs {
		p := strings.Split(name, "/")
		c, previous := strings.CutSuffix(p[3], ".previous.log")
		file := "previous.log"
		if !previous {
			c, file = strings.TrimSuffix(p[3], ".log"), "current.log"
		}
		if strings.HasPrefix(p[1], "kube-") {
			continue
		}
		var b strings.Builder
		for line := range strings.Lines(string(data)) {
			b.WriteString("2026-05-04T09:59:00.123456789Z " + line)
		}
		out[top+"namespaces/"+p[1]+"/pods/"+p[2]+"/"+c+"/"+c+"/logs/"+file] = []byte(b.String())
	}
	return out
}

// troubleshoot writes bare arrays without kinds, as the older releases did.
func troubleshoot(o original) files {
	const top = "support-bundle-2026-05-04T10_00_00/"
	dir := map[string]string{"persistentvolumes": "pvs", "persistentvolumeclaims": "pvcs", "storageclasses": "storage-classes", "networkpolicies": "network-policy",
		"poddisruptionbudgets": "pod-disruption-budgets"}
	collected := []string{"namespaces", "pods", "services", "deployments", "replicasets", "statefulsets", "daemonsets", "jobs", "cronjobs", "nodes", "events",
		"persistentvolumes", "persistentvolumeclaims", "storageclasses", "volumeattachments", "endpoints", "leases", "clusterroles", "clusterrolebindings", "networkpolicies", "poddisruptionbudgets"}
	out := files{top + "version.yaml": []byte("apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nspec:\n  versionNumber: 0.109.0\n"),
		top + "cluster-resources/pods-errors.json": []byte("null"), top + "cluster-info/cluster_version.json": []byte(`{"info":{},"string":"v1.31.2"}`)}
	for _, g := range grouped(o, func(r raw) string {
		name := r.resource
		if dir[name] != "" {
			name = dir[name]
		}
		switch {
		case strings.Contains(r.group, "longhorn.io"):
			return "cluster-resources/custom-resources/" + r.resource + "." + r.group + "/" + r.namespace + ".json"
		case !slices.Contains(collected, r.resource):
			return ""
		case r.namespace == "":
			return "cluster-resources/" + name + ".json"
		}
		return "cluster-resources/" + name + "/" + r.namespace + ".json"
	}) {
		list := objectsOf(g.objects)
		bare := []any{}
		for _, i := range list {
			copied := map[string]any{}
			for k, v := range i.(map[string]any) {
				if k != "kind" && k != "apiVersion" || strings.Contains(g.key, "custom") {
					copied[k] = v
				}
			}
			bare = append(bare, copied)
		}
		out[top+g.key] = mustJSON(bare)
	}
	for name, data := range o.logs {
		p := strings.Split(name, "/")
		out[top+"cluster-resources/pods/logs/"+p[1]+"/"+p[2]+"/"+strings.Replace(p[3], ".previous.log", "-previous.log", 1)] = data
	}
	return out
}

// clusterInfoDump writes what "kubectl cluster-info dump -A --output-directory" does.
func clusterInfoDump(o original) files {
	out := files{"nodes.json": []byte(`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[]}`)}
	collected := []string{"nodes", "events", "services", "daemonsets", "deployments", "replicasets", "pods"}
	spaces := map[string]bool{}
	for _, r := range o.objects {
		if r.namespace != "" && slices.Contains(collected, r.resource) {
			spaces[r.namespace] = true
		}
	}
	for n := range spaces {
		for _, r := range collected[1:] {
			out[n+"/"+r+".json"] = mustJSON(map[string]any{"kind": "List", "apiVersion": "v1", "metadata": map[string]any{}, "items": []any{}})
		}
	}
	for _, g := range grouped(o, func(r raw) string {
		if !slices.Contains(collected, r.resource) || r.group == "longhorn.io" || r.group == "events.k8s.io" {
			return ""
		}
		return path.Join(r.namespace, r.resource+".json")
	}) {
		out[g.key] = mustJSON(map[string]any{"kind": g.objects[0].kind + "List", "apiVersion": g.objects[0].m["apiVersion"], "metadata": map[string]any{}, "items": objectsOf(g.objects)})
	}
	for name, data := range o.logs {
		p := strings.Split(name, "/")
		if strings.HasSuffix(name, ".previous.log") {
			continue
		}
		head := "for container " + strings.TrimSuffix(p[3], ".log") + " of pod " + p[1] + "/" + p[2] + " ===="
		file := p[1] + "/" + p[2] + "/logs.txt"
		out[file] = append(out[file], "==== START logs "+head+"\n"+string(data)+"==== END logs "+head+"\n"...)
	}
	return out
}

// heapOfLists writes one file a resource, as "kubectl get -A -o yaml" prints it.
func heapOfLists(o original) files {
	out := files{}
	for _, g := range grouped(o, func(r raw) string { return r.resource + "." + r.group + ".yaml" }) {
		out["objects/"+g.key] = mustYAML(map[string]any{"kind": "List", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": ""}, "items": objectsOf(g.objects)})
	}
	return out
}

// oneList writes everything into one stream.
func oneList(o original) files {
	return files{"all.json": mustJSON(map[string]any{"kind": "List", "apiVersion": "v1", "items": objectsOf(o.objects)})}
}
