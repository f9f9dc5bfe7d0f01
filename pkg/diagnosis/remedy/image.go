package remedy

import "strings"

// image says how a system that installs nothing while it runs gets a program.
func image(f family, p Package) Step {
	switch f.name {
	case "Talos":
		extension, ok := map[Package]string{ISCSITools: "siderolabs/iscsi-tools", UtilLinux: "siderolabs/util-linux-tools"}[p]
		if !ok {
			return Words("Talos has no extension for it: use another node for such volumes.")
		}
		return extended(extension)
	case "NixOS":
		return Words("Add the lines to the node's configuration and run nixos-rebuild switch. Longhorn looks for programs in /usr/local/bin, hence the link.").
			In("/etc/nixos/configuration.nix", append(nix(p), `systemd.tmpfiles.rules = [ "L+ /usr/local/bin - - - - /run/current-system/sw/bin/" ];`)...)
	case "Red Hat CoreOS":
		if p == ISCSITools {
			return Words("The programs are part of the system; let the Machine Config Operator enable the daemon (oc apply -f, the nodes restart one by one).").
				In("99-worker-iscsid.yaml", strings.Split(machineConfig, "\n")...)
		}
		return Words("It is part of the system: this node's image is not that of a release. See oc get clusterversion and the node's machine-config annotations.")
	case "Bottlerocket":
		if p == ISCSITools {
			return Words("Bottlerocket brings no iSCSI initiator: use nodes of another system for such volumes, or storage that needs none.")
		}
		return Words("Bottlerocket installs nothing: use nodes of another system for such volumes.")
	case "flatcar", "coreos":
		return Words("It is part of the system or of a system extension (systemd-sysext): add one for it to the node's Butane or Ignition configuration.")
	case "cos":
		return Words("Container-Optimized OS installs nothing: use a node pool of Ubuntu for such volumes.")
	}
	return Words("Install " + string(p) + " in the way of the node's system.")
}

// extended says how Talos gets an extension.
func extended(extension string) Step {
	return Words("Take extension "+extension+" into the schematic of the Image Factory and upgrade the node to the image made of it (talosctl upgrade --image).").
		In("schematic.yaml", "customization:", "  systemExtensions:", "    officialExtensions:", "      - "+extension)
}

func nix(p Package) []string {
	switch p {
	case ISCSITools:
		return []string{`services.openiscsi = { enable = true; name = "iqn.2020-08.org.linux-iscsi.initiatorhost:${config.networking.hostName}"; };`}
	case NFSClient:
		return []string{`boot.supportedFilesystems = [ "nfs" ];`}
	case Cryptsetup, UtilLinux:
	}
	return []string{"environment.systemPackages = [ pkgs." + string(p) + " ];"}
}

const machineConfig = `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-worker-iscsid
  labels:
    machineconfiguration.openshift.io/role: worker
spec:
  config:
    ignition:
      version: 3.2.0
    systemd:
      units:
      - name: iscsid.service
        enabled: true`

// configured says how a system loads a module whose configuration is not in its files.
func configured(f family, module string) (Step, bool) {
	switch f.name {
	case "Talos":
		return Words("Let Talos load module "+module+": add the lines to the machine configuration (talosctl patch machineconfig).").
			In("machine configuration", "machine:", "  kernel:", "    modules:", "      - name: "+module), true
	case "NixOS":
		return Words("Add the line to the node's configuration and run nixos-rebuild switch.").
			In("/etc/nixos/configuration.nix", `boot.kernelModules = [ "`+module+`" ];`), true
	case "Bottlerocket":
		return Words("Let Bottlerocket load module "+module+": add the lines to the node's settings.").
			In("user data", "[settings.kernel.modules."+module+"]", "allowed = true", "autoload = true"), true
	case "Red Hat CoreOS":
		return Words("Let the Machine Config Operator write /etc/modules-load.d/storage.conf with the line "+module+"; until then load it by hand, which lasts until the reboot.").
			In("/etc/modules-load.d/storage.conf", module), true
	}
	return Step{}, false
}
