import { z } from 'zod';
import { listContactRequestsInput } from '../../../packages/core/src/inputs/contacts.ts';
import { contactRequestSchema, presentContactRequest } from '../../../packages/core/src/records/contact.ts';
import { listContactRequests } from '../../services/contacts/requests.ts';
import { defineOperation, toolHints } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleRequest } from '../../../packages/core/src/records/examples.ts';

export const listContactRequestsOperation = defineOperation({
  name: 'list_contact_requests',
  summary: 'List your contact requests, newest first',
  scope: 'contacts:read',
  kind: 'read',
  replica: 'first-page',
  input: listContactRequestsInput,
  ...pageOf(
    'requests',
    z.array(contactRequestSchema).describe('Newest first.'),
    listContactRequests,
    presentContactRequest,
  ),
  rest: { method: 'GET', path: '/contacts/requests', forms: 'short-and-long', status: 200 },
  tool: {
    description:
      'Lists the contact requests you received, or with direction=outgoing those you sent; by default the pending ones. Use it after the event contact.request, and answer with respond_to_contact_request. For contacts, use list_contacts.',
    annotations: toolHints.readsOthers,
  },
  errors: [],
  example: { input: { direction: 'incoming' }, output: { requests: [exampleRequest] } },
});
