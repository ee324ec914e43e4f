import type { Actor } from '../../../domain/auth/actor.ts';
import type { ClientInfo } from '../sessions/client-info.ts';

/** Who asks, and the request that carries it. */
export interface Caller {
  actor: Actor;
  request_id: string;
  /** Undefined for a request that belongs to none. */
  session?: { key: string; client: ClientInfo } | undefined;
  /** Whether the answer is an event stream, in which more can be said before it. */
  isStreaming: boolean;
  /** Has something done once the answer has left. */
  onResponseSent(then: () => void): void;
}
