package snapshot

func decodeLHShareManager(m *LHShareManager, f fields) {
	m.OwnerID, m.State, m.Endpoint = f.text("status.ownerID"), f.text("status.state"), f.text("status.endpoint")
	m.Image = f.text("spec.image")
}

func decodeLHEngineImage(i *LHEngineImage, f fields) {
	i.Image, i.State = f.text("spec.image"), f.text("status.state")
	i.Incompatible, i.RefCount = f.flag("status.incompatible"), int(f.number("status.refCount"))
	i.Conditions = f.conditions("status.conditions")
	deployed := f.group("status.nodeDeploymentMap")
	for _, node := range deployed.keys() {
		if i.Deployed == nil {
			i.Deployed = map[string]bool{}
		}
		i.Deployed[node] = deployed.value(node).flag("")
	}
}

// decodeLHBackingImage reads the copies of all versions: diskFileStatusMap, or
// diskDownloadStateMap before Longhorn 1.2, which holds the state alone.
func decodeLHBackingImage(b *LHBackingImage, f fields) {
	b.UUID, b.SourceType, b.Size = f.text("status.uuid"), f.text("spec.sourceType"), f.number("status.size")
	for _, e := range f.entries("status.diskFileStatusMap") {
		b.addCopy(e.key, LHBackingCopy{State: e.text("state"), Message: e.text("message"), Progress: int(e.number("progress")), Changed: e.moment("lastStateTransitionTime")})
	}
	older := f.texts("status.diskDownloadStateMap")
	for _, disk := range f.group("status.diskDownloadStateMap").keys() {
		if _, known := b.Copies[disk]; !known {
			b.addCopy(disk, LHBackingCopy{State: older[disk]})
		}
	}
}

func (b *LHBackingImage) addCopy(disk string, c LHBackingCopy) {
	if b.Copies == nil {
		b.Copies = map[string]LHBackingCopy{}
	}
	b.Copies[disk] = c
}

func decodeLHSetting(s *LHSetting, f fields) { s.Value = f.text("value") }

func decodeLHOrphan(o *LHOrphan, f fields) {
	o.NodeID, o.Type = f.text("spec.nodeID"), f.text("spec.orphanType")
	o.Parameters = f.texts("spec.parameters")
}
