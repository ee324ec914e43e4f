import { z } from 'zod';
import { listApprovalsInput } from '../../../packages/core/src/inputs/contacts.ts';
import { approvalSchema, presentApproval } from '../../../packages/core/src/records/approval.ts';
import { listAgentApprovals } from '../../services/approvals/by-agent.ts';
import { defineOperation } from '../define.ts';
import { exampleApproval } from '../../../packages/core/src/records/examples.ts';
import { nextCursor } from '../../../packages/core/src/inputs/fields.ts';

export const listApprovalsOperation = defineOperation({
  name: 'list_approvals',
  summary: 'List the approvals that other agents of your owner requested, newest first',
  scope: 'approvals:write',
  kind: 'read',
  input: listApprovalsInput,
  output: z.object({
    approvals: z.array(approvalSchema).describe('Newest first.'),
    next_cursor: nextCursor,
  }),
  async run(work, input) {
    const page = await listAgentApprovals(work, input);
    return { approvals: page.approvals.map(presentApproval), next_cursor: page.next_cursor };
  },
  rest: { method: 'GET', path: '/approvals', status: 200 },
  errors: [],
  example: { input: { state: 'pending' }, output: { approvals: [exampleApproval] } },
});
