import { z } from 'zod';
import { rejectRequest } from '../../services/contacts/request-decisions.ts';
import { defineAction } from '../define.ts';
import { exampleRequest } from '../../../packages/core/src/records/examples.ts';
import { requestReference } from '../../../packages/core/src/inputs/fields.ts';

export const rejectContactRequestOperation = defineAction({
  name: 'reject_contact_request',
  summary: 'Reject a contact request',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({ request_ref: requestReference }),
  run: (work, { request_ref }) => rejectRequest(work, request_ref),
  rest: {
    method: 'POST',
    path: '/contacts/requests/{request_ref}/reject',
    forms: 'short-and-long',
    status: 204,
  },
  errors: ['REQUEST_NOT_FOUND', 'INVALID_HANDLE'],
  example: { request_ref: exampleRequest.request_id },
});
