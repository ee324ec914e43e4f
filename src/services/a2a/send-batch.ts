import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { maxOpenTasks } from '../../../packages/core/src/domain/tasks.ts';
import type { A2aMessage, MessagePlace } from '../../repositories/a2a/messages.ts';
import type { BatchResult, Work } from '../../work/unit-of-work.ts';
import { parseAgentKey } from '../access.ts';
import { sendMessages } from '../messages/send.ts';
import { isOtherInstallation, noteArrivals } from '../remote/order.ts';
import { createTaskChanges } from '../tasks/change.ts';
import { addTask } from '../tasks/open.ts';
import { storePushConfig } from './push-configs.ts';
import { type ClientMessage, type SentToTask, toDraft, toOpened } from './send.ts';

/** A message and the unit of work of its sender. All units of work of a batch share one transaction. */
interface ClientSend {
  work: Work;
  message: ClientMessage;
}

type Opened = NonNullable<SentToTask['opened']>;

/**
 * Sends messages of several clients, each as a new task in a context that exists, in one transaction.
 * @param options.mustRead whether everything is read in this transaction (`SendContext`).
 * @returns for each message its task, or its refusal by `sendMessages`; null for one that `sendClientMessage` must send: it was sent before,
 * its thread is new or locked, it waits for an earlier message, or it is refused for another reason
 * @throws {ConcurrentChange} as `sendMessages`
 */
export async function sendClientMessages(
  sends: readonly ClientSend[],
  { mustRead }: { mustRead: boolean },
): Promise<readonly BatchResult<Opened>[]> {
  const placed = await placeAll(sends);
  const drafts = placed.map(({ work, message, id, place: { thread_id } }) => {
    const task = { opens: message.expects_reply || ('ended' as const) };
    return { work, message: { ...toDraft(message, id), thread_id, reply_to: null, task } };
  });
  const results = await sendMessages(drafts, { wait: false, mustRead });
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
    const question = { id, message: sent, asked: agent, due_in_seconds: undefined, accepted_output_modes };
    const task = addTask(work, { ...question, isEnded: !expects_reply }, changes);
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
  return sends.map(({ message }) => outcomes.get(message) ?? null);
}

/** A message whose thread is known, with the id of its task. */
interface PlacedSend extends ClientSend {
  id: string;
  place: MessagePlace;
}

/** Returns the messages that can be sent now. Until the transaction ends, no other one stores messages of their names. */
async function placeAll(sends: readonly ClientSend[]): Promise<PlacedSend[]> {
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
    if (open >= maxOpenTasks) return [];
    openTasks.set(pair, open + 1);
    return [{ ...send, id: newId('task'), place }];
  });
}
