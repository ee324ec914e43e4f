import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { maxOpenTasks } from '../../../packages/core/src/domain/tasks.ts';
import { requireRoomForTask } from '../../../packages/core/src/policies/tasks.ts';
import type { A2aMessage, AskedAgent } from '../../repositories/a2a/messages.ts';
import type { TaskRow } from '../../repositories/tasks/task-row.ts';
import type { MessageRow } from '../../repositories/messages/messages.ts';
import type { BatchResult, Work } from '../../work/unit-of-work.ts';
import { parseAgentKey } from '../access.ts';
import { type MessageDraft, sendMessages } from '../messages/send.ts';
import { EarlierIsMissing, isOtherInstallation, noteArrivals } from '../remote/order.ts';
import { createTaskChanges } from '../tasks/change.ts';
import { addTask } from '../tasks/open.ts';
import { type PushTarget, storePushConfig } from './push-configs.ts';
import type { ClientTask } from './tasks.ts';

/** A message of a client, as it is stored. */
export interface ClientMessage extends Pick<MessageDraft, 'content' | 'content_type' | 'attachment_ids'> {
  /** The handle of the asked agent. */
  agent: string;
  /** As the client names the message. */
  message_id: string;
  task_id: string | undefined;
  /** A thread of the client and the agent. */
  context_id: string | undefined;
  /** As another installation names the thread. It counts only for the principal of an invitation. */
  conversation: string | undefined;
  /** The message of the same sender before it, as another installation names it. */
  after: string | undefined;
  accepted_output_modes: readonly string[];
  /** False: the message ends its task at once. */
  expects_reply: boolean;
  digest: Buffer;
  /** JSON text; null when a person has edited the text: the agent gets another one than the client has sent. */
  wire: string | null;
  /** Where the client wants the updates of the task. */
  push: PushTarget | undefined;
}

/** What a message became. */
export interface SentToTask {
  task_id: string;
  /** The task, if the message opened it. */
  opened: Omit<ClientTask, 'feed_number'> | null;
}

/** A message and the unit of work of its sender. All units of work of a batch share one transaction. */
interface ClientSend {
  work: Work;
  message: ClientMessage;
}

type Opened = NonNullable<SentToTask['opened']>;

/**
 * Sends messages of several clients, each as a new task in a thread that exists, in one transaction. Until the transaction ends, no other one
 * stores messages of their names.
 * @param options.wait as in `sendMessages`
 * @param options.mustRead as in `sendMessages`
 * @returns for each message its task, or its refusal; null for one that was sent before, whose thread is not one of the client and the agent
 * alone, or, without `wait`, that `sendClientMessage` must send
 * @throws {ConcurrentChange} as `sendMessages`
 */
export async function sendClientMessages(
  sends: readonly ClientSend[],
  options: { wait: boolean; mustRead: boolean },
): Promise<readonly BatchResult<Opened>[]> {
  const outcomes = await sendPlaced(await placeAll(sends, options), options);
  return sends.map(({ message }) => outcomes.get(message) ?? null);
}

/**
 * Sends messages whose threads are known. The caller has locked their names.
 * @returns for each message its task, its refusal, or null, as `sendClientMessages`
 */
