import { z } from 'zod';
import { approvalActions, approvalStates, approvalVias } from '../domain/approvals.ts';
import { agentId, canonicalHandle, timestamp } from './agent.ts';

/** What an agent asks its people for (mcp.md, section 5). */
export const approvalSchema = z
  .object({
    id: z.string().describe('apr_…'),
    agent: z
      .object({
        id: agentId,
        canonical_handle: canonicalHandle,
        display_name: z.string().describe('As its owner named it.'),
      })
      .describe('The agent that asks.'),
    action: z.enum(approvalActions).describe('What it wants to do.'),
    target: z.string().describe('Handle of the agent that it is about.'),
    message: z.string().describe('What it wants to say there, in its own words; may be empty.'),
    client_name: z.string().describe('The program through which it asks, in its own words; may be empty.'),
    state: z.enum(approvalStates).describe('It waits until somebody decides, or nobody did in time.'),
    created_at: timestamp,
    expires_at: timestamp.describe('Until when it waits, or counts, in milliseconds since the epoch.'),
    decided_at: timestamp.nullable(),
    decided_via: z.enum(approvalVias).nullable().describe('Where it was decided.'),
    decided_by: z.string().nullable().describe('Username of who decided, where that is known.'),
    decided_by_agent: z.string().nullable().describe('Handle of the agent through which it was decided.'),
    used_at: timestamp.nullable().describe('When what was approved was done.'),
  })
  .meta({ id: 'Approval' })
  .describe('What an agent asks its people for before it does it.');

export type ApprovalRecord = z.infer<typeof approvalSchema>;

interface ApprovalRow extends Omit<ApprovalRecord, 'agent'> {
  agent_id: string;
  agent_handle: string;
  agent_display_name: string;
}

/** An approval as it is shown to those who decide about it. */
export function presentApproval(row: ApprovalRow): ApprovalRecord {
  const { agent_id: id, agent_handle: canonical_handle, agent_display_name: display_name, ...rest } = row;
  return { ...rest, agent: { id, canonical_handle, display_name } };
}
