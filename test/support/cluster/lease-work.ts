import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requestRest } from '../../clients/rest.ts';

const program = join(import.meta.dirname, 'lease-instance.mjs');

/** An instance of an agent in a process of its own. */
export interface Instance {
  kill9(): Promise<void>;
  /** Gives it the addresses of the API processes that run now. */
  use(addresses: readonly string[]): void;
}

/** Starts an instance that logs to a file. */
export function startInstance(
  { name, token, log }: { name: string; token: string; log: string },
  addresses: readonly string[],
): Instance {
  const env = { ...process.env, NAME: name, TOKEN: token, LOG: log };
  const child: ChildProcess = fork(program, {
    env,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.send(addresses);
  return {
    async kill9() {
      child.kill('SIGKILL');
      await exited;
    },
    use(current) {
      if (child.connected) child.send(current);
    },
  };
}

interface Claimed {
  kind: 'claimed';
  token: number;
  /** When the claim was answered: the lease is current at the latest from then on, whenever the process that made it read its clock. */
  received_at: number;
  expires_at: number;
  thread_id: string;
  message_id: string;
}

type LogEntry = Claimed | { kind: 'acknowledged'; token: number; status: number };

/** A message of a thread, as far as the report needs it. */
export interface ThreadMessage {
  id: string;
  sequence: number;
  reply_to: string | null;
  metadata: { token?: number } | null;
}

/** All messages of a thread, in order. */
export async function readThread(api: string, token: string, thread_id: string): Promise<ThreadMessage[]> {
  const messages: ThreadMessage[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ order: 'asc', limit: '100', ...(cursor && { cursor }) });
    const { status, text, body } = await requestRest('GET', `${api}/threads/${thread_id}/messages?${query}`, {
      token,
    });
    if (status !== 200) throw new Error(`${thread_id}: ${text}`);
    messages.push(...body.messages);
    cursor = body.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return messages;
}

/** What the instances did, read from their log. */
export function readLog(file: string) {
  const entries = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogEntry);
  const claims = entries.filter((entry): entry is Claimed => entry.kind === 'claimed');
  return { claims, answers: entries.filter((entry) => entry.kind === 'acknowledged') };
}

/**
 * Counts what must not happen: questions without a reply or with several, replies out of order, fencing tokens that do not grow, and two
 * leases of one thread that were current at the same time. A lease is current until its reply is stored or it expires.
 */
export function checkReplies(
  threads: ReadonlyMap<string, readonly ThreadMessage[]>,
  { claims, answers }: ReturnType<typeof readLog>,
) {
  const report = { unanswered: 0, answered_twice: 0, out_of_order: 0, token_not_grown: 0 };
  const replied = new Set<number>();
  for (const messages of threads.values()) {
    const questions = messages.filter(({ reply_to }) => reply_to === null);
    const replies = messages.filter(({ reply_to }) => reply_to !== null);
    const answered = new Set(replies.map(({ reply_to }) => reply_to));
    report.unanswered += questions.filter(({ id }) => !answered.has(id)).length;
    report.answered_twice += replies.length - answered.size;
    report.out_of_order += replies.filter(({ reply_to }, at) => reply_to !== questions[at]?.id).length;
    const tokens = replies.map(({ metadata }) => metadata?.token ?? 0);
    report.token_not_grown += tokens.filter((token, at) => at > 0 && token <= (tokens[at - 1] ?? 0)).length;
    for (const token of tokens) replied.add(token);
  }
  const lost_after_success = answers.filter(
    ({ status, token }) => status === 200 && !replied.has(token),
  ).length;
  const unexpected_statuses = answers.filter(({ status }) => status !== 200 && status !== 409).length;
  return {
    ...report,
    lost_after_success,
    unexpected_statuses,
    two_holders: countTwoHolders(claims, replied),
  };
}

/** Claims of a thread that were answered while an earlier lease of the thread was current. */
function countTwoHolders(claims: readonly Claimed[], replied: ReadonlySet<number>): number {
  const byThread = new Map<string, Claimed[]>();
  for (const claim of claims)
    byThread.set(claim.thread_id, [...(byThread.get(claim.thread_id) ?? []), claim]);
  let count = 0;
  for (const inThread of byThread.values()) {
    const inOrder = inThread.toSorted((one, other) => one.token - other.token);
    for (const [at, { received_at }] of inOrder.entries()) {
      const before = inOrder[at - 1];
      if (!before || replied.has(before.token)) continue;
      if (received_at < before.expires_at) count += 1;
    }
  }
  return count;
}
