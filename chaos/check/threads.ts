import { isSameData } from '../event.ts';
import type { History, StoredThread } from '../history.ts';
import type { ThreadLog } from './thread-log.ts';
import { type Violation, findDuplicates, hasSameValues } from './violation.ts';

type Logs = ReadonlyMap<string, ThreadLog>;

/**
 * Checks that every member finds the same thread: its members, and exactly the messages of its log, numbered 1 to n and with the same
 * data, also by search.
 */
export function* checkThreads({ stored, sends }: History, logs: Logs): Generator<Violation> {
  // A message that the log misses is reported there.
  const acknowledged = new Set(sends.flatMap(({ answers }) => answers.map(({ message_id }) => message_id)));
  for (const thread of stored) {
    const log = logs.get(thread.thread_id);
    if (log?.members.includes(thread.agent_id)) {
      yield* checkMembers(thread, log);
      yield* checkMessages(thread, log, acknowledged);
      yield* checkSearch(thread, log);
    } else yield { kind: 'foreign', detail: `thread ${thread.thread_id} in the list of ${thread.agent_id}` };
  }
  const seen = stored.map(({ thread_id, agent_id }) => `${thread_id} in the list of ${agent_id}`);
  for (const thread of findDuplicates(seen)) yield { kind: 'doubled', detail: `thread ${thread}` };
  for (const { thread_id, members } of logs.values()) {
    const missing = members.filter((agent) => !seen.includes(`${thread_id} in the list of ${agent}`));
    for (const agent of missing)
      yield { kind: 'lost', detail: `thread ${thread_id} in the list of ${agent}` };
  }
}

function* checkMembers(thread: StoredThread, log: ThreadLog): Generator<Violation> {
  const { thread_id, agent_id, members } = thread;
  if (hasSameValues(members, log.members)) return;
  const detail = `${thread_id} as ${agent_id} lists it: ${members.join(' ')}, not ${log.members.join(' ')}`;
  yield { kind: 'wrong members', detail };
}

function* checkMessages(
  { thread_id, agent_id, messages, last_sequence }: StoredThread,
  log: ThreadLog,
  acknowledged: ReadonlySet<string>,
): Generator<Violation> {
  const where = `in ${thread_id} as ${agent_id} lists it`;
  const listed = new Map(messages.map((message) => [message.id, message]));
  const logged = new Set(log.messages.map(({ id }) => id));
  for (const expected of log.messages) {
    const message = listed.get(expected.id);
    if (!message) yield { kind: 'lost', detail: `message ${expected.id} (${expected.sequence}) ${where}` };
    else if (!isSameData(message, expected)) {
      const detail = `message ${message.id} ${where}, compared with its event: ${JSON.stringify(message)}`;
      yield { kind: 'changed', detail };
    }
  }
  for (const { id, content } of messages) {
    if (logged.has(id) || acknowledged.has(id)) continue;
    yield { kind: 'doubled', detail: `message ${id} ${where}, which no event tells of: ${content}` };
  }
  for (const [index, { id, sequence }] of messages.entries()) {
    if (sequence === index + 1) continue;
    yield { kind: 'hole', detail: `message ${id} at place ${index + 1} has sequence ${sequence} ${where}` };
    break; // all later ones are shifted too
  }
  const last = messages.at(-1)?.sequence ?? 0;
  if (last_sequence !== last)
    yield { kind: 'changed', detail: `last_sequence ${where}: ${last_sequence}, not ${last}` };
}

function* checkSearch({ agent_id, found }: StoredThread, log: ThreadLog): Generator<Violation> {
  if (!found) return;
  for (const id of findDuplicates(found))
    yield { kind: 'doubled', detail: `message ${id} in a search by ${agent_id}` };
  for (const { id } of log.messages) {
    if (!found.includes(id)) yield { kind: 'not found', detail: `message ${id} in a search by ${agent_id}` };
  }
}
