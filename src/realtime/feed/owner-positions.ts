import { timeOfId } from '../../../packages/core/src/domain/ids.ts';
import type { Cursors } from '../../work/cursors.ts';

/** How far the feeds of several agents have been read. */
export interface OwnerPositions {
  /** Where an agent starts that the reader has not read yet: a new agent at its oldest event, another one as given. */
  startOf(agentId: string): number | 'earliest' | 'latest';
  set(agentId: string, position: number): void;
  /** Leaves out agents that are not among these. */
  keep(agentIds: readonly string[], now: number): void;
  /** The positions as one cursor. */
  encode(): string;
}

/** Enough to tell the agents of one owner apart. The cursor of each event has one for each agent. */
const nameLength = 10;
const nameOf = (agentId: string): string => agentId.slice(-nameLength);

/** The clocks of two processes differ less, in milliseconds. */
const maxClockSkewMs = 60_000;

/**
 * Opens the positions of a reader.
 * @param binding the reader: a cursor is valid only for it
 * @param cursor of an event or a page; `earliest`, or `latest`, which is the default
 * @throws {DomainError} INVALID_CURSOR
 */
export function openOwnerPositions(
  cursors: Pick<Cursors, 'encode' | 'decode'>,
  binding: string,
  cursor: string | undefined,
): OwnerPositions {
  const numbers = new Map<string, number>();
  let start: 'earliest' | 'latest' = cursor === 'earliest' ? cursor : 'latest';
  let listedAt = Infinity;
  if (cursor !== undefined && cursor !== 'earliest' && cursor !== 'latest') {
    const [at, entries] = cursors.decode(binding, cursor);
    listedAt = Number(at);
    for (const entry of String(entries).split(','))
      if (entry !== '') numbers.set(entry.slice(0, nameLength), parseInt(entry.slice(nameLength), 36));
  }

  return {
    startOf(agentId) {
      const isNew = timeOfId(agentId) >= listedAt - maxClockSkewMs;
      return numbers.get(nameOf(agentId)) ?? (isNew ? 'earliest' : start);
    },
    set: (agentId, position) => void numbers.set(nameOf(agentId), position),
    keep(agentIds, now) {
      const names = new Set(agentIds.map(nameOf));
      for (const name of numbers.keys()) if (!names.has(name)) numbers.delete(name);
      start = 'latest';
      listedAt = now;
    },
    encode() {
      const entries = Array.from(numbers, ([name, number]) => `${name}${number.toString(36)}`);
      return cursors.encode(binding, [listedAt, entries.join(',')]);
    },
  };
}
