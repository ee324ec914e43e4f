import type { WaitRow } from '../../repositories/threads/waits.ts';
import { isWaitingForClient } from '../../../packages/core/src/domain/tasks.ts';
import type { WaitState } from '../../../packages/core/src/domain/threads.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { listAgentsOfPerson } from '../people/agents.ts';
import type { ConversationReader } from './conversations.ts';

/** One agent waits for the answer of another. */
export interface QuestionWait extends WaitRow {
  /** What keeps the other agent from answering. */
  wait_state: WaitState;
}

const dayMs = 24 * 60 * 60 * 1_000;
const maxAgeMs = 30 * dayMs;
const maxQuestions = 500;

/**
 * Returns who waits for whose answer, for the agents of a reader, the longest wait first: at most 500 open questions of the last 30 days. Those
 * are open tasks, and messages that expect a reply.
 */
export async function listWaits(
  { db: { waits } }: ReadWork,
  reader: ConversationReader,
): Promise<QuestionWait[]> {
  const now = Date.now();
  const rows = await waits.list(reader, { since: now - maxAgeMs, now, limit: maxQuestions });
  return rows.map((row) => ({ ...row, wait_state: findState(row, rows) }));
}

/** A question, and what a person can do about it. */
export interface ListedWait extends QuestionWait {
  key: string;
  /** How many questions the same agent has not answered to the same one. Undefined: an older one has the number. */
  count: number | undefined;
  /** Whether the agent that asks is one of the person's, and a reminder answers nothing that it is asked. */
  canRemind: boolean;
  canStop: boolean;
}

/** Returns the open questions of the agents that a person may act as, those of a pair together: first the pair that waits the longest. */
export async function listWaitsByPair(work: ReadWork, account_id: string): Promise<ListedWait[]> {
  const [waits, agents] = await Promise.all([
    listWaits(work, { account_id }),
    listAgentsOfPerson(work, account_id, { right: 'acts_as' }),
  ]);
  const pairs = new Map<string, QuestionWait[]>();
  for (const wait of waits) {
    const pair = `${wait.sender_id} ${wait.member_id}`;
    pairs.set(pair, [...(pairs.get(pair) ?? []), wait]);
  }
  const toListed = (wait: QuestionWait, count: number | undefined): ListedWait => {
    const { sender_id, thread_id, state } = wait;
    const isAskedBack = state !== null && isWaitingForClient(state);
    const canStop = agents.some(({ id }) => id === sender_id) && !isAskedBack;
    // Any message of an agent can answer what is asked of it.
    const isAsked = waits.some((other) => other.thread_id === thread_id && other.member_id === sender_id);
    return {
      ...wait,
      key: `${wait.message_id}-${wait.member_id}`,
      count,
      canStop,
      canRemind: canStop && !isAsked,
    };
  };
  return [...pairs.values()].flatMap((pair) =>
    pair.map((wait, place) => toListed(wait, place === 0 ? pair.length : undefined)),
  );
}

/**
 * Ends what a message expects, because its sender needs no answer any more.
 * @throws {DomainError} MESSAGE_NOT_FOUND: it is not a message of this sender that expects a reply
 */
export async function stopExpecting(
  { db: { expectedReplies } }: SystemWork,
  { message_id, sender_id }: { message_id: string; sender_id: string },
): Promise<void> {
  if ((await expectedReplies.removeOfSender(message_id, sender_id)) === 0)
    throw new DomainError('MESSAGE_NOT_FOUND', 'This message no longer expects a reply.');
}

function findState(row: WaitRow, rows: readonly WaitRow[]): WaitState {
  if (row.needs_person) return 'waits_for_person';
  const waitsForThird = rows.some(
    ({ sender_id, member_id }) => sender_id === row.member_id && member_id !== row.sender_id,
  );
  if (waitsForThird) return 'waits_for_agent';
  return row.is_online ? 'silent' : 'offline';
}
