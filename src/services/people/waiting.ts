import type { ReadWork } from '../../work/unit-of-work.ts';
import { listApprovals } from '../approvals/approvals.ts';
import { listWaits, type QuestionWait } from '../threads/waits.ts';

const maxItems = 20;
const minute = 60_000;

/** How long an agent has to answer before its people are shown the question. */
const answerTimeoutMs = 10 * minute;

/** Older questions are no longer shown. */
const maxAgeMs = 7 * 24 * 60 * minute;

/** The pending items of a person. */
export type Waiting = Awaited<ReturnType<typeof readWaiting>>;

/**
 * Returns the items that are pending for the decision or the answer of a person: approvals, contact requests, webhooks that were disabled after
 * failures, inboxes with dead items, and questions to their agents: those that ask a person, are overdue, or have waited for ten minutes while no
 * agent works on them. The asking agent may be theirs too. A muted thread has only questions to a person.
 * @param limit of each list; default 20.
 */
export async function readWaiting(work: ReadWork, account_id: string, limit = maxItems) {
  const now = Date.now();
  const [approvals, requests, webhooks, inboxes, waits] = await Promise.all([
    listApprovals(work, account_id, { pending: true, before: '', limit }),
    work.db.dashboard.listRequests(account_id, limit),
    work.db.dashboard.listFailingWebhooks(account_id, limit),
    work.db.dashboard.listDeadInboxes(account_id, limit),
    listWaits(work, { account_id }),
  ]);
  const disabled = webhooks.flatMap((each) =>
    each.disabled_at === null ? [] : [{ ...each, disabled_at: each.disabled_at }],
  );
  const questions = waits.filter((wait) => wait.is_own && isForPerson(wait, now)).slice(0, limit);
  return { approvals, requests, webhooks: disabled, inboxes, questions };
}

/** Whether a question to an agent is shown to its people. */
function isForPerson({ asks_person, overdue, state, since, muted }: QuestionWait, now: number): boolean {
  if (muted && !asks_person) return false;
  if (overdue) return true;
  const isUnanswered = state !== 'working' && now - since >= answerTimeoutMs;
  return (asks_person || isUnanswered) && now - since < maxAgeMs;
}

/** The number of items that need a person. */
export function countWaiting(waiting: Waiting): number {
  return Object.values(waiting).flat().filter(isUndecided).length;
}

/** Whether no person has decided an item in the console. A decision that has not taken effect can be undone. */
export const isUndecided = (item: Waiting[keyof Waiting][number]): boolean =>
  !('stored' in item) || typeof item.stored?.effective_at !== 'number';
