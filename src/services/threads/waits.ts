import type { WaitState } from '../../../packages/core/src/domain/threads.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import type { ConversationReader } from './conversations.ts';

type WaitRow = Awaited<ReturnType<SystemWork['waits']['list']>>[number];

/** One agent waits for the answer of another. */
export interface Wait extends WaitRow {
  state: WaitState;
  /** Whether the agents wait for each other, directly or through others. */
  in_cycle: boolean;
}

const dayMs = 24 * 60 * 60 * 1_000;
const maxAgeMs = 30 * dayMs;
const maxThreads = 500;

/**
 * Returns who waits for whose answer in the threads of a reader, the longest wait first: of the last 30 days, in at most 500 threads. Only
 * what is stored counts: the last message, delivery, presence and approvals.
 */
export async function listWaits(
  { waits }: Pick<SystemWork, 'waits'>,
  reader: ConversationReader,
): Promise<Wait[]> {
  const now = Date.now();
  const rows = await waits.list(reader, { since: now - maxAgeMs, now, limit: maxThreads });
  const targets = groupTargets(rows);
  return rows.map((row) => ({
    ...row,
    state: findState(row, targets),
    in_cycle: reaches(targets, row.member_id, row.sender_id),
  }));
}

type Targets = ReadonlyMap<string, ReadonlySet<string>>;

/** The agents for whose answer each agent waits. */
function groupTargets(rows: readonly WaitRow[]): Targets {
  const targets = new Map<string, Set<string>>();
  for (const { sender_id, member_id } of rows)
    targets.set(sender_id, (targets.get(sender_id) ?? new Set()).add(member_id));
  return targets;
}

function findState(row: WaitRow, targets: Targets): WaitState {
  if (row.needs_person) return 'waits_for_person';
  const others = [...(targets.get(row.member_id) ?? [])].filter((id) => id !== row.sender_id);
  if (others.length > 0) return 'waits_for_agent';
  return row.is_online ? 'silent' : 'offline';
}

function reaches(targets: Targets, from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const id of seen) {
    if (id === to) return true;
    for (const next of targets.get(id) ?? []) seen.add(next);
  }
  return false;
}
