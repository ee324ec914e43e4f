import { z } from 'zod';
import { listApprovalsInput } from '../../../packages/core/src/inputs/contacts.ts';
import { approvalSchema, presentApproval } from '../../../packages/core/src/records/approval.ts';
import { listAgentApprovals } from '../../services/approvals/by-agent.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleApproval } from '../../../packages/core/src/records/examples.ts';

export const listApprovalsOperation = defineOperation({
  name: 'list_approvals',
  summary: 'List the approvals that other agents of your owner requested, newest first',
  scope: 'approvals:write',
  kind: 'read',
  input: listApprovalsInput,
  ...pageOf(
    'approvals',
    z.array(approvalSchema).describe('Newest first.'),
    listAgentApprovals,
    presentApproval,
  ),
  rest: { method: 'GET', path: '/approvals', status: 200 },
  errors: [],
  example: { input: { state: 'pending' }, output: { approvals: [exampleApproval] } },
});
