import type { Actor } from '../domain/actor.ts';
import type { ClientFacts } from './client-facts.ts';

/** Who asks, and the request that carries it. */
export interface Caller {
  actor: Actor;
  request_id: string;
  /** Undefined for a request that belongs to none. */
  session?: { key: string; client: ClientFacts } | undefined;
  /** Whether the answer is an event stream, in which more can be said before it. */
  streams: boolean;
  /** Has something done once the answer has left. */
  answered(then: () => void): void;
}
