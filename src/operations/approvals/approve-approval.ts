import { approvalSchema, presentApproval } from '../../../packages/core/src/records/approval.ts';
import { decideAsAgent } from '../../services/approvals/by-agent.ts';
import { defineOperation } from '../define.ts';
import { exampleAgents, exampleApproval } from '../../../packages/core/src/records/examples.ts';
import { approveApprovalInput } from '../../../packages/core/src/inputs/contacts.ts';

export const approveApprovalOperation = defineOperation({
  name: 'approve_approval',
  summary: 'Approve an action of another agent of your owner, once',
  scope: 'approvals:write',
  kind: 'write',
  input: approveApprovalInput,
  output: approvalSchema,
  async run(work, { approval_id }) {
    return presentApproval(await decideAsAgent(work, approval_id, 'approved'));
  },
  rest: { method: 'POST', path: '/approvals/{approval_id}/approve', status: 200 },
  errors: ['NOT_FOUND', 'INVALID_TRANSITION'],
  example: {
    input: { approval_id: exampleApproval.id },
    output: {
      ...exampleApproval,
      state: 'approved',
      decided_at: 1_794_000_060_000,
      decided_via: 'agent',
      decided_by_agent: exampleAgents.planner.canonical_handle,
    },
  },
});
