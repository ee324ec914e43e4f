import { expect } from 'vitest';
import type { TestAgent } from '../../support/service.ts';
import type { Side, Stored } from './side.ts';

/** A conversation as one side knows it. */
export interface View {
  side: Side;
  agent: TestAgent;
  thread_id: string;
}

const levels = ['stored', 'delivered', 'read', 'handled'] as const;

interface Receipt {
  agent: { id: string };
  delivered_up_to_sequence: number;
  read_up_to_sequence: number;
  handled_up_to_sequence: number;
  remote?: { sending_from_sequence: number | null; undelivered: { message_id: string }[] };
}

const readReceipts = async ({ side, agent, thread_id }: View): Promise<Receipt[]> =>
  (await side.request('GET', `/threads/${thread_id}/receipts`, { by: agent })).body.receipts;

/** The agent gets all its events, and marks all but the last messages as read. */
export async function readAlmostAll(view: View): Promise<void> {
  const { side, agent, thread_id } = view;
  for (let cursor = ''; ;) {
    const { body } = await side.request('GET', `/events?limit=100${cursor}`, { by: agent });
    if (body.complete) break;
    cursor = `&cursor=${encodeURIComponent(body.cursor)}`;
  }
  const last = (await side.messages(agent, thread_id)).at(-1)?.sequence ?? 0;
  const body = { up_to_sequence: Math.max(1, last - 2) };
  const { status, text } = await side.request('POST', `/threads/${thread_id}/read`, { by: agent, body });
  expect(status, text).toBeLessThan(300);
}

/** The level of each message, by a receipt. */
function levelsOf(messages: readonly Stored[], receipt: Receipt | undefined): Map<string, number> {
  const marks = [
    receipt?.delivered_up_to_sequence ?? 0,
    receipt?.read_up_to_sequence ?? 0,
    receipt?.handled_up_to_sequence ?? 0,
  ];
  return new Map(
    messages.map(({ content, sequence }) => [content, marks.findLastIndex((mark) => sequence <= mark) + 1]),
  );
}

/**
 * Compares what the sender of one side is told of its messages with what the other side holds of them.
 * @returns `claimed`: more than is true; `untold`: less, of messages that were sent (an answer that travels as the update of a task counts
 * with the next message that is sent). `open`: messages that are being sent, or that were not delivered.
 */
export async function compareReceipts(from: View, to: View) {
  const mine = (await from.side.messages(from.agent, from.thread_id)).filter(
    ({ sender }) => sender.id === from.agent.id,
  );
  const theirs = await to.side.messages(to.agent, to.thread_id);
  const told = (await readReceipts(from)).find(({ agent }) => agent.id !== from.agent.id);
  const holding = (await readReceipts(to)).find(({ agent }) => agent.id === to.agent.id);
  const [shown, held] = [levelsOf(mine, told), levelsOf(theirs, holding)];
  const sql = 'select message_id from remote_messages where thread_id = $1';
  const rows = await from.side.cluster.core.database.query<{ message_id: string }>({ text: sql }, [
    from.thread_id,
  ]);
  const sent = new Set(rows.map(({ message_id }) => message_id));
  const claimed: string[] = [];
  const untold: string[] = [];
  for (const { id, content } of mine) {
    const [here, there] = [shown.get(content) ?? 0, held.get(content) ?? -1];
    const line = `${content}: ${levels[here]} here, ${levels[there] ?? 'absent'} there`;
    if (here > there) claimed.push(line);
    if (here < there && sent.has(id)) untold.push(line);
  }
  const open = [
    ...(told?.remote?.undelivered ?? []),
    ...(told?.remote?.sending_from_sequence == null ? [] : [told.remote.sending_from_sequence]),
  ];
  return { claimed, untold, open };
}

/** The rows that receipts follow from, as one side has them: for the log of a failed run. */
export async function readRows({ side, thread_id }: View): Promise<string> {
  const tables = {
    remote_threads: 'select * from remote_threads where thread_id = $1',
    remote_tasks: `select k.*, m.sequence from remote_tasks k join messages m on m.thread_id = k.thread_id and m.id = k.message_id
      where k.thread_id = $1 order by m.sequence desc limit 20`,
    remote_messages:
      'select sequence, message_id, outcome, delivery, remote_task_id from remote_messages where thread_id = $1 order by sequence desc limit 20',
    thread_members: 'select * from thread_members where thread_id = $1',
  };
  const { database } = side.cluster.core;
  const lines: string[] = [];
  for (const [table, text] of Object.entries(tables))
    for (const row of await database.query<object>({ text }, [thread_id]))
      lines.push(`${table} ${JSON.stringify(row)}`);
  return lines.join('\n');
}

/** The number of messages at each level, at their senders. */
export async function countLevels(from: View): Promise<Record<string, number>> {
  const mine = (await from.side.messages(from.agent, from.thread_id)).filter(
    ({ sender }) => sender.id === from.agent.id,
  );
  const told = (await readReceipts(from)).find(({ agent }) => agent.id !== from.agent.id);
  const counts: Record<string, number> = {};
  for (const level of levelsOf(mine, told).values()) {
    const name = levels[level] ?? '';
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
