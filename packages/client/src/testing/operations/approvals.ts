import { keepIds } from '../../../../core/src/domain/approvals.ts';
import { DomainError } from '../../../../core/src/domain/errors.ts';
import {
  approveApprovalInput,
  denyApprovalInput,
  listApprovalsInput,
} from '../../../../core/src/inputs/contacts.ts';
import { presentApproval } from '../../../../core/src/records/approval.ts';
import { emit } from '../core/feed.ts';
import { returnHeld } from '../core/inbox.ts';
import type { Agent, Approval } from '../core/records.ts';
import { type Call, defineHandler, type State } from '../core/state.ts';
import type { ApprovalDecision, ApprovalSubject } from '../types.ts';
import { ownerOf, toAgentId } from './agents.ts';
import { contactHandlers } from './contacts.ts';
import { readPage } from '../core/pages.ts';

const dayMs = 24 * 3_600_000;

function requireAgentNamed(state: State, handle: string): Agent {
  const agent = state.agents.get(toAgentId(state, handle));
  if (agent) return agent;
  throw new Error(`the fake service has no agent ${handle}; add it with agent()`);
}

/** A pending approval past its time is expired. */
export const stateOf = (
  { clock }: State,
  { state, expires_at }: Pick<Approval, 'state' | 'expires_at'>,
): Approval['state'] => (state === 'pending' && expires_at <= clock.now() ? 'expired' : state);

/** Requests an approval for 24 hours. The same request again is the same approval while it is in effect. */
export function openApproval(
  state: State,
  agent: Agent,
  { action, target: handle, message = '' }: ApprovalSubject,
): Approval {
  const other = requireAgentNamed(state, handle);
  const { canonical_handle: target } = other;
  if (ownerOf(other) === ownerOf(agent))
    throw new Error('agents of one owner need no approval for what they do with each other');
  const now = state.clock.now();
  const current = [...state.approvals.values()].findLast(
    (one) =>
      one.agent === agent &&
      [one.action, one.target, one.message].join('\n') === [action, target, message].join('\n') &&
      one.expires_at > now &&
      one.used_at === null,
  );
  if (current) return current;
  return addApproval(state, agent, { action, target, message, is_review: false, recipients: [] });
}

/** Adds a pending approval, for 24 hours. */
export function addApproval(
  state: State,
  agent: Agent,
  about: Pick<Approval, 'action' | 'target' | 'message' | 'is_review' | 'recipients' | 'held'>,
): Approval {
  const id = state.newId('approval');
  const now = state.clock.now();
  const undecided = {
    decided_at: null,
    decided_via: null,
    decided_by: null,
    decided_by_agent: null,
    reason: null,
  };
  const times = { created_at: now, expires_at: now + dayMs, used_at: null };
  const approval: Approval = {
    id,
    agent,
    ...about,
    client_name: '',
    ...times,
    ...undecided,
    state: 'pending',
  };
  state.approvals.set(id, approval);
  return approval;
}

/**
 * Decides an approval. Approving runs the call; if that is refused, nothing changes. The same decision again changes nothing.
 * @throws {DomainError} INVALID_TRANSITION; NOT_FOUND
 */
export async function decideApproval(
  state: State,
  approval: Approval,
  decision: ApprovalDecision,
  by: Pick<Approval, 'decided_via' | 'decided_by' | 'decided_by_agent'> & {
    reason?: string | null | undefined;
  },
): Promise<void> {
  const before = stateOf(state, approval);
  if (before === decision) return;
  if (before !== 'pending')
    throw new DomainError('INVALID_TRANSITION', `This approval is already ${before}.`);
  const now = state.clock.now();
  const result = decision === 'approved' ? await runCall(state, approval) : null;
  const expires_at = decision === 'approved' ? now + dayMs : approval.expires_at;
  const used_at = decision === 'approved' ? now : null;
  const reason = (decision === 'denied' && by.reason) || null;
  Object.assign(approval, { ...by, reason, state: decision, decided_at: now, expires_at, used_at });
  if (decision === 'denied') returnHeld(state, approval);
  const { id: approval_id, agent, action, target } = approval;
  const data = {
    approval_id,
    action,
    target,
    decision,
    decided_at: now,
    decided_via: by.decided_via,
    reason,
    result,
  };
  emit(state, { type: 'approval.resolved', recipients: [agent.id], data });
}

/** Runs the call as the agent that asked. @throws {DomainError} INVALID_TRANSITION in place of the refusal of the call */
async function runCall(state: State, approval: Approval): Promise<object> {
  const { agent, action, target, message, held, recipients } = approval;
  if (held) return Object(keepIds(await held.run(recipients)));
  const scopes = new Set(['contacts:read', 'contacts:write']);
  const call: Call = { state, me: agent, token: '', scopes, signal: state.stopped.signal };
  try {
    return action === 'request_contact'
      ? contactHandlers.request_contact.run(call, { handle: target, message: message || null })
      : contactHandlers.remove_contact.run(call, { agent_ref: target });
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown;
    const text = `The action is no longer possible, and nothing was changed: ${thrown.message}`;
    throw new DomainError('INVALID_TRANSITION', text);
  }
}

function present(state: State, { agent, held: _held, ...approval }: Approval): object {
  const { id: agent_id, canonical_handle: agent_handle, display_name: agent_display_name } = agent;
  return presentApproval({
    ...approval,
    agent_id,
    agent_handle,
    agent_display_name,
    state: stateOf(state, approval),
  });
}

/** Approvals of the other agents of the owner. */
const listVisible = ({ state, me }: Call): Approval[] =>
  [...state.approvals.values()].filter(
    ({ agent }) => agent !== me && !agent.is_retired && ownerOf(agent) === ownerOf(me),
  );

async function decide(
  call: Call,
  approval_id: string,
  decision: ApprovalDecision,
  reason?: string | null,
): Promise<object> {
  const approval = listVisible(call).find(({ id }) => id === approval_id);
  if (!approval) throw new DomainError('NOT_FOUND', 'No such approval, or you cannot decide it.');
  const { canonical_handle: decided_by_agent } = call.me;
  await decideApproval(call.state, approval, decision, {
    decided_via: 'agent',
    decided_by: null,
    decided_by_agent,
    reason,
  });
  return present(call.state, approval);
}

export const approvalHandlers = {
  list_approvals: defineHandler(listApprovalsInput, (call, { state, ...page }) => {
    const list = () =>
      listVisible(call)
        .filter((one) => state === undefined || stateOf(call.state, one) === state)
        .toReversed();
    const { rows, next_cursor } = readPage(call, page, ['approvals', state], list);
    return { approvals: rows.map((one) => present(call.state, one)), next_cursor };
  }),
  approve_approval: defineHandler(approveApprovalInput, (call, { approval_id }) =>
    decide(call, approval_id, 'approved'),
  ),
  deny_approval: defineHandler(denyApprovalInput, (call, { approval_id, reason }) =>
    decide(call, approval_id, 'denied', reason),
  ),
};
