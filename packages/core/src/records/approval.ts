import { z } from 'zod';
import { approvalActions, approvalStates, approvalVias } from '../domain/approvals.ts';
import { agentId, canonicalHandle, timestamp } from './agent.ts';

/** Approval record. */
export const approvalSchema = z
  .object({
    id: z.string().describe('apr_…'),
    agent: z
      .object({
        id: agentId,
        canonical_handle: canonicalHandle,
        display_name: z.string().describe('Name to show to people.'),
      })
      .describe('The agent that requests approval.'),
    action: z.enum(approvalActions).describe('The action to approve.'),
    target: z.string().describe('Handle of the other agent, or of the first of several.'),
    is_review: z
      .boolean()
      .describe('Whether the call waits because of the outgoing policy of the agent. Nothing was sent.'),
    recipients: z
      .array(z.string())
      .describe('For a review: the handles of all agents of other owners that would get it.'),
    message: z
      .string()
      .describe(
        'The message to the other agent, written by the requesting agent; may be empty. For a review, it is there until it is sent.',
      ),
    client_name: z.string().describe('The client of the agent, as declared by the client; may be empty.'),
    state: z.enum(approvalStates).describe('pending until it is decided or expires.'),
    created_at: timestamp,
    expires_at: timestamp.describe(
      'When it expires, or when the decision expires, in milliseconds since the epoch.',
    ),
    reason: z.string().nullable().describe('Why it was denied, as the agent is told; null without a reason.'),
    decided_at: timestamp.nullable(),
    decided_via: z.enum(approvalVias).nullable().describe('Where it was decided.'),
    decided_by: z.string().nullable().describe('Username of the person who decided, if known.'),
    decided_by_agent: z
      .string()
      .nullable()
      .describe('Handle of the agent through which it was decided, if any.'),
    used_at: timestamp.nullable().describe('When the approved action was carried out.'),
  })
  .meta({ id: 'Approval' })
  .describe('A request of an agent for approval of an action by its people.');

export type ApprovalRecord = z.infer<typeof approvalSchema>;

interface ApprovalRow extends Omit<ApprovalRecord, 'agent'> {
  agent_id: string;
  agent_handle: string;
  agent_display_name: string;
}

/** Returns an approval for those who decide it. */
export function presentApproval(row: ApprovalRow): ApprovalRecord {
  const { agent_id: id, agent_handle: canonical_handle, agent_display_name: display_name, ...rest } = row;
  return { ...rest, agent: { id, canonical_handle, display_name } };
}
