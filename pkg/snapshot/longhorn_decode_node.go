package snapshot

func decodeLHNode(n *LHNode, f fields) {
	n.AllowScheduling, n.EvictionRequested = f.flag("spec.allowScheduling"), f.flag("spec.evictionRequested")
	n.Tags = f.list("spec.tags")
	n.Region, n.Zone = f.text("status.region"), f.text("status.zone")
	n.Conditions = f.conditions("status.conditions")
	status := map[string]fields{}
	for _, e := range f.entries("status.diskStatus") {
		status[e.key] = e.fields
	}
	specs := map[string]bool{}
	for _, e := range f.entries("spec.disks") {
		specs[e.key] = true
		found, ok := status[e.key]
		if !ok {
			found = f.none()
		}
		n.Disks = append(n.Disks, lhDisk(e, found, ok))
	}
	for _, e := range f.entries("status.diskStatus") {
		if !specs[e.key] {
			n.Disks = append(n.Disks, lhDisk(entry{e.key, f.none()}, e.fields, true))
		}
	}
}

// lhDisk joins what is wanted of a disk with what it is.
func lhDisk(spec entry, status fields, known bool) LHDisk {
	d := LHDisk{
		Name: spec.key, Path: spec.text("path"), Type: spec.text("diskType"), Tags: spec.list("tags"),
		AllowScheduling: spec.flag("allowScheduling"), EvictionRequested: spec.flag("evictionRequested"),
		Reserved: spec.number("storageReserved"), HasStatus: known,
		UUID: status.text("diskUUID"), Available: status.number("storageAvailable"),
		Scheduled: status.number("storageScheduled"), Maximum: status.number("storageMaximum"),
		Conditions: status.conditions("conditions"), FilesystemType: status.text("filesystemType"),
		InstanceManager: status.text("instanceManagerName"),
	}
	if d.Path == "" {
		d.Path = status.text("diskPath")
	}
	if d.Type == "" {
		d.Type = status.text("diskType")
	}
	replicas := status.group("scheduledReplica")
	for _, name := range replicas.keys() {
		if d.ScheduledReplicas == nil {
			d.ScheduledReplicas = map[string]int64{}
		}
		d.ScheduledReplicas[name] = replicas.value(name).number("")
	}
	return d
}

// decodeLHInstanceManager reads the maps of all versions: until 1.4 "instances"
// held the engines or the replicas, by the manager's type.
func decodeLHInstanceManager(m *LHInstanceManager, f fields) {
	m.NodeID, m.Type, m.Image = f.text("spec.nodeID"), f.text("spec.type"), f.text("spec.image")
	m.DataEngine, m.OwnerID = f.text("spec.dataEngine"), f.text("status.ownerID")
	m.CurrentState, m.IP = f.text("status.currentState"), f.text("status.ip")
	m.Conditions = f.conditions("status.conditions")
	m.Engines = lhProcesses(f.entries("status.instanceEngines"))
	m.Frontends = lhProcesses(f.entries("status.instanceEngineFrontends"))
	m.Replicas = lhProcesses(f.entries("status.instanceReplicas"))
	older := lhProcesses(f.entries("status.instances"))
	for _, p := range older {
		kind := p.Type
		if kind == "" {
			kind = m.Type
		}
		switch {
		case kind == "engine" && !hasProcess(m.Engines, p.Name):
			m.Engines = append(m.Engines, p)
		case kind == "replica" && !hasProcess(m.Replicas, p.Name):
			m.Replicas = append(m.Replicas, p)
		}
	}
}

func hasProcess(all []LHProcess, name string) bool {
	for _, p := range all {
		if p.Name == name {
			return true
		}
	}
	return false
}

func lhProcesses(entries []entry) []LHProcess {
	var all []LHProcess
	for _, e := range entries {
		status := e.group("status")
		p := LHProcess{
			Name: e.key, State: status.text("state"), Endpoint: status.text("endpoint"),
			ErrorMsg: status.text("errorMsg"), Type: status.text("type"), UUID: status.text("uuid"),
		}
		conditions := status.group("conditions")
		for _, name := range conditions.keys() {
			if p.Conditions == nil {
				p.Conditions = map[string]bool{}
			}
			p.Conditions[name] = conditions.value(name).flag("")
		}
		all = append(all, p)
	}
	return all
}

func decodeLHAttachment(a *LHAttachment, f fields) {
	a.Volume = f.text("spec.volume")
	if a.Volume == "" {
		a.Volume = a.Name
	}
	statuses := map[string]fields{}
	for _, e := range f.entries("status.attachmentTicketStatuses") {
		statuses[e.key] = e.fields
	}
	for _, e := range f.entries("spec.attachmentTickets") {
		t := &LHTicket{
			ID: e.key, Type: e.text("type"), NodeID: e.text("nodeID"),
			Parameters: e.texts("parameters"), Generation: e.number("generation"),
		}
		if s, ok := statuses[e.key]; ok {
			t.HasStatus, t.Satisfied = true, s.flag("satisfied")
			t.StatusGeneration, t.Conditions = s.number("generation"), s.conditions("conditions")
			t.SatisfiedGeneration = t.StatusGeneration == t.Generation
		}
		a.Tickets = append(a.Tickets, t)
	}
}
