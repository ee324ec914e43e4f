import type { ReadWork } from '../../work/unit-of-work.ts';
import { listApprovals } from '../approvals/approvals.ts';
import { findConversations, findQuestions, type ListedConversation } from '../threads/conversations.ts';

const maxItems = 20;
const minute = 60_000;

/** How long an agent has to answer before its people are shown the question. */
const answerTimeoutMs = 10 * minute;

/** Older questions are no longer shown. */
const maxAgeMs = 7 * 24 * 60 * minute;

/** The pending items of a person. */
export type Waiting = Awaited<ReturnType<typeof readWaiting>>;

/**
 * Returns the items that are pending for the decision or the answer of a person: approvals, contact requests, webhooks that were disabled after failures, inboxes with dead items, and
 * threads whose last message asks a person, or waits for one of the agents for ten minutes.
 * @param limit of each list; default 20.
 */
export async function readWaiting(work: ReadWork, account_id: string, limit = maxItems) {
  const now = Date.now();
  const since = now - maxAgeMs;
  const silentSince = { activity: now - answerTimeoutMs, id: '' };
  const reader = { account_id };
  const [approvals, requests, webhooks, inboxes, questions, silent] = await Promise.all([
    listApprovals(work, account_id, { pending: true, before: '', limit }),
    work.db.dashboard.listRequests(account_id, limit),
    work.db.dashboard.listFailingWebhooks(account_id, limit),
    work.db.dashboard.listDeadInboxes(account_id, limit),
    findQuestions(work, account_id, { since, limit }),
    findConversations(work, reader, { waiting: 'me' }, { after: silentSince, limit }),
  ]);
  const unanswered = silent.filter((thread) => !asksPerson(thread) && thread.activity > since);
  return { approvals, requests, webhooks, inboxes, threads: [...questions, ...unanswered].slice(0, limit) };
}

/** Whether the last message of a thread asks for the answer of a person. */
export function asksPerson({ last_message }: Pick<ListedConversation, 'last_message'>): boolean {
  return last_message?.asks_person === true;
}

/** The agent that the last message of a thread was sent to: not its sender, which can be an agent of the same person. */
export function findAskedAgent({
  agents,
  last_message,
}: Pick<ListedConversation, 'agents' | 'last_message'>) {
  return agents.find(({ id }) => id !== last_message?.sender_id);
}

/** The number of items. */
export function countWaiting(waiting: Waiting): number {
  return Object.values(waiting).reduce((sum, items) => sum + items.length, 0);
}
