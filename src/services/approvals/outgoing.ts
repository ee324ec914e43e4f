import type { OutgoingPolicy, Outsider } from '../../../packages/core/src/domain/agents/agents.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { listReviewed } from '../../../packages/core/src/policies/reviews.ts';
import type { Work } from '../../work/unit-of-work.ts';

/**
 * A person must review the call before anything of it leaves. The stage `review` holds the call; where there is none, the call is refused.
 */
export class ReviewRequired extends DomainError {
  override name = 'ReviewRequired';
  /** The agents of other owners because of which it needs a review. */
  readonly recipients: readonly Outsider[];

  constructor(recipients: readonly Outsider[]) {
    super('APPROVAL_REQUIRED', 'A person must review this before it leaves.');
    this.recipients = recipients;
  }
}

/** The agents that a text would reach. */
interface Reach {
  /** Ids; the actor can be one. */
  agents: readonly string[];
  /** Absent for a text that starts something. */
  thread_id?: string;
  has_files?: boolean;
}

/** Whether a text of the actor needs a review, and the agents of other owners that know the actor once it was sent. */
export interface OutgoingCheck {
  refusal: DomainError | null;
  /** The ids of those that are not cleared in the thread yet. */
  uncleared: readonly string[];
}

const noCheck: OutgoingCheck = { refusal: null, uncleared: [] };

/** Checks a text of the actor by its outgoing policy. Without a policy, it reads nothing. */
export async function checkOutgoing(
  work: Work,
  policy: OutgoingPolicy,
  { agents, thread_id = '', has_files = false }: Reach,
): Promise<OutgoingCheck> {
  if (policy === 'free') return noCheck;
  const { actor } = work;
  const outsiders = await work.db.outgoingClearances.listOutsiders(actor.agent_id, agents, thread_id);
  // A person writes in the console.
  const reviewed = actor.account_id === undefined ? listReviewed(policy, outsiders, { has_files }) : [];
  const { handles } = actor.review ?? {};
  const others = reviewed.filter(({ canonical_handle: handle }) => !handles?.includes(handle));
  return {
    refusal: others.length > 0 ? refuse(others, handles !== undefined) : null,
    uncleared: outsiders.flatMap(({ id, trusted, cleared }) => (trusted || cleared ? [] : [id])),
  };
}

/** A call that a person has reviewed goes to the agents that were on its page, and to no other one. */
function refuse(others: readonly Outsider[], isReviewed: boolean): DomainError {
  if (!isReviewed) return new ReviewRequired(others);
  const names = others.map(({ canonical_handle: handle }) => `@${handle}`).join(', ');
  const message = `It would now also go to ${names}. Deny it; the agent can then send it again.`;
  return new DomainError('INVALID_TRANSITION', message);
}

/** @throws {ReviewRequired} when a person must review the text first */
export async function requireReviewed(work: Work, policy: OutgoingPolicy, reach: Reach): Promise<void> {
  const { refusal } = await checkOutgoing(work, policy, reach);
  if (refusal) throw refusal;
}
