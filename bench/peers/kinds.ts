import { ejabberd } from './ejabberd/server.ts';
import type { PeerKind } from './peer.ts';
import { relay } from './relay.ts';
import { serviceKind } from './service.ts';

/** The servers of `npm run bench -- peers`, in the order of the table. */
export const kinds: readonly PeerKind[] = [serviceKind, ejabberd, relay];
