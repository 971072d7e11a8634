package conformance

func playerChecks() []Check  { return nil }
func refereeChecks() []Check { return nil }
func managerChecks() []Check { return nil }
