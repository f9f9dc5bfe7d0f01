package nfs

import (
	"slices"
	"strings"
)

// Whose shares are a service of a cloud: nobody edits an export list on their servers, the rules stand
// in the settings of the file system.
var (
	managedBy = []string{
		"efs.csi.aws.com", "fsx.openzfs.csi.aws.com", "file.csi.azure.com", "blob.csi.azure.com",
		"filestore.csi.storage.gke.io", "nasplugin.csi.alibabacloud.com", "com.tencent.cloud.csi.cfs",
	}
	// A machine of a cloud's customer has a name in the cloud's zone as well: the service's label counts, too.
	managedAt = [][2]string{
		{".efs.", ".amazonaws.com"}, {".fsx.", ".amazonaws.com"}, {".efs.", ".amazonaws.com.cn"}, {".fsx.", ".amazonaws.com.cn"},
		{"", ".core.windows.net"}, {"", ".core.chinacloudapi.cn"}, {"", ".core.usgovcloudapi.net"}, {"", ".nas.aliyuncs.com"},
	}
)

// Managed tells whether the server that refused is such a service: by the volume's driver, or by its name.
func (r Refusal) Managed() bool {
	if slices.Contains(managedBy, r.pl.Volume.CSIName()) {
		return true
	}
	server, _ := r.pl.Volume.NFSServer()
	server = strings.ToLower(strings.TrimSuffix(server, "."))
	return slices.ContainsFunc(managedAt, func(name [2]string) bool {
		return strings.HasSuffix(server, name[1]) && strings.Contains(server, name[0])
	})
}
