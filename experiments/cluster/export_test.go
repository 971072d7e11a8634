package cluster

import "github.com/nats-io/nats-server/v2/server"

// Traffic returns the messages and bytes that a broker has received and sent.
func (b *Broker) Traffic() (messages, bytes int64, err error) {
	v, err := b.server.Varz(&server.VarzOptions{})
	if err != nil {
		return 0, 0, err
	}
	return v.InMsgs + v.OutMsgs, v.InBytes + v.OutBytes, nil
}
