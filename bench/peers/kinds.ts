import { ejabberd } from './ejabberd/server.ts';
import { nats } from './nats.ts';
import type { PeerKind } from './peer.ts';
import { redisStreams } from './redis-streams.ts';
import { relay } from './relay.ts';
import { serviceKind } from './service.ts';

/** The servers of `npm run bench -- peers`, in the order of the table. */
export const kinds: readonly PeerKind[] = [serviceKind, ejabberd, nats, redisStreams, relay];
