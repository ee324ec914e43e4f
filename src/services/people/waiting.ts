import type { SystemWork } from '../../work/unit-of-work.ts';
import { listApprovals } from '../approvals/approvals.ts';
import { findConversations, type ListedConversation } from '../threads/conversations.ts';

const maxItems = 20;
const minute = 60_000;

/** How long an agent has to answer before its people are shown the question. */
const answerTimeoutMs = 10 * minute;

/** Older questions are no longer shown. */
const maxAgeMs = 7 * 24 * 60 * minute;

export type WaitingWork = Pick<SystemWork, 'dashboard' | 'approvals' | 'conversations'>;

/** What waits for a person. */
export type Waiting = Awaited<ReturnType<typeof readWaiting>>;

/**
 * Returns what waits for the decision or the answer of a person: approvals, contact requests, webhooks that were disabled after failures, inboxes with dead items, and
 * threads whose last message asks a person, or waits for one of the agents for ten minutes.
 * @param limit of each list; default 20.
 */
export async function readWaiting(work: WaitingWork, account_id: string, limit = maxItems) {
  const now = Date.now();
  const waiting = { waiting: 'me' } as const;
  const silentSince = { activity: now - answerTimeoutMs, id: '' };
  const reader = { account_id };
  const [approvals, requests, webhooks, inboxes, latest, silent] = await Promise.all([
    listApprovals(work, account_id, { pending: true, before: '', limit }),
    work.dashboard.listRequests(account_id, limit),
    work.dashboard.listFailingWebhooks(account_id, limit),
    work.dashboard.listDeadInboxes(account_id, limit),
    findConversations(work, reader, waiting, { after: null, limit: 100 }),
    findConversations(work, reader, waiting, { after: silentSince, limit }),
  ]);
  const questions = [...latest.filter(asksPerson), ...silent.filter((thread) => !asksPerson(thread))];
  const threads = questions.filter(({ activity }) => activity > now - maxAgeMs).slice(0, limit);
  return { approvals, requests, webhooks, inboxes, threads };
}

/** Whether the last message of a thread asks for the answer of a person. */
export function asksPerson({ last_message }: Pick<ListedConversation, 'last_message'>): boolean {
  return last_message?.asks_person === true;
}

/** The number of items. */
export function countWaiting(waiting: Waiting): number {
  return Object.values(waiting).reduce((sum, items) => sum + items.length, 0);
}
