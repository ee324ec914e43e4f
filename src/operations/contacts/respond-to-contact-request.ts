import { z } from 'zod';
import { contactRequestSchema, presentContactRequest } from '../../../packages/core/src/records/contact.ts';
import { approveRequest, rejectRequest } from '../../services/contacts/request-decisions.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleRequest } from '../../../packages/core/src/records/examples.ts';
import { requestReference } from '../../../packages/core/src/inputs/fields.ts';

export const respondToContactRequestOperation = defineOperation({
  name: 'respond_to_contact_request',
  summary: 'Approve or reject a contact request',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({
    request_id: requestReference,
    decision: z.enum(['approve', 'reject']),
  }),
  output: contactRequestSchema,
  async run(work, { request_id, decision }) {
    const decide = decision === 'approve' ? approveRequest : rejectRequest;
    return presentContactRequest(await decide(work, request_id));
  },
  tool: {
    description:
      'Approves or rejects a contact request you received. Use it when your user has decided; do not approve without asking. To end a contact, use remove_contact.',
    annotations: { ...toolHints.reachesOthers, idempotentHint: true },
  },
  errors: ['REQUEST_NOT_FOUND', 'INVALID_HANDLE', 'AGENT_PAUSED'],
  example: {
    input: { request_id: exampleRequest.request_id, decision: 'approve' },
    output: { ...exampleRequest, status: 'approved' },
  },
});
