import { isDeepStrictEqual } from 'node:util';
import { isSameData } from '../event.ts';
import type { Attempt, Draft, History, SentMessage, Upload } from '../history.ts';
import type { MessageData } from './event-data.ts';
import type { ThreadLog } from './thread-log.ts';
import { findDuplicates, hasSameValues, type Violation } from './violation.ts';

type Logs = ReadonlyMap<string, ThreadLog>;

/**
 * Checks the messages of all logs: every acknowledged send made exactly one message, with the content, sender, files and other fields
 * of the request and of its answer, and no message is there without a request.
 */
export function* checkMessages(history: History, logs: Logs): Generator<Violation> {
  const messages = [...logs.values()].flatMap((log) => log.messages);
  for (const id of findDuplicates(messages.map((message) => message.id)))
    yield { kind: 'doubled', detail: `message.created of ${id}` };
  const byId = new Map(messages.map((message) => [message.id, message]));
  const known = new Set<string>();
  const uncertain = new Set<string>();
  const { written, lost } = listLeaseMessages(history);
  // An update does not answer with its message.
  for (const { draft, answers } of history.task_calls)
    if (draft && !answers.some(({ ended }) => ended)) uncertain.add(draft.content);
  for (const send of [...history.sends, ...written]) {
    const [answer] = send.answers;
    if (!answer) {
      uncertain.add(send.draft.content);
      continue;
    }
    known.add(answer.message_id);
    const message = byId.get(answer.message_id);
    if (message) yield* checkMessage(send, answer, message, history.uploads);
    else yield { kind: 'lost', detail: `message.created of ${answer.message_id} in ${answer.thread_id}` };
  }
  for (const { id, content, thread_id } of byId.values()) {
    // A send without an acknowledgement made one message or none.
    if (known.has(id) || uncertain.delete(content)) continue;
    if (lost.has(content)) {
      yield { kind: 'lost lease wrote', detail: `message ${id} of ${thread_id}: ${content}` };
      continue;
    }
    yield { kind: 'doubled', detail: `message ${id} of ${thread_id}, which no key made: ${content}` };
  }
  yield* checkOpenings(history, logs);
}

type SentDraft = Pick<Attempt<SentMessage>, 'key' | 'agent_id' | 'answers'> & { draft: Draft };

/** The messages that were sent with leases, and the contents of those whose lease was lost: none of them may exist. */
function listLeaseMessages({ leases }: History): { written: SentDraft[]; lost: Set<string> } {
  const written: SentDraft[] = [];
  const lost = new Set<string>();
  for (const { key, agent_id, draft, answers } of leases.flatMap(({ writes }) => writes)) {
    if (!draft) continue;
    if (answers.some((answer) => answer.lost)) lost.add(draft.content);
    else {
      const messages = answers.flatMap((answer) => (answer.lost ? [] : (answer.message ?? [])));
      written.push({ key, agent_id, draft, answers: messages });
    }
  }
  return { written, lost };
}

function* checkMessage(
  send: SentDraft,
  answer: SentMessage,
  message: MessageData,
  uploads: readonly Upload[],
): Generator<Violation> {
  const { agent_id, draft } = send;
  const { content, content_type, reply_to, metadata, attachment_ids } = draft;
  const { sender, attachments } = message;
  const { thread_id, sequence } = answer;
  const expected = { thread_id, sequence, content, content_type, reply_to, metadata };
  const names = Object.keys(expected) as (keyof typeof expected)[];
  const fields: string[] = names.filter((name) => !isDeepStrictEqual(message[name], expected[name]));
  if (sender.id !== agent_id) fields.push('sender');
  const answered = Object.keys(answer.fields);
  const stored = Object.fromEntries(answered.map((name) => [name, Reflect.get(message, name)]));
  if (!isSameData(answer.fields, stored)) fields.push('the answer');
  if (!hasFiles(attachments, attachment_ids, uploads)) fields.push('attachments');
  if (fields.length > 0) {
    const detail = `message ${message.id} of ${thread_id}: ${fields.join(', ')} differ from the request ${send.key}`;
    yield { kind: 'changed', detail };
  }
}

/** Whether the attachments are the uploaded files, in their order. */
function hasFiles(
  attachments: MessageData['attachments'],
  ids: readonly string[],
  uploads: readonly Upload[],
): boolean {
  const files = ids.map((id) => ({
    id,
    ...uploads.find(({ answers }) => answers[0]?.attachment_id === id)?.file,
  }));
  const shown = attachments.map((attachment) => {
    const { id, filename, content_type, size_bytes, sha256 } = attachment;
    return { id, filename, content_type, size_bytes, sha256 };
  });
  return isDeepStrictEqual(shown, files);
}

/** Checks that every thread that the load opened begins with its thread.created. */
function* checkOpenings({ sends }: History, logs: Logs): Generator<Violation> {
  const opened = new Set<string>();
  for (const { kind, agent_id, others, answers } of sends) {
    const [answer] = answers;
    if (kind !== 'opening' || !answer) continue;
    const { thread_id } = answer;
    opened.add(thread_id);
    const creations =
      logs.get(thread_id)?.entries.flatMap(({ event }) => (event.type === 'thread.created' ? event : [])) ??
      [];
    const [created] = creations;
    if (!created) yield { kind: 'lost', detail: `thread.created of ${thread_id}` };
    if (creations.length > 1) yield { kind: 'doubled', detail: `thread.created of ${thread_id}` };
    const members = created?.data.members.map(({ id }) => id) ?? [];
    if (created && !hasSameValues(members, [agent_id, ...others]))
      yield { kind: 'wrong members', detail: `thread.created of ${thread_id} lists ${members.join(' ')}` };
  }
  for (const { thread_id, entries } of logs.values()) {
    if (opened.has(thread_id) || !entries.some(({ event }) => event.type === 'thread.created')) continue;
    yield { kind: 'foreign', detail: `thread.created of ${thread_id}` };
  }
}
