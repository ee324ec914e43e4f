import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import { mcpPlaceLifetimeMs, mcpSessionLifetimeMs } from '../../../../packages/core/src/domain/limits.ts';
import type { FeedHead } from '../../../realtime/contract.ts';
import { statelessRevision } from '../protocol/headers.ts';

/** Cursors are signed, so only positions are stored. */
export interface FeedCursors {
  encodeFeed(agentId: string, position: number): string;
  decodeFeed(agentId: string, cursor: string): number;
}

/** What a caller has received of its agent's feed. */
export interface Position {
  /** It has received everything up to here. Undefined before its first wait. */
  cursor: string | undefined;
  /** Ids of messages, and of other events, that it received after that position: replies, and events of filtered waits. */
  returned: readonly string[];
  /** The counter of the feed, if it was read with it. */
  head?: FeedHead;
}

/** How an answer moves a position. */
export interface Move {
  /** Undefined: the position stays. */
  cursor?: string | undefined;
  returned: readonly string[];
  /** Returned ids that are before the new position. */
  passed: readonly string[];
}

/** A position as it is stored. */
export interface StoredPosition extends FeedHead {
  position: number | null;
  returned: readonly string[];
  /** Whether an answer may be on its way that moves it. */
  is_answering: boolean;
  seen_at: number;
}

/** Storage of positions shared by all processes. */
export interface PlaceStore {
  readPosition(place: {
    id_hash: Buffer;
    agent_id: string;
    seen_after: number;
  }): Promise<StoredPosition | (FeedHead & { seen_at: null })>;
  announceMove(idHash: Buffer, answerMs: number): Promise<void>;
  keepPlace(
    idHash: Buffer,
    place: { agent_id: string; protocol_version: string; now: number; seen_at: number; seen_after: number },
  ): Promise<void>;
  movePosition(idHash: Buffer, move: Omit<Move, 'cursor'> & { position: number | null }): Promise<void>;
}

/** Where the waits of one caller continue. */
export interface Place {
  read(): Promise<Position>;
  /** Call it before an answer is sent that moves the place: until `settle`, reads in every process wait. Never throws. */
  announce(): Promise<void>;
  /** Moves the place forward if the answer was sent; undefined if it was not. Never throws. */
  settle(move: Move | undefined): void;
}

export interface Places {
  /** The place of a session that was just read. */
  ofSession(session: StoredPosition & { key: string; agent_id: string }): Place;
  /** The place of a sign-in in revision 2026-07-28: of the grant of a person, else of the credential. */
  ofSignIn(actor: Actor): Place;
}

/** Longer than an answer needs to reach the operating system. After it, a read no longer waits: a process may have crashed. */
const maxAnswerMs = 2_000;
const readIntervalMs = 20;

/** The places of waits, over a store that all processes share. */
export function createPlaces(store: PlaceStore, cursors: FeedCursors, log: (error: unknown) => void): Places {
  /** Moves in progress in this process, by key. */
  const moving = new Map<string, Promise<void>>();

  /** @param known the position that was read with the session, used once. Concurrent waits of one session can return an event twice. */
  function createPlace(
    { id_hash, agent_id }: { id_hash: Buffer; agent_id: string },
    { keep, known }: { keep?: () => Promise<void>; known?: StoredPosition },
  ): Place {
    const key = id_hash.toString('base64url');
    const encodePosition = (position: number | null) =>
      position === null ? undefined : cursors.encodeFeed(agent_id, position);
    const decodePosition = (cursor: string | undefined) =>
      cursor === undefined ? null : cursors.decodeFeed(agent_id, cursor);
    return {
      async read() {
        const deadline = performance.now() + maxAnswerMs;
        for (;;) {
          if (moving.has(key)) known = undefined;
          await moving.get(key);
          const now = Date.now();
          const seen_after = now - mcpSessionLifetimeMs;
          const found = known ?? (await store.readPosition({ id_hash, agent_id, seen_after }));
          known = undefined;
          const { last_number, acknowledged_number } = found;
          const head = { last_number, acknowledged_number };
          if (found.seen_at === null) return { cursor: undefined, returned: [], head };
          const { position, returned, is_answering, seen_at } = found;
          // Waits without events do not move it.
          if (keep && seen_at < now + mcpPlaceLifetimeMs / 2) await keep();
          if (!is_answering || performance.now() >= deadline)
            return { cursor: encodePosition(position), returned, head };
          await pause(readIntervalMs);
        }
      },
      async announce() {
        try {
          await keep?.();
          await store.announceMove(id_hash, maxAnswerMs);
        } catch (error) {
          log(error);
        }
      },
      settle({ cursor, ...ids } = { returned: [], passed: [] }) {
        const moved = (moving.get(key) ?? Promise.resolve())
          .then(() => store.movePosition(id_hash, { position: decodePosition(cursor), ...ids }))
          .catch(log)
          .finally(() => {
            if (moving.get(key) === moved) moving.delete(key);
          });
        moving.set(key, moved);
      },
    };
  }

  return {
    ofSession: ({ key, agent_id, ...known }) =>
      createPlace({ id_hash: Buffer.from(key, 'base64url'), agent_id }, { known }),
    ofSignIn({ agent_id, grant_id, client_id }) {
      // No header can have a line break, so no session has this id.
      const hash = createHash('sha256')
        .update(`place\n${agent_id}\n${grant_id ?? client_id}`)
        .digest();
      const keep = () => {
        const now = Date.now();
        // It is stored as a session that ends later.
        const seen_at = now + mcpPlaceLifetimeMs - mcpSessionLifetimeMs;
        const seen_after = now - mcpSessionLifetimeMs;
        return store.keepPlace(hash, {
          agent_id,
          protocol_version: statelessRevision,
          now,
          seen_at,
          seen_after,
        });
      };
      return createPlace({ id_hash: hash, agent_id }, { keep });
    },
  };
}
