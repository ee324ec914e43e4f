import { DomainError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { exchangeWindowMs } from '../../domain/limits.ts';
import { checkLoop } from '../../policies/loops.ts';
import type { BatchResult, Work } from '../../work/unit-of-work.ts';
import { requireActorState, requireActiveThread, requirePoliciesAllow } from '../actor-checks.ts';

/** A message without files that answers none. */
export interface PlainMessage {
  thread_id: string;
  content: string;
  content_type: 'text' | 'markdown';
  metadata: Record<string, unknown>;
}

type Batches = Work['messageBatches'];
type Held = Awaited<ReturnType<Batches['lockThreads']>>[number];
type Audience = Awaited<ReturnType<Batches['listAudiences']>>[number];
type Exchange = Awaited<ReturnType<Batches['listExchanges']>>[number];
type Sent = Parameters<Batches['append']>[0]['messages'][number];

/**
 * Sends messages of several agents in one transaction, as `sendMessage` sends each of them, in the order given. Null for those
 * whose thread is absent, not the actor's, or held by somebody else.
 * @returns for each the row with its place in the thread, or what it is refused with
 */
export async function sendBatch(
  sends: readonly { work: Work; message: PlainMessage }[],
): Promise<readonly BatchResult<Sent>[]> {
  const [first] = sends;
  if (!first) return [];
  const { messageBatches, loopLimit, now } = first.work;
  const writers = sends.map(({ work: { actor }, message: { thread_id } }) => {
    return { thread_id, agent_id: actor.agent_id };
  });
  const [held, audiences, exchanges] = await Promise.all([
    messageBatches.lockThreads(writers),
    messageBatches.listAudiences(writers),
    loopLimit ? messageBatches.listExchanges(writers) : [],
  ]);
  const threads = new Map(held.map((thread) => [thread.id, startProgress(thread, exchanges)]));
  const audienceOf = new Map(audiences.map((audience) => [toKey(audience), audience]));
  const outcomes = sends.map(({ work, message }): BatchResult<Sent> => {
    const line = threads.get(message.thread_id);
    const audience = audienceOf.get(toKey({ thread_id: message.thread_id, agent_id: work.actor.agent_id }));
    if (!line || !audience?.joined) return null;
    try {
      return place(work, line, audience, message);
    } catch (error) {
      if (error instanceof DomainError) return error;
      throw error;
    }
  });
  const messages = outcomes.flatMap((outcome) =>
    outcome === null || outcome instanceof Error ? [] : [outcome],
  );
  if (messages.length > 0) {
    const grown = [...threads.values()].filter(({ mark }) => mark !== null);
    first.work.defer(
      messageBatches.append({
        messages,
        threads: grown.map(({ thread }) => thread),
        marks: grown.flatMap(({ mark }) => mark ?? []),
        exchanges: grown.flatMap(({ countedExchanges }) => [...countedExchanges.values()]),
      }),
    );
  }
  return outcomes;

  /** @throws {DomainError} as sendMessage */
  function place(work: Work, line: ThreadProgress, audience: Audience, draft: PlainMessage): Sent {
    requireActorState(audience);
    requireActiveThread(line.thread);
    requirePoliciesAllow(line.thread, audience.listeners);
    const { agent_id: sender_id, handle: sender_handle } = work.actor;
    // Time never runs backwards along the sequence, whoever had to wait for the thread.
    const created_at = Math.max(line.thread.last_message_at ?? 0, now);
    if (loopLimit) countExchange(line, sender_id, created_at, loopLimit);
    const sequence = line.thread.last_sequence + 1;
    const { thread_id, content, content_type, metadata } = draft;
    const about = { id: newId('message'), thread_id, sequence, sender_id, sender_handle, created_at };
    const sent = { ...about, content, content_type, metadata, reply_to: null, attachments: [] };
    Object.assign(line.thread, {
      last_sequence: sequence,
      last_message_at: created_at,
      last_sender_id: sender_id,
    });
    line.mark ??= { thread_id, agent_id: sender_id, after: sequence - 1, upto: sequence };
    if (line.mark.agent_id === sender_id && line.mark.upto === sequence - 1) line.mark.upto = sequence;
    const recipients = audience.member_ids;
    work.emit({ type: 'message.created', thread_id, message_id: sent.id, recipients }, sent);
    return sent;
  }
}

/** A thread while messages join it. */
interface ThreadProgress {
  thread: Held;
  /** Of the first sender, from its first message on as long as nobody else's follows; null before there is any. */
  mark: { thread_id: string; agent_id: string; after: number; upto: number } | null;
  storedExchanges: ReadonlyMap<string, Exchange>;
  /** Exchanges as they stand with the messages that have joined. */
  countedExchanges: Map<string, Exchange>;
}

function startProgress(thread: Held, exchanges: readonly Exchange[]): ThreadProgress {
  const own = exchanges.filter(({ thread_id }) => thread_id === thread.id);
  const storedExchanges = new Map(
    own.map((exchange) => [toPairKey(exchange.one_id, exchange.other_id), exchange]),
  );
  return { thread: { ...thread }, mark: null, storedExchanges, countedExchanges: new Map() };
}

/**
 * A quick answer to another agent is counted for the two of them. What is refused is not.
 * @throws {DomainError} RATE_LIMITED
 */
function countExchange(
  line: ThreadProgress,
  sender_id: string,
  created_at: number,
  loop: NonNullable<Work['loopLimit']>,
): void {
  const { id: thread_id, last_sender_id, last_message_at } = line.thread;
  if (last_sender_id === null || last_message_at === null || last_sender_id === sender_id) return;
  if (created_at - last_message_at > exchangeWindowMs) return;
  const one_id = sender_id < last_sender_id ? sender_id : last_sender_id;
  const other_id = sender_id < last_sender_id ? last_sender_id : sender_id;
  const pair = toPairKey(one_id, other_id);
  const before = line.countedExchanges.get(pair) ?? line.storedExchanges.get(pair);
  const goesOn = before !== undefined && before.since > created_at - loop.seconds * 1_000;
  const exchanges = goesOn ? before.exchanges + 1 : 1;
  const since = goesOn ? before.since : created_at;
  const refusal = checkLoop({ exchanges, since }, loop, created_at);
  if (refusal) throw refusal;
  line.countedExchanges.set(pair, { thread_id, one_id, other_id, exchanges, since });
}

const toKey = ({ thread_id, agent_id }: { thread_id: string; agent_id: string }) =>
  `${thread_id} ${agent_id}`;

const toPairKey = (one: string, other: string) => `${one} ${other}`;
