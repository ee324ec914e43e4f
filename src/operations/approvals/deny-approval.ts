import { approvalSchema, presentApproval } from '../../../packages/core/src/records/approval.ts';
import { decideAsAgent } from '../../services/approvals/by-agent.ts';
import { defineOperation } from '../define.ts';
import { exampleAgents, exampleApproval } from '../../../packages/core/src/records/examples.ts';
import { denyApprovalInput } from '../../../packages/core/src/inputs/contacts.ts';

export const denyApprovalOperation = defineOperation({
  name: 'deny_approval',
  summary: 'Deny an action of another agent of your owner',
  scope: 'approvals:write',
  kind: 'write',
  input: denyApprovalInput,
  output: approvalSchema,
  async run(work, { approval_id, reason }) {
    return presentApproval(await decideAsAgent(work, approval_id, 'denied', { reason }));
  },
  rest: { method: 'POST', path: '/approvals/{approval_id}/deny', status: 200 },
  errors: ['NOT_FOUND', 'INVALID_TRANSITION'],
  example: {
    input: { approval_id: exampleApproval.id },
    output: {
      ...exampleApproval,
      state: 'denied',
      decided_at: 1_794_000_060_000,
      decided_via: 'agent',
      decided_by_agent: exampleAgents.planner.canonical_handle,
    },
  },
});
