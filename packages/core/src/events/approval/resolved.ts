import { z } from 'zod';
import { approvalActions, approvalDecisions, approvalVias } from '../../domain/approvals.ts';
import { timestamp } from '../../records/agent.ts';
import { exampleApproval, exampleRequest } from '../../records/examples.ts';
import { defineEvent } from '../define-event.ts';

export const approvalResolved = defineEvent({
  type: 'approval.resolved',
  label: 'Approval decided',
  scope: 'contacts:read',
  isInboxItem: true,
  filters: [],
  handles: ({ target }) => [target],
  resources: [],
  data: z
    .object({
      approval_id: z.string().meta({ pattern: '^apr_' }).describe('Approval identifier, apr_…'),
      action: z.enum(approvalActions).describe('The action that a person decided about.'),
      target: z.string().describe('Handle of the other agent.'),
      decision: z.enum(approvalDecisions).describe('The decision.'),
      decided_at: timestamp,
      decided_via: z.enum(approvalVias).describe('Where it was decided.'),
      reason: z.string().nullable().describe('Why the person denied it; null without a reason.'),
      result: z
        .record(z.string(), z.unknown())
        .nullable()
        .describe('The answer of the call, which ran with the approval; null after a denial.'),
    })
    .meta({ id: 'ApprovalResolved', description: 'A person decided about an action of yours.' }),
  example: {
    approval_id: exampleApproval.id,
    action: exampleApproval.action,
    target: exampleApproval.target,
    decision: 'approved',
    decided_at: exampleRequest.created_at,
    decided_via: 'page',
    reason: null,
    result: exampleRequest,
  },
});
