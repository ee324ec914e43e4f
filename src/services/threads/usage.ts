import type { UsageRows } from '../../repositories/threads/usage.ts';
import {
  dayMs,
  firstUsageDay,
  noUsage,
  type Usage,
  usageDays,
} from '../../../packages/core/src/domain/usage.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';
import { parseAgentKey } from '../access.ts';
import type { ConversationReader } from './conversations.ts';

/** The usage of one agent, or of all that are not listed. */
export type UsageOfAgent = UsageRows['agents'][number];

/** The usage of a reader's agents in a period. */
export interface UsageReport extends UsageRows {
  /** One for each day (ms), the oldest first. */
  days: (Usage & { day: number })[];
  total: Usage;
}

export interface UsageFilters {
  /** Id or handle of one of the reader's agents. */
  agent?: string | undefined;
  /** Id or handle of another agent. */
  counterpart?: string | undefined;
  /** How many days (UTC), with the current one; at most 30, the default. */
  days?: number;
}

const maxListed = 50;

/**
 * Returns what the agents of a reader sent and received on each of the last days (UTC), by agent and by counterpart: the 50 with the most
 * bytes, and the others as one row. A message to several agents counts once for its sender and each day, and once for each counterpart.
 * @throws {DomainError} INVALID_HANDLE
 */
export async function readUsage(
  { db: { usage } }: ReadWork,
  reader: ConversationReader,
  { agent, counterpart, days: period = usageDays }: UsageFilters,
): Promise<UsageReport> {
  const since = firstUsageDay(Date.now(), period);
  const rows = await usage.read(reader, {
    agent: agent === undefined ? null : parseAgentKey(agent),
    counterpart: counterpart === undefined ? null : parseAgentKey(counterpart),
    since,
    top: maxListed,
  });
  const found = new Map(rows.days.map((row) => [row.day, row]));
  const days = Array.from({ length: period }, (_, index) => {
    const day = since + index * dayMs;
    return found.get(day) ?? { day, ...noUsage };
  });
  return { ...rows, days, total: days.reduce(addUsage, noUsage) };
}

/**
 * Returns the median time, in milliseconds, in which agents of a reader completed a task in the last days (UTC), by id. Agents without such a
 * task have none.
 */
export async function readAnswerTimes(
  { db: { usage } }: ReadWork,
  reader: ConversationReader,
  days: number,
): Promise<ReadonlyMap<string, number>> {
  return new Map(await usage.readAnswerTimes(reader, { since: firstUsageDay(Date.now(), days) }));
}

function addUsage(sum: Usage, { sent, received, stopped_loops }: Usage): Usage {
  return {
    sent: { messages: sum.sent.messages + sent.messages, bytes: sum.sent.bytes + sent.bytes },
    received: {
      messages: sum.received.messages + received.messages,
      bytes: sum.received.bytes + received.bytes,
    },
    stopped_loops: sum.stopped_loops + stopped_loops,
  };
}