export async function sendPlaced(
  placed: readonly PlacedSend[],
  options: { wait: boolean; mustRead: boolean },
): Promise<ReadonlyMap<ClientMessage, BatchResult<Opened>>> {
  const drafts = placed.map(({ work, message, id, place: { thread_id, agent_id: asked_id } }) => {
    const task = { opens: message.expects_reply || ('ended' as const), asked_id };
    return { work, message: { ...toDraft(message, id), thread_id, reply_to: null, task } };
  });
  const results = await sendMessages(drafts, options);
  const changes = createTaskChanges();
  const stored: A2aMessage[] = [];
  const arrived: { thread_id: string; key: string }[] = [];
  const outcomes = new Map<ClientMessage, BatchResult<Opened>>();
  for (const [at, { work, message, id, place }] of placed.entries()) {
    const sent = results[at] ?? null;
    outcomes.set(message, sent instanceof DomainError ? sent : null);
    if (sent === null || sent instanceof DomainError) continue;
    const { accepted_output_modes, expects_reply, message_id: client_message_id, digest, wire } = message;
    const agent = { id: place.agent_id, canonical_handle: place.agent_handle };
    const question = { id, message: sent, asked: agent, accepted_output_modes, isEnded: !expects_reply };
    const task = addTask(work, question, changes);
    const { client_id, agent_id } = task;
    stored.push({ client_id, agent_id, client_message_id, task_id: id, message_id: sent.id, digest, wire });
    if (isOtherInstallation(work.actor)) arrived.push({ thread_id: sent.thread_id, key: client_message_id });
    outcomes.set(message, toOpened(task, sent, message));
  }
  const [first] = placed;
  if (first && stored.length > 0) {
    changes.write(first.work);
    first.work.changes.defer(first.work.db.a2aMessages.insert(stored));
    noteArrivals(first.work, arrived);
  }
  for (const { work, message } of placed) {
    const opened = outcomes.get(message) ?? null;
    if (opened === null || opened instanceof DomainError || !message.push) continue;
    work.changes.defer(storePushConfig(work, opened, message.push));
  }
  return outcomes;
}

/** The metadata that only the service writes: a sender cannot claim that its message came through A2A. */
export const toDraft = (
  { content, content_type, attachment_ids, message_id, expects_reply }: ClientMessage,
  task_id: string,
): Omit<MessageDraft, 'reply_to'> => ({
  content,
  content_type,
  attachment_ids,
  metadata: { a2a: { task_id, message_id }, ...(!expects_reply && { no_reply_expected: true }) },
});

/** A new task with its message. */
function toOpened(
  task: TaskRow,
  sent: MessageRow,
  { message_id: client_message_id, wire }: ClientMessage,
): Opened {
  const stored = wire === null ? null : JSON.parse(wire);
  const shown = { ...sent, artifact: false, data: null, client_message_id, wire: stored };
  return { ...task, delivery: 'stored', status_message_id: null, messages: [shown] };
}

/** A message whose thread is known, with the id of its task. */
interface PlacedSend extends ClientSend {
  id: string;
  place: AskedAgent & { thread_id: string };
}

/**
 * Locks the names of messages, and returns those that can be sent now.
 * @throws {DomainError} only with `wait`: UNAVAILABLE (an earlier message has not arrived), RATE_LIMITED (too many open tasks)
 */
async function placeAll(sends: readonly ClientSend[], { wait }: { wait: boolean }): Promise<PlacedSend[]> {
  const [first] = sends;
  if (!first) return [];
  const { db } = first.work;
  const names = sends.map(({ work, message }, at) => {
    const { agent, message_id: client_message_id, context_id: thread_id, conversation, after } = message;
    const name = { client_id: work.actor.agent_id, client_message_id, handle: parseAgentKey(agent) };
    return { at, ...name, thread_id, ...(isOtherInstallation(work.actor) && { conversation, after }) };
  });
  // The second statement sees what was committed before the locks.
  const [locked, places] = await Promise.all([
    db.a2aMessages.tryLock(names),
    db.a2aMessages.listPlaces(names),
  ]);
  const isLocked = new Set(locked);
  const openTasks = new Map<string, number>();
  const taken = new Set<string>();
  return sends.flatMap((send, at) => {
    const place = places.find((each) => each.at === at);
    const { work, message } = send;
    if (!place || !isLocked.has(at)) return [];
    if (message.push && work.settings.webhookSender.checkUrl(message.push.url) !== undefined) return [];
    const pair = `${work.actor.agent_id} ${place.agent_id}`;
    // The locks do not keep two of one name in one transaction apart.
    const name = `${pair} ${message.message_id}`;
    if (taken.has(name)) return [];
    taken.add(name);
    const open = openTasks.get(pair) ?? place.open_tasks;
    if (wait) {
      if (place.is_awaited) throw new EarlierIsMissing();
      requireRoomForTask(open);
    }
    if (place.is_awaited || open >= maxOpenTasks) return [];
    openTasks.set(pair, open + 1);
    return [{ ...send, id: newId('task'), place }];
  });
}
