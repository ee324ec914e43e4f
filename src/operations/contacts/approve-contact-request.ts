import { z } from 'zod';
import { contactRequestSchema, presentContactRequest } from '../../../packages/core/src/records/contact.ts';
import { approveRequest } from '../../services/contacts/request-decisions.ts';
import { defineOperation } from '../define.ts';
import { exampleRequest } from '../../../packages/core/src/records/examples.ts';
import { requestReference } from '../../../packages/core/src/inputs/fields.ts';

export const approveContactRequestOperation = defineOperation({
  name: 'approve_contact_request',
  summary: 'Approve a contact request',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({ request_ref: requestReference }),
  output: contactRequestSchema,
  async run(work, { request_ref }) {
    return presentContactRequest(await approveRequest(work, request_ref));
  },
  rest: {
    method: 'POST',
    path: '/contacts/requests/{request_ref}/approve',
    forms: 'short-and-long',
    status: 200,
  },
  errors: ['REQUEST_NOT_FOUND', 'INVALID_HANDLE', 'AGENT_PAUSED'],
  example: {
    input: { request_ref: exampleRequest.request_id },
    output: { ...exampleRequest, status: 'approved' },
  },
});
