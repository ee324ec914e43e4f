import type { History, StoredThread } from '../history.ts';
import { type Violation, findDuplicates } from './violation.ts';

/** The members of each thread: of the initial threads and of those that the load opened. */
export function listMembers({ threads, sends }: History): Map<string, readonly string[]> {
  const members = new Map(threads.map(({ thread_id, members: initial }) => [thread_id, initial]));
  for (const { kind, agent_id, others, answers } of sends) {
    if (kind !== 'opening' || !answers[0]) continue;
    members.set(answers[0].thread_id, [agent_id, ...others]);
  }
  return members;
}

/** Checks that every member finds the same thread: exactly the acknowledged messages, numbered 1 to n, also by search. */
export function* checkThreads(history: History): Generator<Violation> {
  const members = listMembers(history);
  const sent = new Map<string, Map<string, { sequence: number; content: string }>>();
  for (const { content, answers } of history.sends) {
    const [first] = answers;
    if (!first) continue;
    const inThread = sent.get(first.thread_id) ?? new Map();
    sent.set(first.thread_id, inThread.set(first.message_id, { sequence: first.sequence, content }));
  }
  for (const stored of history.stored) {
    if (members.get(stored.thread_id)?.includes(stored.agent_id)) {
      yield* checkMessages(stored, sent.get(stored.thread_id) ?? new Map());
      yield* checkReadMark(stored, history);
    } else yield { kind: 'foreign', detail: `thread ${stored.thread_id} in the list of ${stored.agent_id}` };
  }
  const seen = history.stored.map(({ thread_id, agent_id }) => `${thread_id} in the list of ${agent_id}`);
  for (const thread of findDuplicates(seen)) yield { kind: 'doubled', detail: `thread ${thread}` };
  for (const [thread_id, agents] of members) {
    const missing = agents.filter((agent) => !seen.includes(`${thread_id} in the list of ${agent}`));
    for (const agent of missing)
      yield { kind: 'lost', detail: `thread ${thread_id} in the list of ${agent}` };
  }
}

function* checkMessages(
  { thread_id, agent_id, messages, found }: StoredThread,
  sent: ReadonlyMap<string, { sequence: number; content: string }>,
): Generator<Violation> {
  const where = `in ${thread_id} as ${agent_id} lists it`;
  const listed = new Map(messages.map((message) => [message.id, message]));
  for (const [id, { sequence, content }] of sent) {
    const message = listed.get(id);
    if (!message) yield { kind: 'lost', detail: `message ${id} (${sequence}) ${where}` };
    else if (message.sequence !== sequence || message.content !== content)
      yield { kind: 'changed', detail: `message ${id} ${where}: ${message.sequence} ${message.content}` };
  }
  for (const { id, content } of messages) {
    if (!sent.has(id))
      yield { kind: 'doubled', detail: `message ${id} ${where}, which no key made: ${content}` };
  }
  for (const [index, { id, sequence }] of messages.entries()) {
    if (sequence === index + 1) continue;
    yield { kind: 'hole', detail: `message ${id} at place ${index + 1} has sequence ${sequence} ${where}` };
    break; // all later ones are shifted too
  }
  if (!found) return;
  for (const id of findDuplicates(found))
    yield { kind: 'doubled', detail: `message ${id} in a search by ${agent_id}` };
  for (const id of sent.keys()) {
    if (!found.includes(id)) yield { kind: 'not found', detail: `message ${id} in a search by ${agent_id}` };
  }
}

/** Checks that messages that an agent marked as read stay read, and that its own ones are never unread. */
function* checkReadMark(stored: StoredThread, { marks }: History): Generator<Violation> {
  const { thread_id, agent_id, messages, unread_count } = stored;
  const own = marks.filter((mark) => mark.by === agent_id && mark.thread_id === thread_id);
  const mark = Math.max(0, ...own.map(({ up_to_sequence }) => up_to_sequence));
  const after = messages.filter(({ sequence, sender }) => sequence > mark && sender.id !== agent_id).length;
  if (unread_count > after) {
    const detail = `${agent_id} marked ${thread_id} as read up to ${mark}; of ${after} messages of others after it are ${unread_count} unread`;
    yield { kind: 'forgotten', detail };
  }
}
