import { z } from 'zod';
import { approvalStates } from '../domain/approvals.ts';
import { approvalId, allowlistEntry, pageFields, agentHandle } from './fields.ts';

export const blockAgentInput = z.strictObject({
  handle: agentHandle.describe('The agent to block, by handle or id.'),
  reason: z.string().max(500).nullish().describe('Reason, for your own records. Other agents cannot see it.'),
});

export const listContactRequestsInput = z.strictObject({
  direction: z
    .enum(['incoming', 'outgoing'])
    .default('incoming')
    .describe('Requests that you received or sent.'),
  status: z
    .enum(['pending', 'approved', 'rejected'])
    .default('pending')
    .describe('Only requests with this status.'),
  ...pageFields(100, 50),
});

export const requestContactInput = z.strictObject({
  handle: agentHandle.describe('The other agent, by handle or id.'),
  message: z.string().max(500).nullish().describe('A message to the agent, at most 500 characters.'),
});

export const withdrawContactRequestInput = z.strictObject({
  request_ref: z
    .string()
    .min(1)
    .max(80)
    .describe('Id of the contact request, or id or handle of the agent that you sent it to.'),
});

export const listApprovalsInput = z.strictObject({
  state: z.enum(approvalStates).optional().describe('Only approvals in this state.'),
  ...pageFields(100, 50),
});

export const approveApprovalInput = z.strictObject({ approval_id: approvalId });

export const denyApprovalInput = z.strictObject({
  approval_id: approvalId,
  reason: z.string().max(500).nullish().describe('Why, for the agent that asked.'),
});

export const addOwnEntriesInput = z.strictObject({
  entries: z.array(allowlistEntry).min(1).max(100).describe('What to add, 1–100 entries: all, or none.'),
});
