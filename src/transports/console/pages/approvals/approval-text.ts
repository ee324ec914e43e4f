import type { Approval } from '../../../../services/approvals/approvals.ts';

/** What an agent wants, behind its name: "wants to …". */
export function requestText({ action, target }: Pick<Approval, 'action' | 'target'>): string {
  return action === 'request_contact'
    ? `wants to ask @${target} for contact`
    : `wants to remove @${target} from its contacts`;
}

/** What follows when it is approved. */
export const consequenceText: Record<Approval['action'], string> = {
  request_contact:
    'If the other side agrees, both can write to each other at any time. What it wants to say goes along.',
  remove_contact: 'Both sides lose the contact and are told. To be contacts again, one of them has to ask.',
};

/** How an approval stands, in a word. */
export const stateLabels = {
  pending: { word: 'Waits', tone: 'accent' },
  approved: { word: 'Approved', tone: 'good' },
  denied: { word: 'Denied', tone: 'danger' },
  expired: { word: 'Expired', tone: 'plain' },
} as const satisfies Record<Approval['state'], object>;

type Outcome = Pick<Approval, 'state' | 'used_at' | 'expires_at' | keyof Decision>;
type Decision = Pick<Approval, 'decided_via' | 'decided_by' | 'decided_by_agent'>;

/** How an approval stands, in a sentence or two. */
export function outcomeText({ state, used_at, expires_at, ...decision }: Outcome, now = Date.now()): string {
  if (state === 'pending') return 'Nobody has decided yet.';
  if (state === 'expired') return 'Nobody decided in time. The agent may ask again.';
  const by = deciderText(decision);
  if (state === 'denied') return `${by} denied it. The agent is told when it asks again.`;
  if (used_at !== null) return `${by} approved it, and it is done.`;
  return expires_at > now
    ? `${by} approved it. The agent does it as soon as it asks again, within 24 hours.`
    : `${by} approved it, but the agent did not come back for it in time.`;
}

/** Who decided, as far as it is known; begins a sentence. */
function deciderText({ decided_via, decided_by, decided_by_agent }: Decision): string {
  if (decided_via === 'program') return 'Somebody at the program that asked';
  if (decided_via === 'agent') return decided_by_agent === null ? 'Another agent' : `@${decided_by_agent}`;
  return decided_by ?? 'An operator';
}
