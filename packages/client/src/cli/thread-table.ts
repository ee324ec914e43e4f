import type { Client, Message, Thread } from '../main.ts';
import { alignColumns, formatTime, type Output, shorten, toPlainLine } from './output.ts';

/** Threads whose latest message is read at a time. */
const readsAtOnce = 10;

/** Shows threads: as JSON, or as a table with the latest message of each. `wrap` is what JSON shows of a thread. */
export async function showThreads(
  client: Client,
  { output, isJson, me }: { output: Output; isJson: boolean; me: string },
  threads: readonly Thread[],
  wrap: (thread: Thread) => object = (thread) => thread,
): Promise<void> {
  if (isJson || threads.length === 0) {
    for (const thread of threads) output.show(wrap(thread), () => '');
    return;
  }
  const latest: (Message | undefined)[] = [];
  while (latest.length < threads.length)
    latest.push(
      ...(await Promise.all(
        threads.slice(latest.length, latest.length + readsAtOnce).map(({ id }) => readLatest(client, id)),
      )),
    );
  const [head = '', ...rows] = alignColumns([
    ['SUBJECT', 'WITH', 'UNREAD', 'LAST', 'WORDS', 'ID'],
    ...threads.map((thread, index) => toCells(thread, latest[index], me)),
  ]);
  output.show({}, () => [output.style('dim', head), ...rows].join('\n'));
}

async function readLatest(client: Client, thread_id: string): Promise<Message | undefined> {
  return (await client.messages.list({ thread_id, limit: 1 }).page()).messages[0];
}

function toCells(
  { id, subject, status, members, unread_count, updated_at }: Thread,
  latest: Message | undefined,
  me: string,
): string[] {
  const others = members.map(({ canonical_handle }) => canonical_handle).filter((handle) => handle !== me);
  const state = status === 'active' ? '' : ` (${status})`;
  return [
    shorten(toPlainLine(subject ?? '-'), 40) + state,
    shorten(others.join(', '), 40),
    String(unread_count),
    formatTime(latest?.created_at ?? updated_at),
    latest ? shorten(summarize(latest), 40) : '-',
    id,
  ];
}

function summarize({ content, attachments, withdrawn_at }: Message): string {
  if (withdrawn_at !== undefined) return '(withdrawn)';
  return toPlainLine(content) || `[${attachments.length} files]`;
}
